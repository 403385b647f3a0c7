"""What a task's methods, asked in Python about a few states, tell of its costs before any kernel is made."""

from __future__ import annotations

import contextlib
import itertools
import math
import numbers
import operator
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import attrs
import numpy as np

from streed.data import Dataset
from streed.encoding.methods import ScoredTerm, split_table
from streed.errors import TaskError
from streed.exact import ONE, Array, fraction_of
from streed.kernels import coding
from streed.problem import Problem
from streed.task import State, Task, Value
from streed.task.analysis.facts import first_states, reads
from streed.task.base import is_larger_better, objective

_OPERATORS = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow")


class _Noted(int):
    """A whole number that notes the largest size of what is computed of it, in a list that all of these share."""

    sizes: list[float]


def _noted(x: Any, sizes: list[float]) -> Any:
    if type(x) is not int:
        return tuple([_noted(each, sizes) for each in x]) if type(x) is tuple else x
    sizes[0] = max(sizes[0], float(x), -float(x)) if -_LARGE < x < _LARGE else math.inf
    found = _Noted(x)
    found.sizes = sizes
    return found


def _noting(function: Callable[[Any, Any], Any], reflected: bool) -> Callable[[Any, Any], Any]:
    def compute(self: _Noted, other: Any) -> Any:
        if not isinstance(other, (int, float)):
            return NotImplemented
        pair = int(self), int(other) if isinstance(other, _Noted) else other
        return _noted(function(*(pair[::-1] if reflected else pair)), self.sizes)

    return compute


for _name, _reflected in itertools.product(_OPERATORS, (False, True)):
    setattr(_Noted, f"__{'r' * _reflected}{_name}__", _noting(getattr(operator, _name), _reflected))


def largest_whole(task: Task, sums: dict[str, Array], labels: int, rows: int) -> float:
    """The largest size of the whole numbers that leaf costs compute with, of all rows, and of all that add to a sum.

    Native whole numbers wrap round beyond 2**63 where Python's grow, which does not show in the costs alone: a**4 /
    b**3 is small. So the states have numbers that keep a record.
    """
    sizes = [0.0]
    signed = _plain({name: values.sum(axis=0) for name, values in sums.items()})
    absolute = _plain({name: np.abs(values).sum(axis=0) for name, values in sums.items()})
    for totals in (signed,) if signed == absolute else (signed, absolute):
        state = State(_noted(rows, sizes), **{name: _noted(total, sizes) for name, total in totals.items()})
        # of no state of the data the methods owe an answer
        with contextlib.suppress(Exception):
            for k in range(labels):
                task.leaf_cost(state, k)
    return sizes[0]


def _plain(sums: Mapping[str, Any]) -> dict[str, Any]:
    """Sums as states have them."""
    return {name: tuple(total.tolist()) if total.ndim else total.item() for name, total in sums.items()}


_LARGEST_NATIVE = 2.0**62

_SMALL, _LARGE = 2.0**-900, 2.0**900
"""Between these, costs are computed as they are."""

_CHANGE = 2.0**-20
"""By which part of itself a sum is changed to see how steep a cost is in it."""

_ROUNDING = 2.0**-53

_OPERATIONS = 16
"""Roundings of what is computed of sums."""

_DIFFERENCES = 2.0**-52
"""By which part of the sum over all rows one over some may be off for each root of the number of rows, and twice so."""

_ROWS_TRIED = 4
"""Of the least in each statistic, and twice as many of all."""


@attrs.frozen
class CostSamples:
    """What was seen of the costs."""

    whole: bool
    """Whether all costs are whole numbers,"""
    real: bool
    """and whether some are floats."""
    wide: bool
    """Whether the methods compute with numbers beyond int64."""
    larger: bool
    largest: float
    """Of the costs that were seen, in units of `unit`."""
    unit: Fraction
    """What native code computes costs in, a power of two: 1 unless they are near the ends of what floats hold."""

    @classmethod
    def of(cls, problem: Problem, terms: Sequence[ScoredTerm]) -> CostSamples:
        """Of the problem, whose task is the sum of these terms."""
        task, sums = problem.task, problem.sums
        own = objective(task)
        table = split_table(terms, problem)
        seen = [*problem.first_costs, *_branching_costs(task, terms, problem.data)]
        if not own.adds_values:
            seen.append(task.combine(seen[0], seen[0]))
        kinds = set(map(type, seen))
        whole = all(issubclass(x, numbers.Integral) for x in kinds) and (table is None or table.dtype == np.int64)
        known = [x for x in (*seen, *(() if table is None else table.tolist())) if x - x == 0]
        largest: Any = max(max(known, default=0), -min(known, default=0))
        whole, unit = whole and largest < coding.LARGEST_CODE, ONE
        if own.adds_values and not _SMALL < largest < _LARGE:
            # a product with a weight may be too small for floats, or too large, and what is weighed is not
            states, labels = first_states(sums, problem.data), range(len(task.labels(problem.data)))
            for term in (each for each in terms if each.weight):
                costs = [term.own_cost(s, k) for s in states for k in labels]
                largest = max([largest, *(abs(term.weight * Fraction(x)) for x in costs if math.isfinite(x))])
            largest = fraction_of(largest)
            unit = Fraction(2) ** (largest.numerator.bit_length() - largest.denominator.bit_length() if largest else 0)
            largest /= unit
        wide = largest_whole(task, sums, len(task.labels(problem.data)), problem.data.size) >= _LARGEST_NATIVE
        real = any(issubclass(x, float) for x in kinds)
        return cls(whole, real, wide, bool(is_larger_better(own)), float(largest), unit)


