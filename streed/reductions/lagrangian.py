"""A tree of least cost whose sums keep their limits: a Lagrangian bound, then the enumeration of the slack.

    least e subject to least_j <= z_j <= most_j, for sums e and z_j of a tree

    dual    g(m) = min over trees of (S e + sum_j m_j z_j) - sum_j (m_j most_j if m_j > 0 else m_j least_j), for S > 0
            no tree within the limits has e < g(m) / S. Concave in m / S: maximised one multiplier at a time, by cutting
            planes, since every tree met is a line above it.
    search  E = the dual bound; a tree within the limits of e <= E costs at most T = S E + the sum above, so it is among
            all trees of cost <= T, which are enumerated: the least e of them is the optimum, or E rises.

After M. L. Fisher (1981): The Lagrangian relaxation method for solving integer programming problems, Management Science
27, 1-18.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Sequence
from fractions import Fraction
from typing import final

import numpy as np

from streed.data.ordered import distinct_numbers
from streed.exact import Array
from streed.kernels.records import SHALLOW
from streed.problem import SearchStopped
from streed.reductions.plan import relabelled
from streed.tables.near_optimal import MOST_KEYS, NearOptimalTrees
from streed.tables.vector_trees import EvaluatedTree, Trees, Window

Line = tuple[int, tuple[int, ...]]
"""(e, z) of a tree: its relaxed value is a line in each multiplier."""

Scaled = tuple[int, tuple[int, ...]]
"""Multipliers as whole numbers, and what is one of them."""

_SWEEPS, _CUTS = 3, 40
"""Over all multipliers, where there are several; and solves for one multiplier in a sweep."""

_STEPS = 16
"""Between the bound and the best value known: the enumeration begins with no smaller ones."""

_HARDLY = 0.125
"""Of the slack between the bound and the next whole number: what another solve had better gain."""

_MANY_QUESTIONS, _FEWEST_CUTS = 200, 4
"""From so many on, trees of depth three are deep; and trees over a few thresholds of each column are searched before
those over all are enumerated."""

_SHARE, _AT_MOST = 0.25, 10.0
"""Of the seconds that are left, and seconds where there is no limit: what trees over so many thresholds may take."""

_PART = 0.125
"""Of the seconds that are left: what each search may take that is to tell multipliers and trees, and is not proved."""

_FEW_COLUMNS = (0, 0, 12, 4)
"""By the depth: with so many columns there are few trees."""

_FEW_NODES = 2 ** (SHALLOW + 1)
"""Shallow trees of more, which have splits into many values, are given other labels, too, as deep ones are."""

_NARROW, _WIDE = 2**29, 2**58
"""Totals that fit the engine's middle lanes, and its widest ones."""

_FINE = 256
"""The least that the two whole numbers of a multiplier should be, so that rounding it loses little."""


