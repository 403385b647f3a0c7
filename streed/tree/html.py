"""Trees and outcomes for notebooks: the tree as text, and whether it is proved optimal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from streed.data.visible import escaped
from streed.tree.text import number, size_text, text
from streed.tree.tree import Tree

_STYLE = (
    "font-family:system-ui,sans-serif;font-size:0.9em;border:1px solid #8886;border-radius:6px;"
    "padding:0.5em 0.8em;margin:0.4em 0;display:inline-block"
)
_MOST = 200
"""Lines of a tree, or points of a front, that are shown."""


def tree_html(tree: Tree, verdict: str = "") -> str:
    """The tree as HTML that needs nothing else; `verdict`: a line of HTML above it."""
    said = f"<div><b>{verdict}</b></div>" if verdict else ""
    lines = text(tree).split("\n")
    shown = [size_text(tree), *lines[:_MOST], *(["..."] if len(lines) > _MOST else [])]
    return f'<div class="streed-tree" style="{_STYLE}">{said}<pre>{"<br>".join(map(escaped, shown))}</pre></div>'


def verdict_html(value: Any, optimal: bool, lower: Any, upper: Any, gap: Any, *, over: str) -> str:
    """How far a value is proved, and among which splits (`over`), as a line of HTML."""
    shown, among = escaped(number(value)), f"; over {escaped(over)}" if over else ""
    if optimal:
        return f"&#10003; proved optimal: value {shown}{among}"
    known = "unknown" if gap is None else escaped(number(gap))
    bounds = " to ".join("?" if bound is None else number(bound) for bound in (lower, upper))
    return f"&#9888; stopped early: value {shown}, the optimum lies in {escaped(bounds)} (gap {known}){among}"


def front_html(front: Sequence[tuple[Any, Tree]]) -> str:
    """The values of a front and the sizes of their trees, as a table."""
    lines = "".join(
        f"<tr><td>{escaped(number(value))}</td><td>{escaped(size_text(tree))}</td></tr>"
        for value, tree in front[:_MOST]
    )
    rest = f"<tr><td>... ({len(front):,})</td><td></td></tr>" if len(front) > _MOST else ""
    head = "<tr><th>value</th><th>tree</th></tr>"
    return f'<table class="streed-front"><caption>nondominated</caption>{head}{lines}{rest}</table>'
