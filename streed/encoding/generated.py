"""Problems whose costs are computed by kernels generated from the task: any leaf cost of the sums of its statistics.

Statistics with few different rows are counted by groups, all others are summed row by row, equal rows merged first. The
values of the task become codes that keep their order (`kernels/coding.py`).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any, final

import attrs
import numpy as np

from streed.data import Dataset
from streed.encoding.certificate import measure_exactly, measure_task
from streed.encoding.compile_errors import compile_kernels
from streed.encoding.cost_samples import CostSamples, asks_whole, lost_in_sums
from streed.encoding.encoding import Encoding, TooImprecise
from streed.encoding.methods import CompiledMethods
from streed.encoding.overflow import Record, note_costs
from streed.encoding.statistics import StatisticsMatrix
from streed.encoding.terms import split_table
from streed.errors import MismatchError, StreedError, TaskError
from streed.exact import Array
from streed.kernels import coding
from streed.kernels.codegen.spec import KernelSpec
from streed.kernels.packed import PackedProblem, Scoring, writable
from streed.kernels.records import INFINITE, LOWEST
from streed.problem import Problem, Solution
from streed.task import State, Task, Value
from streed.task.analysis.facts import can_generate
from streed.task.analysis.linear_form import row_cost_form
from streed.task.constrained import objective
from streed.task.row_sums import state_of_first

_GRID_BITS = 44
"""Bits of a code for the largest cost that was seen beforehand."""

_MOST_GRAINS = 2**49
"""Costs below so many grains are rounded to their whole number of them, whatever float64 made of them."""

_COARSER = 2.0**-16

NOISE = 2.0**-40
"""Part of the largest numbers that rounding may cost, in all sums together."""

_REAL = 2.0**-44
"""Part of the largest cost that the operations of one tree in float64 may lose: some hundred roundings."""

_BITS_STEP = 2.0**-49
"""Part of a value that coding it by its bits may lose."""

TOLERANCE = 1e-9
"""Native values and Python's may differ by this part of 1 + |value|."""


