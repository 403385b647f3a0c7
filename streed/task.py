"""The Task contract: what a good tree is, said once, for the reference, the engine and the reader.

An optimisation task is <g, t, >, (+), c, s0> (STreeD, Def. 4.1). Here a state is a set of rows, known to the task by
the sums of its `statistics` over those rows; g is `leaf_cost` and `branching_cost`; (+) is `combine`; > is `better`;
c is the task's `limits`. Methods are plain Python, free of side effects, and take and return plain numbers.

Two abstract classes:

- `Task`: any totally ordered separable task, by statistics and a leaf cost.
- `RowCostTask`: the common case in which a leaf's cost is the sum over its rows of a cost per row and label. It is
  described by data alone, so the engine runs it without compiling anything for it.
"""

from __future__ import annotations

import abc
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, final

import attrs
import numpy as np

from streed.errors import TaskError
from streed.exact import Array, exact_number

if TYPE_CHECKING:
    from streed.data import Dataset

Value = Any
"""A solution value: what `leaf_cost` returns and `combine` combines; a number for every task of this version."""


class State:
    """The sums of a task's statistics over the rows of a state, by attribute, and `rows`, how many rows it has.

    A statistic of shape (n,) has a number as its sum; one of shape (n, m) has a tuple of m numbers.
    """

    rows: int

    def __init__(self, rows: int, **sums: Any) -> None:
        self.rows = rows
        self.__dict__.update(sums)

    def __getattr__(self, name: str) -> Any:
        known = ", ".join(sorted(self.__dict__))
        raise TaskError(f"this state has no statistic {name!r}; it has {known}")

    def __repr__(self) -> str:
        return f"State({', '.join(f'{k}={v}' for k, v in self.__dict__.items())})"


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

    @property
    def limits(self) -> tuple[Limit, ...]:
        """The anti-monotone constraints (STreeD, Def. 4.5) that every leaf must meet."""
        return ()

    @abc.abstractmethod
    def statistics(self, data: Dataset) -> dict[str, Array]:
        """Named arrays of shape (n,) or (n, m), one entry per row: all that a leaf's cost may depend on.

        Row weights are applied by the caller: a row of weight w counts w times.
        """

    @abc.abstractmethod
    def labels(self, data: Dataset) -> Sequence[Any]:
        """The labels that a leaf may have, as the user writes them; `leaf_cost` names them by position."""

    @abc.abstractmethod
    def leaf_cost(self, s: State, k: int) -> Value:
        """g(s, k), the cost of a leaf with label number k at state s (STreeD, Eq. 4)."""

    def branching_cost(self, rows: int, path: tuple[int, ...], split: int) -> Value:
        """g(s, f), the cost of a branching node at a state of `rows` rows, reached by the splits `path`."""
        return 0

    def combine(self, a: Value, b: Value) -> Value:
        """a (+) b; must preserve order over `better` (STreeD, Def. 4.4)."""
        return a + b

    def better(self, a: Value, b: Value) -> bool:
        """Whether value a is strictly better than b: a strict total order."""
        return bool(a < b)

    def score(self, value: Value) -> Any:
        """What the user sees as the value of a solution (default: the value itself)."""
        return value

    def leaf_label(self, s: State, label: Any) -> Any:
        """What a leaf at state s with the given label shows (default: the label)."""
        return label

    # -- algebra ---------------------------------------------------------------------------------------------------

    def __add__(self, other: Task) -> Task:
        from streed.algebra import add

        return add(self, other)

    def __mul__(self, weight: float | Fraction) -> Task:
        from streed.algebra import scale

        return scale(weight, self)

    __rmul__ = __mul__

    def subject_to(self, *limits: Limit) -> Task:
        """This task over the trees that meet all `limits`."""
        from streed.algebra import constrain

        return constrain(self, limits)


@attrs.frozen
class RowCostTask(Task):
    """A task whose leaves cost the sum over their rows of a cost per row and label; (+) is addition."""

    @abc.abstractmethod
    def row_costs(self, data: Dataset) -> Array:
        """(n, K) integers or floats: what giving row i the label k costs, before row weights."""

    def split_cost(self) -> Fraction | int:
        """The cost of one branching node, the same at every state (default 0)."""
        return 0

    def labels(self, data: Dataset) -> Sequence[Any]:
        return data.classes

    @final
    def statistics(self, data: Dataset) -> dict[str, Array]:
        return {"cost": self.row_costs(data)}

    @final
    def leaf_cost(self, s: State, k: int) -> Value:
        return s.cost[k]

    @final
    def branching_cost(self, rows: int, path: tuple[int, ...], split: int) -> Value:
        return self.split_cost()

    @final
    def combine(self, a: Value, b: Value) -> Value:
        return a + b

    @final
    def better(self, a: Value, b: Value) -> bool:
        return bool(a < b)


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

    @abc.abstractmethod
    def allows(self, s: State) -> bool:
        """Whether a leaf may stand at state s."""

    @property
    def support(self) -> int | None:
        """The number of rows that a leaf needs, if that is all the limit asks for: drivers enforce it natively."""
        return None


def sums_over(task: Task, data: Dataset) -> dict[str, np.ndarray]:
    """The task's statistics times the row weights, as exact Python numbers (arrays of objects, (n,) or (n, m))."""
    weights = None if data.weights is None else [exact_number(w, "sample_weight") for w in data.weights.tolist()]
    exact: dict[str, np.ndarray] = {}
    for name, values in task.statistics(data).items():
        values = np.asarray(values)
        if len(values) != data.n_rows:
            raise TaskError(f"{type(task).__name__}.statistics: {name!r} has {len(values)} rows, not {data.n_rows}")
        objects = np.empty(values.shape, dtype=object)
        for index, x in np.ndenumerate(values):
            objects[index] = exact_number(x) * (1 if weights is None else weights[index[0]])
        exact[name] = objects
    return exact
