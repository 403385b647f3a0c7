"""Problems whose costs are computed by kernels generated from the task: any leaf cost of the sums of its statistics.

Statistics with few different rows are counted by groups, all others are summed row by row, equal rows merged first. The
values of the task become codes that keep their order (`kernels/coding.py`). What does not compile is told in two lines:
the reason, and the user's own line.
"""

from __future__ import annotations

import functools
import linecache
import math
import re
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, final

import attrs
import numpy as np
from numba.core.errors import NumbaError

from streed.data import Dataset
from streed.encoding.certificate import measure_methods
from streed.encoding.cost_samples import CostSamples, asks_whole, lost_in_sums
from streed.encoding.methods import CompiledMethods, StatisticsMatrix, kinds_of, split_table
from streed.encoding.row_costs import Encoding, TooImprecise
from streed.errors import MismatchError, TaskError
from streed.exact import Array, as_float, fraction_of, in_whole
from streed.kernels import coding
from streed.kernels.codegen import generate
from streed.kernels.codegen.generate import ROWS, KernelSpec
from streed.kernels.packed import PackedProblem, Scoring
from streed.kernels.records import INFINITE, LOWEST
from streed.problem import Problem, Solution, agree
from streed.task import State, Task, Value, state_of
from streed.task.analysis.facts import can_generate
from streed.task.analysis.linear_form import row_cost_form
from streed.task.base import objective
from streed.task.bounded_sums import exact_costs
from streed.task.joint import TaskWithTests


def _explanation(error: Exception, functions: dict[str, Callable[..., Any]], task: Task) -> str:
    """Two lines: what does not compile, and the user's own line."""
    text, kind = re.sub(r"\x1b\[[0-9;]*m", "", str(error)), type(objective(task)).__name__
    lines = filter(None, map(str.strip, text.splitlines()))
    telling = (each for each in lines if not each.startswith(("Failed in", "During", "File", "- ", "There are")))
    remedy = "use numbers, sums, loops, math, and functions and numbers of the module"
    reason = f"cannot be compiled: {next(telling, 'numba does not know why')}; {remedy}"
    for path, line in reversed(re.findall(r'File "([^"]+)", line (\d+)', text)):
        for name, function in functions.items():
            code = function.__code__
            first = code.co_firstlineno
            last = max((number for *_, number in code.co_lines() if number is not None), default=first)
            if code.co_filename.endswith(path.lstrip("./")) and first <= int(line) <= last:
                source = linecache.getline(code.co_filename, int(line)).strip()
                return f"{kind}.{name.rstrip('0123456789')} {reason}\n  {code.co_filename}:{line}: {source}"
    return f"{kind} {reason}\n  see the chained error for the line"


_GRID_BITS = 44
"""Bits of a code for the largest cost that was seen beforehand."""

_MOST_GRAINS = 2**49
"""Costs below so many grains are rounded to their whole number of them, whatever float64 made of them."""

_COARSER = 2.0**-16

_MOST_BITS = 1000
"""Of a native cost of 1: what floats hold."""

_REAL = 2.0**-44
"""Part of the largest cost that the operations of one tree in float64 may lose: some hundred roundings."""

_BITS_STEP = 2.0**-49
"""Part of a value that coding it by its bits may lose."""

TOLERANCE = 1e-9
"""Native values and Python's may differ by this part of them."""