@final
class Relaxation:
    """One problem of a least sum e under intervals on sums z, and what is known of it."""

    def __init__(
        self, trees: Trees, weights: Sequence[int], intervals: Sequence[Window], below: int | None = None
    ) -> None:
        self.trees = trees
        self.intervals = tuple(intervals)
        self.weights = list(weights)
        self.first = len(trees.parts) - len(intervals)
        self.best: EvaluatedTree | None = None
        self.upper = below
        """Only values below it are of interest: that of the best tree within the intervals, once there is one."""
        self.bound = Fraction(0)
        """No tree within the intervals has a value below it."""
        self._multipliers = [0.0] * len(intervals)
        self.scaled: Scaled = (1, (0,) * len(intervals))
        """The multipliers of the bound."""
        self._costs: Array = trees.costs(weights)
        self._lines: list[Line] = []
        """e and z of each tree met."""
        self._answers: dict[Scaled, Line] = {}
        """Of the trees that were optimal, by multipliers."""
        self._known = False
        self._last: tuple[int, ...] = ()
        """The sums of the tree that is optimal for the multipliers."""

    @functools.cached_property
    def _wideness(self) -> list[int]:
        """No labels give the value and each of the sums a larger absolute value."""
        return [int(np.abs(self._costs).max(axis=1) @ self.trees.sizes), *self.trees.largest[self.first :]]

    @property
    def lower(self) -> int | None:
        """The bound as a whole number, or None before there is one."""
        return math.ceil(self.bound) if self._known else None

    def solve(self) -> EvaluatedTree | None:
        """The optimum, or None if no tree is in the intervals."""
        if not self.raise_bound() or self.trees.is_ahead:
            return self.best
        if not self._is_deep:
            self._ask_few_thresholds()
        return self._search() if self._is_open() else self.best

    @property
    def multipliers(self) -> list[Fraction]:
        """Those of the bound, for a value that is not scaled."""
        scale, whole = self.scaled
        return [Fraction(m, scale) for m in whole]

    def raise_bound(self, *, counting: bool = True) -> bool:
        """Raises the bound as far as multipliers do; False if `best` then is the optimum, None if there is none.

        `counting`: whether sums that only leaves have are found by counting rows, which needs no multipliers.
        """
        if self.trees.problem.min_leaf > self.trees.data.size:
            return False
        for found in self.trees.constants:
            self._meet(found)
        if counting and any(self._forces_a_leaf(j) for j in range(len(self.intervals))):
            return False
        if self._is_deep and not self.trees.is_ahead:
            with self.trees.ahead():
                self._multipliers = self.learn(self.trees)
            with self.trees.hurried(_SHARE):
                self._relaxed(self._multipliers)
            if self._rounded(self._multipliers) not in self._answers:
                with self.trees.ahead(_PART):
                    self._multipliers = self.learn(self.trees)
        if self._relaxed(self._multipliers) is None:
            return False
        if self._has_few_trees:
            return self._is_open()
        if self._is_deep and not self.trees.is_ahead:
            self._ask_few_thresholds()
        for _ in range(_SWEEPS if len(self.intervals) > 1 else 1):
            before = self.bound
            for j in range(len(self.intervals)):
                if not self._is_open() or not self._raise_multiplier(j):
                    return False
            if self.bound == before:
                break
        return self._is_open()

    def _ask_few_thresholds(self) -> None:
        """Learns from the trees over few thresholds of each ordered column, then twice as many, and so on.

        All trees over all thresholds within the slack may be too many to be enumerated.
        """
        questions, cuts, asked = self.trees.problem.questions, _FEWEST_CUTS, 0
        while questions is not None and self.trees.data.n_columns >= _MANY_QUESTIONS and self._is_open():
            columns = questions.among(cuts)
            if not asked < len(columns) <= len(questions.column) // 2:
                return
            left = self.trees.remaining()
            try:
                with self.trees.asking(columns, _AT_MOST if left is None else left * _SHARE) as few:
                    self.learn(few, columns=columns)
            except SearchStopped as stop:
                if stop.reason not in ("time", "memory"):
                    raise
                return
            cuts, asked = 2 * cuts, len(columns)

    def learn(self, trees: Trees, *, columns: Array | None = None) -> list[float]:
        """Takes over what can be learnt from some of the trees: the best one in the intervals, and lines.

        `columns`: those of all that the trees ask about, if not all. Gives the multipliers there, not much too large.
        """
        some = Relaxation(trees, self.weights, self.intervals, self.upper)
        try:
            some.solve()
        finally:
            self._lines += some._lines
            if some.best is not None:
                self.best = some.best if columns is None else self.trees.of_columns(some.best, columns)
                self.upper = some.upper
        return some._multipliers

    @property
    def _is_deep(self) -> bool:
        """Whether one solve may take long, so that trees are looked for first that are soon found."""
        depth, is_wide = self.trees.problem.max_depth, self.trees.data.n_columns >= _MANY_QUESTIONS
        return depth is not None and depth > (SHALLOW - 1 if is_wide else SHALLOW)

    def _forces_a_leaf(self, j: int) -> bool:
        """Whether only predictions of one label for all rows keep the j-th window: then no tree beats a leaf.

        Under a limit of 0 on groups of n0 and n1 rows n1 a = n0 b has no solutions but the ends, if these are coprime.
        """
        self.trees.remaining()
        vectors, sizes = self.trees.vectors[:, :, self.first + j], self.trees.sizes
        if vectors.shape[1] != 2 or self.trees.splits[self.first + j]:
            return False
        least, most = self.intervals[j]
        if most - least >= self._finest[self.first + j]:
            return False
        differences = vectors[:, 1] - vectors[:, 0]
        steps, number = distinct_numbers(differences)
        if len(steps) != 2:
            return False
        base, counts = vectors[:, 0] @ sizes, np.bincount(number, sizes).astype(np.int64)
        left = np.array([[least], [most]]) - base - steps[0] * np.arange(counts[0] + 1)
        low, high = left if steps[1] > 0 else left[::-1]
        low, high = np.maximum(-(-low // steps[1]), 0), np.minimum(high // steps[1], counts[1])
        ends = sum(least <= end <= most for end in (base, base + steps @ counts))
        return bool(np.maximum(high - low + 1, 0).sum() <= ends)

    @functools.cached_property
    def _finest(self) -> list[int]:
        """By how much the second label changes each sum at least."""
        vectors = self.trees.vectors
        finest: list[int] = np.abs(vectors[:, 1] - vectors[:, 0]).min(axis=0).tolist()
        return finest

    @property
    def _has_few_trees(self) -> bool:
        """Whether there are so few trees that all are enumerated sooner than multipliers are found."""
        depth = self.trees.problem.max_depth
        if depth is None or depth > SHALLOW or len(self.intervals) > MOST_KEYS:
            return False
        return self.trees.data.n_columns <= _FEW_COLUMNS[depth]

    def _is_open(self) -> bool:
        # without fractions, which are slow to compare
        return self.upper is None or self.bound.numerator <= (self.upper - 1) * self.bound.denominator

    def _line(self, found: EvaluatedTree) -> Line:
        return sum(map(operator.mul, self.weights, found.vector)), found.vector[self.first :]

    def _meet(self, found: EvaluatedTree) -> Line:
        """(e, z) of a tree; keeps it if it is the best one in the intervals."""
        self._lines.append(line := self._line(found))
        is_large = (self._is_deep and found.branches) or len(found.preorder) > _FEW_NODES
        moved = relabelled(self.trees, found, self.weights, self.intervals) if is_large else None
        for each, (value, z) in [(found, line), *([] if moved is None else [(moved, self._line(moved))])]:
            is_better = self.upper is None or value < self.upper
            if is_better and all(least <= x <= most for x, (least, most) in zip(z, self.intervals, strict=True)):
                self.best, self.upper = each, value
        return line

    def _relaxed(self, multipliers: Sequence[float]) -> tuple[Scaled, Line] | None:
        """(the multipliers as rounded, a tree of least relaxed value); raises the bound. None if no tree is allowed."""
        scaled = scale, whole = self._rounded(multipliers)
        if scaled not in self._answers:
            found = self._cheapest([*(scale * w for w in self.weights), *whole], scaled)
            if found is None:
                return None
            e, z = self._answers[scaled] = self._meet(found)
            self._raise_to(scale * e + sum(map(operator.mul, whole, z)), scaled)
        self._last = self._answers[scaled][1]
        return scaled, self._answers[scaled]

    def _raise_to(self, least: int, scaled: Scaled) -> None:
        """Raises the bound by the least relaxed value of any tree, at these multipliers."""
        scale, whole = scaled
        bound = Fraction(least - self._allowance(whole), scale)
        if not self._known or bound > self.bound:
            self.bound, self.scaled, self._known = bound, scaled, True

    def _cheapest(self, weights: list[int], scaled: Scaled | None = None) -> EvaluatedTree | None:
        """A tree of least weighted sum; `scaled`: the multipliers in these weights, if these are a relaxed value's."""
        try:
            return self.trees.cheapest(weights)
        except SearchStopped as stop:
            if stop.tree is not None:
                self._meet(stop.tree)
            if stop.lower is not None and scaled is not None:
                self._raise_to(stop.lower, scaled)
            raise

    def _allowance(self, whole: Sequence[int]) -> int:
        """The most that the multiplied sums of a tree in the intervals can be."""
        return sum(m * (most if m > 0 else least) for m, (least, most) in zip(whole, self.intervals, strict=True))

    def _rounded(self, multipliers: Sequence[float]) -> Scaled:
        """The multipliers as whole numbers over a common scale, so that costs stay in narrow lanes if they can."""
        if not any(multipliers):
            return 1, (0,) * len(multipliers)
        total = self._wideness[0] + sum(abs(m) * w for m, w in zip(multipliers, self._wideness[1:], strict=True))
        for most in (_NARROW, _WIDE):
            scale = int(most / max(total, 1))
            whole = tuple(round(m * scale) for m in multipliers)
            if scale >= _FINE and all(abs(w) >= _FINE or not m for w, m in zip(whole, multipliers, strict=True)):
                break
        return max(scale, 1), whole

    def _raise_multiplier(self, j: int) -> bool:
        """Raises the bound by the j-th multiplier; False if no tree is in the j-th window."""
        self.trees.remaining()
        least, most = self.intervals[j]
        if not self._multipliers[j] and least <= self._last[j] <= most:
            return True
        others = [m if i != j else 0.0 for i, m in enumerate(self._multipliers)]
        answer = self._relaxed(others)
        if answer is None:
            return False
        z = answer[1][1][j]
        if least <= z <= most:
            self._multipliers = others
            return True
        sign = 1 if z > most else -1

        def height(tree: Line) -> tuple[float, int]:
            """(e', h): the tree's relaxed value is e' + a h for a multiplier sign * a."""
            e, sums = tree
            excess = sums[j] - most if sign > 0 else least - sums[j]
            return e + sum(m * x for m, x in zip(others, sums, strict=True) if m), excess

        heights = [height(tree) for tree in self._lines]
        if all(h > 0 for _, h in heights):
            least_sum = self._cheapest([sign * (at == self.first + j) for at in range(len(self.trees.parts))])
            assert least_sum is not None
            heights.append(height(self._meet(least_sum)))
            if heights[-1][1] > 0:
                return False
        for _ in range(_CUTS):
            known = len(self._answers)
            answer = self._relaxed([*others[:j], sign * highest(heights), *others[j + 1 :]])
            assert answer is not None
            (scale, whole), tree = answer
            a = abs(whole[j]) / scale
            self._multipliers = [*others[:j], sign * a, *others[j + 1 :]]
            e, h = height(tree)
            if len(self._answers) == known or not self._is_open() or e + a * h >= min(e + a * h for e, h in heights):
                break
            heights.append((e, h))
            a, bound = highest(heights), float(self.bound)
            possible, slack = min(e + a * h for e, h in heights), math.ceil(bound) - bound
            if math.ceil(possible) == math.ceil(bound) and possible - bound < _HARDLY * slack:
                break
        return True

    def _search(self) -> EvaluatedTree | None:
        """The optimum, by an enumeration of the trees between the bound and the best one known."""
        depth = self.trees.problem.max_depth
        if depth is not None and depth > SHALLOW and (self.best is None or not self.best.branches):
            # there are many deep trees, and a best one that is a leaf says nothing of which budget may do
            with self.trees.restricted(max_depth=depth - 1) as shallower:
                self.learn(shallower)
            if not self._is_open():
                return self.best
        scale, whole = self.scaled
        keys = range(self.first, len(self.trees.parts))
        near_optimal = NearOptimalTrees(self.trees, self.weights[: self.first], keys, scale, whole, self.intervals)
        start, split = self.bound, sum(map(operator.mul, self.weights, self.trees.splits))
        # no tree's value is larger
        most = int(self._costs.max(axis=1) @ self.trees.sizes) + split * self.trees.data.n_rows
        errors = most if self._has_few_trees else math.ceil(start)
        while True:
            limit = most + 1 if self.upper is None else self.upper
            errors = min(errors, limit - 1)
            self.trees.tally["enumerations"] += 1
            found = near_optimal.best(scale * errors + self._allowance(whole), limit)
            if found is not None:
                limit, tree = found
                self._meet(tree)
                # other labels may better a tree beyond the budget, and none within it
                assert self.upper is not None
                assert self.upper == limit or errors < self.upper < limit, "the tree of an entry has another value"
                limit = self.upper
                if limit <= errors:
                    self.bound = Fraction(limit)
                    return self.best
            self.bound = max(self.bound, Fraction(errors + 1))
            if errors >= limit - 1:
                return self.best
            wide = 0 if self.upper is None else int((self.upper - start) / _STEPS)
            errors += max(1, int(errors - start), wide)


def highest(lines: Sequence[tuple[float, int]]) -> float:
    """The a >= 0 where the least of the lines e + a h is highest; some line falls or is flat."""
    rising = min(lines)
    falling = min((line for line in lines if line[1] <= 0), key=operator.itemgetter(0))
    if rising[1] <= 0:
        return 0.0
    a = 0.0
    for _ in lines:
        a = (falling[0] - rising[0]) / (rising[1] - falling[1])
        least, h, e = min((e + a * h, h, e) for e, h in lines)
        if least >= rising[0] + a * rising[1]:
            break
        rising, falling = ((e, h), falling) if h > 0 else (rising, (e, h))
    return a
