"""What of a task becomes native code: its methods, those of its limits, and the numbers that they read.

A task is the sum of its terms (`written_terms`); most have one, themselves.
"""

from __future__ import annotations

import itertools
import math
import struct
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import attrs
import numpy as np

from streed.encoding.statistics import Places
from streed.exact import Array, as_float, exact_number
from streed.kernels.codegen import capture
from streed.kernels.codegen.spec import ROWS, TermSpec
from streed.problem import Problem
from streed.task import Limit, State, Task
from streed.task.analysis.facts import Watched, reads, written_terms
from streed.task.states import OwnLimit, StateOfPart

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

    @classmethod
    def of(cls, weight: Fraction, task: Task, prefix: str) -> ScoredTerm:
        costs = task.overrides("branching_cost")
        by_path = costs and reads(task, "path")
        return cls(weight, task, prefix, by_path or (costs and reads(task, "rows")), by_path)

    @property
    def bounded(self) -> bool:
        return self.task.overrides("lower_bound")

    def in_units(self, unit: Fraction) -> ScoredTerm:
        return attrs.evolve(self, weight=self.weight / unit)

    def own_cost(self, s: State, k: int) -> float:
        """What a leaf of the whole's state costs by its methods alone."""
        own = StateOfPart(s, self.prefix) if self.prefix else s
        return float(self.task.leaf_cost(own, 0 if self.task.any_label else k))

    @property
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

    def shape(
        self, plane_of: Mapping[str, tuple[tuple[int, ...], bool]], read: Sequence[Any], weighs: bool
    ) -> TermSpec:
        """What the text depends on; `weighs`: whether a state has to know its weight."""
        mine = {name[len(self.prefix) :]: place for name, place in plane_of.items() if name.startswith(self.prefix)}
        if weighs:
            mine.setdefault("weight", plane_of.get("weight", ((ROWS,), False)))
        return TermSpec(
            statistics=tuple((name, *place) for name, place in mine.items()),
            numbers=tuple(read),
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


Read = tuple[tuple[str, str], ...]


@attrs.frozen(eq=False)
class CompiledMethods:
    """The terms and limits of a task, what of them is compiled, and what that reads."""

    terms: list[ScoredTerm]
    limits: list[tuple[Limit, int]]
    """Each limit on leaves that is not only on rows, and the number of the term whose statistics it is on."""
    functions: dict[str, Callable[..., Any]]
    """All that is compiled, by name."""
    members: tuple[str, ...]
    """The optional methods that the text takes notice of."""
    read: list[Any]
    """What the methods of each term read from `self`,"""
    read_by_limits: list[Any]
    """and those of each limit."""
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
        read = [capture.numbers_of(term.task, term.functions.values(), named) for term in terms]
        read_by_limits = [capture.numbers_of(limit, [type(limit).allows], named) for limit, _ in limits]
        return cls(terms, limits, functions, members, read, read_by_limits, "weight" in named)

    def in_units(self, unit: Fraction) -> CompiledMethods:
        """The same for costs in multiples of the unit."""
        return self if unit == 1 else attrs.evolve(self, terms=[each.in_units(unit) for each in self.terms])

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

    def term_shapes(self, places: Places) -> tuple[TermSpec, ...]:
        """What the text depends on of each term; `places`: the planes of the statistics."""
        pairs, weighs = zip(self.terms, self.read, strict=True), self.reads_weight
        return tuple(term.shape(places, _kinds(numbers), weighs) for term, numbers in pairs)

    def limit_shapes(self) -> tuple[tuple[int, Read], ...]:
        """What the text depends on of each limit."""
        pairs = zip(self.limits, self.read_by_limits, strict=True)
        return tuple((place, _kinds(numbers)) for (_, place), numbers in pairs)

    def words(self, scale: float, per_unit: float | None) -> tuple[Array, tuple[Any, ...]]:
        """(int64 words, arrays to keep) of all that is read: the scale, then the numbers of terms and of limits.

        `per_unit` comes last: what sums are divided by; None where they are as methods see them.
        """
        words: list[Any] = [scale]
        kept: list[Any] = []
        weights = [[float(term.weight)] for term in self.terms] + [[] for _ in self.limits]
        for numbers, weight in zip([*self.read, *self.read_by_limits], weights, strict=True):
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


def _kinds(read: Any) -> Read:
    return tuple((number.name, number.kind) for number in read)
