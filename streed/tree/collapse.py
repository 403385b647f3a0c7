"""A multiway tree with equal siblings drawn together (Branches, Appendix E).

A split with a child per category repeats what several categories have in common. Collapsed, each child stands for all
categories below which the same tree grows; a split of which one child is left asks nothing and goes. Predictions stay
the same, and there are fewer branching nodes to read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, final

import attrs
import numpy as np

from streed.tree.nodes import Branch, flatten
from streed.tree.rows import TreeRows

if TYPE_CHECKING:
    from streed.data import Column, Cut
    from streed.tree.tree import Tree


@final
@attrs.frozen
class GroupLeaf:
    """A leaf: what it shows, and its rows (unweighted)."""

    shows: Any
    rows: int


@final
@attrs.frozen(eq=False)
class GroupBranch:
    """A branching node: the number of its column, and its children with the codes that lead to each."""

    column: int
    groups: tuple[tuple[int, ...], ...]
    children: tuple[GroupNode, ...]
    cut: Cut | None = None
    """Of an ordered column."""

    @property
    def rows(self) -> int:
        """The rows below it."""
        return sum(leaf.rows for leaf in _leaves(self))


GroupNode = GroupLeaf | GroupBranch


@final
@attrs.frozen(eq=False)
class CollapsedTree:
    """A tree whose branches may lead several categories to one child; it predicts what the tree it was made of does."""

    root: GroupNode
    tree: Tree
    """The tree that it was made of, which reads rows for it."""

    @property
    def columns(self) -> Mapping[int, Column]:
        """The columns that the tree was made with, by number."""
        return self.tree.columns

    @property
    def n_branches(self) -> int:
        """The number of branching nodes."""
        return sum(isinstance(node, GroupBranch) for node in _walk(self.root))

    @property
    def n_leaves(self) -> int:
        """The number of leaves."""
        return sum(1 for _ in _leaves(self.root))

    def predict(self, X: Any) -> list[Any]:
        """What the leaf of each row shows; `X` as in `Tree.predict`."""
        read = TreeRows.of(X, self.tree.columns, self.tree.n_columns, self.tree.recipe)
        shown: list[Any] = [None] * read.n_rows
        stack: list[tuple[GroupNode, Any]] = [(self.root, np.arange(read.n_rows))]
        while stack:
            node, rows = stack.pop()
            if isinstance(node, GroupLeaf):
                for row in rows.tolist():
                    shown[row] = node.shows
                continue
            here = read.sides(Branch(node.column, (), 0, node.cut), rows)
            for group, child in zip(node.groups, node.children, strict=True):
                stack.append((child, rows[np.isin(here, group)]))
        return shown

    def to_text(self) -> str:
        """The tree as text, one node a line, children below their question."""
        from streed.tree.text import answers, question

        lines: list[str] = []
        stack: list[tuple[GroupNode, str, str, str]] = [(self.root, "", "", "")]
        while stack:
            node, lead, indent, answer = stack.pop()
            if isinstance(node, GroupLeaf):
                lines.append(f"{lead}{answer}{node.shows} ({'1 row' if node.rows == 1 else f'{node.rows} rows'})")
                continue
            column = self.columns[node.column]
            lines.append(f"{lead}{answer}{question(column, node.cut)}")
            said, last = answers(column, node.cut), len(node.children) - 1
            below = [
                (
                    child,
                    indent + ("└── " if at == last else "├── "),
                    indent + ("    " if at == last else "│   "),
                    f"{' or '.join(said[code] for code in group)}: ",
                )
                for at, (group, child) in enumerate(zip(node.groups, node.children, strict=True))
            ]
            stack.extend(reversed(below))
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.to_text()


def collapse(tree: Tree) -> CollapsedTree:
    """The tree with equal siblings drawn together."""
    shows = iter(tree.shows())
    flat = flatten(tree.root)
    shown = {place: next(shows) for place, entry in enumerate(flat) if not isinstance(entry[1], tuple)}
    structures: dict[Any, int] = {}
    # the numbers of subtrees; those that predict alike in the same way have the same
    made: list[_Grown] = [_Grown(0, None, ())] * len(flat)
    for place in reversed(range(len(flat))):
        column, below, _, *cut = flat[place]
        if not isinstance(below, tuple):
            number = structures.setdefault(("leaf", _key(shown[place])), len(structures))
            made[place] = _Grown(number, shown[place], (int(below),))
            continue
        grouped: dict[int, list[int]] = {}
        for code, child in enumerate(below):
            grouped.setdefault(made[child].number, []).append(code)
        merged = [_merged([made[below[code]] for code in codes]) for codes in grouped.values()]
        if len(merged) == 1:
            made[place] = merged[0]
            continue
        groups = tuple(tuple(codes) for codes in grouped.values())
        number = structures.setdefault((column, *cut, groups, tuple(grouped)), len(structures))
        counts = tuple(count for each in merged for count in each.rows)
        made[place] = _Grown(number, (column, groups, tuple(merged), *cut), counts)
    return CollapsedTree(made[0].node(), tree)


@attrs.frozen(eq=False)
class _Grown:
    """A subtree: its number, what it is (what a leaf shows, or column, groups, children), the rows of its leaves."""

    number: int
    what: Any
    rows: tuple[int, ...]

    def node(self) -> GroupNode:
        """The subtree as nodes, with its own rows."""
        counts = iter(self.rows)

        def grown(each: _Grown) -> GroupNode:
            if len(each.rows) == 1:
                return GroupLeaf(each.what, next(counts))
            column, groups, children, *cut = each.what
            return GroupBranch(column, groups, tuple(map(grown, children)), *cut)

        return grown(self)


def _merged(alike: list[_Grown]) -> _Grown:
    """Equal subtrees as one, with the rows of all."""
    return attrs.evolve(alike[0], rows=tuple(map(sum, zip(*(each.rows for each in alike), strict=True))))


def _key(shows: Any) -> Any:
    """What two leaves that show the same have in common."""
    try:
        hash(shows)
    except TypeError:
        return repr(shows)
    return shows


def _walk(root: GroupNode) -> Iterator[GroupNode]:
    """All nodes, a parent before its children."""
    stack = [root]
    while stack:
        node = stack.pop()
        yield node
        if isinstance(node, GroupBranch):
            stack.extend(reversed(node.children))


def _leaves(root: GroupNode) -> Iterator[GroupLeaf]:
    return (node for node in _walk(root) if isinstance(node, GroupLeaf))
