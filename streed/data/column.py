"""A column: its name, its values in the order of their codes, and how values become codes and codes are checked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from streed.data.ordered import Cut, OrderedValues, Scale, rank, threshold_text
from streed.errors import InputError

if TYPE_CHECKING:
    from streed.exact import Array

MOST_CATEGORIES = 256
"""Codes are bytes."""


@attrs.frozen
class Values:
    """One column as it was read, but not yet coded."""

    values: Array | list[Any]
    """A bool, int or float array, or a list of any other Python objects."""
    order: tuple[Any, ...] | None = None
    """The declared order of the categories, of a categorical or enum type."""
    gaps: Array | None = None
    """(n,) bool: which values are missing, and are here any others; None: none is."""
    time: Scale | None = None
    """The scale of dates and of durations, whose values are microseconds."""
    is_ordered: bool = False
    """Whether the type says that its categories are steps of a scale."""


@attrs.frozen
class Column:
    """A column as the caller named it."""

    name: str
    categories: tuple[Any, ...]
    """The caller's values in code order. A binary column has two, left and right; one that is constant and neither 0
    nor 1 has one. An ordered column of categories has them in their order, any other ordered one has none."""
    multiway: bool
    """Whether a split has one child per category; a binary column has two children."""
    scale: Scale | None = None
    """Of an ordered column, what its values are: a split is at a threshold, and has two children."""
    has_gaps: bool = False
    """Whether rows of an ordered column had no value when it was first read."""

    @property
    def is_plain(self) -> bool:
        """Whether the values are their own codes: a column of 0/1 or False/True."""
        return not self.multiway and self.scale is None and self.categories == (0, 1)

    def written(self, cut: Cut) -> str:
        """The threshold of a cut of this ordered column as text; raises ValueError where the cut has none."""
        if cut.threshold is None or self.scale is None:
            raise ValueError(f"no threshold of column {self.name!r}")
        return threshold_text(cut.threshold, self.scale, self.categories)


def code_column(
    name: str,
    read: Values,
    *,
    listed: bool,
    lenient: bool,
    weights: Array | None = None,
    max_cuts: int | None = None,
) -> tuple[Column, Array, OrderedValues | None]:
    """The column, its codes (n,), uint8 or int32 of an ordered one, and that one's values.

    `listed`: the caller calls the column categorical. `lenient`: any two values make a binary column (tables); else
    numbers other than 0/1 are ordered (arrays). `weights`, `max_cuts`: as `rank` takes them. Raises InputError for more
    than 256 categories, for gaps in a column that is not ordered, and for values that have no order.
    """
    if not listed:
        found = _ordered_column(name, read, lenient, weights, max_cuts)
        if found is not None:
            return found
    _check_complete(name, read)
    column, codes = _code_categories(name, read, listed, lenient)
    return column, codes, None


def _code_categories(name: str, read: Values, listed: bool, lenient: bool) -> tuple[Column, Array]:
    if isinstance(read.values, np.ndarray) and read.values.dtype.kind == "b":
        return Column(name, (False, True), False), read.values.astype(np.uint8)
    categories, codes = distinct(read.values, f"column {name!r}", read.order)
    if all(type(c) is bool for c in categories):
        categories, codes = _as_zero_one(categories, codes, (False, True))
    elif read.order is None and all(c in (0, 1) for c in categories):
        categories, codes = _as_zero_one(categories, codes, (0, 1))
    texts = read.order is not None or all(isinstance(c, (str, bytes)) for c in categories)
    binary = categories == (0, 1) or (lenient and len(categories) <= 2)
    if not (binary or texts or listed):
        kinds = ", ".join(sorted({type(c).__name__ for c in categories}))
        raise InputError(
            "X",
            f"column {name!r} has values of the type {kinds}, such as {shown(categories)}",
            "give numbers, dates or texts, or list it in categorical= for one child per value",
        )
    if len(categories) > MOST_CATEGORIES:
        raise InputError(
            "X",
            f"column {name!r} has {len(categories)} distinct values, more than {MOST_CATEGORIES}",
            "leave the column out, or group its values",
        )
    return Column(name, categories, len(categories) > 2), codes.astype(np.uint8)


def _ordered_column(
    name: str, read: Values, lenient: bool, weights: Array | None, max_cuts: int | None
) -> tuple[Column, Array, OrderedValues] | None:
    """The column if it is ordered: times, steps of a scale, numbers with gaps, or of more values than a binary one."""
    values = read.values
    categories: tuple[Any, ...] = ()
    if read.time is not None:
        scale, numbers = read.time, values
    elif read.is_ordered and read.order is not None:
        scale, categories = Scale.CATEGORY, read.order
        numbers = places(values, categories, read.gaps, name)
        if len(categories) <= 2 and read.gaps is None:
            return None
    elif isinstance(values, np.ndarray) and read.order is None:
        scale, numbers = Scale.NUMBER, values
        if read.gaps is None and _is_binary(values, lenient):
            return None
        if numbers.dtype.kind == "b":
            numbers = numbers.astype(np.int64)
    else:
        return None
    assert isinstance(numbers, np.ndarray)
    found, ranks = rank(numbers, read.gaps, scale, weights, max_cuts)
    return Column(name, categories, False, scale, read.gaps is not None), ranks, found


def places(values: Any, categories: tuple[Any, ...], gaps: Array | None, name: str) -> Array:
    """(n,) int64: the place of each value among the categories, 0 for gaps; raises InputError for an unknown value."""
    known = {category: place for place, category in enumerate(categories)}
    held = values.tolist() if isinstance(values, np.ndarray) else values
    try:
        if gaps is None:
            return np.fromiter((known[value] for value in held), np.int64, len(held))
        pairs = zip(held, gaps.tolist(), strict=True)
        return np.fromiter((0 if gap else known[value] for value, gap in pairs), np.int64, len(held))
    except (KeyError, TypeError):
        strange = next(v for i, v in enumerate(held) if not (gaps is not None and gaps[i]) and v not in known)
        raise _unknown(Column(name, categories, False), strange) from None


def _is_binary(values: Array, lenient: bool) -> bool:
    """Whether the numbers are 0 and 1 or, if `lenient`, any two finite ones."""
    if values.dtype.kind == "b" or not len(values):
        return True
    first = values[0]
    others = values[values != first]
    if not len(others):
        return bool(lenient or first in (0, 1)) and _is_finite(first)
    second = others[0]
    if (others != second).any():
        return False
    return (lenient and _is_finite(first) and _is_finite(second)) or {float(first), float(second)} == {0.0, 1.0}


def _is_finite(number: Any) -> bool:
    return not (isinstance(number, (float, np.floating)) and np.isinf(number))


def _check_complete(name: str, read: Values) -> None:
    """Raises InputError for gaps and infinities in a column that is not ordered."""
    if read.gaps is not None:
        raise missing_value("X", f"column {name!r}", int(np.argmax(read.gaps)))
    if isinstance(read.values, np.ndarray) and read.values.dtype.kind == "f":
        check_finite(read.values, "X", f"column {name!r}")


def check_finite(x: Array, argument: str, what: str) -> None:
    """Raises InputError that names the first row whose number is infinite or missing."""
    if not np.isfinite(x).all():
        row = int(np.argmin(np.isfinite(x)))
        if np.isnan(x[row]):
            raise missing_value(argument, what, row)
        raise InputError(argument, f"{what} has an infinite value in row {row}", "use finite numbers")


def missing_value(argument: str, what: str, row: int) -> InputError:
    """The error for a value that is missing where there must be one."""
    return InputError(
        argument, f"{what} has a missing value in row {row} (counted from 0)", "fill it in, or leave the row out"
    )


def recode(column: Column, read: Values) -> Array:
    """(m,) uint8: the codes of new values by the categories of `column`; raises InputError for an unknown value."""
    values = read.values
    if isinstance(values, np.ndarray):
        found, codes = distinct(values, f"column {column.name!r}", None)
        known = {category: code for code, category in enumerate(column.categories)}
        table = [known.get(value, -1) for value in found]
        if -1 in table:
            raise _unknown(column, found[table.index(-1)])
        return np.array(table, dtype=np.uint8)[codes] if found else np.zeros(0, dtype=np.uint8)
    known = {category: code for code, category in enumerate(column.categories)}
    try:
        return np.fromiter((known[value] for value in values), dtype=np.uint8, count=len(values))
    except (KeyError, TypeError):
        raise _unknown(column, next(v for v in values if not _is_known(v, column.categories))) from None


def _is_known(value: Any, categories: tuple[Any, ...]) -> bool:
    return any(value == category for category in categories)


def _unknown(column: Column, value: Any) -> InputError:
    return InputError(
        "X",
        f"column {column.name!r} has the value {value!r}, which its data did not have",
        f"its values are {shown(column.categories)}",
    )


def distinct(values: Array | list[Any], what: str, order: Sequence[Any] | None) -> tuple[tuple[Any, ...], Array]:
    """The distinct values as Python objects, in declared or sorted order, and the number of each row's (n,) int64.

    Raises InputError (argument X) for values that cannot be sorted or hashed.
    """
    if isinstance(values, np.ndarray):
        found, codes = distinct_numbers(values)
        categories = tuple(found.tolist())
    else:
        categories, codes = distinct_objects(values, "X", what)
    if order is not None:
        present = set(categories)
        wanted = tuple(category for category in order if category in present)
        place = {category: code for code, category in enumerate(wanted)}
        codes = np.array([place[category] for category in categories], dtype=np.int64)[codes]
        categories = wanted
    return categories, codes


def distinct_numbers(values: Array) -> tuple[Array, Array]:
    """The sorted distinct numbers of an int, bool or float array, and the number of each row's, (n,) int64."""
    if values.dtype.kind in "iu" and len(values):
        low, high = int(values.min()), int(values.max())
        spread = high - low
        # Counting beats sorting as long as the counters stay few; beyond int64 there is no common type to subtract in.
        if spread <= max(1024, 4 * len(values)) and low >= -(2**63) and high < 2**63:
            offsets = values.astype(np.int64)
            offsets -= low
            present = np.bincount(offsets) > 0
            if np.count_nonzero(present) == len(present):
                return np.arange(low, high + 1, dtype=np.int64), offsets
            return np.flatnonzero(present) + low, (np.cumsum(present) - 1)[offsets]
    found, codes = np.unique(values, return_inverse=True)
    return found, codes.astype(np.int64, copy=False)


def distinct_objects(values: list[Any], argument: str, what: str) -> tuple[tuple[Any, ...], Array]:
    """The sorted distinct objects, and the number of each row's, (n,) int64.

    Raises InputError that names `argument` and `what` for objects that cannot be hashed or compared.
    """
    try:
        found = tuple(sorted(dict.fromkeys(values)))
    except TypeError:
        kinds = ", ".join(sorted({type(v).__name__ for v in values}))
        raise InputError(
            argument, f"{what} has values that cannot be sorted together (types: {kinds})", "use one type of values"
        ) from None
    place = {value: code for code, value in enumerate(found)}
    return found, np.fromiter((place[value] for value in values), dtype=np.int64, count=len(values))


def shown(values: Iterable[Any], most: int = 5) -> str:
    """The first few values as text, and how many there are if that is more."""
    values = list(values)
    text = ", ".join(repr(v) for v in values[:most])
    return text if len(values) <= most else f"{text}, ... ({len(values)} of them)"


def _as_zero_one(categories: tuple[Any, ...], codes: Array, pair: tuple[Any, Any]) -> tuple[tuple[Any, Any], Array]:
    if len(categories) == 1 and categories[0] == 1:
        codes = codes + 1
    return pair, codes