@attrs.frozen(eq=False)
class NativeMethods:
    """What native code makes of a problem's own methods."""

    problem: Problem
    methods: CompiledMethods
    """For costs in the units of the probe."""
    planes: StatisticsMatrix
    probe: CostSamples
    table: Array | None
    """Branching costs that depend on the column only, see `split_table`."""
    spec: KernelSpec
    raises_no_split: bool
    """Whether a split costs nothing or more."""

    @classmethod
    def of(
        cls, problem: Problem, methods: CompiledMethods, planes: StatisticsMatrix, *, real: bool, ordered: bool
    ) -> NativeMethods:
        """Of methods on these sums; `real`: costs are not all whole, whatever those that were seen beforehand are."""
        own, probe = objective(problem.task), CostSamples.of(problem, methods.terms)
        methods = methods.in_units(probe.unit)
        table, summed = split_table(methods.terms, problem), planes.groups is None
        wide = planes.integral and probe.wide
        whole = planes.exact and probe.whole and not (wide or real)
        free = table is None or bool((table <= 0 if probe.larger else table >= 0).all())
        free = free and (not methods.calls or own.worsening)
        spec = KernelSpec(
            ordered=ordered,
            terms=tuple(term.shape(planes.places, methods.reads_weight) for term in methods.terms),
            inputs=planes.values.shape[1],
            labels=len(problem.task.labels(problem.data)),
            lane=planes.lane.__name__,
            real=not whole,
            coding=coding.WHOLE if whole else coding.BITS if methods.combines else coding.GRID,
            larger=probe.larger,
            limits=tuple((place, kinds_of(numbers)) for _, place, numbers in methods.limits),
            table=table is not None,
            members=methods.members,
            multiway=bool(problem.data.categorical),
            counts=summed and planes.integral and not wide and asks_whole(problem),
            scaled=planes.per_unit is not None,
            wide=wide,
            floors=summed and not ordered and own.superadditive and not methods.combines and free,
        )
        return cls(problem, methods, planes, probe, table, spec, free)

    @functools.cached_property
    def kernels(self) -> generate.Kernels:
        """Those of the task; raises TaskError, in two lines, for methods that do not compile."""
        functions = self.methods.functions
        try:
            return generate.compile_kernels(self.spec, functions)
        except NumbaError as error:
            raise TaskError(_explanation(error, functions, self.problem.task)) from error

    @property
    def sign(self) -> int:
        """What makes the smaller costs the better ones."""
        return -1 if self.probe.larger else 1

    @property
    def splits_alike(self) -> bool:
        """Whether every column costs the same by the table."""
        return self.table is None or bool((self.table == self.table[0]).all())

    @property
    def adds_exactly(self) -> bool:
        return self.planes.integral or self.planes.per_unit is not None

    @functools.cached_property
    def lost(self) -> float:
        """What the rounding of sums may add to the value of any tree, or take from it, in units of the probe."""
        return lost_in_sums(self.problem, self.methods.terms, not self.adds_exactly) if self.spec.real else 0.0

    def grid(self, least: float, known: Any = None) -> tuple[float, bool]:
        """(codes per native unit of cost, whether every cost has a code of its own).

        `least` must have codes, too, as what rounding leaves where costs cancel. `known`: a value beyond which no cost
        needs codes; None for all that were seen.
        """
        if self.spec.coding != coding.GRID:
            return 1.0, self.spec.coding == coding.WHOLE
        unit = self.probe.unit
        largest = self.probe.largest if known is None else as_float(abs(fraction_of(known)) / unit)
        grain = grain_of(self.problem) if unit == 1 else None
        if grain is None or largest / grain >= _MOST_GRAINS:
            return _scale(max(largest, least)), False
        return float(1 / grain), self.adds_exactly


