"""States, the sums of a task's statistics over a set of rows, limits on them, and what tasks and limits are made by.

Sums have row weights and frequencies in them, and are quick, in machine numbers, or exact.
"""

from __future__ import annotations

import abc
import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NoReturn, Self, TypeVar, final
from weakref import WeakKeyDictionary

import attrs
import numpy as np

from streed.data import Dataset
from streed.errors import TaskError
from streed.exact import LARGEST_TOTAL, Array, as_float, exact_integers, exact_number

if TYPE_CHECKING:
    from streed.task.base import Task

T = TypeVar("T")


class State:
    """The sums of a task's statistics over the rows of a state, by attribute, `rows` and `weight`.

    `rows` is how many rows it has, each as often as its frequency says; `weight` is what they weigh together, the same
    number where rows have no weights (a statistic of that name takes its place). A statistic of shape (n,) has a number
    as its sum; one of shape (n, m) has a tuple of m numbers. The states of a task that `reads_rows` also have `data`,
    the data set, and `members`, the numbers of their rows there, (rows,) int64 in ascending order.
    """

    rows: int
    weight: Any

    def __init__(self, rows: int, /, **sums: Any) -> None:
        self.__dict__ = {"rows": rows, **sums}

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


@final
class StateOfPart(State):
    """A state as a part knows it: names without a prefix; what is `shared`, and the weight, are those of the whole."""

    def __init__(self, whole: State, prefix: str, shared: Sequence[str] = ()) -> None:
        super().__init__(whole.rows, _whole=(whole, prefix, shared))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        whole, prefix, shared = self.__dict__["_whole"]
        try:
            return getattr(whole, name if name in shared else prefix + name)
        except TaskError:
            return whole.weight if name == "weight" else super().__getattr__(name)

    def names(self) -> list[str]:
        whole, prefix, _ = self.__dict__["_whole"]
        return ["rows", *(name.removeprefix(prefix) for name in whole.names() if name.startswith(prefix))]


@final
class StateInParts(State):
    """A state whose sums are found when they are first asked for."""

    def __init__(self, rows: int, names: Sequence[str], find: Callable[[str], Any]) -> None:
        super().__init__(rows, _parts=(names, find))

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_"):
            names, find = self.__dict__["_parts"]
            if name in names:
                self.__dict__[name] = find(name)
                return self.__dict__[name]
        return super().__getattr__(name)

    def names(self) -> list[str]:
        return ["rows", *self.__dict__["_parts"][0]]


class Fields:
    """What is made by its fields, as attrs has it: an `__init__` of its own would leave them unset."""

    __slots__ = ()

    def __new__(cls, *_: Any, **__: Any) -> Self:
        if not getattr(getattr(cls, "__dataclass_params__", None), "frozen", True):
            raise TaskError(f"{cls.__name__} is a dataclass that is not frozen: {_BY_FIELDS}")
        return super().__new__(cls)

    def __init__(self, *given: Any, **named: Any) -> None:
        """What a class has that attrs did not make: nothing to be told."""
        if given or named:
            raise TaskError(f"{type(self).__name__} takes no arguments: {_BY_FIELDS}")

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        code = getattr(vars(cls).get("__init__"), "__code__", None)
        if code is not None and not code.co_filename.startswith("<attrs generated"):
            setattr(cls, "__init__", _refuse_to_be_made)  # noqa: B010 - for mypy, a method is not assigned


def _refuse_to_be_made(self: Any, *_: Any, **__: Any) -> None:
    name = type(self).__name__
    raise TaskError(f"{name} has an __init__ of its own, and tasks are made by their fields: {_BY_FIELDS}")


_BY_FIELDS = (
    "decorate the class by @attrs.frozen, write each parameter as a field, such as `price: float = 0.5`, and what is "
    "checked in __attrs_post_init__"
)


@attrs.frozen(init=False)
class Limit(Fields, abc.ABC):
    """An anti-monotone constraint on leaves (STreeD, Def. 4.5)."""

    def __bool__(self: Any, *_: Any) -> NoReturn:
        """Of two limits joined by `and`, and in 1 <= A <= 3, one would be lost."""
        raise TaskError(f"{self!r} is a limit; give several as subject_to(A <= 3, B <= 2)")

    __and__ = __or__ = __bool__

    def bind(self, data: Dataset) -> Limit:
        """This limit with every constant that depends on the whole data set made explicit (default: itself)."""
        return self

    def statistics(self, data: Dataset) -> dict[str, Array]:
        """What the limit asks of rows beside the task's statistics, as `Task.statistics` (default: nothing).

        They are counted without row weights. A limit with statistics sees these sums alone, and so goes with every
        task.
        """
        return {}

    @abc.abstractmethod
    def allows(self, s: State) -> bool:
        """Whether a leaf may stand at state s."""

    @property
    def support(self) -> int | None:
        """The number of rows that a leaf needs, if that is all the limit asks for: drivers enforce it natively."""
        return None


