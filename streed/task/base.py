"""The Task contract: what a good tree is, said once, for the reference, the engine and the reader.

An optimisation task is <g, t, >, (+), c, s0> (STreeD, Def. 4.1). Here a state is a set of rows, known to the task by
the sums of its `statistics` over those rows; g is `leaf_cost` and `branching_cost`; (+) is `combine`; > is `better`;
c is the task's `limits`. Methods are plain Python, free of side effects, and take and return plain numbers.

Three abstract classes:

- `Task`: any separable task, by statistics and a leaf cost.
- `RowCostTask`: the common case in which a leaf's cost is the sum over its rows of a cost per row and label. It is
  described by data alone, so the engine runs it without compiling anything for it.
- `GeneralTask`: a leaf's cost is any Python function of its rows, such as the deviations from their median. Sums do not
  tell it, so every leaf asks Python: the slow, general route.
"""

from __future__ import annotations

import abc
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, final

import attrs
import numpy as np

from streed.errors import TaskError
from streed.exact import LARGEST_TOTAL, Array, exact_integers, exact_number

if TYPE_CHECKING:
    from streed.data import Dataset
    from streed.task.algebra import Threshold
    from streed.task.sums import Gap
    from streed.task.test_costs import CostsWithTests

Value = Any
"""A solution value: what `leaf_cost` returns and `combine` combines: a number, or a tuple of numbers."""

TOTAL, COMPONENTWISE, PARTIAL = "total", "componentwise", "partial"
"""Orders of values: one optimum; Pareto dominance between tuples; whatever a task's own `dominates` says."""


class State:
    """The sums of a task's statistics over the rows of a state, by attribute, `rows` and `weight`.

    `rows` is how many rows it has, each as often as its frequency says; `weight` is what they weigh together, the same
    number where rows have no weights (a statistic of that name takes its place). A statistic of shape (n,) has a number
    as its sum; one of shape (n, m) has a tuple of m numbers. The states of a task that `reads_rows` also have `data`,
    the data set, and `members`, the numbers of their rows there, (rows,) int64 in ascending order.
    """

    rows: int
    weight: Any

    def __init__(self, rows: int, **sums: Any) -> None:
        self.rows = rows
        self.__dict__.update(sums)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name == "weight":
            return self.rows
        raise TaskError(f"this state has no statistic {name!r}; it has {', '.join(sorted(self.names()))}")

    def names(self) -> list[str]:
        """The attributes that tasks and limits may read."""
        return [name for name in self.__dict__ if not name.startswith("_")]

    def __repr__(self) -> str:
        return f"State({', '.join(f'{name}={getattr(self, name)}' for name in self.names())})"


def beside_sums(task: Task, data: Dataset, members: Any) -> dict[str, Any]:
    """What a state of rows (m,) holds beside its sums: `members` and `data` if the task reads rows, else nothing."""
    return {"members": np.asarray(members, dtype=np.int64), "data": data} if task.reads_rows else {}


class Totals(State):
    """The state of all rows of a data set; its sums and `bound`, the task on the data, are made when asked for."""

    def __init__(self, task: Task, data: Dataset) -> None:
        super().__init__(data.size)
        self.__dict__["_source"] = (task, data)
        self.__dict__["_pending"] = True

    def __getattr__(self, name: str) -> Any:
        if name == "bound":
            task, data = self.__dict__["_source"]
            self.__dict__["bound"] = task.bind(data)
            return self.__dict__["bound"]
        if not name.startswith("_") and self.__dict__.pop("_pending", False):
            data = self.__dict__["_source"][1]
            bound = self.bound
            self.__dict__.update(beside_sums(bound, data, np.arange(data.n_rows)))
            quick = quick_sums(bound, data)
            whole = all(values.dtype.kind == "i" for values in quick.values())
            for key, values in (quick if whole else sums_over(bound, data)).items():
                total = values.sum(axis=0).tolist() if whole else values.sum(axis=0)
                self.__dict__[key] = tuple(total) if values.ndim > 1 else total
            return getattr(self, name)
        return super().__getattr__(name)


def bound(default: Any) -> Any:
    """A field for a constant that `bind` reads from the data set: no parameter of the task, and not compared."""
    return attrs.field(default=default, kw_only=True, repr=False, eq=False, metadata={"bound": True})


def is_parameter(field: attrs.Attribute[Any]) -> bool:
    """Whether a field is a parameter of its task: neither computed from others nor `bound`."""
    return field.init and not field.metadata.get("bound", False)


