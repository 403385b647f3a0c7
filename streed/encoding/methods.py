"""What of a task becomes native code: its methods, those of its limits, the numbers that they read, and its sums.

A task is the sum of its terms (`written_terms`); most have one, themselves. The engine adds rows up as it has them:
statistics in planes, counted by groups of rows or summed by row.
"""

from __future__ import annotations

import functools
import itertools
import math
import struct
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import attrs
import numpy as np

from streed.errors import InputError
from streed.exact import Array, as_float, exact_number, writable
from streed.kernels import coding
from streed.kernels.codegen import capture
from streed.kernels.codegen.generate import ROWS, TermSpec
from streed.kernels.counting.equal_rows import find_classes
from streed.kernels.counting.groups import Groups, group_vectors, merge_counted
from streed.kernels.packed import PackedProblem, pack
from streed.kernels.records import FOUR
from streed.problem import Problem
from streed.task import Limit, State, Task
from streed.task.analysis.facts import Watched, reads, written_terms
from streed.task.states import OwnLimit, StateOfPart, sums_by

Places = dict[str, tuple[tuple[int, ...], bool]]
"""The planes of each statistic, ROWS in place of one that is 1 for every row; whether it has several entries."""

_LARGEST_SUM = 2**53
"""Below this, float64 adds whole numbers exactly."""

_SUM_BITS = 52
"""Bits of the sums of rounded values; a row in 2**52 may be rounded up from next to nothing."""

_FINEST = 1e9
"""Numbers with more decimals than this has digits are not tried as decimals."""


