"""Scores that are monotone in two sums, by scalar solves: segments of the hull, then what may lie below them.

    A, B = beyond the ends: less x than any tree and more y, and the other way round
    heap of segments (A, B) by the best rank of whole points strictly inside their box and above all lines
    while the best of them beats the incumbent:
        w = the normal of AB; C = a tree of least w . (x, y) = v; from now on no point lies below the line (w, v)
        v < w . A    C is a corner of the hull: offered; the segments (A, C) and (C, B)
        else         no corner lies between: all trees with w . (x, y) <= T are enumerated, T being the largest
                     w . (x, y) of points inside that would beat the incumbent; the best of them is offered

Some optimum of a monotone score is nondominated, hence a corner of the hull, or strictly inside one box.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterator
from typing import Any, final

from streed.reductions.plan import Oracle
from streed.tables.entries import VALUE
from streed.tables.near_optimal import NearOptimalTrees, Needed
from streed.tables.vector_trees import Vector

Segment = tuple[Vector, Vector]
"""Two points of the front between which there may be others: the first has less x, the second less y."""

_STEPS = 2048
"""Intervals of x that a segment is looked at in; more values of x share intervals, whose bound is then optimistic."""


def maximise(oracle: Oracle) -> None:
    """Raises the oracle's best tree to the optimum, and proves it as far as the search goes."""
    oracle.seed()
    oracle.bound = oracle.rank_of(tuple(low for low, _ in oracle.value_ranges()))
    search = Search(oracle)
    try:
        search.run()
    finally:
        search.tighten()


@final
class Search:
    """The segments that are still open, and the lines below which no tree lies."""

    def __init__(self, oracle: Oracle) -> None:
        (low_x, most_x), (low_y, most_y) = oracle.value_ranges()
        self.oracle = oracle
        self.lines: list[tuple[int, int, int]] = []
        """(w_x, w_y, v): w . (x, y) >= v for every tree."""
        self._open: list[tuple[Any, int, Segment]] = []
        """A heap, by rank: of the largest one the first."""
        self._count = itertools.count()
        self._inside: Segment | None = ((low_x - 1, most_y + 1), (most_x + 1, low_y - 1))
        """The segment that is looked into."""

    def run(self) -> None:
        """Searches until no segment can beat the incumbent."""
        assert self._inside is not None
        self._push(*self._inside)
        while self._open and self._beats(-self._open[0][0]):
            segment = heapq.heappop(self._open)[2]
            self._inside = segment
            rank = self._best_rank(segment)
            if rank is not None and self._beats(rank):
                if self._open and -self._open[0][0] > rank:
                    self._push(*segment)
                    continue
                self._look_into(segment)
            self._inside = None

    def tighten(self) -> None:
        """Sets the incumbent's bound to what is proved."""
        inside = None if self._inside is None else self._best_rank(self._inside)
        known = [rank for rank in (inside, self.oracle.rank) if rank is not None]
        self.oracle.bound = max([*known, *(-worst for worst, _, _ in self._open)], default=None)

    def _beats(self, rank: Any) -> bool:
        return self.oracle.found is None or rank > self.oracle.rank

    def _push(self, a: Vector, b: Vector) -> None:
        rank = self._best_rank((a, b))
        if rank is not None and self._beats(rank):
            heapq.heappush(self._open, (-rank, next(self._count), (a, b)))

    def _look_into(self, segment: Segment) -> None:
        a, b = segment
        w_x, w_y = a[1] - b[1], b[0] - a[0]
        found = self.oracle.minimise([w_x, w_y])
        if found is None:
            self._open.clear()
            return
        c = found.vector
        self.lines.append((w_x, w_y, w_x * c[0] + w_y * c[1]))
        self.oracle.offer(found)
        if w_x * c[0] + w_y * c[1] < w_x * a[0] + w_y * a[1]:
            self._push(a, c)
            self._push(c, b)
            return
        budget = self._largest(segment, w_x, w_y)
        if budget is not None:
            self._enumerate(segment, w_x, w_y, budget)

    def _enumerate(self, segment: Segment, w_x: int, w_y: int, budget: int) -> None:
        """Offers the best of all trees in the segment's box with w . (x, y) <= budget."""
        trees = self.oracle.trees
        trees.enumerations += 1
        keys = [0, *range(2, len(trees.parts))]
        multipliers = [w_x, *[0] * len(self.oracle.intervals)]
        intervals = [(0, segment[1][0] - 1), *self.oracle.intervals]
        most_y = segment[0][1] - 1

        needed = Needed(segment[1][0] - 1, most_y, staircase=len(keys) == 1)
        near_optimal = NearOptimalTrees(trees, [0, 1], keys, w_y, multipliers, intervals, needed)
        entries = near_optimal.every(budget)
        best, chosen = self.oracle.rank, None
        for (x, *_), entry in zip(near_optimal.sums_of(entries).tolist(), entries, strict=True):
            rank = self.oracle.rank_of((x, int(entry[VALUE])))
            if best is None or rank > best:
                best, chosen = rank, entry
        if chosen is not None:
            self.oracle.offer(near_optimal.tree(chosen))

    def _best_rank(self, segment: Segment) -> Any:
        """An upper bound on the rank of the points strictly inside; None if there are none."""
        return max((self.oracle.rank_of((low, y)) for low, _, y in self._floor(segment)), default=None)

    def _largest(self, segment: Segment, w_x: int, w_y: int) -> int | None:
        """At least the largest w . (x, y) of points strictly inside that beat the incumbent; None if there are none."""
        largest = None
        for low, high, y in self._floor(segment):
            if not self._beats(self.oracle.rank_of((low, y))):
                continue
            worst = segment[0][1] - 1
            while y < worst:
                middle = (y + worst + 1) // 2
                if self._beats(self.oracle.rank_of((low, middle))):
                    y = middle
                else:
                    worst = middle - 1
            cost = w_x * high + w_y * y
            largest = cost if largest is None else max(largest, cost)
        return largest

    def _floor(self, segment: Segment) -> Iterator[tuple[int, int, int]]:
        """(low, high, y): the points strictly inside with low <= x <= high have at least this y."""
        first, last = segment[0][0] + 1, segment[1][0] - 1
        step = max(1, -(-(last - first + 1) // _STEPS))
        for low in range(first, last + 1, step):
            high = min(low + step - 1, last)
            y = segment[1][1] + 1
            for w_x, w_y, v in self.lines:
                # ceil((v - w_x high) / w_y)
                y = max(y, -((w_x * high - v) // w_y))
            if y < segment[0][1]:
                yield low, high, y