@attrs.frozen
class Task(abc.ABC):
    """What a good tree is. Subclass it, as a frozen attrs class whose fields are the task's parameters."""

    maximize: ClassVar[bool] = False
    """Whether a larger `score` is better. The search always minimises values; only the score is turned round."""

    def bind(self, data: Dataset) -> Task:
        """This task with every constant that depends on the whole data set made explicit (default: itself).

        `solve` and the reference call it once, before anything else.
        """
        return self

    order: ClassVar[str] = TOTAL
    """The declared order of values: "total" (`better`), "componentwise" (tuples, smaller is better in every component,
    a Pareto front of solutions) or "partial" (the task's own `dominates`, a front likewise)."""

    superadditive: ClassVar[bool] = False
    """Whether splitting never costs: a state costs as a leaf at least what its parts cost as leaves together."""

    worsening: ClassVar[bool] = False
    """Whether combining never gives a better value than either part's (STreeD, Def. A.2), which `A <= limit` needs. For
    costs per row that are not negative it is derived, and need not be declared."""

    reads_rows: ClassVar[bool] = False
    """Whether a leaf's cost may depend on which rows it has, and not only on their sums."""

    takes_weights: ClassVar[bool | None] = None
    """Whether a row of weight w counts as w equal rows; weights are refused if it is False. None: as the methods show,
    which take no weights if they ask how many rows a state has, or are functions of rows and never read
    `data.weights`. True also says that a function of rows counts a row of frequency f as f, by `data.weights`."""

    any_label: ClassVar[bool] = False
    """Whether `leaf_cost` is the same for every label, so that the task joins tasks of any labels."""

    # -- what a task must say --------------------------------------------------------------------------------------

    @abc.abstractmethod
    def statistics(self, data: Dataset) -> dict[str, Array]:
        """Named arrays of shape (n,) or (n, m), one entry per row: all that a leaf's cost may depend on.

        Row weights are applied by the caller: a row of weight w counts w times.
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
        """Whether value a is strictly better than b, by the declared order (default: smaller is better)."""
        return bool(a < b) if self.order == TOTAL else self.dominates(a, b)

    def dominates(self, a: Value, b: Value) -> bool:
        """Whether value a dominates b, a strict partial order (default: the componentwise one)."""
        if self.order == TOTAL:
            return self.better(a, b)
        return bool(a != b and all(x <= y for x, y in zip(a, b, strict=True)))

    @property
    def limits(self) -> tuple[Limit, ...]:
        """The anti-monotone constraints (STreeD, Def. 4.5) that every leaf must meet."""
        return ()

    def feasible(self, value: Value) -> bool:
        """Whether a subtree may have this value; anti-monotone: an infeasible part makes the whole infeasible."""
        return True

    def subtract(self, a: Value, b: Value) -> Value | None:
        """A bound u such that combine(x, b) is better than a only if x is better than u (STreeD, Appendix B).

        None, where the task knows of none. Default: a - b if `combine` is the sum, else None.
        """
        if type(self).combine is not Task.combine:
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

    def priced(self, data: Dataset) -> CostsWithTests | None:
        """The bound task as costs per row and prices per split, where it is that; None (default) where it is not.

        The law: leaves cost what those of `costs` do, branching nodes what the prices say.
        """
        return None

    def exact_cost(self, data: Dataset, rows: Array, k: int) -> Value | None:
        """What a leaf of these rows of `data`, (m,) int64, with label number k costs, exactly, row weights included.

        Trees are measured by it where `statistics` had to round numbers, such as squares, before they are added. None,
        the default, is `leaf_cost` of the exact sums.
        """
        return None

    def leaf_label(self, s: State, k: int) -> Any:
        """What a leaf at state s with label number k shows; unless overridden, the label itself is shown."""
        return k

    @property
    def shows_labels(self) -> bool:
        """Whether leaves show their labels, because `leaf_label` is not overridden."""
        return type(self).leaf_label is Task.leaf_label

    def score(self, value: Value, totals: State) -> Any:
        """What the user sees as the value of a solution (default: the value); `totals` is the state of all rows.

        Of a front, the solution of least score (largest, if `maximize`) is the result's tree.
        """
        return value

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
        return self.better(a, b)

    @property
    def grain(self) -> Fraction | None:
        """A number of which every value is a whole multiple, where there is one; the search is exact then."""
        return None

    def has_weights(self, name: str) -> bool:
        """Whether row weights count in the statistic of that name (default: yes; those of limits count rows)."""
        return True

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

    def subject_to(self, *limits: Limit | Threshold) -> Task:
        """This task over the trees that meet all `limits`: on leaves, or on the value of a task, as in `A <= 3`."""
        from streed.task.algebra import constrain

        return constrain(self, limits)


@attrs.frozen
class RowCostTask(Task):
    """A task whose leaves cost the sum over their rows of a cost per row and label; (+) is addition."""

    superadditive: ClassVar[bool] = True

    @abc.abstractmethod
    def row_costs(self, data: Dataset) -> Array:
        """(n, K) integers or floats: what giving row i the label k costs, before row weights."""

    def split_cost(self) -> Fraction | int:
        """The cost of one branching node, the same at every state (default 0)."""
        return 0

    def cost_terms(self, data: Dataset) -> list[tuple[Fraction, Array]]:
        """Exact weights and (n, K) arrays whose weighted sum is `row_costs` (default: that alone, by weight 1)."""
        return [(Fraction(1), self.row_costs(data))]

    @final
    def statistics(self, data: Dataset) -> dict[str, Array]:
        return {"cost": self.row_costs(data)}

    @final
    def leaf_cost(self, s: State, k: int) -> Value:
        return s.cost[k]

    @final
    def branching_cost(self, rows: int, path: tuple[int, ...], split: int) -> Value | None:
        return self.split_cost()

    @final
    def combine(self, a: Value, b: Value) -> Value:
        return a + b

    @final
    def better(self, a: Value, b: Value) -> bool:
        return bool(a < b)

    @final
    def subtract(self, a: Value, b: Value) -> Value:
        return a - b


@attrs.frozen
class GeneralTask(Task):
    """A task whose leaves cost what a Python function of their rows says.

    The search asks it once for every set of rows that could be a leaf, with every label: let it be quick.
    """

    reads_rows: ClassVar[bool] = True

    @abc.abstractmethod
    def rows_cost(self, data: Dataset, rows: Array, k: int) -> Value:
        """The cost of a leaf with label number k that has these rows of `data`, (m,) int64 in ascending order.

        It looks up `data.y`, `data.weights` and `data.row_data` there itself. If it uses the weights, it declares
        `takes_weights = True`; else rows with a frequency are written out for it.
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


