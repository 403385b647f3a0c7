"""What a count has when it is stopped: the trees of every split that was finished, on all levels, and a bound on all.

While the recursion counts the trees of some rows, an open node holds what it has so far: leaves, splits whose trees are
all counted, and the split in progress with those of its children that are. When the count is stopped the open nodes are
a path from the root, and the trees below the last of them are still a set that can be counted, listed and drawn from:
of the child in progress those that its own open node has, of children that were not begun the leaves.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, final

import attrs

from streed.rashomon.histogram import Histogram
from streed.rashomon.splits import Split

if TYPE_CHECKING:
    from streed.rashomon.recursion import Key, Recursion

_MOST_DIGITS = 10_000
"""Bits of a bound beyond which it tells nobody anything."""

_MOST_SPLITS = 64
"""Of a tree, for a bound by the number of splits."""


@final
@attrs.frozen(eq=False)
class Affordable:
    """A split of some rows under which there are trees within the budget."""

    split: Split
    children: tuple[int, ...]
    optima: tuple[Key, ...]
    """The least keys of the children."""
    trees: list[Histogram] = attrs.field(factory=list)
    """Those of the children, as far as they are counted."""


@final
@attrs.define(eq=False)
class Open:
    """A node whose trees are being counted. Every change is one step, so that it can be stopped between any two."""

    rows: int
    depth: int
    budget: Key
    leaves: Histogram
    finished: list[tuple[Affordable, Histogram]] = attrs.field(factory=list)
    current: Affordable | None = None

    @property
    def in_progress(self) -> Affordable | None:
        """The split whose trees are not all counted."""
        if self.finished and self.finished[-1][0] is self.current:
            return None
        return self.current


@final
@attrs.frozen(eq=False)
class Part:
    """The trees of some rows that were counted."""

    depth: int
    histogram: Histogram
    finished: tuple[Affordable, ...]
    current: Affordable | None
    """The split in progress, with the trees of its children that are known."""
    inner: tuple[Part | None, ...]
    """By child of that split what was counted; None of all trees."""

    @classmethod
    def of(cls, path: Sequence[Open], recursion: Recursion) -> Part:
        """What was counted of the first of the open nodes, each of which is in progress below the one before."""
        node = path[0]
        finished = tuple(each for each, _ in node.finished)
        parts = [node.leaves, *(part for _, part in node.finished)]
        begun = node.in_progress
        if begun is None:
            return cls(node.depth, Histogram.merged(parts), finished, None, ())
        slack = node.budget - begun.split.price - sum(begun.optima)
        known = list(begun.trees)
        inner: list[Part | None] = [None] * len(known)
        for child, least in list(zip(begun.children, begun.optima, strict=True))[len(known) :]:
            is_in_progress = len(inner) == len(begun.trees) and len(path) > 1 and path[1].rows == child
            leaves = recursion.of_leaves(child, least + slack)
            own = cls.of(path[1:], recursion) if is_in_progress else cls(node.depth - 1, leaves, (), None, ())
            inner.append(own)
            known.append(own.histogram)
        current = Affordable(begun.split, begun.children, begun.optima, known)
        parts.append(recursion.joined(current, node.budget))
        return cls(node.depth, Histogram.merged(parts), finished, current, tuple(inner))


def most_trees(labels: int, questions: int, depth: int, splits: int | None, width: int = 2) -> int | None:
    """No more trees than this are of the depth and at most so many splits; None where the bound is no number to show.

    Splits have up to `width` children. A question that was asked above splits no rows below, so every level has one
    less.
    """
    if not questions:
        return labels
    if splits is None or (depth < 8 and splits >= sum(width**level for level in range(depth))):
        total: int | None = labels
        for left in range(max(1, questions - depth + 1), questions + 1):
            total = None if total is None else _shown(labels + left * total**width)
        return total
    if splits > _MOST_SPLITS:
        return None
    depth = min(depth, splits)
    # by the number of splits: T(d) = labels + questions * x * T(d - 1)**width, up to x**splits
    trees = [labels]
    for left in range(max(1, questions - depth + 1), questions + 1):
        product = [1]
        for _ in range(width):
            product = _times(product, trees, splits)
        trees = [labels, *(left * each for each in product)]
    return _shown(sum(trees))


def _times(first: Sequence[int], last: Sequence[int], size: int) -> list[int]:
    """The product of two polynomials, its first `size` coefficients."""
    found = [0] * min(len(first) + len(last) - 1, size)
    for i, a in enumerate(first):
        for j, b in enumerate(last[: max(0, len(found) - i)]):
            found[i + j] += a * b
    return found


def _shown(bound: int) -> int | None:
    return bound if bound.bit_length() <= _MOST_DIGITS else None
