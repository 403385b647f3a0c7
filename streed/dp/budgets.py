"""Depth and nodes that are left: which limits are none, and how children may share nodes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import attrs

Limits = tuple[int | None, int | None]
"""How deep a subtree may be, and how many branching nodes it may have; None: any."""


@attrs.frozen
class Budgets:
    """The limits of subtrees of one problem, written so that equal sets of trees have equal limits."""

    n_splits: int
    most_children: int

    def useful(self, leaves: int, depth: int | None, nodes: int | None) -> Limits:
        """The limits at a set whose trees have at most `leaves` leaves with rows.

        None where they exclude no tree, (0, None) where only a leaf is left.

        A tree has one branching node less than such leaves, and no path meets a split twice (as in
        `streed.reference.recursion`).
        """
        most = leaves - 1
        if nodes is not None and (depth is None or nodes < depth):
            depth = nodes
        if most <= 0 or depth == 0:
            return 0, None
        if depth is not None and depth >= min(most, self.n_splits):
            depth = None
        if nodes is not None and nodes >= self._most_nodes(most, depth):
            nodes = None
        return depth, nodes

    def shares(self, leaves: Sequence[int], depth: int | None, nodes: int | None) -> Iterator[tuple[int | None, ...]]:
        """How `nodes` branching nodes can be shared among children of so many leaves at most, and `depth` levels.

        None has a use for more nodes than its rows and depth allow, so it gets no more while others could use them.
        """
        if nodes is None:
            yield (None,) * len(leaves)
            return
        caps = [self._most_nodes(max(most - 1, 0), depth) for most in leaves]
        if sum(caps) <= nodes:
            yield (None,) * len(leaves)
            return
        yield from _shares(nodes, caps)

    def _most_nodes(self, most: int, depth: int | None) -> int:
        if depth is None or depth >= most:
            return most
        full: int = sum(self.most_children**level for level in range(depth))
        return min(most, full)


def _shares(total: int, caps: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Every way to share the total, at least 0 and at most its cap each, the first one's share rising."""
    if len(caps) == 1:
        yield (total,)
        return
    rest = sum(caps[1:])
    for first in range(max(0, total - rest), min(total, caps[0]) + 1):
        for others in _shares(total - first, caps[1:]):
            yield (first, *others)
