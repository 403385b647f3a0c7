"""Problems whose costs are computed by kernels generated from the task: any leaf cost of the sums of its statistics.

Statistics with few different rows are counted by groups, all others are summed row by row, equal rows merged first. The
values of the task become codes that keep their order (`engine/coding.py`).
"""

from __future__ import annotations

import math
import numbers
import re
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, final

import attrs
import numpy as np
from numba.core.errors import NumbaError

from streed.algebra import objective
from streed.engine import capture, coding, generation
from streed.engine.equivalence import find_classes
from streed.engine.groups import Groups, group_vectors
from streed.engine.records import INFINITE
from streed.engine.workspace import PackedProblem, Scoring, pack, writable
from streed.errors import MismatchError, TaskError
from streed.exact import Array
from streed.search.certificate import measure_task
from streed.search.dependence import reads_path, reads_rows
from streed.search.driver import Problem, Solution
from streed.search.measure import Measure
from streed.search.row_costs import category_counts
from streed.task import TOTAL, GeneralTask, State, Task, Value, quick_sums

_MOST_GROUPS = 48
"""More different rows of statistics than this are summed, not counted."""

_GRID_BITS = 44
"""Bits of a code for the largest cost that was seen beforehand."""

_COARSER = 2.0**-16

_TOLERANCE = 1e-9
"""Native values and Python's may differ by this part of 1 + |value|."""


def can_generate(problem: Problem) -> bool:
    """Whether kernels can be generated for the bound task: values are numbers, totally ordered by < or >."""
    own = objective(problem.task)
    if isinstance(own, GeneralTask) or own.order != TOTAL or type(own).dominates is not Task.dominates:
        return False
    if is_larger_better(own) is None:
        return False
    sums = quick_sums(own, problem.data)
    values = _first_costs(own, sums, problem)
    if not all(isinstance(x, numbers.Real) for x in values):
        return False
    return type(own).combine is Task.combine or is_symmetric(own.combine, values)


def is_symmetric(combine: Callable[[Value, Value], Value], values: Sequence[Value]) -> bool:
    """Whether the operator gives the same in either order, on all pairs of the values."""
    return all(
        math.isclose(combine(a, b), combine(b, a), rel_tol=1e-12)
        for i, a in enumerate(values)
        for b in values[:i]
        if a != b
    )


@final
@attrs.frozen(eq=False)
class Scored(Measure):
    """Codes as `coding` says; real ones on a grid are multiples of 1 / scale."""

    packed: PackedProblem
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
    route = "generated"

    @classmethod
    def of(cls, problem: Problem) -> Scored:
        """The problem packed, its kernels compiled; raises TaskError, with the line, for code that does not compile."""
        task, data = problem.task, problem.data
        own = objective(task)
        sums = quick_sums(task, data)
        planes = _planes(sums)
        probe = _Probe.of(task, sums, problem)
        whole = planes.dtype == np.int64 and probe.whole
        groups = None
        if planes.dtype == np.int64:
            vectors = np.hstack([planes, np.ones((len(planes), 1), np.int64)])
            groups = group_vectors(vectors, _MOST_GROUPS)
        codes, counts = writable(data.X), np.ones(data.n_rows, np.int64)
        if groups is None:
            codes, counts, planes, sums = _merged(codes, planes, sums)
        table = _split_table(own, problem)
        functions, limits = _functions(task)
        if table is not None or not probe.has_costs:
            functions.pop("branching_cost", None)
        calls = "branching_cost" in functions
        sign = -1 if probe.larger else 1
        combines = "combine" in functions
        kind = coding.WHOLE if whole else coding.BITS if combines else coding.GRID
        floors = groups is None and own.superadditive and not combines and (table is None or sign * table.min() >= 0)
        lane = np.float64 if groups is None else _lane(planes)
        read = capture.numbers_of(own, {name: f for name, f in functions.items() if not name.startswith("allows")})
        read_by_limits = [
            capture.numbers_of(limit, {"allows": functions[f"allows{i}"]}) for i, limit in enumerate(limits)
        ]
        shape = generation.Shape(
            statistics=tuple((name, 0 if values.ndim == 1 else values.shape[1]) for name, values in sums.items()),
            labels=len(task.labels(data)),
            lane=np.dtype(lane).name,
            real=not whole,
            coding=kind,
            larger=probe.larger,
            numbers=tuple((number.name, number.kind) for number in read),
            limits=tuple(tuple((number.name, number.kind) for number in each) for each in read_by_limits),
            costs=generation.TABLE if table is not None else generation.CALLED if calls else generation.NO_COSTS,
            members=tuple(sorted(name for name in functions if name in generation.OPTIONAL)),
            multiway=bool(data.categorical),
            floors=floors,
        )
        compiled = _compile(shape, functions, task)
        scale = 1.0 if kind != coding.GRID else _scale(probe, table)
        words, kept = _words(scale, [number for each in (read, *read_by_limits) for number in each])
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
            row_values = np.zeros((shape.planes, len(packed.row_bits)))
            row_values[: shape.inputs, : len(codes)] = planes.T
            row_values[shape.inputs, : len(codes)] = counts
        split_costs = None
        if table is not None:
            by_category = [table[j] for j in data.categorical]
            split_costs = np.concatenate([table[packed.column], by_category]) * sign
            split_costs = np.ascontiguousarray(split_costs, np.int64 if whole else np.float64)
        scoring = Scoring(
            planes=shape.planes,
            rows_plane=shape.inputs,
            row_values=row_values,
            lane=lane,
            real=not whole,
            worst_unit=_worst_unit(problem, scale, groups is not None and row_values is None, calls, combines, table),
            split_costs=split_costs,
            calls_costs=calls,
            path_words=(data.n_columns + 63) // 64 if calls and reads_path(own) else 0,
            numbers=words,
            kernels=compiled,
            kept=kept,
        )
        packed = attrs.evolve(packed, scoring=scoring)
        return cls(packed, task, codes, sums, counts, kind, scale, sign, whole)

    def value(self, code: int) -> Value:
        return self.sign * coding.decoded(code, self.coding, self.scale)

    def coarser(self) -> Measure | None:
        assert self.packed.scoring is not None
        scale = self.scale * _COARSER
        if self.coding != coding.GRID or scale == 0.0:
            return None
        numbers_ = self.packed.scoring.numbers.copy()
        numbers_[:1] = np.array([scale]).view(np.int64)
        worst = math.ceil(self.packed.scoring.worst_unit * _COARSER)
        scoring = attrs.evolve(self.packed.scoring, numbers=numbers_, worst_unit=worst)
        return attrs.evolve(self, packed=attrs.evolve(self.packed, scoring=scoring), scale=scale)

    def solution(
        self, problem: Problem, preorder: Array, code: int, lower: int, complete: bool
    ) -> tuple[Solution, bool]:
        value, root = measure_task(problem, preorder, self.codes, self.sums, self.counts)
        claimed = self.value(code)
        near = math.isclose(value, claimed, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE * (1 + abs(claimed)))
        if not near and (complete or self.sign * (value - claimed) < 0):
            raise MismatchError(
                f"the tree is worth {value} by the task's Python methods and {claimed} by its native ones; a method "
                "that depends on more than the sums, or whole numbers beyond 2**63, could be why"
            )
        return Solution(value, root), near


