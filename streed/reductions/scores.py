"""Scores of two sums by scalar solves: Dinkelbach's method, and supported points.

Fractions N(v) / D(v) of affine functions, N = top - falls . v and D = base + slopes . v > 0 of the sums v of a tree, by
W. Dinkelbach (1967): On nonlinear fractional programming, Management Science 13, 492-498, in whole numbers:

    f = p / q, the score of a known tree; repeat
        the tree of least w . v, w = q falls + p slopes            (w . v < q top - p base exactly if N / D > f)
        none below q top - p base: f is the optimum; else f is that tree's score, strictly larger

Scores that are monotone in two sums, by the segments of the hull, then by what may lie below them:

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
import math
import operator
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any, final

import attrs

from streed.exact import in_whole
from streed.kernels.records import SHALLOW
from streed.problem import SearchStopped
from streed.reductions.lagrangian import Relaxation, Scaled
from streed.tables.entries import VALUE
from streed.tables.near_optimal import NearOptimalTrees
from streed.tables.vector_trees import EvaluatedTree, Trees, Vector, Window
from streed.task.bounded_sums import LinearFraction

Segment = tuple[Vector, Vector]
"""Two points of the front between which there may be others: the first has less x, the second less y."""

Least = tuple[list[int], Fraction, int]
"""What a solve proved: whole weights, their factor, and that no tree has less than this by them."""

_STEPS = 2048
"""Intervals of x that a segment is looked at in; more values of x share intervals, whose bound is then optimistic."""

_SHARE = 0.25
"""Of the seconds that are left: what the search of shallower trees may take, which proves nothing."""


@final
@attrs.define(eq=False)
class Oracle:
    """Trees under intervals on the last components of their vectors, and the best one by a rank of the objective's."""

    trees: Trees
    intervals: tuple[Window, ...]
    rank_of: Callable[[Vector], Any]
    """What a tree of a vector is worth, larger is better."""
    found: EvaluatedTree | None = None
    """The best tree so far; then its rank, and what no tree's rank exceeds: None where nothing is known."""
    rank: Any = None
    bound: Any = None
    scaled: Scaled = (1, ())
    """The multipliers of the limits that the last proof was by."""

    def offer(self, found: EvaluatedTree) -> bool:
        """Whether the tree keeps the limits and is better; takes it if so."""
        last = found.vector[len(found.vector) - len(self.intervals) :]
        if not all(least <= x <= most for x, (least, most) in zip(last, self.intervals, strict=True)):
            return False
        rank = self.rank_of(found.vector)
        if self.found is not None and rank <= self.rank:
            return False
        self.found, self.rank = found, rank
        return True

    def minimise(self, weights: Sequence[int], below: int | None = None) -> EvaluatedTree | None:
        """An allowed tree of least weights . vector, by the objective's components; None if no tree is allowed.

        Trees whose sum is not below `below` need not be found. Raises SearchStopped, with a bound on that least sum
        where there is one; the best tree so far is offered.
        """
        relaxation = Relaxation(self.trees, weights, self.intervals, below) if self.intervals else None
        try:
            if relaxation is None:
                return self.trees.cheapest(weights, below)
            if self.trees.shallow is not None:
                relaxation.learn(self.trees.shallow)
            found, self.scaled = relaxation.solve(), relaxation.scaled
            return found
        except SearchStopped as stop:
            lower, tree = (stop.lower, stop.tree) if relaxation is None else (relaxation.lower, relaxation.best)
            if tree is not None:
                self.offer(tree)
            raise SearchStopped(stop.reason, lower) from stop

    def seed(self) -> None:
        """Offers the trees that are a leaf."""
        if self.trees.problem.min_leaf <= self.trees.data.size:
            for found in self.trees.constants:
                self.offer(found)

    def value_ranges(self) -> list[Window]:
        """The least and the largest sum of each of the objective's components that any labels give."""
        value_ranges = self.trees.value_ranges
        return value_ranges[: len(value_ranges) - len(self.intervals)]