@final
@attrs.frozen(eq=False)
class Scored(Encoding):
    """Codes as `coding` says; real ones on a grid are multiples of 1 / scale."""

    packed: PackedProblem
    problem: Problem
    native: NativeMethods
    coding: str
    scale: float
    exact: bool
    settled: bool = False
    """Whether a finer grid was found to be too fine."""
    route = "generated"

    @classmethod
    def of(cls, problem: Problem, real: bool = False) -> Scored:
        """The problem packed, its kernels compiled; raises TaskError, with the line, for code that does not compile.

        `real`: costs are not all whole, whatever those that were seen beforehand are.
        """
        methods = CompiledMethods.of(problem.task)
        planes = StatisticsMatrix.of(problem, methods.reads_weight)
        native = NativeMethods.of(problem, methods, planes, real=real, ordered=False)
        compiled, spec, probe, table = native.kernels, native.spec, native.probe, native.table
        scale, exact = native.grid(native.lost)
        numbers, kept = native.methods.words(scale, planes.per_unit)
        packed = planes.pack(problem, merge=native.splits_alike and not methods.calls)
        split_costs = None
        if table is not None:  # by bit column and categorical column
            of_columns = np.concatenate([table[packed.column], table[list(problem.data.categorical)]]) * native.sign
            split_costs = np.ascontiguousarray(of_columns, np.float64 if spec.real else np.int64)
        bounded = native.raises_no_split and planes.groups is not None
        bounded = bounded and not (methods.calls or methods.combines or methods.limits)
        scoring = Scoring(
            planes=spec.planes,
            rows_plane=spec.inputs,
            row_values=planes.row_values(packed),
            row_floors=np.zeros(len(packed.row_bits)) if spec.floors else None,
            lane=planes.lane,
            real=spec.real,
            worst_unit=_worst_unit(problem, probe.unit, scale) if bounded else 0,
            split_costs=split_costs,
            calls_costs=methods.calls,
            path_words=(problem.data.n_columns + 63) // 64 if methods.by_path else 0,
            numbers=numbers,
            kernels=compiled,
            kept=kept,
        )
        return cls(attrs.evolve(packed, scoring=scoring), problem, native, spec.coding, scale, exact)

    @property
    def size(self) -> Any:
        if self.exact or not self.native.probe.real:
            return None
        return self._worth(self._cancelling)

    @functools.cached_property
    def _cancelling(self) -> float:
        """The size of native costs that may cancel; 0 where a bound of the task's own says that none do."""
        return self.native.probe.largest if self._own_bound is None else 0.0

    def value(self, code: int) -> Value:
        return self._worth(self.native.sign * coding.decoded(code, self.coding, self.scale))

    def _worth(self, native: float) -> Value:
        """What native code computed, in the task's own units."""
        return native if self.native.probe.unit == 1 else Fraction(native) * self.native.probe.unit

    def bound(self, code: int) -> Value:
        widened = self.value(code) - self.native.sign * self._worth(self._slack(code))
        own = self._own_bound
        return own if own is not None and self.problem.task.better(widened, own) else widened

    def most(self, code: int) -> Value:
        return self.value(code) + self.native.sign * self._worth(self._slack(code))

    def target(self, value: Any) -> int:
        """On a grid, so far above the value that rounding takes no better tree there; by bits, nowhere."""
        beat: Any = self.native.sign * value
        if self.coding == coding.WHOLE:
            above: int = math.ceil(beat)
            return above
        native = as_float(fraction_of(beat) / self.native.probe.unit)
        if self.coding != coding.GRID or not abs(native * self.scale) < coding.LARGEST_CODE:
            return INFINITE
        slack = self._slack(math.ceil(native * self.scale))
        return math.ceil((native + slack) * self.scale) + (not self.exact)

    @functools.cached_property
    def _own_bound(self) -> Value | None:
        """The task's own bound at the state of all rows."""
        if self.exact:
            return None
        data = self.problem.data
        return self.problem.task.lower_bound(state_of(self.problem.sums, slice(data.n_rows), data))

    def rounding(self, preorder: Array, code: int) -> float:
        return as_float(self._worth(self._slack(code)))

    def _slack(self, code: int) -> float:
        """How far rounding may have moved the native value of the best tree, or of one that is better than this code.

        On the grid by half a step for each leaf and split.
        """
        if self.exact:
            return 0.0
        size = max(abs(coding.decoded(code, self.coding, self.scale)), self._cancelling)
        branches = self.problem.most_branches
        steps = (branches + 0.5) / self.scale if self.coding == coding.GRID else 2.0 * branches * _BITS_STEP * size
        return steps + _REAL * size + self.native.lost

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
        worst = _fitting(self.problem, self.packed.scoring.worst_unit * (scale / self.scale))
        scoring = attrs.evolve(self.packed.scoring, numbers=numbers_, worst_unit=worst)
        return attrs.evolve(self, packed=attrs.evolve(self.packed, scoring=scoring), scale=scale, exact=False)

    def solution(
        self, problem: Problem, preorder: Array, code: int, lower: int, complete: bool
    ) -> tuple[Solution, bool]:
        solution = measure_methods(problem, problem, preorder)
        value, claimed = solution.value, self.value(code)
        is_open = complete and self.coding == coding.GRID and not self.settled and math.isfinite(value)
        if is_open and not agree(value, self.bound(lower), 0):
            # a tree of this value exists, so costs far above it, and what rounding makes of sums, need no codes
            least = 0.0 if self.native.adds_exactly else self.native.lost
            finer = _scale(max(as_float(abs(fraction_of(value)) / self.native.probe.unit), least))
            if finer > 2 * self.scale:
                raise TooImprecise(self.on_grid(finer))
        near = bool(abs(value - claimed) <= self._allowed(value, code))
        # a tree that was completed where the search had not been may well be better than the search knew
        beats = lower > LOWEST and self.native.sign * (self.value(lower) - value) > self._allowed(value, lower)
        if not near and (complete or beats):
            raise MismatchError(
                f"the tree is worth {as_float(value)!r} by the task's Python methods and {as_float(claimed)!r} by its "
                "native ones; a method that depends on more than the sums, numbers beyond 2**63 or 1e308, or a cost "
                "that leaps or turns steep where sums of real numbers are rounded, to a part in 2**52 of their total, "
                "could be why: round the statistics to decimals, or let the cost be smooth there"
            )
        return solution, near

    def _allowed(self, value: Value, code: int) -> Any:
        """How far rounding may keep a value and that of a code apart."""
        steps = 2.0 / self.scale if self.coding == coding.GRID else 0.0  # by which `target` rounds up
        return max(TOLERANCE * max(abs(value), abs(self.value(code))), self._worth(self._slack(code) + steps))


