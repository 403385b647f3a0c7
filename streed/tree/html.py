"""Trees and outcomes for notebooks: nodes to be opened and closed, and whether they are proved optimal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from streed.data.visible import escaped
from streed.tree.nodes import Leaf, Node
from streed.tree.text import answers, number, question, size_text
from streed.tree.tree import Tree

_STYLE = (
    "font-family:system-ui,sans-serif;font-size:0.9em;border:1px solid #8886;border-radius:6px;"
    "padding:0.5em 0.8em;margin:0.4em 0;display:inline-block"
)
_MOST = 200
"""Nodes, or points of a front, that are shown."""


def tree_html(tree: Tree, verdict: str = "") -> str:
    """The tree as HTML that needs nothing else; `verdict`: a line of HTML above it."""
    said = f"<div><b>{verdict}</b></div>" if verdict else ""
    sizes = size_text(tree) + ("" if tree.positive is None else f"; positive class: {_shown(tree.positive)}")
    size = f'<div style="opacity:0.75">{escaped(sizes)}</div>'
    return f'<div class="streed-tree" style="{_STYLE}">{said}{size}{_nodes(tree)}</div>'


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


def _nodes(tree: Tree) -> str:
    """The nodes as nested lists, children below their question."""
    shows = iter(tree.shows())
    made: list[str] = []
    stack: list[tuple[Node | str, str]] = [(tree.root, "")]
    count = 0
    while stack:
        node, lead = stack.pop()
        if isinstance(node, str):
            made.append(node)
            continue
        count += 1
        if count > _MOST:
            made.append("<div>...</div>")
            break
        if isinstance(node, Leaf):
            rows = "1 row" if node.rows == 1 else f"{node.rows} rows"
            made.append(f"<div>{lead}<b>{escaped(_shown(next(shows)))}</b> <small>({rows})</small></div>")
            continue
        column = tree.columns[node.column]
        asks = escaped(question(column, node.cut))
        made.append(f'<details open><summary>{lead}{asks}</summary><div style="margin-left:1.4em">')
        said = answers(column, node.cut)
        children = [(child, f"<i>{escaped(each)}:</i> ") for child, each in zip(node.children, said, strict=True)]
        stack.append(("</div></details>", ""))
        stack.extend(reversed(children))
    made.extend(part for part, _ in reversed(stack) if isinstance(part, str))
    return "".join(made)


def _shown(value: Any) -> str:
    return number(value) if isinstance(value, float) else str(value)
