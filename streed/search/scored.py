"""Problems whose costs are computed by kernels generated from the task: any leaf cost of the sums of its statistics.

Statistics with few different rows are counted by groups, all others are summed row by row, equal rows merged first. The
values of the task become codes that keep their order (`engine/coding.py`).
"""

from __future__ import annotations

import functools
import math
import numbers
from collections.abc import Sequence
from typing import Any, final

import attrs
import numpy as np

from streed.algebra.terms import written_terms
from streed.constrained import objective
from streed.data import Dataset
from streed.engine import capture, coding, generation
from streed.engine.equivalence import find_classes
from streed.engine.groups import Groups, group_vectors
from streed.engine.packed import PackedProblem, Scoring, pack, writable
from streed.engine.records import INFINITE, LOWEST
from streed.engine.sums import FOUR
from streed.errors import MismatchError, TaskError
from streed.exact import Array
from streed.facts import can_generate, first_costs, is_larger_better
from streed.search.certificate import measure_task
from streed.search.dependence import reads_path, reads_rows, reads_split
from streed.search.driver import Problem, Solution
from streed.search.kernel_errors import compile_kernels
from streed.search.magnitude import Record, magnitudes, note_costs
from streed.search.measure import Measure, TooCoarse
from streed.search.row_costs import category_counts
from streed.search.terms import ScoredTerm, functions_of, place_limit, split_table
from streed.task import State, Task, Value
from streed.tracing import row_cost_form

_MOST_GROUPS = 48
"""More different rows of statistics than this are summed, not counted."""

_GRID_BITS = 44
"""Bits of a code for the largest cost that was seen beforehand."""

_MOST_GRAINS = 2**49
"""Costs below so many grains are rounded to their whole number of them, whatever float64 made of them."""

_COARSER = 2.0**-16

_LARGEST_NATIVE = 2.0**62

_NOISE = 2.0**-40
"""Part of the largest numbers that rounding may cost, in all sums together."""

_TOLERANCE = 1e-9
"""Native values and Python's may differ by this part of 1 + |value|."""