@attrs.frozen
class Limit(abc.ABC):
    """An anti-monotone constraint on leaves (STreeD, Def. 4.5)."""

    def bind(self, data: Dataset) -> Limit:
        """This limit with every constant that depends on the whole data set made explicit (default: itself)."""
        return self

    def statistics(self, data: Dataset) -> dict[str, Array]:
        """What the limit asks of rows beside the task's statistics, as `Task.statistics` (default: nothing).

        They are counted without row weights. A limit of `subject_to` sees these sums alone, and so goes with every
        task; one of `Task.limits` sees them beside the task's own, whose names must be others.
        """
        return {}

    @abc.abstractmethod
    def allows(self, s: State) -> bool:
        """Whether a leaf may stand at state s."""

    @property
    def support(self) -> int | None:
        """The number of rows that a leaf needs, if that is all the limit asks for: drivers enforce it natively."""
        return None


def has_statistics(limit: Limit) -> bool:
    """Whether the limit asks for anything of rows beside the task's statistics."""
    return type(limit).statistics is not Limit.statistics


def row_statistics(task: Task, data: Dataset) -> dict[str, Array]:
    """The statistics of the task and those of the limits that it sets itself; raises TaskError for a name of both."""
    found = task.statistics(data)
    for limit in filter(has_statistics, task.limits):
        more = limit.statistics(data)
        shared = next((name for name in more if name in found), None)
        if shared is not None:
            raise TaskError(
                f"{type(limit).__name__}.statistics: {shared!r} is a statistic of {type(task).__name__}, too; "
                "give it another name, or set the limit by subject_to"
            )
        found = {**found, **more}
    return found


def is_weighted(task: Task, name: str, data: Dataset) -> bool:
    """Whether row weights count in a statistic of `row_statistics`; they do not in those of limits."""
    limits = filter(has_statistics, task.limits)
    return task.has_weights(name) and not any(name in limit.statistics(data) for limit in limits)


