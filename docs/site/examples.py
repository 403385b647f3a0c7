"""An extension of griffe: examples in docstrings become fenced code, not the quotations that `>>>` is in Markdown."""

from __future__ import annotations

from typing import Any

import griffe


class Examples(griffe.Extension):
    """Fences what stands between `>>>` and the next empty line, and asks for no cross-references within."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrites the docstring of a module, class, function or attribute."""
        if obj.docstring is not None and ">>> " in obj.docstring.value:
            obj.docstring.value = fenced(obj.docstring.value)


def fenced(text: str) -> str:
    """The text with its examples in fences."""
    lines: list[str] = []
    inside = False
    for line in text.splitlines():
        begins = line.lstrip().startswith(">>> ")
        if begins and not inside:
            lines += ["", "```pycon"]
            inside = True
        if inside and not line.strip():
            lines.append("```")
            inside = False
        lines.append(line.strip() if inside and begins else line)
    return "\n".join([*lines, "```"] if inside else lines)