def maximise(oracle: Oracle, score: LinearFraction | None) -> None:
    """Raises the oracle's best tree to the optimum, and proves it as far as the search goes.

    `score`: its rank as a fraction whose coefficients are whole numbers; None for any that is monotone in two sums.
    """
    oracle.seed()
    if score is None:
        segments = Segments(oracle)
        try:
            return segments.run()
        finally:
            segments.tighten()
    known: list[Least] = []
    proved = False
    try:
        if any(score.slopes):
            quickly(oracle, lambda: _climb(oracle, score, None))
        proved = _climb(oracle, score, known)
    finally:
        oracle.bound = oracle.rank if proved else bound_by(oracle, score, known)


def quickly(oracle: Oracle, climb: Callable[[], Any]) -> None:
    """Climbs by solves that prove nothing, and so cost little, before those that prove the optimum."""
    trees, depth = oracle.trees, oracle.trees.problem.max_depth
    if trees.shallow is not None:
        oracle.trees = trees.shallow
        try:
            with trees.shallow.hurried(_SHARE):
                climb()
        finally:
            oracle.trees = trees
    elif depth is None or depth > SHALLOW:
        with trees.ahead():
            climb()


def _climb(oracle: Oracle, score: LinearFraction, known: list[Least] | None) -> bool:
    """Offers ever better trees until there are none; False if no tree is allowed."""
    while True:
        f = 0 if oracle.found is None else oracle.rank
        found = _minimise(oracle, score, f, known)
        if found is None or not oracle.offer(found) or not any(score.slopes):
            return oracle.found is not None


def _minimise(oracle: Oracle, score: LinearFraction, f: Any, known: list[Least] | None) -> EvaluatedTree | None:
    """A tree that beats the score f if any does; what the solve proves joins what is `known`, also if it is stopped."""
    p, q = f.numerator, f.denominator
    weights, scale = in_whole([q * fall + p * slope for fall, slope in zip(score.falls, score.slopes, strict=True)])
    # a sum of whole numbers is below this exactly if the score is above f
    is_asked = oracle.found is not None and any(score.slopes)
    below = math.ceil((q * score.top - p * score.base) * scale) if is_asked else None
    least = None
    try:
        found = oracle.minimise(weights, below)
        if found is not None:
            least = sum(map(operator.mul, weights, found.vector))
    except SearchStopped as stop:
        least = stop.lower
        raise
    finally:
        if known is not None and least is not None:
            known.append((weights, q * scale, least))
    return found


def bound_by(oracle: Oracle, score: LinearFraction, known: Sequence[Least]) -> Any:
    """No tree's score exceeds this, by all that solves proved; in fractions that takes as long as a quick solve."""
    value_ranges = oracle.value_ranges()
    bound = oracle.rank_of(tuple(low for low, _ in value_ranges))
    for weights, scale, least in known:
        if any(score.slopes):
            bound = min(bound, best_beyond(score, weights, least, value_ranges))
        else:
            bound = min(bound, (score.top - least / scale) / score.base)
    return bound


def best_beyond(
    score: LinearFraction, weights: Sequence[int], least: int, value_ranges: Sequence[Window]
) -> Fraction | float:
    """The best score N / D of any two sums v within the value_ranges with weights . v >= least; infinite if D <= 0.

    Scores are monotone along segments, so that a corner is best: one of the box, or where its edges meet the line.
    """
    corners = [Fraction(x) for x in value_ranges[0]], [Fraction(y) for y in value_ranges[1]]
    points = [(x, y) for x in corners[0] for y in corners[1] if weights[0] * x + weights[1] * y >= least]
    for along in range(2):
        (low, high), (w, other) = value_ranges[along], (weights[along], weights[1 - along])
        for fixed in corners[1 - along] if w else []:
            met = (least - other * fixed) / w
            if low <= met <= high:
                points.append((met, fixed) if along == 0 else (fixed, met))
    found: list[Fraction] = []
    for point in points:
        below = score.base + sum(map(operator.mul, score.slopes, point))
        if below <= 0:
            return math.inf
        found.append(score.at(point))
    return max(found, default=math.inf)


@final
class Segments:
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
        trees.tally["enumerations"] += 1
        keys = [0, *range(2, len(trees.parts))]
        multipliers = [w_x, *[0] * len(self.oracle.intervals)]
        intervals = [(0, segment[1][0] - 1), *self.oracle.intervals]
        near_optimal = NearOptimalTrees(trees, [0, 1], keys, w_y, multipliers, intervals)
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
