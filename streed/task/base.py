"""The Task contract: what a good tree is, said once, for the reference, the engine and the reader.

An optimisation task is <g, t, >, (+), c, s0> (STreeD, Def. 4.1). Here a state is a set of rows, known to the task by
the sums of its `statistics` over those rows; g is `leaf_cost` and `branching_cost`; (+) is `combine`; > is `better`;
c is the task's `limits`. Methods are plain Python, free of side effects, and take and return plain numbers. Classes:

- `Task`: any separable task, by statistics and a leaf cost.
- `RowCostTask`: the common case: a leaf costs the sum over its rows of a cost per row and label. Nothing is compiled.
- `GeneralTask`: a leaf costs what a Python function of its rows says, which every leaf asks: the slow, general route.
"""

from __future__ import annotations

import abc
import functools
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, final

import attrs

from streed.data import Dataset
from streed.errors import TaskError
from streed.exact import ONE, Array, exact_number
from streed.task.states import Fields, Limit, State

if TYPE_CHECKING:
    from streed.task.algebra import Threshold
    from streed.task.bounded_sums import Gap

Value = Any
"""A solution value: what `leaf_cost` returns and `combine` combines: a number, or a tuple of numbers."""

TOTAL, COMPONENTWISE, PARTIAL = "total", "componentwise", "partial"
"""Orders of values: one optimum; Pareto dominance between tuples; whatever a task's own `better` says."""


def bound(default: Any) -> Any:
    """A field for a constant that `bind` reads from the data set: no parameter of the task, and not compared."""
    return attrs.field(default=default, kw_only=True, repr=False, eq=False, metadata={"bound": True})


def is_parameter(field: attrs.Attribute[Any]) -> bool:
    """Whether a field is a parameter of its task: neither computed from others nor `bound`."""
    return field.init and not field.metadata.get("bound", False)


