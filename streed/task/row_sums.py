"""Sums of a task's statistics over rows, row weights and frequencies included: quick, exact, and as states.

`RowSetSums` adds exactly and quickly over many sets of rows: whole numbers over a common denominator, as they are or in
digits so small that float64 adds these exactly. So no sum depends on the order of its rows.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, final

import numpy as np

from streed.data import Dataset
from streed.errors import TaskError
from streed.exact import LARGEST_TOTAL, Array, exact_integers, exact_number
from streed.task.base import Task
from streed.task.states import OwnLimit, State


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


def _total(values: Array, rows: Array | slice) -> Any:
    """The sum over rows of values (n,) or (n, m); whole numbers stand `in_columns`, and are taken so."""
    if isinstance(rows, slice) or values.dtype.kind != "i":
        return np.add.reduce(values[rows], axis=0)
    return np.add.reduce(values.T.take(rows, axis=-1), axis=-1)


def state_of(sums: dict[str, Array], rows: Array | slice, data: Dataset, task: Task | None = None) -> State:
    """The state of the rows of `data`, by number or a slice, from statistics; with these if the task reads rows."""
    found = {}
    for name, values in sums.items():
        total = _total(values, rows)
        found[name] = tuple(total.tolist()) if total.ndim else total.item()
    if isinstance(rows, slice) and data.frequency is None and (task is None or not task.reads_rows):
        return State(len(range(*rows.indices(data.n_rows))), **found)
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
        """The state of the rows (m,) given by number, in exact Python numbers."""
        sums = {}
        for name, (whole, worth) in self.items():
            totals, many = whole[rows].sum(axis=0), whole.ndim > 1
            unit = worth.numerator if worth.denominator == 1 else worth
            exact = [exact_number(x * unit) for x in (totals.tolist() if many else [int(totals)])]
            sums[name] = tuple(exact) if many else exact[0]
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


_FLOAT_BITS = 53
"""Below 2**53 float64 adds whole numbers exactly, and matrix products of it are quick."""

_BLOCK = 2**22
"""Numbers of a block of a matrix product."""


@final
class RowSetSums:
    """The statistics of all rows times their weights, as whole numbers, in digits that float64 adds exactly."""

    def __init__(self, task: Task, data: Dataset) -> None:
        self._named: list[tuple[str, int | None, int, bool]] = []
        """Of every statistic its name, how many sums it has (None: a number), what these are to be divided by, and
        whether they are beyond 64 bits."""
        columns = [data.counts.astype(object)[None, :]]
        for name, (values, unit) in ExactSums(task, data).items():
            columns.append(values.reshape(data.n_rows, -1).T.astype(object) * unit.numerator)
            wide = bool((np.abs(columns[-1]).sum(axis=1) >= LARGEST_TOTAL).any())
            width = None if values.ndim == 1 else len(columns[-1])
            self._named.append((name, width, unit.denominator, wide))
        whole = np.concatenate(columns).T
        self._bits, digits = _FLOAT_BITS - 1 - data.n_rows.bit_length(), []
        while max(np.abs(whole).sum(axis=0)) >= 2**_FLOAT_BITS:
            digits.append(whole & ((1 << self._bits) - 1))
            whole = whole >> self._bits
        self._digits = np.concatenate([*digits, whole], axis=1).astype(np.float64)
        """(n, digits * sums): the least ones of all sums first; the last have the signs."""
        self._width = whole.shape[1]
        self.exact = True
        """Whether sums are given exactly; else, where they are too fine for 64 bits, rounded once."""

    def total(self, members: Array) -> tuple[Any, ...]:
        """The number of these rows (m,), then their sums, flat."""
        return self._joined(self._digits[members].sum(axis=0)[None, :])[0]

    def by_literal(self, members: Array, codes: Array) -> list[tuple[Any, ...]]:
        """The sums over the rows (m,) that have each literal; `codes` (n, L) uint8 says which row has which."""
        digits = np.zeros((codes.shape[1], self._digits.shape[1]))
        block = max(1, _BLOCK // max(1, codes.shape[1]))
        for begin in range(0, len(members), block):
            rows = members[begin : begin + block]
            digits += codes[rows].astype(np.float64).T @ self._digits[rows]
        return self._joined(digits)

    def _joined(self, digits: Array) -> list[tuple[int, ...]]:
        """The whole numbers that have these digits (m, ...)."""
        if digits.shape[1] == self._width:
            return list(map(tuple, digits.astype(np.int64).tolist()))
        found = np.zeros((len(digits), self._width), object)
        for begin in reversed(range(0, digits.shape[1], self._width)):
            found = (found << self._bits) + digits[:, begin : begin + self._width].astype(np.int64)
        return list(map(tuple, found.tolist()))

    def named(self, sums: Sequence[Any]) -> dict[str, Any]:
        """The sums by the names of the statistics; see `exact`."""
        begin, found = 1, {}
        for name, width, denominator, wide in self._named:
            numbers: Sequence[Any] = sums[begin : begin + (1 if width is None else width)]
            begin += len(numbers)
            if denominator > 1:
                divided = Fraction if self.exact or not wide else int.__truediv__
                numbers = [divided(x, denominator) for x in numbers]
            found[name] = numbers[0] if width is None else tuple(numbers)
        return found

    def state(self, sums: Sequence[Any]) -> State:
        """The state that has these sums."""
        return State(sums[0], **self.named(sums))
