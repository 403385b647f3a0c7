"""What the ordered search is asked, as arrays: ranks of the rows in every column, and what rows cost in leaves.

Equal rows go the same way in every tree, so what they cost is added beforehand. Of costs by label, what the rows of a
place must cost, whatever its label, thereby becomes part of what every tree pays.

Other leaves cost what a task's own methods make of the sums of their statistics. The search needs costs that grow with
the rows, and is much quicker if they grow by no more than is known of each: what `worst_per_row` promises. The first
also holds of costs from 0 on that splits never raise (`superadditive`). Whole costs are exact. Real costs are rounded
down to a grid, by a step more than the methods can lose, and worst costs up; then every bound of the search is one of
the true costs, and what it cannot tell apart lies within a few steps: of a part of the largest cost first and, where
the best tree costs far less, of its own cost.
"""

from __future__ import annotations

import functools
import math
from fractions import Fraction
from typing import Any, final

import attrs
import numpy as np

from streed.data import Dataset
from streed.data.ordered import NO_LIMIT, OrderedValues
from streed.encoding.generated import NativeMethods
from streed.encoding.methods import CompiledMethods, StatisticsMatrix, read_statistics
from streed.exact import Array
from streed.kernels.counting.equal_rows import find_equal
from streed.ordered.scores import LABELLED, MATRIX, RESULTS, SIGNED, score
from streed.problem import Problem
from streed.task.analysis.facts import can_generate
from streed.task.base import objective
from streed.task.states import sums_by


@final
@attrs.frozen(eq=False)
class Features:
    """The columns of a data set as the search reads them: ordered ones, binary ones, which have one threshold, and
    categorical ones, whose ranks are codes.

    An ordered column with gaps is two features: with its gaps before all values and behind them. A threshold of a
    feature lies behind each of its ranks but the last, so that the question whether a value is missing is one of both.
    """

    data: Dataset
    ranks: Array
    """(F, n) int32, C-contiguous; all ranks of a feature occur but those of a coded one."""
    column: Array
    """(F,) int64: the data's column that the feature is made of."""
    limits: tuple[Array, ...]
    """For each feature, by threshold, int64: the largest rank in the column of what is below; one 0 of coded ones."""
    gaps_last: Array
    """(F,) bool: of an ordered column, whether gaps are behind all values, or there are none; they go to child 1."""

    @classmethod
    def of(cls, data: Dataset) -> Features:
        """The features of the data."""
        found = [
            (*_ranked(data.X[:, j], values, gaps_last), j, gaps_last)
            for j, values in sorted(data.ordered.items())
            for gaps_last in ((True, False) if values.has_gaps else (True,))
        ]
        ranks, limits, columns, last = zip(*found, strict=True) if found else ((), (), (), ())
        binary = [j for j in range(data.n_columns) if j not in data.ordered and j not in data.categorical]
        coded = [*binary, *data.categorical]
        together = np.concatenate([np.array(ranks, np.int32).reshape(-1, data.n_rows), data.X[:, coded].T])
        limits, last = (*limits, *[np.zeros(1, np.int64)] * len(coded)), (*last, *[False] * len(coded))
        column = np.array([*columns, *coded], np.int64)
        return cls(data, np.ascontiguousarray(together, np.int32), column, limits, np.array(last, bool))

    @property
    def categories(self) -> int:
        """How many features, the last ones, are categorical."""
        return len(self.data.categorical)

    def question(self, feature: int, rank: int) -> tuple[int, int, int]:
        """(column, limit, gaps) of the threshold behind this rank of the feature, as `Questions` has them."""
        limit = int(self.limits[feature][rank])
        return int(self.column[feature]), limit, 1 if limit == NO_LIMIT else int(self.gaps_last[feature])

    def is_turned(self, feature: int, rank: int) -> bool:
        """Whether the question's child 0 is for what is above the threshold: gaps come first, and are asked for."""
        return not self.gaps_last[feature] and int(self.limits[feature][rank]) == NO_LIMIT


def _ranked(ranks: Array, values: OrderedValues, gaps_last: bool) -> tuple[Array, Array]:
    """(ranks among the groups of values that cuts tell apart, the cut behind each but the last)."""
    uncut = len(values.cuts) + 1 < len(values.values)
    below = np.searchsorted(values.cuts, ranks).astype(np.int32) if uncut else ranks.astype(np.int32)
    if not values.has_gaps or not len(values.values):
        return below if len(values.values) else np.zeros(len(ranks), np.int32), values.cuts
    missing = ranks == values.gap_rank
    if gaps_last:
        below[missing] = len(values.cuts) + 1
        return below, np.append(values.cuts, NO_LIMIT)
    below += 1
    below[missing] = 0
    return below, np.concatenate([[NO_LIMIT], values.cuts])


