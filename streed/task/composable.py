"""What every task answers about how it is made, so that nobody needs to ask which class it is, as with cvxpy's atoms.

A task that stands alone leaves the answers as they are: they follow from which members of the contract it overrides. A
task that is made of others answers by what these answer. So a new kind of composition is one file: facts, `explain`,
fronts, reductions and the encodings ask these questions, and nothing else about it.
"""

from __future__ import annotations

import abc
import functools
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast, final

import attrs

from streed.errors import TaskError

if TYPE_CHECKING:
    from streed.data import Dataset
    from streed.exact import Array
    from streed.task.base import Limit, Task, Value
    from streed.task.bounded_sums import BoundedSum, Gap, SumLimit
    from streed.task.over_sums import BoundSums
    from streed.task.states import State
    from streed.task.test_costs import CostsInOrder, CostsWithTests

_Method = TypeVar("_Method", bound=Callable[..., Any])
_RESTATES = "restates_contract"
_ONE = Fraction(1)


def restates(method: _Method) -> _Method:
    """The method, marked as one that does what the contract's default does for the values of its class."""
    setattr(method, _RESTATES, True)
    return method


@final
@attrs.frozen(eq=False)
class VectorForm:
    """A task of several sums, taken apart: what is rated, the price taken from it, sums in intervals, gaps."""

    objective: Task
    """The task without limits on sums and without gaps."""
    rated: Task
    """What the score is of: the objective without the price."""
    components: tuple[str, ...] | None = None
    """The names of the sums of the objective's values; None where these are numbers."""
    price: Fraction | None = None
    """What every branching node, the last component, takes from the score; None without one."""
    limits: tuple[SumLimit, ...] = ()
    intervals: tuple[BoundedSum, ...] = ()
    """The sums that the limits keep in intervals, two worsening entries of the values each; once the data are known."""
    caps: tuple[Fraction, ...] = ()
    """The most that these entries may be."""
    gaps: tuple[Gap, ...] = ()
    trade: BoundSums | None = None
    """The trade-off between objective and gaps, once the data are known."""

    @property
    def of_sums(self) -> bool:
        """Whether there is more than one sum in it."""
        return self.components is not None or bool(self.limits) or bool(self.gaps)

    @property
    def width(self) -> int | None:
        """How many entries the bound task's values have; None where they are numbers."""
        imbalances = () if self.trade is None else self.trade.imbalances
        worsening = 2 * (len(self.intervals) + len(imbalances))
        if self.components is not None:
            return len(self.components) + worsening
        return 1 + worsening if worsening else None

    def objective_part(self, value: Value) -> Value:
        """The objective's part of a value of the bound task."""
        return value[0] if self.components is None else value[: len(self.components)]

    def loss(self, value: Value, totals: State) -> Any:
        """What a whole tree is worth by a value of the objective, exactly; smaller is better."""
        return value if self.components is None else -self.objective.rank(value, totals)  # type: ignore[attr-defined]


@final
@attrs.frozen
class Term:
    """A weight times a task whose methods are its own."""

    weight: Fraction
    task: Task
    prefix: str
    """The task's statistic `name` is the whole's `prefix + name`."""


class Fields:
    """What is made by its fields, as attrs has it: an `__init__` of its own would leave them unset."""

    __slots__ = ()

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        code = getattr(vars(cls).get("__init__"), "__code__", None)
        if code is not None and not code.co_filename.startswith("<attrs generated"):
            setattr(cls, "__init__", _refuse_to_be_made)  # noqa: B010 - for mypy, a method is not assigned


def _refuse_to_be_made(self: Any, *_: Any, **__: Any) -> None:
    name = type(self).__name__
    raise TaskError(
        f"{name} has an __init__ of its own, and tasks are made by their fields: decorate the class by @attrs.frozen, "
        "write each parameter as a field, such as `price: float = 0.5`, and what is checked in __attrs_post_init__"
    )