@attrs.frozen(init=False)
class Task(Fields, abc.ABC):
    """What a good tree is. Subclass it, as a frozen attrs class whose fields are the task's parameters."""

    stands_alone: ClassVar[bool] = True
    """Whether its methods are its own, fit to be compiled; False of a task that asks others."""

    components: ClassVar[tuple[str, ...] | None] = None
    """The names of the sums whose tuples its values are; None where values are whatever else."""

    any_label: ClassVar[bool] = False
    """Whether `leaf_cost` is the same for every label, so that the task joins tasks of any labels."""

    maximize: ClassVar[bool] = False
    """Whether values are gains, larger ones being better: those of `leaf_cost` and `branching_cost`, and their sums."""

    @property
    def value_unit(self) -> str:
        """What its values count, said after them, such as "misclassified rows" (default: the name of the task)."""
        return type(self).__name__

    def bind(self, data: Dataset) -> Task:
        """This task with every constant that depends on the whole data set made explicit (default: itself).

        `solve` and the reference call it once, before anything else. A part of the rows may then be solved by the same
        bound task, so what belongs to single rows is read from the data that methods are given, never kept.
        """
        return self

    order: ClassVar[str] = TOTAL
    """The declared order of values: "total" (`better`), "componentwise" (tuples, smaller is better in every component,
    a Pareto front of solutions) or "partial" (the task's own `better`, a front likewise)."""

    superadditive: ClassVar[bool] = False
    """Whether splitting never costs: a state costs as a leaf at least what its parts cost as leaves together."""

    worsening: ClassVar[bool] = False
    """Whether combining never gives a better value than either part's (STreeD, Def. A.2), which `A <= limit` needs. For
    costs per row that are not negative it is derived, and need not be declared."""

    reads_rows: ClassVar[bool] = False
    """Whether a leaf's cost may depend on which rows it has, and not only on their sums."""

    # -- what a task must say --------------------------------------------------------------------------------------

    @abc.abstractmethod
    def statistics(self, data: Dataset) -> dict[str, Array]:
        """Named arrays of shape (n,) or (n, m), one entry per row: all that a leaf's cost may depend on.

        Row weights are applied by the caller: a row of weight w counts as w equal rows do.
        """

    def labels(self, data: Dataset) -> Sequence[Any]:
        """The labels that a leaf may have, as the user writes them (default: the classes of y).

        `leaf_cost` names them by position.
        """
        return data.class_labels

    @abc.abstractmethod
    def leaf_cost(self, s: State, k: int) -> Value:
        """g(s, k), the cost of a leaf with label number k at state s (STreeD, Eq. 4)."""

    # -- what a task may say ---------------------------------------------------------------------------------------

    def branching_cost(self, rows: int, path: tuple[int, ...], split: int) -> Value | None:
        """g(s, f), the cost of a branching node on column `split` at a state of `rows` rows, whatever they weigh.

        `path` holds the distinct columns tested above, in ascending order. None, the default, is no cost: nothing is
        combined with the children's values then.
        """
        return None

    def combine(self, a: Value, b: Value) -> Value:
        """a (+) b (default: the sum, of tuples entry by entry); must preserve order (STreeD, Def. 4.4)."""
        return tuple(x + y for x, y in zip(a, b, strict=True)) if isinstance(a, tuple) else a + b

    def better(self, a: Value, b: Value) -> bool:
        """Whether value a is strictly better than b; of a partial order, whether it dominates b.

        Default: smaller, or no larger in any component, by the declared order; larger if `maximize`.
        """
        if self.maximize:
            a, b = b, a
        if self.order == TOTAL:
            return bool(a < b)
        return bool(a != b and all(x <= y for x, y in zip(a, b, strict=True)))

    def feasible(self, value: Value) -> bool:
        """Whether a subtree may have this value; anti-monotone: an infeasible part makes the whole infeasible."""
        return True

    def subtract(self, a: Value, b: Value) -> Value | None:
        """A bound u such that combine(x, b) is better than a only if x is better than u (STreeD, Appendix B).

        None, where the task knows of none. Default: a - b if `combine` is the sum, else None.
        """
        if not self.adds_values:
            return None
        return tuple(x - y for x, y in zip(a, b, strict=True)) if isinstance(a, tuple) else a - b

    def worst_per_row(self, data: Dataset) -> Array | None:
        """(n,) numbers w >= 0, before row weights, or None (default): bounds by similar states are sound with them.

        Let g*(s) be the least cost of a leaf at s. The law: g*(s) <= g*(s and row i) <= g*(s) + w[i] for every s.
        """
        return None

    def lower_bound(self, s: State) -> Value | None:
        """A value that no tree at state s is better than, or None (default) where the task knows of none."""
        return None

    def leaf_label(self, s: State, k: int) -> Any:
        """What a leaf at state s with label number k shows; unless overridden, the label itself is shown."""
        return k

    def score(self, value: Value, totals: State) -> Any:
        """What the user sees as the value of a solution (default: the value); `totals` is the state of all rows.

        Of a front, the solution of least score (largest, if `larger_is_better`) is the result's tree.
        """
        return value

    def exact_cost(self, data: Dataset, rows: Array, k: int) -> Value | None:
        """What a leaf of these rows of `data`, (m,) int64, with label number k costs, exactly, row weights included.

        Trees are measured by it where `statistics` had to round numbers, such as squares, before they are added. None,
        the default, is `leaf_cost` of the exact sums.
        """
        return None

    def exact_label(self, data: Dataset, rows: Array, k: int) -> Any:
        """What a leaf of these rows shows, exactly, as `exact_cost`; None, the default, is `leaf_label` of the sums."""
        return None

    def objective_of(self, value: Value) -> Value:
        """The part of a value that leaves show (default: all of it), without what is kept for limits or order only."""
        return value

    # -- what follows from that ------------------------------------------------------------------------------------

    @property
    def larger_is_better(self) -> bool:
        """Whether a larger `score` is better: of gains (`maximize`), and of a score that falls with the costs."""
        if self.maximize or not self.overrides("better") or self.overrides("score") or self.order != TOTAL:
            return bool(self.maximize)
        return is_larger_better(self) is True

    @property
    def limits(self) -> tuple[Limit, ...]:
        """The anti-monotone constraints (STreeD, Def. 4.5) that every leaf must meet: what `subject_to` was given."""
        return ()

    @property
    def without_limits(self) -> Task:
        """The task without its `limits`."""
        return self

    def overrides(self, name: str) -> bool:
        """Whether a member of the contract says something else of this task than of one whose values are costs."""
        return (self.maximize and name == "better") or getattr(type(self), name) is not getattr(Task, name)

    @property
    def adds_values(self) -> bool:
        """Whether values are added up, entry by entry if they are tuples."""
        return not self.overrides("combine")

    @property
    def terms(self) -> tuple[tuple[Fraction, Task], ...]:
        """Weights and tasks whose weighted sum it is (default: itself, once)."""
        return ((ONE, self),)

    # -- algebra ---------------------------------------------------------------------------------------------------

    def __add__(self, other: Task) -> Task:
        from streed.task.algebra import add

        return add(self, other)

    def __sub__(self, other: Task) -> Task:
        from streed.task.algebra import subtract

        return subtract(self, other)

    def __mul__(self, weight: float | Fraction) -> Task:
        from streed.task.algebra import scale

        return scale(weight, self)

    __rmul__ = __mul__

    def __and__(self, other: Task | Gap) -> Task:
        from streed.task.algebra import join

        return join(self, other)

    def __le__(self, limit: Any) -> Threshold:
        from streed.task.algebra import at_most

        return at_most(self, limit)

    def __ge__(self, limit: Any) -> NoReturn:
        said = f"{name(self)} is limited neither from below nor strictly; a limit is A <= most, of what is minimised"
        raise TaskError(f"{said}, as in Splits() <= 3, or is on rates, as in EqualOpportunity().lowest >= 0.7")

    __lt__ = __gt__ = __ge__

    def subject_to(self, *limits: Limit | Threshold) -> Task:
        """This task over the trees that meet all `limits`: on leaves, or on the value of a task, as in `A <= 3`."""
        from streed.task.algebra import constrain

        return constrain(self, limits)


