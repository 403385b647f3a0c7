"""The terms of a task whose kernels are generated: which of their methods are compiled, and what splits cost.

A task is the sum of its terms (`written_terms`); most have one, themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import attrs
import numpy as np

from streed.exact import Array, as_float, exact_number
from streed.kernels.codegen.spec import ROWS, TermSpec
from streed.problem import Problem
from streed.task import Limit, State, Task
from streed.task.analysis.facts import Watched, reads
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

    Those beyond all floats are infinite: no tree pays them.
    """
    p, n = problem.data.n_columns, problem.data.size
    total: list[Any] | None = None
    for term in terms:
        if term.called or not p or term.task.branching_cost(n, (), 0) is None:
            continue
        asked = range(p) if reads(term.task, "split") else range(1)
        costs = [term.weight * exact_number(term.task.branching_cost(n, (), j)) for j in asked]
        costs *= p // len(costs)
        total = costs if total is None else [a + b for a, b in zip(total, costs, strict=True)]
    if total is None:
        return None
    whole = all(cost.denominator == 1 for cost in total) and not any(
        isinstance(term.task.branching_cost(n, (), 0), float) for term in terms
    )
    return np.array([int(cost) for cost in total]) if whole else np.array([as_float(cost) for cost in total])


def functions_of(terms: Sequence[ScoredTerm]) -> tuple[dict[str, Callable[..., Any]], tuple[str, ...]]:
    """(the methods to compile by name, the names of the optional ones that the text takes notice of)."""
    written = ((f"{name}{i}", name, each) for i, term in enumerate(terms) for name, each in term.functions.items())
    functions, members = {key: each for key, name, each in written if name not in _OPTIONAL}, set()
    nonnegative = all(term.weight >= 0 and (term.bounded or term.task.worsening) for term in terms)
    if nonnegative and any(term.bounded for term in terms):
        members.add("lower_bound")
    if sum(not isinstance(term.task, Watched) for term in terms) == 1:
        optional = {name: terms[0].functions[name] for name in _OPTIONAL if name in terms[0].functions}
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