def _branching_costs(task: Task, terms: Sequence[ScoredTerm], data: Dataset) -> list[Value]:
    """What splits of all rows cost, with nothing and with everything else tested above; none where that is nothing."""
    if not task.overrides("branching_cost"):
        return []
    n, columns = data.size, range(data.n_columns)
    if not any(reads(term.task, argument) for term in terms for argument in ("split", "path", "rows")):
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


def lost_in_sums(problem: Problem, terms: Sequence[ScoredTerm], inexact: bool) -> float:
    """How far the rounding of sums in float64 may move the cost of a tree of a task that is the sum of these terms.

    Leaves share the rows, so errors in proportion to their sums add up to what the same errors do to the cost of all
    rows. `inexact`: sums are of real numbers, and those of a leaf are also found as differences of larger ones, so each
    is off by a part of the sum over all rows: what that does to a leaf is most where its own sums are small beside
    these, so it is tried on such rows, and on others. What costs turn out to be when a sum is changed tells both.
    """
    sums = {name: values.astype(np.float64) for name, values in problem.sums.items()}
    totals, changes = {name: values.sum(axis=0) for name, values in sums.items()}, {}
    for name, total in totals.items():
        change = _CHANGE * np.abs(total)
        # methods may look whole numbers up in tables
        is_whole = problem.sums[name].dtype.kind in "iu"
        changes[name] = np.minimum(np.maximum(np.floor(change), 1), np.abs(total)) if is_whole else change
    moved = _moved(problem, terms, problem.data.size, totals, changes)
    parts = (np.abs(totals[name]) / np.where(each, each, 1) * moved[name] for name, each in changes.items())
    lost = _OPERATIONS * _ROUNDING * sum(float(part.max(initial=0)) for part in parts)
    if inexact:
        apart = _DIFFERENCES * (2 + math.sqrt(len(problem.data.X)))
        errors = {}
        for name, values in sums.items():
            sizes = np.abs(values)
            # rows too small for the grid of the sums are rounded up to a step of it, all to one side
            raised = ((values != 0) & (sizes < _DIFFERENCES * sizes.sum(axis=0))).sum(axis=0)
            errors[name] = (apart + 2 * _DIFFERENCES * raised) * sizes.sum(axis=0)
        copies = problem.data.counts
        most = max(
            sum(_moved(problem, terms, int(copies[i]), {k: v[i] for k, v in sums.items()}, errors).values())
            for i in _tried_rows(sums)
        )
        lost += (problem.most_branches + 1) * most
    return lost


def _moved(
    problem: Problem, terms: Sequence[ScoredTerm], rows: int, sums: dict[str, Array], errors: dict[str, Array]
) -> dict[str, float]:
    """How much the cost of a leaf moves when each of its sums is off by its error.

    Sums that the task's methods do not suit, such as a number of rows below zero, tell nothing.
    """
    labels, given = range(len(problem.task.labels(problem.data))), _plain(sums)
    weighted = [(float(term.weight), term) for term in terms if term.weight]

    changed = [_plain({name: each + sign * errors[name] for name, each in sums.items()}) for sign in (1, -1)]

    def costs(found: dict[str, Any]) -> list[float]:
        s = State(rows, **found)
        try:
            return [sum([weight * term.own_cost(s, k) for weight, term in weighted]) for k in labels]
        except Exception:  # noqa: BLE001 - whatever the task's own code raises
            return [math.nan] * len(labels)

    begin, moved = costs(given), {}
    for name in sums:
        pairs = [pair for other in changed for pair in zip(costs(given | {name: other[name]}), begin, strict=True)]
        moved[name] = max((abs(a - b) for a, b in pairs if math.isfinite(a - b)), default=0.0)
    return moved


def _tried_rows(sums: dict[str, Array]) -> list[int]:
    """The rows with the least sums that are not zero, and some of every size, for each statistic."""
    found: set[int] = {0}
    for values in sums.values():
        size = np.abs(values).reshape(len(values), -1).max(axis=1)
        ascending = np.flatnonzero(size)[np.argsort(size[size > 0], kind="stable")]
        places = np.linspace(0, len(ascending), 2 * _ROWS_TRIED, endpoint=False).astype(np.int64)
        found.update(ascending[:_ROWS_TRIED].tolist(), ascending[places[: len(ascending)]].tolist())
    return sorted(found)


def asks_whole(problem: Problem) -> bool:
    """Whether the methods of a state take whole numbers only, as an index does, or a shift."""
    sums = {name: values.sum(axis=0, dtype=np.float64) for name, values in problem.sums.items()}
    task, s = problem.task, State(float(problem.data.size), **_plain(sums))  # type: ignore[arg-type]
    try:
        task.leaf_cost(s, 0)
        task.lower_bound(s)
        for limit in task.limits:
            limit.allows(s)
    except TypeError:
        return True
    return False