def is_larger_better(task: Task) -> bool | None:
    """Whether the task's `better` is >; False if it is <, None if it is neither, or cannot be told."""
    if not task.overrides("better"):
        return False
    greater: list[object] = []
    for answer in (True, False):
        a, b = _Operand(greater, answer), _Operand(greater, answer)
        try:
            said: Any = type(task).better(task, a, b)
        except TypeError:
            return None
        # as the one comparison goes, so goes the answer
        if len(greater) != 1 or said is not answer:
            return None
        larger = greater.pop() is a
    return larger


@final
@attrs.frozen(eq=False)
class _Operand:
    """Stands for a value in a comparison: which of two is to be the greater one is noted, and answered as foreseen."""

    greater: list[object]
    answer: bool

    def __lt__(self, other: object) -> bool:
        self.greater.append(other)
        return self.answer

    def __gt__(self, other: object) -> bool:
        self.greater.append(self)
        return self.answer


def name(task: Task) -> str:
    """What messages call a task."""
    return type(task).__name__


def scoring(given: Task, on_data: Task) -> Task:
    """Of a task and the one that it binds to, that which knows the score: a task of another class shows its own."""
    return on_data if type(on_data) is type(given) else given


def objective(task: Task) -> Task:
    """The task without the limits of `subject_to` on leaves."""
    return task.without_limits


@attrs.frozen(init=False)
class RowCostTask(Task):
    """A task whose leaves cost the sum over their rows of a cost per row and label; (+) is addition."""

    superadditive: ClassVar[bool] = True

    @abc.abstractmethod
    def row_costs(self, data: Dataset) -> Array:
        """(n, K) integers or floats: what giving row i the label k costs, before row weights."""

    def split_cost(self) -> Fraction | float:
        """The cost of one branching node, the same at every state (default 0); a float is the decimal it prints as."""
        return 0

    def cost_terms(self, data: Dataset) -> list[tuple[Fraction, Array]]:
        """Exact weights and (n, K) arrays whose weighted sum is `row_costs` (default: that alone, by weight 1)."""
        return [(ONE, self.row_costs(data))]

    @final
    def statistics(self, data: Dataset) -> dict[str, Array]:
        return {"cost": self.row_costs(data)}

    @final
    def leaf_cost(self, s: State, k: int) -> Value:
        return s.cost[k]

    @final
    def branching_cost(self, rows: int, path: tuple[int, ...], split: int) -> Value | None:
        return exact_number(self.split_cost(), "split_cost")


@attrs.frozen(init=False)
class GeneralTask(Task):
    """A task whose leaves cost what a Python function of their rows says.

    The search asks it once for every set of rows that could be a leaf, with every label: let it be quick.
    """

    reads_rows: ClassVar[bool] = True

    @abc.abstractmethod
    def rows_cost(self, data: Dataset, rows: Array, k: int) -> Value:
        """The cost of a leaf with label number k that has these rows of `data`, (m,) int64 in ascending order.

        It looks up `data.y`, `data.weights` and `data.row_data` there itself: a row of weight w is to count as w rows.
        """

    @final
    def statistics(self, data: Dataset) -> dict[str, Array]:
        return {}

    @final
    def leaf_cost(self, s: State, k: int) -> Value:
        return self.rows_cost(s.data, s.members, k)


@attrs.frozen
class Composition(RowCostTask):
    """A task that is a composition of others once the data set is known, such as errors / n + lambda * splits."""

    @abc.abstractmethod
    def compose(self, data: Dataset) -> Task:
        """The composition that this task stands for on this data set."""

    @final
    def bind(self, data: Dataset) -> Task:
        return self.compose(data).bind(data)

    @final
    def row_costs(self, data: Dataset) -> Array:
        composed = self.bind(data)
        assert isinstance(composed, RowCostTask)
        return composed.row_costs(data)


def parts_of(task: Any, kinds: Any = Task) -> list[Any]:
    """The task, and the tasks that it is made of, also in tuples; with `Fields`, limits and gaps as well."""
    if isinstance(task, tuple):
        return [part for each in task for part in parts_of(each, kinds)]
    if not isinstance(task, kinds):
        return []
    made_by: Any = type(task)
    return [task, *[x for name in field_names(made_by) for x in parts_of(getattr(task, name, None), kinds)]]


@functools.lru_cache(maxsize=1024)
def field_names(kind: type) -> tuple[str, ...]:
    """Those that an attrs class is made by; none of any other."""
    return tuple(field.name for field in attrs.fields(kind) if field.init) if attrs.has(kind) else ()
