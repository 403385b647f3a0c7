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

from streed.encoding.cost_samples import CostSamples, asks_whole, lost_in_sums
from streed.encoding.generated import compile_kernels, grid_of
from streed.encoding.methods import CompiledMethods, Places, add_exactly, place_statistics, split_table
from streed.exact import LARGEST_TOTAL, Array, as_float, fraction_of
from streed.kernels import coding
from streed.kernels.codegen.generate import Kernels, KernelSpec
from streed.ordered.scores import LABELLED, MATRIX, RESULTS, SIGNED, score
from streed.problem import Problem
from streed.task.analysis.facts import can_generate
from streed.task.base import objective
from streed.task.states import sums_by

LANES = (np.int16, np.int32, np.int64)


@final
@attrs.frozen(eq=False)
class OrderedRows:
    """Rows, their places in each column, and what they cost.

    Trees cost the sum of their rows' costs under the labels of their leaves and `split_cost` for each branching node.
    A session searches whole numbers beyond `base`, in units of `divisor`.
    """

    ranks: Array
    """(F, n) int32: the rows' places among the distinct values of each column, from 0."""
    costs: Array
    """(n, K) int64 of a row under each label; any numbers whose absolute values sum to less than 2**60."""
    split_cost: int = 0
    frequency: Array | None = None
    """(n,) int64 >= 1: how many rows of a leaf each row counts as (its costs are of all of them together)."""
    min_leaf: int = 1
    categories: int = 0
    """How many of the columns, the last ones, are categorical: their ranks are codes, and a split has a child for each.
    Then `min_leaf` must be 1, as what a tree costs on more rows would not be bounded by worst costs: a child without
    rows may get some, and too few."""

    whole = True
    """Whether the kernels' costs are those of the trees, and not rounded down."""
    bounded = True
    """Whether `worst` is known; else it is 0, and only a tree's cost on more rows bounds that on fewer."""

    def __attrs_post_init__(self) -> None:
        if float(np.abs(self.costs).astype(np.float64).sum()) >= LARGEST_TOTAL / 2:
            raise ValueError("costs: their sum is too large")

    @property
    def n_rows(self) -> int:
        return int(self.costs.shape[0])

    @functools.cached_property
    def most_children(self) -> int:
        """Of a branching node."""
        coded = self.ranks[len(self.ranks) - self.categories :]
        return max(2, int(coded.max(initial=0)) + 1)

    @property
    def n_labels(self) -> int:
        return int(self.costs.shape[1])

    @functools.cached_property
    def base(self) -> int:
        """What every tree pays: the rows' least costs."""
        return int(self.costs.min(axis=1).sum())

    @functools.cached_property
    def divisor(self) -> int:
        """What all costs beyond the base, and the cost of a split, are multiples of."""
        found = int(np.gcd.reduce(self.costs - self.costs.min(axis=1, keepdims=True), axis=None))
        return max(int(np.gcd(found, self.split_cost)), 1)

    @functools.cached_property
    def reduced(self) -> Array:
        """(n, K) int64: costs less the row's least one, in units of the divisor."""
        reduced: Array = (self.costs - self.costs.min(axis=1, keepdims=True)) // self.divisor
        return reduced

    @functools.cached_property
    def price(self) -> int:
        """Of a branching node, in units of the divisor; no more than what is never paid."""
        return min(self.split_cost // self.divisor, int(self.worst.sum()) + 1)

    @functools.cached_property
    def worst(self) -> Array:
        """(n,) int64: what a row adds at most to the cost of a tree, its largest cost, reduced."""
        worst: Array = self.reduced.max(axis=1)
        return worst

    @functools.cached_property
    def kind(self) -> str:
        """The kind of kernels that its costs allow."""
        if self.costs.shape[1] == 2:
            return SIGNED
        return LABELLED if bool((self.reduced.sum(axis=1) == (self.costs.shape[1] - 1) * self.worst).all()) else MATRIX

    @functools.cached_property
    def lane(self) -> Any:
        """The narrowest lane type in which no sum overflows."""
        largest = int(self.worst.sum())
        if self.min_leaf > 1:
            largest = max(largest, self.min_leaf, self.n_rows if self.frequency is None else int(self.frequency.sum()))
        return next(lane for lane in LANES if largest <= np.iinfo(lane).max)

    @functools.cached_property
    def amounts(self) -> Array:
        """(n, numbers) of the lane type: what the kernels add up."""
        if self.kind == SIGNED:
            found = self.reduced[:, :1] - self.reduced[:, 1:]
        elif self.kind == LABELLED:
            found = self.worst[:, None]
        else:
            found = self.reduced
        return np.ascontiguousarray(found.astype(self.lane))

    @property
    def kernels(self) -> tuple[int, int]:
        """The addresses of the kernels that score splits, and that find the best one (0: by `costs_by_label`)."""
        return score(self.kind, self.lane, self.min_leaf > 1).address, 0

    @property
    def costs_by_label(self) -> Array | None:
        """(n, K) int64: what a row costs in a leaf of each label, if costs are those of rows."""
        return np.ascontiguousarray(self.reduced)

    @property
    def scratch_vectors(self) -> int:
        """Vectors that the kernels write down."""
        return RESULTS + 4 * self.n_labels + (4 * self.n_rows if self.kind == LABELLED else 2)

    def summands(self) -> dict[str, Array]:
        """What the kernels add up and read, by the record's names."""
        ones = np.ones(self.n_rows, np.int64)
        frequency = ones if self.frequency is None else self.frequency
        return {
            "copies": frequency,
            "frequency": frequency.astype(self.lane) if self.min_leaf > 1 else np.ones(1, self.lane),
            "amounts": self.amounts,
            # the label under which a row costs least
            "label_of": (self.reduced if self.kind == LABELLED else np.zeros((1, 1))).argmin(axis=1).astype(np.int32),
        }


_SEED = 1

_MUCH = 0.5
"""Kernels for any costs take a few times as long as those for one label a row; so many rows must remain at most."""


def merge_rows(rows: OrderedRows, *, always: bool) -> OrderedRows:
    """The rows with equal ones as one; as they are where that does not pay, unless it is to be done `always`."""
    first, place = places_of(rows.ranks)
    if len(first) == len(place):
        return rows
    costs = sums_by(place, rows.costs, len(first))
    frequency = None
    if rows.min_leaf > 1:
        copies = np.ones(len(place), np.int64) if rows.frequency is None else rows.frequency
        frequency = sums_by(place, copies, len(first))
    ranks = np.ascontiguousarray(rows.ranks[:, first])
    merged = attrs.evolve(rows, ranks=ranks, costs=costs, frequency=frequency)
    if always or rows.kind != LABELLED or merged.kind == LABELLED or len(first) <= _MUCH * len(place):
        return merged
    return rows


def places_of(ranks: Array) -> tuple[Array, Array]:
    """(first, place): of each different row the number of one that is it, and for every row which of them it is."""
    factors = np.random.default_rng(_SEED).integers(1, 2**63, len(ranks), dtype=np.uint64) | np.uint64(1)
    sums = np.zeros(ranks.shape[1], np.uint64)
    for factor, each in zip(factors, ranks, strict=True):
        sums += factor * each.astype(np.uint64)
        sums ^= sums >> np.uint64(29)
    _, first, place = np.unique(sums, return_index=True, return_inverse=True)
    if not all((each[first][place] == each).all() for each in ranks):  # two rows that differ have the same sum
        _, first, place = np.unique(ranks, axis=1, return_index=True, return_inverse=True)
    return first, place.reshape(-1)


GENERATED = "generated"
"""The kind of kernels."""

_MOST = 2**57
"""Worst costs add up to less."""

_LARGEST_SUM = 2**53
"""Below this, float64 adds whole numbers exactly."""

_TINY = 1e-290

_GRID = 2.0**44
"""What rounding may lose is no more than a step of the grid of so many times as much."""


@final
@attrs.frozen(eq=False)
class GeneratedRows:
    """Rows, equal ones merged, with the sums of their statistics; see `OrderedRows` for what a session asks."""

    ranks: Array
    worst: Array
    price: int
    min_leaf: int
    scale: float
    """Codes in a cost of `unit`."""
    unit: Fraction
    is_real: bool
    """Whether costs are floats by their nature."""
    whole: bool
    bounded: bool
    amounts: Array
    """(n, S + 1) float64: statistics, and how many rows each row stands for."""
    numbers: Array
    """int64 words that the methods read."""
    compiled: Kernels
    kept: tuple[Any, ...]
    """Arrays that `numbers` has the addresses of."""
    kind = GENERATED
    lane = np.int64
    base = 0
    categories = 0
    most_children = 2
    divisor = 1
    n_labels = 1
    scratch_vectors = 1
    costs_by_label = None

    @property
    def n_rows(self) -> int:
        return len(self.amounts)

    def lower(self, total: int) -> int | float | Fraction:
        """What a code stands for."""
        native = total if self.scale == 1.0 else total / self.scale
        return native if self.unit == 1 else Fraction(native) * self.unit

    @property
    def kernels(self) -> tuple[int, int]:
        return self.compiled.address("score_thresholds"), self.compiled.address("find_stump_of_thresholds")

    def summands(self) -> dict[str, Array]:
        nothing = np.zeros(1, np.int64)
        return {"frequency": nothing, "label_of": nothing, "amounts": self.amounts, "numbers": self.numbers}


def generated_rows(problem: Problem, ranks: Array, known: Any = None) -> GeneratedRows | None:
    """The rows of a problem whose columns have these ranks (F, n); None for a task that the search does not take.

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
    probe = CostSamples.of(problem, methods.terms)
    methods = methods.in_units(probe.unit)
    table = split_table(methods.terms, problem)
    values, places, per_unit = _statistics(problem, methods)
    if probe.larger or values is None or (table is not None and ((table != table[0]).any() or table[0] < 0)):
        return None
    integral = values.dtype == np.int64
    wide = integral and probe.wide
    is_whole = integral and probe.whole and not wide
    shape = KernelSpec(
        terms=methods.term_shapes(places),
        inputs=values.shape[1],
        labels=len(task.labels(data)),
        lane="float64",
        real=not is_whole,
        coding=coding.WHOLE if is_whole else coding.GRID,
        counts=integral and not wide and asks_whole(problem),
        scaled=per_unit is not None,
        wide=wide,
    )
    compiled = compile_kernels(shape, methods.functions, task, ordered=True)
    adds_exactly = integral or per_unit is not None
    lost = 0.0 if is_whole else lost_in_sums(problem, methods.terms, not adds_exactly)
    if known is not None:
        probe = attrs.evolve(probe, largest=as_float(abs(fraction_of(known)) / probe.unit))
    scale, on_grains = grid_of(shape.coding, problem, probe, lost * _GRID)
    on_grains = is_whole or (on_grains and adds_exactly)
    first, place = places_of(ranks)
    merged = np.zeros(len(first), np.int64)
    if worst is not None:
        weights = data.counts if data.weights is None else data.weights  # those of all rows that a row stands for
        with np.errstate(over="ignore"):
            steps = np.ceil(worst.astype(np.float64) / float(probe.unit) * weights * scale * (1 + 2.0**-40))
        if not (steps >= 0).all() or steps.sum() >= _MOST:
            return None
        merged = sums_by(place, steps + (not is_whole), len(first)).astype(np.int64)
    price = 0 if table is None else math.floor(float(table[0]) * scale * (1 if on_grains else 1 - 2.0**-40))
    numbers, kept = methods.words(scale, per_unit)
    rows = GeneratedRows(
        ranks=np.ascontiguousarray(ranks[:, first]),
        worst=merged,
        price=min(price, _MOST if worst is None else int(merged.sum()) + 1),
        min_leaf=problem.min_leaf,
        scale=scale,
        unit=probe.unit,
        is_real=probe.real,
        whole=on_grains,
        bounded=worst is not None,
        amounts=sums_by(place, np.column_stack([values, data.counts]).astype(np.float64), len(first)),
        numbers=numbers,
        compiled=compiled,
        kept=kept,
    )
    return rows if _costs_something(rows, shape) else None


def _statistics(problem: Problem, methods: CompiledMethods) -> tuple[Array | None, Places, float | None]:
    """(values (n, S), the planes of each statistic, what values are divided by); no values if sums are too large."""
    asked = {name: values for name, values in problem.sums.items() if methods.reads_weight or name != "weight"}
    values, places = place_statistics(asked, problem.data.counts)
    if values.dtype != np.int64:
        values, per_unit = add_exactly(problem, values, list(asked))
        return values, places, per_unit
    largest_sum = float(np.abs(values.astype(np.float64)).sum(axis=0).max(initial=0))
    return (None if largest_sum >= _LARGEST_SUM else values), places, None


def _costs_something(rows: GeneratedRows, shape: KernelSpec) -> bool:
    """Whether a row by itself costs nothing or more, so that any rows do, under each label."""
    found = np.zeros((rows.n_rows, shape.labels), np.float64 if shape.real else np.int64)
    rows.compiled.costs_of(rows.numbers, np.ascontiguousarray(rows.amounts), found)
    # what rounding may make of nothing is less than a step
    return bool((found >= (-1 / rows.scale if shape.real else 0)).all())