def quick_sums(task: Task, data: Dataset) -> dict[str, Array]:
    """The task's statistics times the row weights as machine numbers, int64 or float64, (n,) or (n, m).

    A row counts as often as its frequency says, and where rows have weights they are there as `weight`. Integers stay
    integers as long as their sums fit; otherwise, and for real numbers, sums are those of float64.
    """
    quick = {}
    for name, values in _with_weight(task, data).items():
        values = np.asarray(values)
        if len(values) != data.n_rows:
            raise TaskError(f"{type(task).__name__}.statistics: {name!r} has {len(values)} rows, not {data.n_rows}")
        each = data.weights if is_weighted(task, name, data) else data.frequency
        if each is not None:
            values = _weighed(values, each)
        if values.dtype.kind not in "bui":
            values = values.astype(np.float64)
        elif _sums_fit(values):
            values = values.astype(np.int64, copy=False)
        else:
            values = values.astype(np.float64)
        quick[name] = values
    return quick


def _with_weight(task: Task, data: Dataset) -> dict[str, Array]:
    """The task's statistics, and 1 for every row as `weight` where rows have weights and it has none of that name."""
    statistics = row_statistics(task, data)
    if data.weights is None or "weight" in statistics:
        return statistics
    return {**statistics, "weight": np.ones(data.n_rows, np.int64)}


def _weighed(values: Array, weights: Array) -> Array:
    """values (n,) or (n, m) times weights (n,); whole numbers whose products would not fit int64 as float64."""
    if values.size and values.dtype.kind in "bui" and weights.dtype.kind in "bui":
        largest = max(float(values.max()), -float(values.min()))
        if largest * float(weights.max()) >= LARGEST_TOTAL:
            values = values.astype(np.float64)
    weighed: Array = values * weights.reshape((-1,) + (1,) * (values.ndim - 1))
    return weighed


def _sums_fit(values: Array) -> bool:
    """Whether the sums of these whole numbers over any rows are below LARGEST_TOTAL."""
    if values.size == 0 or max(float(values.max()), -float(values.min())) * len(values) < LARGEST_TOTAL:
        return True
    return float(np.abs(values.astype(np.float64)).sum(axis=0).max()) < LARGEST_TOTAL


def state_of(sums: dict[str, Array], rows: Array, data: Dataset, beside: Mapping[str, Any] | None = None) -> State:
    """The state of the rows of `data` given by number, from their statistics and what it holds `beside_sums`."""
    totals = {name: values[rows].sum(axis=0) for name, values in sums.items()}
    found = {k: tuple(v.tolist()) if v.ndim else v.item() for k, v in totals.items()}
    return State(data.count(rows), **found, **(beside or {}))


def exact_sums(task: Task, data: Dataset) -> dict[str, tuple[Array, Fraction]]:
    """What `sums_over` says, as whole numbers, int64 or Python's own as objects, and the worth of 1.

    Arrays are (n,) or (n, m).
    """
    given = weight_array(data)
    weights = None if given is None else exact_integers(given, "sample_weight")
    copies = None if data.frequency is None else (data.frequency, Fraction(1))
    found = {}
    for name, values in _with_weight(task, data).items():
        whole, unit = exact_integers(np.asarray(values), f"statistics {name!r}")
        each = weights if is_weighted(task, name, data) else copies
        if each is not None:
            factors, worth = each
            size = sum(map(abs, factors.tolist())) * int(np.abs(whole).max(initial=0))
            factors = factors.reshape((-1,) + (1,) * (whole.ndim - 1))
            whole = whole * factors if size < LARGEST_TOTAL else whole.astype(object) * factors
            unit = unit * worth
        found[name] = (whole, unit)
    return found


def weight_array(data: Dataset) -> Array | None:
    """(n,) what each row adds to a sum, exactly: as objects where a product of weight and frequency is no float."""
    if data.sample_weight is None or data.frequency is None or data.sample_weight.dtype.kind != "f":
        return data.weights
    found = np.empty(data.n_rows, object)
    found[:] = data.exact_weights
    return found


def sums_over(task: Task, data: Dataset) -> dict[str, np.ndarray]:
    """The task's statistics times the row weights, as exact Python numbers (arrays of objects, (n,) or (n, m))."""
    weights = data.exact_weights
    copies = None if data.frequency is None else data.frequency.tolist()
    exact: dict[str, np.ndarray] = {}
    for name, values in _with_weight(task, data).items():
        values = np.asarray(values)
        if values.dtype.kind == "b":  # numpy's booleans are no numbers
            values = values.astype(np.int64)
        if len(values) != data.n_rows:
            raise TaskError(f"{type(task).__name__}.statistics: {name!r} has {len(values)} rows, not {data.n_rows}")
        objects = np.empty(values.shape, dtype=object)
        factors = weights if is_weighted(task, name, data) else copies
        for index, x in np.ndenumerate(values):
            objects[index] = exact_number(x) * (1 if factors is None else factors[index[0]])
        exact[name] = objects
    return exact
