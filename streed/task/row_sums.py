"""Sums of a task's statistics over rows, row weights and frequencies included: quick, exact, and as states.

`RowSetSums` adds exactly and quickly over many sets of rows: statistics are integers over a common denominator. Where
their sums fit 64 bits they are added as they are; larger ones are cut into digits so small that float64 adds these
exactly, and put together again after adding. So no sum depends on the order of its rows, and what should cancel does.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, final

import attrs
import numpy as np

from streed.errors import TaskError
from streed.exact import LARGEST_TOTAL, Array, as_objects, exact_integers, exact_number
from streed.task.base import Task
from streed.task.limits import OwnLimit
from streed.task.states import State

if TYPE_CHECKING:
    from streed.data import Dataset
    from streed.task.base import Task


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


def is_weighted(task: Task, name: str) -> bool:
    """Whether row weights count in a statistic of the task; they do not in those of limits."""
    return not name.startswith(tuple(limit.prefix for limit in task.limits if isinstance(limit, OwnLimit)))


def quick_sums(task: Task, data: Dataset, statistics: Mapping[str, Array] | None = None) -> dict[str, Array]:
    """The task's statistics times the row weights as machine numbers, int64 or float64, (n,) or (n, m).

    A row counts as often as its frequency says, and where rows have weights they are there as `weight`. Integers stay
    integers as long as their sums fit; otherwise, and for real numbers, sums are those of float64. `statistics`: the
    task's `statistics`, where they are known.
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
        elif _sums_fit(values):
            values = values.astype(np.int64, copy=False)
        else:
            values = values.astype(np.float64)
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


def _sums_fit(values: Array) -> bool:
    """Whether the sums of these whole numbers over any rows are below LARGEST_TOTAL."""
    if values.size == 0 or max(float(values.max()), -float(values.min())) * len(values) < LARGEST_TOTAL:
        return True
    return float(np.abs(values.astype(np.float64)).sum(axis=0).max()) < LARGEST_TOTAL


def state_of(
    sums: dict[str, Array], rows: Array | slice, data: Dataset, beside: Mapping[str, Any] | None = None
) -> State:
    """The state of the rows of `data` given by number, from their statistics and what it holds `beside_sums`.

    A slice of rows takes no copies of the statistics.
    """
    totals = {name: values[rows].sum(axis=0) for name, values in sums.items()}
    found = {k: tuple(v.tolist()) if v.ndim else v.item() for k, v in totals.items()}
    numbers = np.arange(data.n_rows)[rows] if isinstance(rows, slice) else rows
    return State(data.count(numbers), **found, **(beside or {}))


@final
class ExactSums(Mapping[str, tuple[Array, Fraction]]):
    """What `sums_over` says, as whole numbers, int64 or Python's own as objects, and the worth of 1.

    Arrays are (n,) or (n, m). Each statistic is read when it is first asked for: to read numbers of many digits as
    decimals takes as long as a small search.
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
        """The state of the rows (m,) given by number, in exact Python numbers."""
        sums = {}
        for name, (whole, worth) in self.items():
            unit, total = worth.numerator if worth.denominator == 1 else worth, whole[rows].sum(axis=0)
            sums[name] = tuple(x * unit for x in total.tolist()) if whole.ndim > 1 else int(total) * unit
        return State(self._data.count(rows), **sums, **beside_sums(self._task, self._data, rows))

    @functools.cached_property
    def _weights(self) -> tuple[Array, Fraction] | None:
        given = weight_array(self._data)
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


def weight_array(data: Dataset) -> Array | None:
    """(n,) what each row adds to a sum, exactly: as objects where a product of weight and frequency is no float."""
    if data.sample_weight is None or data.frequency is None or data.sample_weight.dtype.kind != "f":
        return data.weights
    return as_objects(data.exact_weights or [])


def sums_over(task: Task, data: Dataset) -> dict[str, np.ndarray]:
    """The task's statistics times the row weights, as exact Python numbers (arrays of objects, (n,) or (n, m))."""
    exact: dict[str, np.ndarray] = {}
    for name, (whole, unit) in ExactSums(task, data).items():
        numbers = whole.astype(object) * unit.numerator
        if unit.denominator > 1:
            exactly = [exact_number(Fraction(x, unit.denominator)) for x in numbers.flat]
            numbers = as_objects(exactly).reshape(numbers.shape)
        exact[name] = numbers
    return exact


_FLOAT_BITS = 53
"""Below 2**53 float64 adds whole numbers exactly, and matrix products of it are quick."""

