"""Rows whose leaves cost what a task's own methods make of the sums of their statistics, for the ordered search.

The search needs costs that grow with the rows, and is much quicker if they grow by no more than is known of each: what
`worst_per_row` promises. The first also holds of costs from 0 on that splits never raise (`superadditive`).
Whole costs are exact. Real costs are rounded down to a grid, by a step more than the methods can lose, and worst costs
up; then every bound of the search is one of the true costs, and what it cannot tell apart lies within a few steps: of a
part of the largest cost first and, where the best tree costs far less, of its own cost.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, final

import attrs
import numpy as np

from streed.encoding.cost_samples import CostSamples, asks_whole, lost_in_sums
from streed.encoding.generated import compile_kernels, grid_of
from streed.encoding.methods import CompiledMethods, split_table
from streed.encoding.statistics import Places, add_exactly, place_statistics
from streed.exact import Array, as_float, fraction_of
from streed.kernels import coding
from streed.kernels.codegen.generate import Kernels
from streed.kernels.codegen.spec import KernelSpec
from streed.ordered.problem import places_of
from streed.problem import Problem
from streed.task.analysis.facts import can_generate
from streed.task.base import objective
from streed.task.row_sums import sums_by

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
    lane_name = "float64"
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