@attrs.frozen
class _Probe:
    """What the task's methods, asked in Python about all rows, have told."""

    whole: bool
    """Whether all costs are whole numbers."""
    larger: bool
    largest: float
    """Of the costs that were seen."""
    has_costs: bool
    """Whether branching costs anything."""

    @classmethod
    def of(cls, task: Task, sums: dict[str, Array], problem: Problem) -> _Probe:
        own = objective(task)
        n = problem.data.n_rows
        seen = _first_costs(task, sums, problem)
        cost = None
        if type(own).branching_cost is not Task.branching_cost and problem.data.n_columns:
            cost = task.branching_cost(n, (), 0)
        if cost is not None:
            seen.append(cost)
        if type(own).combine is not Task.combine:
            seen.append(task.combine(seen[0], seen[0]))
        whole = all(isinstance(x, numbers.Integral) for x in seen) and max(map(abs, seen)) < coding.LARGEST_CODE
        larger = is_larger_better(own)
        assert larger is not None
        return cls(whole, larger, max((abs(float(x)) for x in seen), default=0.0), cost is not None)


def _first_costs(task: Task, sums: dict[str, Array], problem: Problem) -> list[Value]:
    """The costs of a few leaves: all rows, the first half of them, the first three and the first one."""
    labels = range(len(task.labels(problem.data)))
    n = problem.data.n_rows
    states = [
        State(m, **{name: _total(values[:m]) for name, values in sums.items()})
        for m in sorted({n, (n + 1) // 2, min(n, 3), 1})
    ]
    return [task.leaf_cost(s, k) for s in states for k in labels]


def is_larger_better(task: Task) -> bool | None:
    """Whether the task's `better` is >; False if it is <, None if it is neither."""
    if type(task).better is Task.better:
        return False
    a, b = _Operand(), _Operand()
    try:
        said: Any = type(task).better(task, a, b)
    except TypeError:
        return None
    if not isinstance(said, _Comparison):
        return None
    return said.greater is a


@final
class _Operand:
    """Stands for a value in a comparison."""

    def __lt__(self, other: object) -> Any:
        return _Comparison(other)

    def __gt__(self, other: object) -> Any:
        return _Comparison(self)


@attrs.frozen(eq=False)
class _Comparison:
    """Which of two operands is to be the greater one."""

    greater: object

    def __bool__(self) -> bool:
        raise TypeError("a comparison of unknown values is neither true nor false")


def _total(values: Array) -> Any:
    total = values.sum(axis=0)
    return tuple(total.tolist()) if total.ndim else total.item()


def _planes(sums: dict[str, Array]) -> Array:
    """(n, S) int64 or float64: the statistics side by side."""
    columns = [values[:, None] if values.ndim == 1 else values for values in sums.values()]
    return np.hstack(columns)


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
    return np.ascontiguousarray(codes[first]), counts, _planes(merged).astype(np.float64), merged


def _lane(planes: Array) -> Any:
    """The narrowest lane type in which no sum overflows."""
    largest = max(int(np.abs(planes).sum(axis=0).max(initial=0)), len(planes))
    return np.int32 if largest < 2**30 else np.int64


def _split_table(own: Task, problem: Problem) -> Array | None:
    """(p,) branching costs, if they depend on the column only."""
    if type(own).branching_cost is Task.branching_cost or reads_rows(own) or reads_path(own):
        return None
    p = problem.data.n_columns
    costs = [own.branching_cost(problem.data.n_rows, (), j) for j in range(p)]
    if not p or costs[0] is None:
        return None
    return np.array([float(c) if isinstance(c, Fraction) else c for c in costs])


def _functions(task: Task) -> tuple[dict[str, Callable[..., Any]], list[Any]]:
    """The methods to compile, by name, and the limits that are not supports."""
    own = type(objective(task))
    functions: dict[str, Callable[..., Any]] = {"leaf_cost": own.leaf_cost}
    for name in ("combine", "branching_cost", "lower_bound", "feasible"):
        if getattr(own, name) is not getattr(Task, name):
            functions[name] = getattr(own, name)
    if "feasible" in functions and "combine" not in functions:
        functions["combine"] = _plus
    if "combine" in functions and own.subtract is not Task.subtract:
        functions["subtract"] = own.subtract
    limits = [limit for limit in task.limits if limit.support is None]
    for i, limit in enumerate(limits):
        functions[f"allows{i}"] = type(limit).allows
    return functions, limits


def _plus(self: Any, a: Any, b: Any) -> Any:
    return a + b


def _compile(shape: generation.Shape, functions: dict[str, Callable[..., Any]], task: Task) -> generation.Kernels:
    try:
        return generation.compile_kernels(shape, functions)
    except NumbaError as error:
        raise TaskError(_explanation(error, functions, task)) from error


def _explanation(error: NumbaError, functions: dict[str, Callable[..., Any]], task: Task) -> str:
    """Two lines: what does not compile, and the user's own line."""
    text = str(error)
    places = re.findall(r'File "([^"]+)", line (\d+)', text)
    for path, line in reversed(places):
        for name, function in functions.items():
            code = function.__code__
            first = code.co_firstlineno
            last = max((number for *_, number in code.co_lines() if number is not None), default=first)
            own_file = code.co_filename.endswith(path.lstrip("./")) or path == code.co_filename
            if own_file and first <= int(line) <= last:
                source = _source_line(code.co_filename, int(line))
                reason = _reason(text)
                return (
                    f"{type(objective(task)).__name__}.{name} cannot be compiled: {reason}\n  {path}:{line}: {source}"
                )
    return f"{type(objective(task)).__name__} cannot be compiled: {_reason(text)}\n  see the chained error for the line"


def _source_line(path: str, line: int) -> str:
    import linecache

    return linecache.getline(path, line).strip()


def _reason(text: str) -> str:
    """The shortest line of numba's message that says something."""
    lines = [re.sub(r"\x1b\[[0-9;]*m", "", line).strip() for line in text.splitlines()]
    telling = [
        line for line in lines if line and not line.startswith(("Failed in", "During", "File", "- ", "There are"))
    ]
    return telling[0] if telling else "numba does not know why"


def _scale(probe: _Probe, table: Array | None) -> float:
    largest = max(probe.largest, 0.0 if table is None else float(np.abs(table).max()), 1e-290)
    return 2.0 ** (_GRID_BITS - math.frexp(largest)[1])


def _words(scale: float, read: list[capture.Number]) -> tuple[Array, tuple[Any, ...]]:
    """(words, arrays to keep) of the numbers that the kernels read: the scale, then each number."""
    words: list[int] = [int(np.array([scale]).view(np.int64)[0])]
    kept = []
    for number in read:
        if number.kind == "int":
            words.append(number.value)
        elif number.kind == "real":
            words.append(int(np.array([number.value], np.float64).view(np.int64)[0]))
        else:
            kept.append(number.value)
            words += [int(number.value.__array_interface__["data"][0]), *number.value.shape]
    return np.array(words, np.int64), tuple(kept)


def _worst_unit(problem: Problem, scale: float, counted: bool, calls: bool, combines: bool, table: Array | None) -> int:
    """The code of what a row costs at worst, or 0 where bounds by similar states do not hold."""
    own = objective(problem.task)
    if not counted or calls or combines or any(limit.support is None for limit in problem.task.limits):
        return 0
    if table is not None and table.min() < 0:
        return 0
    worst = own.worst_per_row(problem.data)
    if worst is None:
        return 0
    weights = 1 if problem.data.weights is None else problem.data.weights
    return min(math.ceil(float(np.max(worst * weights)) * scale), INFINITE)
