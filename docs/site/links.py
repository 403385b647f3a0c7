"""A hook of mkdocs: links to files of the repository that are no pages become their text.

Where they lead is checked by the tests, on the pages as they are.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

_LINK = re.compile(r"\[([^\]]+)\]\(([^)#:]+)\)")


def on_page_markdown(markdown: str, page: Any, config: Any, **_: Any) -> str:
    """The page without links out of the documentation's folder."""
    home = Path(config["docs_dir"]).resolve()
    here = Path(page.file.abs_src_path).resolve().parent

    def kept(match: re.Match[str]) -> str:
        inside = (here / match[2]).resolve().is_relative_to(home)
        return match[0] if inside else match[1]

    return _LINK.sub(kept, markdown)
