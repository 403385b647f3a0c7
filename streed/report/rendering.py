"""HTML from the templates beside this file: texts are escaped, and characters that nobody sees are shown as signs."""

from __future__ import annotations

import functools
import json
from typing import Any

from streed.data.visible import visible


def rendered(template: str, **values: Any) -> str:
    """The text of a template, where texts stand as data, and what `markup` made as it is."""
    text: str = _environment().get_template(template).render(values)
    return text


def markup(text: str) -> Any:
    """The text as markup, which is not escaped again."""
    from markupsafe import Markup

    return Markup(text)


def json_in_script(document: Any) -> Any:
    """The document as JSON inside a script, which a "<" in it could end."""
    return markup(json.dumps(document, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c"))


@functools.cache
def _environment() -> Any:
    import jinja2

    return jinja2.Environment(
        loader=jinja2.PackageLoader("streed.report", ""),
        autoescape=True,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )


def _shown(value: Any) -> Any:
    return visible(value) if type(value) is str else value
