"""A fitted tree for notebooks: its questions, its leaves, and whether it is proved optimal."""

from __future__ import annotations

from typing import Any

from streed.data.visible import escaped
from streed.tree import Leaf, Node, Tree
from streed.tree.text import answers, number, question

_STYLE = (
    "font-family:system-ui,sans-serif;font-size:0.9em;border:1px solid #8886;border-radius:6px;"
    "padding:0.5em 0.8em;margin:0.4em 0;display:inline-block"
)
_MOST = 200
"""Nodes that are shown."""


def html_block(estimator: Any) -> str:
    """The fitted estimator's tree and proof as HTML that needs nothing else; empty before it is fitted."""
    tree = getattr(estimator, "tree_", None)
    if not isinstance(tree, Tree):
        return ""
    return (
        f'<div class="streed-tree" style="{_STYLE}"><div><b>{_verdict(estimator)}</b></div>'
        f'<div style="opacity:0.75">{escaped(_size(tree))}</div>{_nodes(tree)}</div>'
    )


def _verdict(estimator: Any) -> str:
    value = escaped(number(estimator.value_))
    if estimator.optimal_:
        return f"&#10003; proved optimal: value {value}"
    gap = "unknown" if estimator.gap_ is None else escaped(number(estimator.gap_))
    bounds = " to ".join("?" if b is None else number(b) for b in (estimator.lower_bound_, estimator.upper_bound_))
    return f"&#9888; stopped early: value {value}, the optimum lies in {escaped(bounds)} (gap {gap})"


def _size(tree: Tree) -> str:
    return f"{tree.n_branches} branching nodes, {tree.n_leaves} leaves, depth {tree.depth}"


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