_BLOCK = 2**22
"""Numbers of a block of a matrix product."""


@attrs.frozen
class _Place:
    """Where a statistic's sums stand."""

    name: str
    first: int
    width: int | None
    """How many sums it has; None: a number."""
    denominator: int
    """What the whole numbers are to be divided by."""
    wide: bool
    """Whether they are put together from digits."""


@final
class RowSetSums:
    """The statistics of all rows times their weights, as whole numbers."""

    def __init__(self, task: Task, data: Dataset) -> None:
        self._named: list[_Place] = []
        small: list[list[int]] = [data.counts.tolist()]
        large: list[list[int]] = []
        for name, (values, unit) in ExactSums(task, data).items():
            columns = (values.reshape(data.n_rows, -1).T.astype(object) * unit.numerator).tolist()
            wide = sum(sum(map(abs, column)) for column in columns) >= LARGEST_TOTAL
            width = None if values.ndim == 1 else len(columns)
            self._named.append(_Place(name, len(large) if wide else len(small), width, unit.denominator, wide))
            (large if wide else small).extend(columns)
        self._small = np.array(small, np.int64).T
        if float(np.abs(self._small.astype(np.float64)).sum(axis=0).max(initial=0)) < 2**_FLOAT_BITS:
            self._small = self._small.astype(np.float64)
        self._bits = _FLOAT_BITS - 1 - data.n_rows.bit_length()
        self._digits, self._ends = _cut(large, self._bits, data.n_rows)
        self.exact = True
        """Whether sums are given exactly; else, where they are too fine for 64 bits, rounded once."""

    def total(self, members: Array) -> tuple[Any, ...]:
        """The number of these rows (m,), then their sums, flat."""
        small = self._small[members].sum(axis=0).astype(np.int64).tolist()
        return (*small, *self._joined(self._digits[members].sum(axis=0).tolist()))

    def by_literal(self, members: Array, codes: Array) -> list[tuple[Any, ...]]:
        """The sums over the rows (m,) that have each literal; `codes` (n, L) uint8 says which row has which."""
        n_literals = codes.shape[1]
        small = np.zeros((n_literals, self._small.shape[1]), dtype=self._small.dtype)
        digits = np.zeros((n_literals, self._digits.shape[1]))
        block = max(1, _BLOCK // max(1, n_literals))
        for begin in range(0, len(members), block):
            rows = members[begin : begin + block]
            here = codes[rows].astype(np.float64)
            small += (here.astype(self._small.dtype, copy=False)).T @ self._small[rows]
            if digits.shape[1]:
                digits += here.T @ self._digits[rows]
        sums = small.astype(np.int64).tolist()
        if digits.shape[1]:
            return [(*a, *self._joined(b)) for a, b in zip(sums, digits.tolist(), strict=True)]
        return list(map(tuple, sums))

    def named(self, sums: Sequence[Any]) -> dict[str, Any]:
        """The sums by the names of the statistics; see `exact`."""
        shift = self._small.shape[1]
        found: dict[str, Any] = {}
        for place in self._named:
            begin = place.first + (shift if place.wide else 0)
            numbers: Sequence[Any] = sums[begin : begin + (1 if place.width is None else place.width)]
            if place.denominator > 1:
                divided = Fraction if self.exact or not place.wide else int.__truediv__
                numbers = [divided(x, place.denominator) for x in numbers]
            found[place.name] = numbers[0] if place.width is None else tuple(numbers)
        return found

    def state(self, sums: Sequence[Any]) -> State:
        """The state that has these sums."""
        return State(sums[0], **self.named(sums))

    def _joined(self, digits: list[float]) -> list[int]:
        """The whole numbers that have these digits, the least one first."""
        found, begin = [], 0
        for end in self._ends:
            number = 0
            for digit in reversed(digits[begin:end]):
                number = (number << self._bits) + int(digit)
            found.append(number)
            begin = end
        return found


def _cut(columns: list[list[int]], bits: int, n_rows: int) -> tuple[Array, list[int]]:
    """((n, D) float64 digits of so many bits, the least first, and the end of each column's); the last has the sign."""
    digits: list[list[int]] = []
    ends = []
    for column in columns:
        rest = column
        while any(not -(1 << bits) <= x < 1 << bits for x in rest):
            digits.append([x & ((1 << bits) - 1) for x in rest])
            rest = [x >> bits for x in rest]
        digits.append(rest)
        ends.append(len(digits))
    return np.array(digits, dtype=np.float64).reshape(len(digits), n_rows).T, ends