LANES = (np.int16, np.int32, np.int64)


@final
@attrs.frozen(eq=False)
class SearchedRows:
    """Rows, their places in each column, and what they cost, as a session reads them.

    It searches whole numbers beyond `base`, in units of `divisor`.
    """

    ranks: Array
    """(F, n) int32: the rows' places among the distinct values of each column, from 0."""
    worst: Array
    """(n,) int64: what a row adds at most to the cost of a tree; 0 where that is not known."""
    price: int
    """Of a branching node, no more than what is never paid."""
    arrays: dict[str, Array]
    """What the kernels add up and read, by the record's names."""
    kind: str
    """Of the kernels,"""
    kernels: tuple[int, int]
    """the addresses of those that score splits, and that find the best one (0: by `leaf_costs`),"""
    scratch_vectors: int = 1
    """and how many vectors they write down, of the"""
    lane: Any = np.int64
    """type in which they add."""
    labels: int = 1
    min_leaf: int = 1
    base: int = 0
    """What every tree pays."""
    divisor: int = 1
    categories: int = 0
    """How many of the columns, the last ones, are categorical: their ranks are codes, and a split has a child for each.
    Then `min_leaf` must be 1, as what a tree costs on more rows would not be bounded by worst costs: a child without
    rows may get some, and too few."""
    whole: bool = True
    """Whether the kernels' costs are those of the trees, and not rounded down."""
    bounded: bool = True
    """Whether `worst` is known; else only a tree's cost on more rows bounds that on fewer."""
    kept: Any = None
    """What the kernels' code and words belong to."""

    @property
    def n_rows(self) -> int:
        return len(self.worst)

    @functools.cached_property
    def most_children(self) -> int:
        """Of a branching node."""
        return max(2, int(self.ranks[len(self.ranks) - self.categories :].max(initial=0)) + 1)


