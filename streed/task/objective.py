"""What is asked of trees, flat: tasks side by side, limits on leaves, on values and on sums of the tree, and gaps.

Several tasks at once have the front of their nondominated values, tuples compared and combined entry by entry (STreeD,
Prop. A.4, Eq. 33 and 34). That is separable if every task is, whatever its own (+), order and limits are. A tree within
a limit on a value must have parts within it, if combining never makes the value better (Def. A.2), so the best tree
within limits is the best of such a front (Prop. A.3).

A limit on a sum over the tree keeps signed sums in intervals; a gap is the largest of |sum| / size over some. Either
way each signed sum is two more entries of the values, which worsen (`streed.task.bounded_sums`). Between two gaps no
dominance holds at a node, for what one part is ahead another may make up; of a whole tree only the gap counts
(`at_root`), so that the front of the root is that of the objective and the gaps (STreeD, Eq. 3 and 11).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, final

import attrs

from streed.data import Dataset
from streed.errors import NotSeparableError, TaskError
from streed.exact import Array
from streed.task.analysis.linear_form import adds, row_cost_form
from streed.task.base import COMPONENTWISE, PARTIAL, TOTAL, Task, Value, bound, name, scoring
from streed.task.bounded_sums import Gap, RowSum, SumLimit, worsening_statistics, worsens
from streed.task.joint import Joint
from streed.task.states import Limit, OwnLimit, State, Totals


def _as_its_one_part(method: Callable[..., Any]) -> Any:
    """The method, which is that of the one part where there is nothing beside it but limits on leaves."""

    @functools.wraps(method)
    def forwarded(self: Objective, *asked: Any) -> Any:
        return getattr(self.parts[0], method.__name__)(*asked) if self.is_plain else method(self, *asked)

    return forwarded


@final
@attrs.frozen
class Objective(Joint):
    """One task, or the front of several, or the first of several over the trees on which the others are limited."""

    parts: tuple[Task, ...]
    """At least one. All but the first have numbers as values, and so has the first, or it has `components`."""
    most: tuple[Any, ...] = ()
    """The limits of the parts from the second on; none, and the nondominated values of all parts are a front."""
    leaf_limits: tuple[Limit, ...] = ()
    sum_limits: tuple[SumLimit, ...] = ()
    gaps: tuple[Gap, ...] = ()
    """What is to be small beside the first part."""
    data: Dataset | None = bound(None)
    """Those that the limits on sums and the gaps are bound to."""
    intervals: tuple[RowSum, ...] = bound(())
    """The sums that `sum_limits` keep in intervals, once the data are known."""
    unbound: tuple[Task, ...] = bound(())
    """The parts, once they are bound, as they know what is shown of their values."""

    @property
    def is_plain(self) -> bool:
        """Whether values are those of its one part."""
        return len(self.parts) == 1 and not (self.sum_limits or self.gaps or self.intervals)

    @property
    def is_front(self) -> bool:
        """Whether the values of all parts count."""
        return len(self.parts) > 1 and not self.most

    @property
    def of_sums(self) -> bool:
        """Whether it is about more than one sum over the tree, beside limits on values."""
        return self.parts[0].components is not None or bool(self.sum_limits or self.gaps)

    @property
    def limited(self) -> tuple[tuple[Task, Any], ...]:
        """The parts whose values are limited, and the limits."""
        return tuple(zip(self.parts[1:], self.most, strict=True)) if self.most else ()

    # -- facts -------------------------------------------------------------------------------------------------------

    @property
    def maximize(self) -> bool:  # type: ignore[override]
        return self.is_plain and self.parts[0].maximize

    @property
    def components(self) -> tuple[str, ...] | None:  # type: ignore[override]
        return self.parts[0].components if self.is_plain else None

    @property
    def value_unit(self) -> str:
        return ", ".join([p.value_unit for p in self.parts[: None if self.is_front else 1]] + [*map(str, self.gaps)])

    @property
    def larger_is_better(self) -> bool:
        """As the first part, whose score chooses the result's tree from the front."""
        return self.parts[0].larger_is_better

    @property
    def order(self) -> str:  # type: ignore[override]
        if self.is_plain:
            return self.parts[0].order
        return PARTIAL if self.overrides("better") else COMPONENTWISE

    @property
    def superadditive(self) -> bool:  # type: ignore[override]
        return self.is_plain and self.parts[0].superadditive

    @property
    def worsening(self) -> bool:  # type: ignore[override]
        return all(part.worsening for part in self.parts)

    @property
    def adds_values(self) -> bool:
        if self.is_plain:
            return self.parts[0].adds_values
        return all(part.components is not None or adds(part) for part in self.parts)

    @_as_its_one_part
    def overrides(self, name: str) -> bool:
        if name == "combine":
            return not self.adds_values
        if name not in ("better", "feasible", "branching_cost"):
            return super().overrides(name)
        limited = name == "feasible" and bool(self.most or self.intervals)
        return limited or any(part.overrides(name) for part in self.parts)

    @property
    def limits(self) -> tuple[Limit, ...]:
        own = [type(limit).statistics is not Limit.statistics for limit in self.leaf_limits]
        return tuple(OwnLimit(limit, i) if own[i] else limit for i, limit in enumerate(self.leaf_limits))

    @property
    def without_limits(self) -> Task:
        return self._without_limits if self.leaf_limits else self  # not itself in a field of its own: that is a cycle

    @functools.cached_property
    def _without_limits(self) -> Task:
        return self.parts[0] if self.is_plain else attrs.evolve(self, leaf_limits=())

    # -- what is known with the data -----------------------------------------------------------------------------------

    def bind(self, data: Dataset) -> Task:
        if self.data is not None:
            return self
        parts = tuple(part.bind(data) for part in self.parts)
        unbound = self.unbound or tuple(map(scoring, self.parts, parts))
        for part in parts[1:] if self.most else ():
            if not worsens(part, data):
                raise not_worsening(part, "its costs may be negative (declare `worsening` if they are not)")
        if self.most:  # sums of floats may be beyond a limit that the numbers meant are within
            parts = (parts[0], *(row_cost_form(part, data) or part for part in parts[1:]))
        limits = tuple(limit.bind(data) for limit in self.leaf_limits)
        held: dict[str, Any] = {}
        if self.sum_limits or self.gaps:
            held = {"data": data, "intervals": self._sums_on(data, tuple(parts[0].labels(data)), unbound[0])}
        return attrs.evolve(self, parts=parts, leaf_limits=limits, unbound=unbound, **held)

    def _sums_on(self, data: Dataset, labels: tuple[Any, ...], first: Task) -> tuple[RowSum, ...]:
        """The sums of the limits on the data; `labels`: what leaves show, by the first part."""
        for limit in self.sum_limits:
            if limit.of_classes and len(labels) != data.n_classes:
                seen = f"the leaves of {name(first)} show {', '.join(map(repr, labels[:3]))}, no classes of y"
                raise TaskError(f"{limit!r} is about which classes are predicted, and {seen}; use one such as Accuracy")
        sums = tuple(each for limit in self.sum_limits for each in limit.bounded_sums(data))
        if any(each.costs.shape[1] != len(labels) for each in sums):
            raise TaskError(f"{self.sum_limits!r} are about the classes of y, which the task does not predict")
        return sums

    @functools.cached_property
    def imbalances(self) -> tuple[tuple[int, int, RowSum], ...]:
        """The number of its gap, what it is divided by, and the sum, of every signed sum of the gaps."""
        if self.data is None or not self.gaps:
            return ()
        gaps, data = enumerate(self.gaps), self.data
        return tuple((number, size, signed) for number, gap in gaps for signed, size in gap.ratios(data))

    @functools.cached_property
    def _sums(self) -> tuple[RowSum, ...]:
        """What is limited, and what the gaps are of: each is two entries of the values."""
        return (*self.intervals, *(each for _, _, each in self.imbalances))

    @functools.cached_property
    def _entries(self) -> tuple[Task | None, ...]:
        """The part that each entry of a value is of; None where that is added up, smaller being better."""
        own: list[Task | None] = []
        for part in self.parts:
            own += [part] if part.components is None else [None] * len(part.components)
        return (*own, *[None] * (2 * len(self._sums)))

    @functools.cached_property
    def caps(self) -> tuple[Any, ...]:
        """The most that each entry of a value may be (None: any)."""
        found = []
        for each in self.intervals:
            least, most = each.spread
            found += [each.unit * (each.most - least), each.unit * (most - each.least)]  # type: ignore[operator]
        free = 2 * len(self.imbalances)
        own = [None] * (len(self._entries) - len(found) - free - len(self.most))
        return (*own, *self.most, *found, *[None] * free)

    # -- the contract --------------------------------------------------------------------------------------------------

    def statistics(self, data: Dataset) -> dict[str, Array]:
        if self.data is None and (self.sum_limits or self.gaps):
            return self.bind(data).statistics(data)
        found = super().statistics(data)
        for limit in self.limits:
            if isinstance(limit, OwnLimit):
                found |= {limit.prefix + key: values for key, values in limit.limit.statistics(data).items()}
        return found | worsening_statistics(self._sums, data)

    @_as_its_one_part
    def leaf_cost(self, s: State, k: int) -> Value:
        """Eq. 30."""
        if self.data is None and (self.sum_limits or self.gaps):
            raise TaskError("bind a task over sums of the whole tree to its data before you ask for costs")
        own: list[Any] = []
        for number, part in enumerate(self.parts):
            cost = self.cost_of(number, s, k)
            if isinstance(cost, tuple) and part.components is None:
                said = f"tasks whose values are numbers go together, and {name(part)} costs {cost!r}"
                raise TaskError(f"{said}; make each of its entries a task, and join them by the operator &")
            own += cost if isinstance(cost, tuple) else [cost]
        return (*own, *(getattr(s, f"{side}{j}")[k] for j in range(len(self._sums)) for side in ("above", "below")))

    def branching_cost(self, rows: int, path: tuple[int, ...], split: int) -> Value | None:
        """Eq. 31; None in the place of parts that name no cost and have a (+) of their own."""
        costs = [part.branching_cost(rows, path, split) for part in self.parts]
        if self.is_plain:
            return costs[0]
        if all(cost is None for cost in costs):
            return None
        own: list[Any] = []
        for part, cost in zip(self.parts, costs, strict=True):
            nothing = 0 if self.adds_values or part.components is not None else None
            width = 1 if part.components is None else len(part.components)
            own += [nothing] * width if cost is None else cost if isinstance(cost, tuple) else [cost]
        return (*own, *[0] * (2 * len(self._sums)))

    @_as_its_one_part
    def combine(self, a: Value, b: Value) -> Value:
        """Eq. 34."""
        entries = zip(self._entries, a, b, strict=True)
        return tuple([x if y is None else x + y if part is None else part.combine(x, y) for part, x, y in entries])

    @_as_its_one_part
    def better(self, a: Value, b: Value) -> bool:
        """Eq. 33."""
        entries = zip(self._entries, a, b, strict=True)
        return bool(a != b) and all(x == y or (x < y if p is None else p.better(x, y)) for p, x, y in entries)

    @_as_its_one_part
    def feasible(self, value: Value) -> bool:
        """Eq. 35, and Eq. 29 for every limit; equal to it is within it."""
        for part, cap, x in zip(self._entries, self.caps, value, strict=True):
            if part is not None and not part.feasible(x):
                return False
            if cap is not None and (cap < x if part is None else part.better(cap, x)):
                return False
        return True

    @_as_its_one_part
    def subtract(self, a: Value, b: Value) -> Value | None:
        """a - b where all entries are sums; a bound by entries is none in general, for entries may be equal."""
        return tuple(x - y for x, y in zip(a, b, strict=True)) if self.adds_values else None

    def worst_per_row(self, data: Dataset) -> Array | None:
        return self.parts[0].worst_per_row(data) if self.is_plain else None

    def lower_bound(self, s: State) -> Value | None:
        bounds = tuple(part.lower_bound(self.seen(s, number)) for number, part in enumerate(self.parts))
        if self.is_plain:
            return bounds[0]
        return None if None in bounds or self.intervals or self.gaps else bounds

    def exact_cost(self, data: Dataset, rows: Array, k: int) -> Value | None:
        return self.parts[0].exact_cost(data, rows, k) if self.is_plain else None

    # -- whole trees ---------------------------------------------------------------------------------------------------

    @_as_its_one_part
    def objective_of(self, value: Value) -> Value:
        components = self.parts[0].components
        return value if self.is_front else value[0] if components is None else value[: len(components)]

    def gaps_of(self, value: Value) -> tuple[Fraction, ...]:
        """The gaps of a whole tree's value."""
        assert self.data is not None
        found = [Fraction(0)] * len(self.gaps)
        above = value[len(value) - 2 * len(self.imbalances) :: 2]
        for (number, size, each), beyond in zip(self.imbalances, above, strict=True):
            signed = Fraction(beyond) / each.unit + each.least  # type: ignore[operator]
            found[number] = max(found[number], abs(signed) / size)
        return tuple(found)

    def at_root(self, value: Value) -> Value:
        """What still counts of the value of a whole tree: nothing that was kept for limits; of gaps, only these."""
        if self.is_plain:
            return value
        own = self.objective_of(value)
        if not self.gaps:
            return own
        first, data = self.parts[0], self.data
        assert data is not None
        loss = own if first.components is None else -first.rank(own, Totals(first, data))  # type: ignore[attr-defined]
        return (loss, *self.gaps_of(value))

    def better_at_root(self, a: Value, b: Value) -> bool:
        """Whether a is strictly better than b, both as `at_root` gives them."""
        if self.gaps:
            return bool(a != b and all(x <= y for x, y in zip(a, b, strict=True)))
        return self.better(a, b) if self.is_front else self.parts[0].better(a, b)

    def first_score(self, own: Value) -> Any:
        """The score of the first part, by its value."""
        part = (self.unbound if self.parts[0].components is None else self.parts)[0]
        return part.score(own, Totals(part, self.data))  # type: ignore[arg-type]

    def score(self, value: Value, totals: State) -> Any:
        """The score of every part, or of the first where the others are limited, then the gaps as floats."""
        parts = self.unbound or self.parts
        if self.is_plain:
            return parts[0].score(value, totals)
        if self.is_front:
            numbered = enumerate(zip(parts, value, strict=True))
            return tuple(part.score(x, self.seen(totals, i)) for i, (part, x) in numbered)
        if parts[0].components is None:
            shown = parts[0].score(value[0], self.seen(totals, 0))
        else:  # how many components a score has may be known on the data only
            shown = totals.bound.parts[0].score(totals.bound.objective_of(value), self.seen(totals, 0))
        return (shown, *map(float, totals.bound.gaps_of(value))) if self.gaps else shown

    def ideal_score(self, value: Value, totals: State) -> Any | None:
        """The score of a value that no tree is better than in any entry; None of a front by a score of its own."""
        first = self.parts[0]
        if self.is_plain and self.order != TOTAL and first.overrides("score") and first.components is None:
            return None
        if self.gaps:
            return (self.first_score(self.objective_of(value)), *[0.0] * len(self.gaps))
        return self.score(value, totals)

    def with_gap_below(self, below: Fraction | None) -> Objective:
        """The first part alone over the trees whose gap is less than `below` (None: any)."""
        sums = list(self.intervals)
        for _, size, each in self.imbalances:
            most = None if below is None else math.ceil(below * size) - 1
            sums.append(each if most is None else attrs.evolve(each, least=-most, most=most))
        return attrs.evolve(self, gaps=(), intervals=tuple(sums))


