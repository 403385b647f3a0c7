"""Which tasks are costs per row and label, found by running `leaf_cost` on symbols instead of numbers.

A leaf cost that is linear in the sums of a task's statistics is the sum over the leaf's rows of a cost per row, so the
engine can run the task from data alone, like a `RowCostTask`. `leaf_cost` runs once per label on linear forms, which
know sums, differences and multiples, and end the attempt at anything else: a comparison, a product of two of them, a
square root. As cvxpy derives curvature, this derives linearity; it never guesses.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from fractions import Fraction
from typing import Any, NoReturn, final

import attrs
import numpy as np

from streed.data import Dataset
from streed.errors import StreedError
from streed.exact import LARGEST_TOTAL, Array, exact_integers, exact_number
from streed.task.base import TOTAL, RowCostTask, Task, objective
from streed.task.states import State, state_of

_CHECKED_ROWS = 16
"""Rows on which the derived costs are compared with the task's own."""

Key = tuple[str, int | None]
"""A statistic, and which entry of it; None for a statistic of shape (n,)."""

_ROWS: Key = ("rows", None)

_WEIGHT: Key = ("weight", None)
"""What rows weigh together: 1 for every row, before row weights, unless it is a statistic of the task."""


@final
@attrs.frozen
class LinearForm(RowCostTask):
    """A bound task whose leaf cost is linear in the sums of its statistics, as a cost per row and label."""

    task: Task
    coefficients: tuple[tuple[tuple[Key, Fraction | int], ...], ...]
    """For every label, the coefficients of the entries of the statistics; `rows` is one of them."""
    split: Fraction | int
    known: tuple[Dataset, dict[str, Array]] = attrs.field(repr=False, eq=False)
    """The data that it was read off with, and their statistics."""

    @property
    def any_label(self) -> bool:  # type: ignore[override]
        return self.task.any_label

    def labels(self, data: Dataset) -> Sequence[Any]:
        return self.task.labels(data)

    def row_costs(self, data: Dataset) -> Array:
        return np.asarray(sum(weight * costs.astype(object) for weight, costs in self.cost_terms(data)))

    def cost_terms(self, data: Dataset) -> list[tuple[Fraction, Array]]:
        """One term per entry of a statistic that matters: its unit and (n, K) integers; one of all where that fits."""
        statistics = self.known[1] if self.known[0] is data else self.task.statistics(data)
        ones = np.ones(data.n_rows, np.int64)
        used = list(dict.fromkeys(key for label in self.coefficients for key, _ in label))
        columns = [_entry(np.asarray(statistics.get(name, ones)).T, entry) for name, entry in used]
        by_label = list(map(dict, self.coefficients))
        factors = [[its.get(key, 0) for its in by_label] for key in used]
        if columns and all(column.dtype.kind in "bui" for column in columns):
            return [_products(columns, factors)]
        terms: list[tuple[Fraction, Array]] = []
        for (name, _), column, its in zip(used, columns, factors, strict=True):
            integers, unit = exact_integers(column, f"statistics {name!r}")
            weight, costs = _products([integers], [its])
            terms.append((unit * weight, costs))
        return terms or [(Fraction(1), np.zeros((data.n_rows, len(self.coefficients)), np.int64))]

    def split_cost(self) -> Fraction | int:
        return self.split


def row_cost_form(
    task: Task, data: Dataset, statistics_of: Callable[[], Mapping[str, Array]] | None = None
) -> RowCostTask | None:
    """The bound task, without limits on leaves, as a cost per row and label; None where it cannot be shown to be one.

    It is one if values are added, smaller is better, limits are numbers of rows, a branching node costs a constant, and
    `leaf_cost` is linear in the sums (in `s.rows` where rows have no weights). `statistics_of`: gives the known ones.
    """
    inner = objective(task)
    if not adds(inner) or inner.reads_rows or any(limit.support is None for limit in task.limits):
        return None
    if isinstance(inner, RowCostTask):
        return inner

    def read() -> LinearForm:
        price = price_of_splits(inner)
        split = -1 if price is None else exact_number(price)
        if split < 0:
            _end("a branching node that costs no one price, or less than nothing")
        known = inner.statistics(data) if statistics_of is None or inner is not task else statistics_of()
        statistics = {name: np.asarray(values) for name, values in known.items()}
        state = _symbolic_state(statistics, weighted=data.sample_weight is not None)
        forms = [inner.leaf_cost(state, k) for k in range(len(inner.labels(data)))]
        return LinearForm(inner, tuple(map(_linear, forms)), split, (data, statistics))

    form = _on_symbols(read)
    return form if isinstance(form, LinearForm) and _agrees(form) else None