@final
@attrs.frozen(eq=False)
class Scored(Encoding):
    """Codes as `coding` says; real ones on a grid are multiples of 1 / scale."""

    packed: PackedProblem
    problem: Problem
    task: Task
    planes: StatisticsMatrix
    coding: str
    scale: float
    sign: int
    exact: bool
    largest: float
    """Of the costs that were seen beforehand."""
    lost: float
    """What the rounding of sums may add to the value of any tree, or take from it."""
    settled: bool = False
    """Whether a finer grid was found to be too fine."""
    route = "generated"

    @classmethod
    def of(cls, problem: Problem, real: bool = False) -> Scored:
        """The problem packed, its kernels compiled; raises TaskError, with the line, for code that does not compile.

        `real`: costs are not all whole, whatever those that were seen beforehand are.
        """
        task, data = problem.task, problem.data
        own = objective(task)
        methods = CompiledMethods.of(task, data.n_columns)
        planes = StatisticsMatrix.of(problem, methods.reads_weight)
        table = split_table(methods.terms, problem)
        probe = CostSamples.of(problem, table)
        wide = planes.integral and probe.wide
        whole = planes.exact and probe.whole and not (wide or real)
        kind = coding.WHOLE if whole else coding.BITS if methods.combines else coding.GRID
        sign = -1 if probe.larger else 1
        free = (table is None or sign * table.min() >= 0) and (not methods.calls or own.worsening)
        summed = planes.groups is None
        lane = planes.lane
        shape = KernelSpec(
            terms=methods.term_shapes(planes.places),
            inputs=planes.values.shape[1],
            labels=len(task.labels(data)),
            lane=np.dtype(lane).name,
            real=not whole,
            coding=kind,
            larger=probe.larger,
            limits=methods.limit_shapes(),
            table=table is not None,
            members=methods.members,
            multiway=bool(data.categorical),
            counts=summed and planes.integral and not wide and asks_whole(problem),
            scaled=planes.per_unit is not None,
            wide=wide,
            floors=summed and own.superadditive and not methods.combines and free,
        )
        compiled = compile_kernels(shape, methods.functions, task)
        # where all costs cancel, what rounding leaves of the sums must have codes, too
        largest = max(probe.largest, NOISE * _largest_sum(planes)) if kind == coding.GRID else 0.0
        scale, on_grains = grid_of(kind, own, largest)
        numbers, kept = methods.words(scale, planes.per_unit)
        alike = table is None or bool((table == table[0]).all())
        packed = planes.pack(problem, merge=alike and not methods.calls)
        bounded = free and not (summed or methods.calls or methods.combines or methods.limits)
        scoring = Scoring(
            planes=shape.planes,
            rows_plane=shape.inputs,
            row_values=planes.row_values(packed),
            row_floors=np.zeros(len(packed.row_bits)) if shape.floors else None,
            lane=lane,
            real=not whole,
            worst_unit=_worst_unit(problem, scale) if bounded else 0,
            split_costs=None if table is None else _costs_of_splits(table, packed, data, sign, whole),
            calls_costs=methods.calls,
            path_words=(data.n_columns + 63) // 64 if methods.by_path else 0,
            numbers=numbers,
            kernels=compiled,
            kept=kept,
        )
        packed = attrs.evolve(packed, scoring=scoring)
        exact = whole or (on_grains and (planes.integral or planes.per_unit is not None))
        lost = 0.0 if exact else lost_in_sums(problem, not (planes.integral or planes.per_unit is not None))
        return cls(packed, problem, task, planes, kind, scale, sign, exact, probe.largest, lost)

    def value(self, code: int) -> Value:
        return self.sign * coding.decoded(code, self.coding, self.scale)

    def bound(self, code: int) -> Value:
        widened = self.value(code) - self.sign * self._slack(code)
        own = self._own_bound
        return own if own is not None and self.task.better(widened, own) else widened

    def target(self, value: Any) -> int:
        """On a grid, so far above the value that rounding takes no better tree there; by bits, nowhere."""
        beat: Any = self.sign * value
        if self.coding == coding.WHOLE:
            above: int = math.ceil(beat)
            return above
        reach = float(beat) * self.scale
        if self.coding != coding.GRID or not abs(reach) < coding.LARGEST_CODE:
            return INFINITE
        return math.ceil((float(beat) + self._slack(math.ceil(reach))) * self.scale) + (not self.exact)

    @functools.cached_property
    def _own_bound(self) -> Value | None:
        """The task's own bound at the state of all rows."""
        if self.exact:
            return None
        data = self.problem.data
        return self.task.lower_bound(state_of_first(self.problem.sums, data.n_rows, data))

    def rounding(self, preorder: Array) -> float:
        return 0.0 if self.exact else self._slack(0)

    def _slack(self, code: int) -> float:
        """How far rounding may have moved the value of any tree: on the grid by half a step for each leaf and split."""
        if self.exact:
            return 0.0
        size, branches = max(self.largest, abs(float(self.value(code)))), self._most_branches
        steps = (2 * branches + 1) / self.scale if self.coding == coding.GRID else 2.0 * branches * _BITS_STEP * size
        return steps + _REAL * size + self.lost

    @property
    def _most_branches(self) -> int:
        """No tree within the limits has more branching nodes."""
        limits = [self.problem.max_nodes, None if self.problem.max_depth is None else 2**self.problem.max_depth - 1]
        return min([self.problem.data.n_rows - 1, *(each for each in limits if each is not None)])

    def less_precise(self) -> Encoding | None:
        assert self.packed.scoring is not None
        if self.coding == coding.WHOLE:
            return Scored.of(self.problem, real=True)
        scale = self.scale * _COARSER
        return None if self.coding != coding.GRID or scale == 0.0 else attrs.evolve(self.on_grid(scale), settled=True)

    def on_grid(self, scale: float) -> Scored:
        assert self.packed.scoring is not None
        numbers_ = self.packed.scoring.numbers.copy()
        numbers_[:1] = np.array([scale]).view(np.int64)
        worst = min(math.ceil(self.packed.scoring.worst_unit * (scale / self.scale)), INFINITE)
        scoring = attrs.evolve(self.packed.scoring, numbers=numbers_, worst_unit=worst)
        return attrs.evolve(self, packed=attrs.evolve(self.packed, scoring=scoring), scale=scale, exact=False)

    def solution(
        self, problem: Problem, preorder: Array, code: int, lower: int, complete: bool
    ) -> tuple[Solution, bool]:
        solution = self._measured(problem, preorder)
        value, claimed = solution.value, self.value(code)
        apart = abs(value - claimed)
        near = bool(apart <= TOLERANCE * (1 + max(abs(value), abs(claimed))))
        if not near and complete and self.coding == coding.GRID and not self.settled:
            # a tree of this value exists, so costs far above it need no codes, nor what rounding leaves of the sums
            finer = _scale(max(abs(float(value)), NOISE * _largest_sum(self.planes)))
            if finer > 2 * self.scale:
                raise TooImprecise(self.on_grid(finer))
        near = near or bool(apart <= max(self.lost, self._noise(problem, preorder)))
        if not near and (complete or self._beats(value, lower)):
            raise MismatchError(
                f"the tree is worth {float(value)!r} by the task's Python methods and {claimed!r} by its native ones; "
                f"{self._cause()}"
            )
        return solution, near

    def _cause(self) -> str:
        """What could have made native values and Python's differ."""
        if self.planes.integral:
            return "a method that depends on more than the sums, or whole numbers beyond 2**63, could be why"
        if self.planes.per_unit is not None:
            return "the sums are exact in both, so a method that depends on more than the sums could be why"
        return (
            "the statistics are real numbers that fit no common unit, so native sums are rounded to one part in 2**52 "
            "of their total, and a cost that leaps or turns steep at such a difference could be why: round the "
            "statistics to decimals, or let the cost be smooth there"
        )

    def _measured(self, problem: Problem, preorder: Array) -> Solution:
        """The tree by the task's Python methods, at exact sums where statistics are real numbers."""
        planes = self.planes
        if planes.integral:
            return measure_task(problem, preorder, planes.codes, planes.sums, planes.counts)
        sums, counts = problem.exact_sums, problem.data.counts
        codes = writable(problem.data.X)
        try:
            return measure_exactly(problem, preorder, codes, sums, counts)
        except StreedError:
            raise
        except Exception:  # noqa: BLE001 - methods that need floats, such as those that call numpy, get floats
            return measure_exactly(problem, preorder, codes, sums, counts, exact=False)

    def _beats(self, value: Value, lower: int) -> bool:
        """Whether the value is better than the proved bound, by more than rounding.

        A tree that was completed where the search had not been may well be better than the search knew.
        """
        if lower <= LOWEST:
            return False
        bound = self.value(lower)
        return bool(self.sign * (bound - value) > TOLERANCE * (1 + max(abs(value), abs(bound))))

    def _noise(self, problem: Problem, preorder: Array) -> float:
        """How far apart rounding may bring native values and Python's, by the numbers that the tree's leaves meet."""
        record = Record()
        labels = range(len(self.task.labels(problem.data)))
        visit = functools.partial(note_costs, self.task, record, labels)
        measure_task(problem, preorder, self.planes.codes, self.planes.sums, self.planes.counts, visit)
        return NOISE * max(record.whole, record.real, _largest_sum(self.planes))