@final
@attrs.frozen(eq=False)
class Scored(Measure):
    """Codes as `coding` says; real ones on a grid are multiples of 1 / scale."""

    packed: PackedProblem
    problem: Problem
    task: Task
    codes: Array
    """(m, p) uint8: the rows, equal ones merged if they are summed."""
    sums: dict[str, Array]
    """The statistics of these rows, (m,) or (m, entries)."""
    counts: Array
    """(m,) int64: how many of the caller's rows each of them is."""
    coding: str
    scale: float
    sign: int
    exact: bool
    kept_entries: Array
    """Which of the statistics' entries, one after the other, have planes."""
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
        sums = problem.sums
        terms = [ScoredTerm.of(term, data.n_columns) for term in written_terms(task)]
        planes, plane_of = _planes(sums, data.n_rows)
        table = split_table(terms, problem)
        probe = _Probe.of(task, sums, problem, table)
        integral = planes.dtype == np.int64
        wide = integral and probe.wide
        whole = integral and probe.whole and not wide and not real
        groups = None
        if planes.dtype == np.int64:
            groups = group_vectors(np.hstack([planes, np.ones((data.n_rows, 1), np.int64)]), _MOST_GROUPS)
        codes, counts = writable(data.X), np.ones(data.n_rows, np.int64)
        if groups is None:
            whole = whole and float(np.abs(planes).sum(axis=0).max(initial=0)) < coding.LARGEST_CODE
            codes, counts, planes, sums = _merged(codes, planes, sums)
        functions, members = functions_of(own, terms)
        limits = [place_limit(limit, terms) for limit in task.limits if limit.support is None]
        functions |= {f"allows{i}": type(limit).allows for i, (limit, _) in enumerate(limits)}
        combines, calls = "combine" in functions, any(term.called for term in terms)
        sign = -1 if probe.larger else 1
        kind = coding.WHOLE if whole else coding.BITS if combines else coding.GRID
        free = (table is None or sign * table.min() >= 0) and (not calls or own.worsening)
        read = [capture.numbers_of(term.task, term.functions) for term in terms]
        read_by_limits = [capture.numbers_of(limit, {"allows": type(limit).allows}) for limit, _ in limits]
        lane = np.float64 if groups is None else _lane(planes)
        shape = generation.Shape(
            terms=tuple(
                term.shape(plane_of, [(number.name, number.kind) for number in numbers])
                for term, numbers in zip(terms, read, strict=True)
            ),
            inputs=planes.shape[1],
            labels=len(task.labels(data)),
            lane=np.dtype(lane).name,
            real=not whole,
            coding=kind,
            larger=probe.larger,
            limits=tuple(
                (place, tuple((number.name, number.kind) for number in numbers))
                for (_, place), numbers in zip(limits, read_by_limits, strict=True)
            ),
            table=table is not None,
            members=members,
            multiway=bool(data.categorical),
            counts=groups is None and not wide and integral and _asks_whole(problem),
            wide=wide,
            floors=groups is None and own.superadditive and not combines and free,
        )
        compiled = compile_kernels(shape, functions, task)
        grain = own.grain if kind == coding.GRID else None
        if grain is not None and (grain.numerator != 1 or probe.largest / grain >= _MOST_GRAINS):
            grain = None
        scale = 1.0
        if kind == coding.GRID:
            scale = _scale(probe.largest) if grain is None else float(grain.denominator)
        words, kept = _words(scale, terms, read, read_by_limits)
        if groups is None:
            n_words = (len(codes) + 63) // 64
            places = np.repeat(np.arange(len(codes)), 2)
            groups = Groups(places, np.array([0, n_words]), np.ones((1, shape.planes), np.int64), 0, 0)
        same = table is None or bool((table == table[0]).all())
        packed = pack(
            codes, category_counts(problem), groups, shape.planes, 0, problem.min_leaf, merge=not calls and same
        )
        row_values = None
        if lane is np.float64:
            row_values = np.zeros((len(packed.row_bits), -(-shape.planes // FOUR) * FOUR))
            row_values[: len(codes), : shape.inputs] = planes
            row_values[: len(codes), shape.inputs] = counts
        split_costs = None
        if table is not None:
            split_costs = np.concatenate([table[packed.column], table[list(data.categorical)]]) * sign
            split_costs = np.ascontiguousarray(split_costs, np.int64 if whole else np.float64)
        bounded = row_values is None and not calls and not combines and not limits and free
        scoring = Scoring(
            planes=shape.planes,
            rows_plane=shape.inputs,
            row_values=row_values,
            row_floors=np.zeros(len(packed.row_bits)) if shape.floors else None,
            lane=lane,
            real=not whole,
            worst_unit=_worst_unit(problem, scale) if bounded else 0,
            split_costs=split_costs,
            calls_costs=calls,
            path_words=(data.n_columns + 63) // 64 if any(term.by_path for term in terms) else 0,
            numbers=words,
            kernels=compiled,
            kept=kept,
        )
        packed = attrs.evolve(packed, scoring=scoring)
        kept_entries = np.array([plane != generation.ROWS for places, _ in plane_of.values() for plane in places], bool)
        exact = whole or grain is not None
        return cls(packed, problem, task, codes, sums, counts, kind, scale, sign, exact, kept_entries)

    def value(self, code: int) -> Value:
        return self.sign * coding.decoded(code, self.coding, self.scale)

    def coarser(self) -> Measure | None:
        assert self.packed.scoring is not None
        if self.coding == coding.WHOLE:
            return Scored.of(self.problem, real=True)
        scale = self.scale * _COARSER
        return None if self.coding != coding.GRID or scale == 0.0 else attrs.evolve(self._scaled(scale), settled=True)

    def _scaled(self, scale: float) -> Scored:
        """The same on another grid."""
        assert self.packed.scoring is not None
        numbers_ = self.packed.scoring.numbers.copy()
        numbers_[:1] = np.array([scale]).view(np.int64)
        worst = min(math.ceil(self.packed.scoring.worst_unit * (scale / self.scale)), INFINITE)
        scoring = attrs.evolve(self.packed.scoring, numbers=numbers_, worst_unit=worst)
        return attrs.evolve(self, packed=attrs.evolve(self.packed, scoring=scoring), scale=scale, exact=False)

    def solution(
        self, problem: Problem, preorder: Array, code: int, lower: int, complete: bool
    ) -> tuple[Solution, bool]:
        solution = measure_task(problem, preorder, self.codes, self.sums, self.counts)
        value, claimed = solution.value, self.value(code)
        apart = abs(value - claimed)
        near = bool(apart <= _TOLERANCE * (1 + max(abs(value), abs(claimed))))
        if not near and complete and self.coding == coding.GRID and not self.settled:
            # a tree of this value exists, so costs far above it need no codes
            finer = _scale(abs(float(value)))
            if finer > 2 * self.scale:
                raise TooCoarse(self._scaled(finer))
        near = near or bool(apart <= self._noise(problem, preorder))
        if not near and (complete or self._beats(value, lower)):
            raise MismatchError(
                f"the tree is worth {value} by the task's Python methods and {claimed} by its native ones; a method "
                "that depends on more than the sums, or whole numbers beyond 2**63, could be why"
            )
        return solution, near

    def _beats(self, value: Value, lower: int) -> bool:
        """Whether the value is better than the proved bound, by more than rounding.

        A tree that was completed where the search had not been may well be better than the search knew.
        """
        if lower <= LOWEST:
            return False
        bound = self.value(lower)
        return bool(self.sign * (bound - value) > _TOLERANCE * (1 + max(abs(value), abs(bound))))

    def _noise(self, problem: Problem, preorder: Array) -> float:
        """How far apart rounding may bring native values and Python's, by the numbers that the tree's leaves meet."""
        record = Record()
        labels = range(len(self.task.labels(problem.data)))
        visit = functools.partial(note_costs, self.task, record, labels)
        measure_task(problem, preorder, self.codes, self.sums, self.counts, visit)
        summed = max((float(np.abs(values).sum(axis=0).max(initial=0)) for values in self.sums.values()), default=0.0)
        return _NOISE * max(record.whole, record.real, summed)


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
        sums = [np.ravel([float(x) for x in np.atleast_1d(getattr(s, name))]) for name in measure.sums]
        flat = np.concatenate(sums) if sums else np.zeros(0)
        planes.append(flat[measure.kept_entries])
        rows.append(s.rows)
    kind = np.float64 if scoring.row_values is not None else np.int64
    found = np.zeros((len(states), len(task.labels(data))), np.float64 if scoring.real else np.int64)
    scoring.kernels.costs_of(scoring.numbers, np.array(planes, kind), np.array(rows, kind), found)
    return [list(line) for line in found.tolist()]


@attrs.frozen
class _Probe:
    """What the task's methods, asked in Python about a few states, have told."""

    whole: bool
    """Whether all costs are whole numbers."""
    wide: bool
    """Whether the methods compute with numbers beyond int64."""
    larger: bool
    largest: float
    """Of the costs that were seen."""

    @classmethod
    def of(cls, task: Task, sums: dict[str, Array], problem: Problem, table: Array | None) -> _Probe:
        own = objective(task)
        seen = first_costs(task, sums, problem.data)
        seen += _branching_costs(task, problem.data)
        if type(own).combine is not Task.combine:
            seen.append(task.combine(seen[0], seen[0]))
        whole = all(isinstance(x, numbers.Integral) for x in seen) and (table is None or table.dtype == np.int64)
        largest = max((abs(float(x)) for x in seen if math.isfinite(x)), default=0.0)
        if table is not None:
            largest = max(largest, float(np.abs(table).max()))
        record = magnitudes(task, sums, len(task.labels(problem.data)), problem.data.n_rows)
        wide = record.whole >= _LARGEST_NATIVE
        return cls(whole and largest < coding.LARGEST_CODE, wide, bool(is_larger_better(own)), largest)


def _branching_costs(task: Task, data: Dataset) -> list[Value]:
    """What splits of all rows cost, with nothing and with everything else tested above; none where that is nothing."""
    n, columns = data.n_rows, range(data.n_columns)
    own = objective(task)
    if not (reads_split(own) or reads_path(own) or reads_rows(own)):
        columns = columns[:1]
    alone = [task.branching_cost(n, (), split) for split in columns]
    last = [task.branching_cost(n, tuple(j for j in columns if j != split), split) for split in columns]
    costs = alone + last
    known = [cost for cost in costs if cost is not None]
    if known and len(known) < len(costs):
        raise TaskError(
            f"{type(objective(task)).__name__}.branching_cost returned None for some splits and numbers for others\n"
            "return 0 for those that cost nothing"
        )
    return known


def _asks_whole(problem: Problem) -> bool:
    """Whether the methods of a state take whole numbers only, as an index does, or a shift."""
    sums = {name: values.sum(axis=0, dtype=np.float64) for name, values in problem.sums.items()}
    task, n = problem.task, problem.data.n_rows
    s = State(n, **{k: tuple(v.tolist()) if v.ndim else v.item() for k, v in sums.items()})
    s.rows = float(n)  # type: ignore[assignment]
    try:
        task.leaf_cost(s, 0)
        task.lower_bound(s)
        for limit in task.limits:
            limit.allows(s)
    except TypeError:
        return True
    return False


def _planes(sums: dict[str, Array], n_rows: int) -> tuple[Array, dict[str, tuple[tuple[int, ...], bool]]]:
    """(planes (n, S) int64 or float64, the planes of each statistic and whether it has several entries).

    A statistic that is 1 for every row has no plane: it is the number of rows.
    """
    columns: list[Array] = []
    plane_of = {}
    for name, values in sums.items():
        places = []
        for column in values.reshape(n_rows, -1).T:
            if (column == 1).all():
                places.append(generation.ROWS)
            else:
                places.append(len(columns))
                columns.append(column)
        plane_of[name] = (tuple(places), values.ndim > 1)
    return np.stack(columns, axis=1) if columns else np.zeros((n_rows, 0), np.int64), plane_of


def _merged(codes: Array, planes: Array, sums: dict[str, Array]) -> tuple[Array, Array, Array, dict[str, Array]]:
    """The distinct rows of codes, how often each occurs, and the sums of their statistics."""
    first, class_of = find_classes(codes)
    m = len(first)
    counts = np.bincount(class_of, minlength=m)
    if m == len(codes):
        return codes, counts, planes.astype(np.float64), sums
    order = np.argsort(class_of, kind="stable")
    begins = np.concatenate([[0], np.cumsum(counts)[:-1]])
    merged = {name: np.add.reduceat(values[order], begins, axis=0) for name, values in sums.items()}
    planes = np.add.reduceat(planes[order].astype(np.float64), begins, axis=0)
    return np.ascontiguousarray(codes[first]), counts, planes, merged


def _lane(planes: Array) -> Any:
    """The narrowest lane type in which no sum overflows."""
    largest = max(int(np.abs(planes).sum(axis=0).max(initial=0)), len(planes))
    return np.int32 if largest < 2**30 else np.int64


def _scale(largest: float) -> float:
    """The grid on which the largest cost has a code of _GRID_BITS bits."""
    return 2.0 ** (_GRID_BITS - math.frexp(max(largest, 1e-290))[1])


def _words(
    scale: float, terms: Sequence[ScoredTerm], read: Sequence[Any], read_by_limits: Sequence[Any]
) -> tuple[Array, tuple[Any, ...]]:
    """(words, arrays to keep) of the numbers that the kernels read: the scale, then those of terms and of limits."""
    words = [_bits(scale)]
    kept: list[Any] = []

    def write(number: capture.Number) -> None:
        if number.kind == "int":
            words.append(number.value)
        elif number.kind == "real":
            words.append(_bits(number.value))
        else:
            kept.append(number.value)
            words.extend([int(number.value.__array_interface__["data"][0]), *number.value.shape])

    for term, numbers_ in zip(terms, read, strict=True):
        for number in numbers_:
            write(number)
        words.append(_bits(float(term.weight)))
    for numbers_ in read_by_limits:
        for number in numbers_:
            write(number)
    return np.array(words, np.int64), tuple(kept)


def _bits(x: float) -> int:
    return int(np.array([x], np.float64).view(np.int64)[0])


def _worst_unit(problem: Problem, scale: float) -> int:
    """The code of what a row costs at worst; 0 if the task does not say."""
    worst = objective(problem.task).worst_per_row(problem.data)
    if worst is None:
        return 0
    weights = 1 if problem.data.weights is None else problem.data.weights
    return min(math.ceil(float(np.max(worst * weights)) * scale), INFINITE)