@final
@attrs.frozen
class OwnLimit(Limit):
    """A limit that has statistics of its own, on the states of the constrained task."""

    limit: Limit
    number: int

    @property
    def prefix(self) -> str:
        """What the names of its statistics begin with in the whole."""
        return f"limit{self.number}_"

    def allows(self, s: State) -> bool:
        return self.limit.allows(self.seen(s))

    def seen(self, s: State) -> State:
        """The state as the limit knows it."""
        return StateOfPart(s, self.prefix)


def kept_by_data(function: Callable[..., T]) -> Callable[..., T]:
    """The function of a data set and more, whose answers are kept as long as the data are there."""
    known: WeakKeyDictionary[Dataset, dict[Any, T]] = WeakKeyDictionary()

    @functools.wraps(function)
    def kept(data: Dataset, *more: Any) -> T:
        answers = known.setdefault(data, {})
        found = answers.get(more)
        if found is None:
            found = answers[more] = function(data, *more)
        return found

    return kept


def beside_sums(task: Task, data: Dataset, members: Any) -> dict[str, Any]:
    """What a state of rows (m,) holds beside its sums: `members` and `data` if the task reads rows, else nothing."""
    if not task.reads_rows:
        return {}
    rows = np.asarray(members, dtype=np.int64).view()
    rows.setflags(write=False)  # the search's own
    return {"members": rows, "data": data}


class Totals(State):
    """The state of all rows of a data set; its sums and `bound`, the task on the data, are made when asked for."""

    def __init__(self, task: Task, data: Dataset) -> None:
        super().__init__(data.size, _source=(task, data), _pending=True)

    def __getattr__(self, name: str) -> Any:
        if name == "bound":
            task, data = self.__dict__["_source"]
            self.__dict__["bound"] = task.bind(data)
            return self.__dict__["bound"]
        if not name.startswith("_") and self.__dict__.pop("_pending", False):
            data = self.__dict__["_source"][1]
            self.__dict__.update(vars(ExactSums(self.bound, data).state(np.arange(data.n_rows))))
            return getattr(self, name)
        return super().__getattr__(name)


def is_weighted(task: Task, name: str) -> bool:
    """Whether row weights count in a statistic of the task; they do not in those of limits."""
    return not name.startswith(tuple(limit.prefix for limit in task.limits if isinstance(limit, OwnLimit)))


def quick_sums(task: Task, data: Dataset, statistics: Mapping[str, Array] | None = None) -> dict[str, Array]:
    """The statistics times weights or frequencies, (n,) or (n, m): int64 as long as sums fit, else float64.

    Where rows have weights they are there as `weight`. `statistics`: the task's, where they are known.
    """
    quick = {}
    for name, values in _with_weight(task, data, statistics).items():
        values = np.asarray(values)
        _check_rows(task, name, values, data)
        each = data.weights if is_weighted(task, name) else data.frequency
        if each is not None:
            values = _weighed(values, each)
        if values.dtype.kind not in "bui":
            values = values.astype(np.float64)
        else:
            size = max(float(values.max()), -float(values.min())) * len(values) if values.size else 0
            if size >= LARGEST_TOTAL:  # of any rows, it may be, as these are together
                size = float(np.abs(values.astype(np.float64)).sum(axis=0).max())
            values = values.astype(np.int64 if size < LARGEST_TOTAL else np.float64, copy=False)
        quick[name] = in_columns(values)
    return quick


def _check_rows(task: Task, name: str, values: Array, data: Dataset) -> None:
    if len(values) != data.n_rows:
        raise TaskError(f"{type(task).__name__}.statistics: {name!r} has {len(values)} rows, not {data.n_rows}")


def in_columns(values: Array) -> Array:
    """The same (n,) or (n, m), an entry's whole numbers side by side: sums over rows take a tenth of the time so."""
    return np.asfortranarray(values) if values.ndim > 1 and values.dtype.kind in "bi" else values


def sums_by(group_of: Array, values: Array, n_groups: int) -> Array:
    """(n_groups,) or (n_groups, m): the sums of `values` (n,) or (n, m) over the rows of every group."""
    totals = np.zeros((n_groups, *values.shape[1:]), values.dtype)
    if values.ndim == 1:
        np.add.at(totals, group_of, values)
    else:
        for j in range(values.shape[1]):  # one by one, as numpy is quick with a single dimension only
            np.add.at(totals[:, j], group_of, values[:, j])
    return totals