def ordered_rows(
    ranks: Array, costs: Array, split: int = 0, frequency: Array | None = None, min_leaf: int = 1, categories: int = 0
) -> SearchedRows:
    """Rows that cost so much under each label, (n, K) int64, where a tree pays `split` for each branching node.

    `frequency` (n,): how many rows of a leaf each row counts as (its costs are of all of them together); None: one.
    The sum of `worst` must be less than 2**60.
    """
    (n, k), least = costs.shape, costs.min(axis=1, keepdims=True)
    divisor = max(math.gcd(int(np.gcd.reduce(costs - least, axis=None)), split), 1)
    reduced = np.ascontiguousarray((costs - least) // divisor)
    worst, kind = reduced.max(axis=1), _kind(costs)
    copies, most = np.ones(n, np.int64) if frequency is None else frequency, int(worst.sum())
    counts = min_leaf > 1
    largest = max(most, min_leaf, int(copies.sum())) if counts else most
    lane: Any = next(lane for lane in LANES if largest <= np.iinfo(lane).max)  # in which no sum overflows
    amounts = {SIGNED: reduced[:, :1] - reduced[:, 1:], LABELLED: worst[:, None]}.get(kind, reduced)
    arrays = {
        "copies": copies,
        "frequency": copies.astype(lane) if counts else np.ones(1, lane),
        "amounts": np.ascontiguousarray(amounts.astype(lane)),
        "label_of": (reduced if kind == LABELLED else np.zeros((1, 1))).argmin(axis=1).astype(np.int32),
        "leaf_costs": reduced,
    }
    return SearchedRows(
        ranks, worst, min(split // divisor, most + 1), arrays, kind, (score(kind, lane, counts).address, 0),
        RESULTS + 4 * k + (4 * n if kind == LABELLED else 2), lane, k, min_leaf, int(least.sum()), divisor, categories,
    )  # fmt: skip


def _kind(costs: Array) -> str:
    """The kind of kernels that costs (n, K) allow."""
    others = costs.shape[1] - 1
    if others == 1:
        return SIGNED
    beyond = costs - costs.min(axis=1, keepdims=True)
    return LABELLED if bool((beyond.sum(axis=1) == others * beyond.max(axis=1)).all()) else MATRIX


_MUCH = 0.5
"""Kernels for any costs take a few times as long as those for one label a row; so many rows must remain at most."""


def merged_rows(
    ranks: Array, costs: Array, split: int, frequency: Array | None, min_leaf: int, categories: int, *, always: bool
) -> SearchedRows:
    """As `ordered_rows`, equal rows as one; as they are where that does not pay, unless it is to be done `always`."""
    first, place = find_equal(ranks.T)
    if len(first) < len(place):
        together, is_few = sums_by(place, costs, len(first)), len(first) <= _MUCH * len(place)
        if always or is_few or _kind(costs) != LABELLED or _kind(together) == LABELLED:
            ranks, costs = np.ascontiguousarray(ranks[:, first]), together
            if min_leaf > 1:
                copies = np.ones(len(place), np.int64) if frequency is None else frequency
                frequency = sums_by(place, copies, len(first))
    return ordered_rows(ranks, costs, split, frequency, min_leaf, categories)


_MOST = 2**57
"""Worst costs add up to less."""

_TINY = 1e-290

_GRID = 2.0**44
"""What rounding may lose is no more than a step of the grid of so many times as much."""


@final
@attrs.frozen
class Codes:
    """What the numbers of a search stand for whose costs a task's own methods make."""

    scale: float
    """Codes in a cost of `unit`."""
    unit: Fraction
    is_real: bool
    """Whether costs are floats by their nature."""

    def lower(self, total: int) -> int | float | Fraction:
        """What a code stands for."""
        native = total if self.scale == 1.0 else total / self.scale
        return native if self.unit == 1 else Fraction(native) * self.unit


def generated_rows(problem: Problem, ranks: Array, known: Any = None) -> tuple[SearchedRows, Codes] | None:
    """The rows of a problem whose columns have these ranks (F, n), equal ones merged; None if the task is not taken.

    `known`: what a tree costs, where costs beyond that need no codes. Raises TaskError, with the line, for methods that
    do not compile.
    """
    task, data = problem.task, problem.data
    if task.reads_rows or not can_generate(task, data, problem.sums):
        return None
    own, methods = objective(task), CompiledMethods.of(task)
    worst = own.worst_per_row(data)
    if worst is not None and 0 < float(worst.max()) < _TINY:
        worst = None  # a bound that may have been rounded down
    # costs from 0 on that splits never raise grow with the rows, too; but only that is known then
    grows = worst is not None or (own.superadditive and own.adds_values)
    if methods.calls or methods.combines or methods.limits or not grows:
        return None
    first, place = find_equal(ranks.T)
    ranks = np.ascontiguousarray(ranks[:, first])
    planes = StatisticsMatrix.summed(ranks.T, place, data.counts, read_statistics(problem, methods.reads_weight))
    native = NativeMethods.of(problem, methods, planes, real=False, ordered=True)
    probe, table, is_whole = native.probe, native.table, not native.spec.real
    if (planes.integral and not planes.exact) or probe.larger or not (native.splits_alike and native.raises_no_split):
        return None
    compiled = native.kernels
    scale, on_grains = native.grid(native.lost * _GRID, known)
    merged = np.zeros(len(first), np.int64)
    if worst is not None:
        weights = data.counts if data.weights is None else data.weights  # those of all rows that a row stands for
        with np.errstate(over="ignore"):
            steps = np.ceil(worst.astype(np.float64) / float(probe.unit) * weights * scale * (1 + 2.0**-40))
        if not (steps >= 0).all() or steps.sum() >= _MOST:
            return None
        merged = sums_by(place, steps + (not is_whole), len(first)).astype(np.int64)
    price = 0 if table is None else math.floor(float(table[0]) * scale * (1 if on_grains else 1 - 2.0**-40))
    numbers, kept = native.methods.words(scale, planes.per_unit)
    # statistics, and how many rows each row stands for
    amounts = np.column_stack([planes.values, planes.counts.astype(np.float64)])
    costs = np.zeros((len(first), native.spec.labels), np.int64 if is_whole else np.float64)
    compiled.costs_of(numbers, amounts, costs)
    # a row by itself must cost nothing or more, so that any rows do; what rounding may make of nothing is below a step
    if not (costs >= (0 if is_whole else -1 / scale)).all():
        return None
    rows = SearchedRows(
        ranks,
        merged,
        min(price, _MOST if worst is None else int(merged.sum()) + 1),
        {"amounts": amounts, "numbers": numbers},
        "generated",
        (compiled.address("score_thresholds"), compiled.address("find_stump_of_thresholds")),
        min_leaf=problem.min_leaf,
        whole=on_grains,
        bounded=worst is not None,
        kept=(compiled, kept),
    )
    return rows, Codes(scale, probe.unit, probe.real)