class Composable(Fields, abc.ABC):
    """The questions."""

    __slots__ = ()

    stands_alone: ClassVar[bool] = True
    """Whether its methods are its own, fit to be compiled; False of a task that asks others."""

    any_label: ClassVar[bool] = False
    """Whether `leaf_cost` is the same for every label, so that the task joins tasks of any labels."""

    @property
    def limits(self) -> tuple[Limit, ...]:
        """The anti-monotone constraints (STreeD, Def. 4.5) that every leaf must meet: what `subject_to` was given."""
        return ()

    def overrides(self, name: str) -> bool:
        """Whether a member of the contract says something else of this task than of one whose values are costs."""
        task = cast("Task", self)
        if task.maximize and name == "better":
            return True
        return _overrides(type(self), name)

    @property
    def adds_values(self) -> bool:
        """Whether values are added up, entry by entry if they are tuples."""
        return not self.overrides("combine")

    @property
    def larger_is_better(self) -> bool:
        """Whether a larger `score` is better: of gains (`maximize`), and of a score that falls with the costs."""
        task = cast("Task", self)
        if task.maximize or self.overrides("score") or not self.overrides("better") or task.order != "total":
            return bool(task.maximize)
        from streed.task.analysis.facts import is_larger_better

        return is_larger_better(task) is True

    def value_caps(self, width: int) -> Sequence[Any] | None:
        """The most that each of `width` entries of a feasible value is (None: any); None if feasibility is not that."""
        return None if self.overrides("feasible") else [None] * width

    def objective_of(self, value: Value) -> Value:
        """The part of a value that is the objective's (default: all of it), without what is kept for limits only."""
        return value

    def at_root(self, value: Value) -> Value:
        """What still counts of the value of a whole tree (default: its `objective_of`), for the front of the root.

        Quantities that were kept for a limit on the whole tree matter no longer. `better_at_root` compares the rest.
        """
        return self.objective_of(value)

    def better_at_root(self, a: Value, b: Value) -> bool:
        """Whether a is strictly better than b, both as `at_root` gives them (default: `better`)."""
        return cast("Task", self).better(a, b)

    @property
    def shows_labels(self) -> bool:
        """Whether leaves show their labels, because `leaf_label` is not overridden."""
        return not self.overrides("leaf_label")

    @property
    def value_parts(self) -> tuple[Task, ...] | None:
        """The tasks whose values are the entries of its values, one each; None where it is not made of such."""
        return None

    @property
    def value_limits(self) -> tuple[tuple[Task, Any], ...]:
        """The tasks among its `value_parts` whose values are limited, and the limits."""
        return ()

    @property
    def summands(self) -> tuple[tuple[Fraction, Task], ...]:
        """Weights and tasks whose weighted sum it is (default: itself, once)."""
        return ((_ONE, cast("Task", self)),)

    def written_terms(self, weight: Fraction = _ONE, prefix: str = "") -> tuple[Term, ...]:
        """The terms, of methods of their own, whose weighted costs add up to `weight` times those of the task.

        One, the task itself, if it is no composition. A term that cares for no label (`any_label`) is asked for label
        0. Limits with statistics of their own are terms of weight 0 at the end. The task's statistics have the prefix
        in the whole.
        """
        return (Term(weight, cast("Task", self), prefix),)

    @property
    def vector_form(self) -> VectorForm:
        """The task as sums over the whole tree, taken apart."""
        task = cast("Task", self)
        return VectorForm(task, task)

    def ideal_score(self, value: Value, totals: State) -> Any | None:
        """The score of a value that no tree is better than in any entry; None if it may fall with an entry that rises.

        That is so of any score of a task's own, unless its order is total.
        """
        task = cast("Task", self)
        return task.score(value, totals) if task.order == "total" or not self.overrides("score") else None

    def priced(self, data: Dataset) -> CostsWithTests | None:
        """The bound task as costs per row and prices per split, where it is that; None (default) where it is not.

        The law: leaves cost what those of `costs` do, branching nodes what the prices say.
        """
        return None

    def in_order(self, data: Dataset) -> CostsInOrder | None:
        """The bound task as costs per row of trees whose leaves rise or fall with columns; None (default) elsewhere."""
        return None

    def exact_cost(self, data: Dataset, rows: Array, k: int) -> Value | None:
        """What a leaf of these rows of `data`, (m,) int64, with label number k costs, exactly, row weights included.

        Trees are measured by it where `statistics` had to round numbers, such as squares, before they are added. None,
        the default, is `leaf_cost` of the exact sums.
        """
        return None

    def outline(self) -> list[str]:
        """Its name, and below it those of its parts, indented: what `explain` begins with."""
        return [repr(self)]


@functools.lru_cache(maxsize=4096)
def _overrides(kind: type[Composable], name: str) -> bool:
    """Whether the class says something else than the contract's default; small solves ask that dozens of times."""
    from streed.task.base import Task

    method = getattr(kind, name)
    return method is not getattr(Task, name) and not getattr(method, _RESTATES, False)


def indented(lines: Sequence[str]) -> list[str]:
    """The lines of a part, below those of the whole."""
    return [f"  {line}" for line in lines]


def weighted_outline(terms: Sequence[tuple[object, Task]]) -> list[str]:
    """The outlines of weighted tasks, indented."""
    found = []
    for weight, task in terms:
        first, *rest = task.outline()
        found += indented([first if weight == 1 else f"{weight} * {first}", *rest])
    return found


def parts_of(task: Task) -> Iterator[Task]:
    """The task, and those that it is made of."""
    yield task
    for name in field_names(type(task)):
        yield from _tasks_in(getattr(task, name, None))


@functools.lru_cache(maxsize=1024)
def field_names(kind: type) -> tuple[str, ...]:
    """Those of an attrs class; none of any other."""
    return tuple(field.name for field in attrs.fields(kind)) if attrs.has(kind) else ()


def _tasks_in(value: Any) -> Iterator[Task]:
    if isinstance(value, Composable):
        yield from parts_of(cast("Task", value))
    elif isinstance(value, tuple):
        for each in value:
            yield from _tasks_in(each)