@attrs.frozen(eq=False)
class StatisticsMatrix:
    """The rows (m) of a problem, equal ones merged where they are summed, and their statistics in S planes."""

    codes: Array
    """(m, p) uint8, or ranks."""
    counts: Array
    """(m,) int64: how many of the caller's rows each of them is."""
    values: Array
    """(m, S) int64 or float64."""
    places: Places
    groups: Groups | None
    """The groups of equal values, if rows are counted."""
    integral: bool
    """Whether the statistics are whole numbers,"""
    exact: bool
    """and all their sums are so small that the engine adds them exactly."""
    per_unit: float | None = None
    """What the values are to be divided by, decimals that are held as whole numbers; None for 1."""

    @classmethod
    def of(cls, problem: Problem, weighs: bool) -> StatisticsMatrix:
        """The planes of the problem's statistics; `weighs`: whether what rows weigh is asked for, too."""
        values, places, per_unit = read_statistics(problem, weighs)
        codes, counts = writable(problem.data.X), problem.data.counts
        if values.dtype == np.int64:
            vectors = np.empty((len(values), values.shape[1] + 1), np.int64)
            vectors[:, :-1], vectors[:, -1] = values, counts
            groups = group_vectors(vectors)
            if groups is not None:
                return cls(codes, counts, values, places, merge_counted(groups, codes), True, True)
        first, class_of = find_classes(codes)
        return cls.summed(np.ascontiguousarray(codes[first]), class_of, counts, (values, places, per_unit))

    @classmethod
    def summed(
        cls, codes: Array, class_of: Array, counts: Array, read: tuple[Array, Places, float | None]
    ) -> StatisticsMatrix:
        """The planes of classes of rows with these codes, of what `read_statistics` gave; `class_of` (n,)."""
        values, places, per_unit = read
        integral, values = values.dtype == np.int64, values.astype(np.float64)
        exact = integral and float(np.abs(values).sum(axis=0).max(initial=0)) < coding.LARGEST_CODE
        counts, values = (sums_by(class_of, each, len(codes)) for each in (counts, values))
        return cls(codes, counts, values, places, None, integral, exact, per_unit)

    @property
    def lane(self) -> Any:
        """The narrowest lane type in which no sum overflows."""
        if self.groups is None:
            return np.float64
        largest = max(int(np.abs(self.values).sum(axis=0).max(initial=0)), int(self.counts.sum()))
        return np.int32 if largest < 2**30 else np.int64

    def pack(self, problem: Problem, merge: bool) -> PackedProblem:
        """The problem as the engine reads it, without its scoring; `merge`: of equal columns one is enough."""
        planes = self.values.shape[1] + 1
        groups = self.groups
        if groups is None:
            words = (len(self.codes) + 63) // 64
            places = np.repeat(np.arange(len(self.codes)), 2)
            groups = Groups(places, np.array([0, words]), np.ones((1, planes), np.int64), 0, 0)
        return pack(self.codes, problem.data.category_counts, groups, planes, 0, problem.min_leaf, merge=merge)

    def row_values(self, packed: PackedProblem) -> Array | None:
        """(N, S + 1 padded to fours) float64, the values and the count of every row, if they are summed."""
        if self.groups is not None:
            return None
        inputs = self.values.shape[1]
        padded = np.zeros((len(packed.row_bits), -(-(inputs + 1) // FOUR) * FOUR))
        padded[: len(self.values), :inputs] = self.values
        padded[: len(self.values), inputs] = self.counts
        return padded


def read_statistics(problem: Problem, weighs: bool) -> tuple[Array, Places, float | None]:
    """(values (n, S), the planes of each statistic, what to divide by; None for 1), `weighs` as in StatisticsMatrix.

    Values are int64, or float64 whose sums and differences are exact.
    """
    counts, n_rows = problem.data.counts, problem.data.n_rows
    sums = {name: values for name, values in problem.sums.items() if weighs or name != "weight"}
    columns: list[Array] = []
    plane_of = {}
    for name, values in sums.items():
        places = []
        for column in values.reshape(n_rows, -1).T:
            if (column == counts).all():
                places.append(ROWS)
            else:
                places.append(len(columns))
                columns.append(column)
        plane_of[name] = (tuple(places), values.ndim > 1)
    values = np.array(columns).T if columns else np.zeros((n_rows, 0), np.int64)
    if values.dtype == np.int64:
        return values, plane_of, None
    values, per_unit = _add_exactly(problem, values, list(sums))
    return values, plane_of, per_unit


def _add_exactly(problem: Problem, values: Array, names: list[str]) -> tuple[Array, float | None]:
    """(values (n, S) float64 whose sums and differences are exact in float64, what to divide them by; None for 1).

    Decimals become whole numbers of a unit. What is no decimal is rounded to multiples of a power of two, and never to
    nothing: a sum over rows that have none of a quantity is nothing, and one over rows that have some is not.
    """
    scaled = _decimals(problem, values, names)
    if scaled is not None:
        return scaled
    sizes = np.abs(values).sum(axis=0)
    shifts = _SUM_BITS - np.frexp(sizes)[1]
    rounded = np.rint(np.ldexp(values, shifts))
    lost = (rounded == 0) & (values != 0)
    return np.ldexp(np.where(lost, np.sign(values), rounded), -shifts), None


def _decimals(problem: Problem, values: Array, names: list[str]) -> tuple[Array, float] | None:
    """The values as whole numbers (n, S) float64 of one unit, and how many make 1; None where they do not fit."""
    weights = problem.data.weights
    for each in (values,) if weights is None else (weights.astype(np.float64),):
        if float(np.abs(each).sum()) * _FINEST < 2**53 and (np.rint(each * _FINEST) / _FINEST != each).any():
            return None
    try:
        sums = {name: problem.exact_sums[name] for name in names}
    except InputError:
        return None
    common = math.lcm(*(unit.denominator for _, unit in sums.values()))
    if common >= _LARGEST_SUM:
        return None
    columns: list[list[int]] = []
    for whole, unit in sums.values():
        factor = int(unit * common)
        columns.extend([int(x) * factor for x in column] for column in whole.reshape(len(values), -1).T)
    rows = [count * common for count in problem.data.counts.tolist()]
    kept = [column for column in columns if column != rows]
    if len(kept) < values.shape[1] or any(sum(map(abs, column)) >= _LARGEST_SUM for column in kept):
        return None
    return np.array(kept, np.float64).reshape(len(kept), len(values)).T, float(common)


# -- methods -------------------------------------------------------------------------------------------------------


_OPTIONAL = ("combine", "feasible", "subtract")


@attrs.frozen(eq=False)
class ScoredTerm:
    """A term of the task, and what of it is compiled."""

    weight: Fraction
    task: Task
    prefix: str
    called: bool
    """Whether its branching costs depend on more than the split."""
    by_path: bool
    numbers: tuple[capture.Number, ...] = ()
    """What its methods read from `self`."""

    @classmethod
    def of(cls, weight: Fraction, task: Task, prefix: str) -> ScoredTerm:
        costs = task.overrides("branching_cost")
        by_path = costs and reads(task, "path")
        return cls(weight, task, prefix, by_path or (costs and reads(task, "rows")), by_path)

    @property
    def bounded(self) -> bool:
        return self.task.overrides("lower_bound")

    def own_cost(self, s: State, k: int) -> float:
        """What a leaf of the whole's state costs by its methods alone."""
        own = StateOfPart(s, self.prefix) if self.prefix else s
        return float(self.task.leaf_cost(own, 0 if self.task.any_label else k))

    @functools.cached_property
    def functions(self) -> dict[str, Callable[..., Any]]:
        """Its methods to compile, by name."""
        if self.weight == 0:
            return {}
        kind = type(self.task)
        found: dict[str, Callable[..., Any]] = {"leaf_cost": kind.leaf_cost}
        if self.called:
            found["branching_cost"] = kind.branching_cost
        if self.bounded:
            found["lower_bound"] = kind.lower_bound
        return found | {name: getattr(kind, name) for name in _OPTIONAL if self.task.overrides(name)}

    def shape(self, plane_of: Places, weighs: bool) -> TermSpec:
        """What the text depends on; `plane_of`: of the statistics, `weighs`: whether a state has to know its weight."""
        mine = {name[len(self.prefix) :]: place for name, place in plane_of.items() if name.startswith(self.prefix)}
        if weighs:
            mine.setdefault("weight", plane_of.get("weight", ((ROWS,), False)))
        return TermSpec(
            statistics=tuple((name, *place) for name, place in mine.items()),
            numbers=kinds_of(self.numbers),
            weighted=self.weight not in (0, 1),
            costs=self.weight != 0,
            any_label=self.task.any_label,
            called=self.called,
            bounded=self.bounded,
        )


def split_table(terms: Sequence[ScoredTerm], problem: Problem) -> Array | None:
    """(p,) int64 or float64: the branching costs that depend on the column only, of all terms; None for none.

    No tree pays those that are infinite, or beyond all floats.
    """
    p, n = problem.data.n_columns, problem.data.size
    total: list[Any] | None = None
    for term in terms:
        if term.called or not p or term.task.branching_cost(n, (), 0) is None:
            continue
        asked = range(p) if reads(term.task, "split") else range(1)
        named: list[Any] = [term.task.branching_cost(n, (), j) for j in asked]
        costs = [float(term.weight) * x if abs(x) == math.inf else term.weight * exact_number(x) for x in named]
        costs *= p // len(costs)
        total = costs if total is None else [a + b for a, b in zip(total, costs, strict=True)]
    if total is None:
        return None
    whole = all(cost % 1 == 0 for cost in total) and not any(
        isinstance(term.task.branching_cost(n, (), 0), float) for term in terms
    )
    return np.array([int(cost) for cost in total]) if whole else np.array([as_float(cost) for cost in total])


def functions_of(terms: Sequence[ScoredTerm]) -> tuple[dict[str, Callable[..., Any]], tuple[str, ...]]:
    """(the methods to compile by name, the names of the optional ones that the text takes notice of)."""
    written = [(f"{name}{i}", name, each) for i, term in enumerate(terms) for name, each in term.functions.items()]
    functions, members = {key: each for key, name, each in written if name not in _OPTIONAL}, set()
    nonnegative = all(term.weight >= 0 and (term.bounded or term.task.worsening) for term in terms)
    if nonnegative and any(term.bounded for term in terms):
        members.add("lower_bound")
    if sum(not isinstance(term.task, Watched) for term in terms) == 1:
        optional = {name: each for _, name, each in written if name in _OPTIONAL}
        if "feasible" in optional and "combine" not in optional:
            optional |= {"combine": _plus, "subtract": _minus}
        if "combine" not in optional:
            optional.pop("subtract", None)
        functions |= optional
        members |= optional.keys()
    return functions, tuple(sorted(members))


def place_limit(limit: Limit, terms: Sequence[ScoredTerm]) -> tuple[Limit, int]:
    """(the limit itself, the number of the term whose statistics it is on)."""
    if not isinstance(limit, OwnLimit):
        return limit, 0
    return limit.limit, next(i for i, term in enumerate(terms) if term.prefix == limit.prefix)


def _plus(self: Any, a: Any, b: Any) -> Any:
    return a + b


def _minus(self: Any, a: Any, b: Any) -> Any:
    return a - b


def kinds_of(read: Sequence[capture.Number]) -> tuple[tuple[str, str], ...]:
    """What the text depends on of numbers: their names and kinds."""
    return tuple((number.name, number.kind) for number in read)


@attrs.frozen(eq=False)
class CompiledMethods:
    """The terms and limits of a task, what of them is compiled, and what that reads."""

    terms: list[ScoredTerm]
    limits: list[tuple[Limit, int, tuple[capture.Number, ...]]]
    """Each limit on leaves that is not only on rows, the number of the term whose statistics it is on, and what it
    reads from `self`."""
    functions: dict[str, Callable[..., Any]]
    """All that is compiled, by name."""
    members: tuple[str, ...]
    """The optional methods that the text takes notice of."""
    reads_weight: bool
    """Whether a method may ask what the rows of a state weigh together."""

    @classmethod
    def of(cls, task: Task) -> CompiledMethods:
        """Of a bound task, limits and all."""
        terms = list(itertools.starmap(ScoredTerm.of, written_terms(task)))
        functions, members = functions_of(terms)
        limits = [place_limit(limit, terms) for limit in task.limits if limit.support is None]
        functions |= {f"allows{i}": type(limit).allows for i, (limit, _) in enumerate(limits)}
        named = capture.names_within(functions.values())
        terms = [attrs.evolve(x, numbers=capture.numbers_of(x.task, x.functions.values(), named)) for x in terms]
        reading = [(each, at, capture.numbers_of(each, [type(each).allows], named)) for each, at in limits]
        return cls(terms, reading, functions, members, "weight" in named)

    def in_units(self, unit: Fraction) -> CompiledMethods:
        """The same for costs in multiples of the unit."""
        if unit == 1:
            return self
        return attrs.evolve(self, terms=[attrs.evolve(each, weight=each.weight / unit) for each in self.terms])

    @property
    def combines(self) -> bool:
        """Whether values are combined by an operator of the task's own."""
        return "combine" in self.functions

    @property
    def calls(self) -> bool:
        """Whether branching costs are asked of the task, split by split."""
        return any(term.called for term in self.terms)

    @property
    def by_path(self) -> bool:
        """Whether branching costs depend on the columns tested above."""
        return any(term.by_path for term in self.terms)

    def words(self, scale: float, per_unit: float | None) -> tuple[Array, tuple[Any, ...]]:
        """(int64 words, arrays to keep) of all that is read: the scale, then the numbers of terms and of limits.

        `per_unit` comes last: what sums are divided by; None where they are as methods see them.
        """
        words: list[Any] = [scale]
        kept: list[Any] = []
        read = [(term.numbers, [float(term.weight)]) for term in self.terms]
        for numbers, weight in [*read, *((numbers, []) for _, _, numbers in self.limits)]:
            for number in numbers:
                if number.kind in ("int", "real"):
                    words.append(number.value)
                else:
                    kept.append(number.value)
                    words += [int(number.value.__array_interface__["data"][0]), *number.value.shape]
            words += weight
        words += [] if per_unit is None else [per_unit]
        bits = [struct.unpack("<q", struct.pack("<d", x))[0] if isinstance(x, float) else x for x in words]
        return np.array(bits, np.int64), tuple(kept)