def _largest_sum(planes: StatisticsMatrix) -> float:
    """The largest size that a sum of the statistics can have."""
    return max((float(np.abs(values).sum(axis=0).max(initial=0)) for values in planes.sums.values()), default=0.0)


def native_values(task: Task, data: Dataset, states: Sequence[State]) -> list[list[Value]]:
    """The cost of a leaf at each state under each label, by the native code of the bound task.

    Raises TaskError for tasks of which no kernel is made.
    """
    problem = Problem(data, task, None, None, 1)
    if row_cost_form(task, data) is not None or not can_generate(task, data, problem.sums):
        raise TaskError(f"{type(task).__name__} has no kernel of its own")
    measure = Scored.of(problem)
    scoring = measure.packed.scoring
    assert scoring is not None
    planes, rows = [], []
    for s in states:
        sums = [np.ravel([float(x) for x in np.atleast_1d(getattr(s, name))]) for name in measure.planes.places]
        flat = np.concatenate(sums) if sums else np.zeros(0)
        kept = flat[measure.planes.kept_entries]
        planes.append(kept if measure.planes.per_unit is None else np.rint(kept * measure.planes.per_unit))
        rows.append(s.rows)
    kind = np.float64 if scoring.row_values is not None else np.int64
    found = np.zeros((len(states), len(task.labels(data))), np.float64 if scoring.real else np.int64)
    scoring.kernels.costs_of(scoring.numbers, np.array(planes, kind), np.array(rows, kind), found)
    return [list(line) for line in found.tolist()]


def _scale(largest: float) -> float:
    """The grid on which the largest cost has a code of _GRID_BITS bits."""
    return 2.0 ** (_GRID_BITS - math.frexp(max(largest, 1e-290))[1])


def grid_of(kind: str, own: Task, largest: float) -> tuple[float, bool]:
    """(codes per unit of cost, whether every cost has a code of its own), by the largest cost that was seen."""
    if kind != coding.GRID:
        return 1.0, False
    grain = own.grain
    if grain is None or grain.numerator != 1 or largest / grain >= _MOST_GRAINS:
        return _scale(largest), False
    return float(grain.denominator), True


def _costs_of_splits(table: Array, packed: PackedProblem, data: Dataset, sign: int, whole: bool) -> Array:
    """(F + categorical,) int64 or float64: what splits cost, by bit column and categorical column."""
    costs = np.concatenate([table[packed.column], table[list(data.categorical)]]) * sign
    return np.ascontiguousarray(costs, np.int64 if whole else np.float64)


def _worst_unit(problem: Problem, scale: float) -> int:
    """The code of what a row costs at worst; 0 if the task does not say."""
    worst = objective(problem.task).worst_per_row(problem.data)
    if worst is None:
        return 0
    weights = 1 if problem.data.weights is None else problem.data.weights
    return min(math.ceil(float(np.max(worst * weights)) * scale), INFINITE)