def record_of(task: Task) -> Objective:
    """The task as a record, of one part if it is no composition of several."""
    return task if type(task) is Objective else Objective((task,))


def limited(task: Task, limits: Sequence[Limit]) -> Task:
    """The task over the trees whose leaves keep the limits."""
    if not limits:
        return task
    record = record_of(task)
    return attrs.evolve(record, leaf_limits=record.leaf_limits + tuple(limits))


def not_worsening(task: Task, why: str) -> NotSeparableError:
    """The error for a limit on a task that combining may make better."""
    return NotSeparableError(
        f"a limit on {name(task)} is not anti-monotone, because its combining is not worsening (STreeD, Def. A.2): "
        f"{why}; a tree within the limit may have parts beyond it"
    )


def check_summed(given: Task, why: str) -> None:
    """Raises TaskError unless the values of the task are numbers that are added up, or a score of such."""
    record = record_of(given)
    task = record if record.is_front else record.parts[0]
    if task.reads_rows:
        said = f"{why}, which needs costs that add up row by row, and {name(task)} asks a function of a leaf's rows"
        raise TaskError(f"{said}; use a task of costs per row, such as Accuracy")
    if task.components is None and not adds(task):
        said = f"{why}, which needs a task whose values are sums over rows and nodes, and {name(task)} is none"
        raise TaskError(f"{said}; subclass RowCostTask or SumTask")