def native_values(task: Task, data: Dataset, states: Sequence[State]) -> list[list[Value]]:
    """The cost of a leaf at each state under each label, by the native code of the bound task.

    Raises TaskError for tasks of which no kernel is made.
    """
    problem = Problem(data, task, None, None, 1)
    if problem.row_form is not None or not can_generate(task, data, problem.sums):
        raise TaskError(f"{type(task).__name__} has no kernel of its own")
    measure = Scored.of(problem)
    scoring, planes = measure.packed.scoring, measure.native.planes
    assert scoring is not None
    sums = []
    kept_entries = np.array([place != ROWS for each, _ in planes.places.values() for place in each], bool)
    for s in states:
        flat = [float(x) for name in planes.places for x in np.atleast_1d(getattr(s, name))]
        kept = np.array(flat, np.float64)[kept_entries]
        sums.append([*(kept if planes.per_unit is None else np.rint(kept * planes.per_unit)), s.rows])
    kind = np.float64 if scoring.row_values is not None else np.int64
    found = np.zeros((len(states), len(task.labels(data))), np.float64 if scoring.real else np.int64)
    scoring.kernels.costs_of(scoring.numbers, np.array(sums, kind), found)
    return [list(line) for line in found.tolist()]


def _scale(largest: float) -> float:
    """The grid on which the largest cost has a code of _GRID_BITS bits."""
    return math.ldexp(1.0, min(_GRID_BITS - math.frexp(largest or 1.0)[1], _MOST_BITS))


def grain_of(problem: Problem) -> Fraction | None:
    """A number of which every value is a whole multiple; None where none is known."""
    units = []
    for weight, task in objective(problem.task).terms:
        priced = task if isinstance(task, TaskWithTests) else None
        if priced is None:
            form = problem.row_form if task is problem.task else row_cost_form(task, problem.data)
        else:
            form = priced.row_task(problem.data)
        costs = None if form is None else exact_costs(form, problem.data)
        if costs is None or costs.wide is not None:
            return None
        size = abs(weight)
        units += [size * costs.unit, *([] if priced is None else [size * priced.price_unit])]
    return 1 / in_whole(units)[1]


def _worst_unit(problem: Problem, unit: Fraction, scale: float) -> int:
    """The code of what a row costs at worst; 0 if the task does not say."""
    worst = objective(problem.task).worst_per_row(problem.data)
    if worst is None:
        return 0
    weights = 1 if problem.data.weights is None else problem.data.weights
    return _fitting(problem, float(np.max(worst * weights)) / float(unit) * scale)


def _fitting(problem: Problem, worst: float) -> int:
    """The code of what a row costs at worst, rounded up; 0, as if nothing were known, if codes hold no sum over all."""
    return math.ceil(worst) if worst * problem.data.size < INFINITE else 0