def _products(columns: list[Array], factors: list[list[Fraction | int]]) -> tuple[Fraction, Array]:
    """The weight of (n, K) integers, and these: the sum of every column (n,) of integers times its factors (K,)."""
    common = math.lcm(*(factor.denominator for its in factors for factor in its))
    whole = [[factor.numerator * (common // factor.denominator) for factor in its] for its in factors]
    sizes = [max(int(x.max()), -int(x.min())) for x in columns]
    most = sum(size * max(map(abs, its)) for size, its in zip(sizes, whole, strict=True))
    kind = np.int64 if most * len(columns[0]) < LARGEST_TOTAL else object
    return Fraction(1, common), np.array(columns, kind).T @ np.array(whole, kind)


def adds(task: Task) -> bool:
    """Whether values are numbers that are added up, a smaller one is better, and any is feasible."""
    return task.order == TOTAL and task.adds_values and not task.overrides("better") and not task.overrides("feasible")


def price_of_splits(task: Task) -> Any:
    """What a branching node of the bound task costs wherever it is, 0 for nothing; None where that depends on it."""
    inner = objective(task)
    cost = _on_symbols(lambda: inner.branching_cost(*[_Opaque()] * 3))  # type: ignore[arg-type]
    if any(type(entry) is _Opaque for entry in (cost if isinstance(cost, tuple) else (cost,))):
        return None
    return 0 if cost is None else cost


_ENDED: ContextVar[list[str]] = ContextVar("_ENDED")
"""What symbols were used for beside linear arithmetic in the attempt at hand, even if the task hid it."""


def _on_symbols(ask: Callable[[], Any]) -> Any:
    """The answer to a question about symbols; an opaque one where it takes more than linear arithmetic."""
    ended: list[str] = []
    before = _ENDED.set(ended)
    try:
        answer = ask()
    except (_NotLinear, Exception):  # noqa: BLE001 - a task that fails on symbols is at worst a slower task
        return _Opaque()
    finally:
        _ENDED.reset(before)
    return _Opaque() if ended else answer


class _NotLinear(BaseException):
    """The attempt is over; no Exception, so that no handler of the task's own code takes it for one of its own."""


def _end(what: str) -> NoReturn:
    _ENDED.get([]).append(what)
    raise _NotLinear(what)


class _Opaque:
    """An argument on which nothing may depend."""

    # Numbers of numpy's then leave a product with it to the symbol.
    __array_ufunc__ = None

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        _end(name)


_UNARY = "lt le gt ge eq ne contains hash len iter getitem reversed call bool int float complex index str repr format "
_UNARY += "abs round trunc floor ceil invert neg pos"
_BINARY = "add sub mul truediv floordiv mod divmod pow matmul lshift rshift and or xor"
for _refused in (*_UNARY.split(), *_BINARY.split(), *(f"r{each}" for each in _BINARY.split())):
    setattr(_Opaque, f"__{_refused}__", lambda self, *_, _said=_refused, **__: _end(_said))


@final
class _Form(_Opaque):
    """constant + sum of factor * entry over entries of statistics, exactly."""

    def __init__(self, factors: dict[Key, Any], constant: Any = 0) -> None:
        self._factors = factors
        self._constant = constant

    def __add__(self, other: Any) -> _Form:
        if not isinstance(other, _Form):
            return _Form(self._factors, self._constant + self._number(other))
        factors = dict(self._factors)
        for key, factor in other._factors.items():
            factors[key] = factors.get(key, 0) + factor
        return _Form(factors, self._constant + other._constant)

    __radd__ = __add__

    def __mul__(self, other: Any) -> _Form:
        number = self._number(other)
        return _Form({key: factor * number for key, factor in self._factors.items()}, self._constant * number)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> _Form:
        return self * (1 / Fraction(self._number(other)))

    def __neg__(self) -> _Form:
        return self * -1

    def __pos__(self) -> _Form:
        return self

    def __sub__(self, other: Any) -> _Form:
        return self + other * -1 if isinstance(other, _Form) else self + -self._number(other)

    def __rsub__(self, other: Any) -> _Form:
        return (self * -1).__add__(other)

    def _number(self, x: Any) -> int | Fraction:
        if type(x) is int:
            return x
        if isinstance(x, _Opaque):
            _end("arithmetic with two sums")
        try:
            return exact_number(x)
        except StreedError:
            _end(f"arithmetic with {x!r}")


def _symbolic_state(statistics: dict[str, Array], *, weighted: bool) -> State:
    """The state whose sums are symbols; `rows` is opaque where rows have weights."""
    sums: dict[str, Any] = {"weight": _Form({_WEIGHT: 1})}
    for name, values in statistics.items():
        entries = [None] if values.ndim == 1 else range(values.shape[1])
        forms = tuple(_Form({(name, entry): 1}) for entry in entries)
        sums[name] = forms[0] if values.ndim == 1 else forms
    rows: Any = _Opaque() if weighted else _Form({_ROWS: 1})
    return State(rows, **sums)


def _linear(form: Any) -> tuple[tuple[Key, Fraction | int], ...]:
    """The coefficients of a form without a constant."""
    if not isinstance(form, _Form):
        if exact_number(form) != 0:
            _end("a constant")
        return ()
    if form._constant != 0:
        _end("a cost per leaf")
    return tuple((key, factor) for key, factor in form._factors.items() if factor != 0)


def _agrees(form: LinearForm) -> bool:
    """Whether it costs what its task does on a few rows: that may ask for the type of a number, and go another way."""
    data, statistics = form.known
    n = min(data.n_rows, _CHECKED_ROWS)
    for rows in {min(n, 1), n} - {0}:
        state = state_of(statistics, slice(rows), data)
        for k in range(len(form.coefficients)):
            try:
                own = float(form.task.leaf_cost(state, k))
            except (ArithmeticError, TypeError, ValueError):
                return False
            read = form.coefficients[k]
            terms = [float(factor) * float(_entry(getattr(state, name), at)) for (name, at), factor in read]
            if not math.isclose(own, sum(terms), rel_tol=1e-9, abs_tol=1e-9 * sum(map(abs, terms))):
                return False
    return True


def _entry(values: Any, at: int | None) -> Any:
    return values if at is None else values[at]