def sums_by_node(leaf_of: Array, values: Array, end: Array) -> Array:
    """As `sums_by`, of every node of a tree in preorder: `end` (m,) says where each one's subtree ends."""
    places = np.arange(len(end)).repeat(2)
    places[1::2] = end
    return np.add.reduceat(sums_by(leaf_of, values, len(end) + 1), places)[::2]


def _with_weight(task: Task, data: Dataset, known: Mapping[str, Array] | None = None) -> Mapping[str, Array]:
    """The task's statistics, and 1 for every row as `weight` where rows have weights and it has none of that name."""
    statistics = task.statistics(data) if known is None else known
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


def state_of(sums: dict[str, Array], rows: Array | slice, data: Dataset, task: Task | None = None) -> State:
    """The state of the rows of `data`, by number or a slice, from statistics; with these if the task reads rows."""
    found = {}
    for name, values in sums.items():
        if isinstance(rows, slice) or values.dtype.kind != "i":
            total = np.add.reduce(values[rows], axis=0)
        else:  # whole numbers stand `in_columns`, and are taken so
            total = np.add.reduce(values.T.take(rows, axis=-1), axis=-1)
        found[name] = tuple(total.tolist()) if values.ndim > 1 else total.item()
    if isinstance(rows, slice) and data.frequency is None and (task is None or not task.reads_rows):
        return State(len(data.X[rows]), **found)
    numbers = np.arange(data.n_rows)[rows] if isinstance(rows, slice) else rows
    return State(data.count(numbers), **found, **({} if task is None else beside_sums(task, data, numbers)))


@final
class ExactSums(Mapping[str, tuple[Array, Fraction]]):
    """A task's statistics times the row weights in whole numbers (n,) or (n, m), int64 or objects, and the worth of 1.

    Each is read when it is first asked for: to read numbers of many digits as decimals takes as long as a small search.
    """

    def __init__(self, task: Task, data: Dataset) -> None:
        self._task, self._data = task, data
        self._statistics = _with_weight(task, data)
        self._found: dict[str, tuple[Array, Fraction]] = {}

    def __getitem__(self, name: str) -> tuple[Array, Fraction]:
        if name not in self._found:
            self._found[name] = self._read(name)
        return self._found[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._statistics)

    def __len__(self) -> int:
        return len(self._statistics)

    def state(self, rows: Array) -> State:
        """The state of the rows (m,) given by number, in exact Python numbers wherever the task's methods take them."""
        return self._state(rows, exact_number if self.takes_fractions else as_float)

    @functools.cached_property
    def takes_fractions(self) -> bool:
        """Whether methods can compute with exact sums; those that call numpy, for one, need floats."""
        task, every_row = self._task, np.arange(self._data.n_rows)
        if all(worth.denominator == 1 for _, worth in self.values()):
            return True
        s = self._state(every_row, Fraction)
        try:
            for k in range(len(task.labels(self._data))):
                task.leaf_cost(s, k)
            task.lower_bound(s)
            return all(limit.allows(s) in (True, False) for limit in task.limits)
        except Exception:  # noqa: BLE001 - whatever the task's own code raises
            return False

    def _state(self, rows: Array, read: Callable[[Fraction], Any]) -> State:
        """The state of rows by number; sums in parts of 1 as they are read."""
        sums = {}
        for name, (whole, worth) in self.items():
            totals, many = whole[rows].sum(axis=0), whole.ndim > 1
            known = totals.tolist() if many else [int(totals)]
            numbers = [x * worth.numerator if worth.denominator == 1 else read(x * worth) for x in known]
            sums[name] = tuple(numbers) if many else numbers[0]
        return State(self._data.count(rows), **sums, **beside_sums(self._task, self._data, rows))

    @functools.cached_property
    def _weights(self) -> tuple[Array, Fraction] | None:
        given = self._data.exact_weights
        return None if given is None else exact_integers(given, "sample_weight")

    def _read(self, name: str) -> tuple[Array, Fraction]:
        task, data, values = self._task, self._data, np.asarray(self._statistics[name])
        _check_rows(task, name, values, data)
        whole, unit = exact_integers(values, f"statistics {name!r}")
        copies = None if data.frequency is None else (data.frequency, Fraction(1))
        each = self._weights if is_weighted(task, name) else copies
        if each is not None:
            factors, worth = each
            size = sum(map(abs, factors.tolist())) * int(np.abs(whole).max(initial=0))
            factors = factors.reshape((-1,) + (1,) * (whole.ndim - 1))
            whole = whole * factors if size < LARGEST_TOTAL else whole.astype(object) * factors
            unit = unit * worth
        return whole, unit
