"""Ordered columns: numbers, dates and ordered categories, whose every threshold is a question.

A row's code is the rank of its value among the distinct values, which are compared exactly, and a gap's the one behind
the last. Questions are `x <= t` for every threshold t between neighbours, with the gaps on either side, and whether x
is missing.
"""

from __future__ import annotations

import ctypes
import enum
import math
from collections.abc import Callable
from typing import Any

import attrs
import numpy as np

from streed.data.single_values import MICROSECOND, clock_text, date_text, duration_text, moment_of
from streed.exact import Array, are_within, as_float, exact_integers


class Kind(enum.StrEnum):
    """What a column holds, and what the numbers of an ordered one are."""

    NUMBER = "number"
    BOOLEAN = "boolean"
    """0 and 1."""
    DATE = "date"
    """Microseconds since 1970."""
    DURATION = "duration"
    """Microseconds."""
    TIME = "time"
    """Of the clock: microseconds since midnight."""
    CATEGORY = "category"
    """Texts; of an ordered column, places in the declared order of the categories."""


TIMES = (Kind.DATE, Kind.DURATION, Kind.TIME)
"""The kinds whose numbers are microseconds."""


@attrs.frozen
class Cut:
    """What a node asks of an ordered column: child 0 is for values up to the threshold, else for those not missing."""

    threshold: int | float | None
    """On the column's scale, see `Kind`."""
    gaps: int
    """The child that rows without a value go to, 0 or 1."""

    def sides(self, numbers: Array, missing: Array) -> Array:
        """(m,) uint8: the child of each row; numbers (m,) on the column's scale, missing (m,) bool."""
        if self.threshold is None:
            return missing.astype(np.uint8)
        above = ~at_most(numbers, self.threshold)
        above[missing] = self.gaps == 1
        return above.view(np.uint8)


NO_LIMIT = -2
"""In place of the rank that a threshold lies behind, in the question whether a value is missing."""


@attrs.frozen(eq=False)
class OrderedValues:
    """The values of an ordered column in one data set, and where it may be cut."""

    values: Array
    """(m,) the distinct values on the column's scale, ascending: float64, int64, uint64 or Python's ints as objects."""
    scale: Kind
    has_gaps: bool
    """Whether some rows have no value; their rank is m."""
    cuts: Array
    """(c,) int64, ascending: there may be a threshold behind the values of these ranks."""
    zone: str | None = None
    """Of dates: the zone whose days a threshold begins, if it can."""

    @property
    def gap_rank(self) -> int:
        """The code of rows without a value."""
        return len(self.values)

    def threshold(self, limit: int) -> int | float:
        """The threshold behind the value of rank `limit`, which is not the last one."""
        low, high = self.values[limit], self.values[limit + 1]
        if self.scale is Kind.CATEGORY:
            return int(low)
        if self.scale in (Kind.DATE, Kind.TIME):
            return between_moments(int(low), int(high), self._off)
        if self.scale is Kind.DURATION:
            return between_durations(int(low), int(high))
        if self.values.dtype.kind == "f":
            return between(float(low), float(high))
        if self.values.dtype.kind in "iu" or (isinstance(low, int) and isinstance(high, int)):
            return (int(low) + int(high)) // 2
        return _between_mixed(low, high)

    def limit(self, cut: Cut) -> int:
        """The largest rank whose values go to child 0; -1 where there is none."""
        if cut.threshold is None:
            return len(self.values) - 1
        return int(np.count_nonzero(at_most(self.values, cut.threshold))) - 1

    def _off(self, moment: int) -> int:
        """How many microseconds the clocks of the zone are ahead of UTC at a moment."""
        off = None if self.zone is None else moment_of(moment, self.zone).utcoffset()
        return 0 if off is None else off // MICROSECOND

    @property
    def n_questions(self) -> int:
        """How many questions `questions` lists."""
        return 2 * len(self.cuts) + (len(self.values) > 0) if self.has_gaps else len(self.cuts)

    def questions(self) -> Array:
        """(q, 2) int64: for each question the largest rank of child 0, or NO_LIMIT, and the child of the gaps."""
        if not self.has_gaps:
            return np.stack([self.cuts, np.ones(len(self.cuts), np.int64)], axis=1)
        each = np.repeat(self.cuts, 2)
        sides = np.tile(np.array([1, 0], np.int64), len(self.cuts))
        missing = np.array([[NO_LIMIT, 1]] if len(self.values) else np.zeros((0, 2)), np.int64)
        return np.concatenate([np.stack([each, sides], axis=1), missing])

    def fewer(self, ranks: Array, weights: Array | None, most: int) -> OrderedValues:
        """The values with at most so many of the cuts, at quantiles of the rows (n,) by their weights (n,)."""
        present = ranks < self.gap_rank
        places = np.searchsorted(self.cuts, np.arange(len(self.values)))[ranks[present]]
        held = None if weights is None else weights[present]
        totals = np.bincount(places, weights=held, minlength=len(self.cuts) + 1)
        return attrs.evolve(self, cuts=self.cuts[quantiles(totals.astype(np.float64), most)])

    def cut(self, limit: int, gaps: int) -> Cut:
        """The question that `questions` lists so."""
        return Cut(None if limit == NO_LIMIT else self.threshold(limit), gaps)

    def sides(self, ranks: Array, cut: Cut) -> Array:
        """(m,) uint8: the child of each row by its rank (m,)."""
        above = ranks > self.limit(cut)
        if not cut.gaps:
            above &= ranks != self.gap_rank
        return above.view(np.uint8)

    def numbers(self, ranks: Array) -> tuple[Array, Array]:
        """(numbers, missing): the values of rows by their ranks (m,), any where they are missing."""
        missing = ranks == self.gap_rank
        if not len(self.values):
            return np.zeros(len(ranks)), missing
        return self.values[np.where(missing, 0, ranks)], missing


def distinct_numbers(values: Array) -> tuple[Array, Array]:
    """The sorted distinct numbers of an int, bool or float array, and the number of each row's, (n,) int64."""
    if values.dtype.kind in "iu" and len(values):
        # Counting beats sorting as long as the counters stay few; beyond int64 there is no common type to subtract in.
        most = max(1024, 4 * len(values))
        is_plain = are_within(values, most)
        low = 0 if is_plain else int(values.min())
        if is_plain or (int(values.max()) - low <= most and values.max() < 2**63):
            offsets = values.astype(np.int64)
            if low:
                offsets -= low
            counts = np.bincount(offsets)
            if np.count_nonzero(counts) == len(counts):
                return np.arange(low, low + len(counts), dtype=np.int64), offsets
            return np.flatnonzero(counts) + low, (np.cumsum(counts > 0) - 1)[offsets]
    return np.unique(values, return_inverse=True)


def proportions(weights: Array | None) -> Array | None:
    """(n,) float64: the weights in a unit of their own, so that what is chosen by them is the same in any other."""
    if weights is None:
        return None
    whole = exact_integers(weights, "sample_weight")[0]
    top = 1 if whole.dtype == np.int64 else whole.max()
    return np.array(whole / top, np.float64)


def quantiles(totals: Array, most: int) -> list[int]:
    """At most so many cuts, which share the rows out as evenly as the values allow; all if they are few.

    `totals` (m,) float64: the weight of the rows of each value. Cut i lies between values i and i + 1.
    """
    if len(totals) - 1 <= most:
        return list(range(max(len(totals) - 1, 0)))
    below = np.cumsum(totals)[:-1]
    wanted = totals.sum() * np.arange(1, most + 1) / (most + 1)
    after = np.clip(np.searchsorted(below, wanted), 1, len(below) - 1)
    nearest = np.where(wanted - below[after - 1] <= below[after] - wanted, after - 1, after)
    return sorted(set(nearest.tolist()))


def threshold_text(threshold: int | float, scale: Kind, categories: tuple[Any, ...], zone: str | None = None) -> str:
    """The threshold as text: a number as `repr` has it, but whole ones without a point; times by their kind."""
    if scale is Kind.DATE:
        return date_text(int(threshold), zone)
    if scale in _WRITTEN:
        return _WRITTEN[scale](int(threshold))
    if scale is Kind.CATEGORY:
        return str(categories[int(threshold)])
    if isinstance(threshold, float) and threshold.is_integer() and abs(threshold) < 1e15:
        return repr(int(threshold))
    return repr(threshold)


_WRITTEN = {Kind.DURATION: duration_text, Kind.TIME: clock_text}


def _between_mixed(low: Any, high: Any) -> int | float:
    """A threshold between two of Python's numbers, an int beyond the floats' precision and a float, or two such."""
    if isinstance(low, float) and math.isinf(low):
        return low
    above, below = math.ceil(low), math.floor(low)
    found: int | float = above if above < high else below if below == low else low
    return found


_LARGEST = float(np.finfo(np.float64).max)
_LARGEST_SINGLE = float(np.finfo(np.float32).max)

_DAY = 24 * 3600 * 10**6
_DATE_UNITS = (_DAY, 3600 * 10**6, 60 * 10**6, 10**6)


def between(low: float, high: float) -> float:
    """A number t with low <= t < high: near the middle, and of as few digits as that allows.

    Where single precision tells the two apart, t tells their single-precision roundings apart as well, also if it is
    rounded itself, so that rows that were rounded go the same way. Beside an infinity t is the largest finite number of
    single precision, or, where the other value is beyond that, of double precision.

    >>> between(29.7, 30.4), between(0.25, 0.26), between(1.0, 1.0000000000000002), between(7.5, math.inf)
    (30.0, 0.255, 1.0, 3.4028234663852886e+38)
    """
    if math.isinf(low) or math.isinf(high):
        return _beside_infinity(low, high)
    near, far = _single(low), _single(high)
    first, last = (max(low, near), min(high, far)) if near < far else (low, high)
    middle = first / 2 + last / 2
    if not first <= middle < last:  # neighbouring floats have none between them
        return first + 0.0
    magnitude = math.floor(math.log10(max(abs(first), abs(last))))
    for digits in range(-magnitude, 18 - magnitude):
        rounded = round(middle, digits)
        if first <= rounded < last and abs(rounded - middle) <= last / 4 - first / 4:
            break
    else:
        rounded = middle
    # a threshold that is rounded itself must stay below what it separates
    return (first if near < far <= _single(rounded) else rounded) + 0.0  # 0.0 for -0.0


def between_moments(low: int, high: int, off: Callable[[int], int] = lambda moment: 0) -> int:
    """A moment t, low <= t < high, near the middle: the beginning of a day, hour, minute or second if it can be."""
    middle = (low + high) // 2
    ahead = off(middle)
    rounded = ((middle + ahead) // unit * unit - ahead for unit in _DATE_UNITS)
    return next((each for each in rounded if low <= each < high), middle)


def between_durations(low: int, high: int) -> int:
    """A duration t with low <= t < high, in microseconds: in the middle half between them, and of whole days if it can.

    Else of hours, minutes or seconds.

    >>> between_durations(0, 30 * 60 * 10**6) // 10**6, between_durations(1, 2)
    (900, 1)
    """
    middle = (low + high) // 2
    rounded = ((middle + unit // 2) // unit * unit for unit in _DATE_UNITS)
    return next((x for x in rounded if low <= x < high and 4 * abs(x - middle) <= high - low), middle)


def at_most(numbers: Array, threshold: float) -> Array:
    """(m,) bool: which numbers of any type are no larger than the threshold, an int or float, compared exactly."""
    kind = numbers.dtype.kind
    if kind == "f":
        limit = as_float(threshold)
        if limit > threshold:  # a whole number between two floats
            limit = math.nextafter(limit, -math.inf)
        return numbers.astype(np.float64, copy=False) <= limit
    if kind in "iu":
        whole = threshold if isinstance(threshold, int) or math.isinf(threshold) else math.floor(threshold)
        return np.asarray(numbers <= whole)  # numpy compares with whole numbers of any size
    return np.fromiter((number <= threshold for number in numbers), bool, len(numbers))


def _single(number: float) -> float:
    """The number in single precision."""
    # unlike numpy's conversion, this one takes no context in which numbers may be too large
    return ctypes.c_float(number).value


def _beside_infinity(low: float, high: float) -> float:
    if math.isinf(low) and math.isinf(high):
        return 0.0
    if math.isinf(high):
        return _LARGEST_SINGLE if low <= _LARGEST_SINGLE else _LARGEST
    if high > -_LARGEST_SINGLE:
        return -_LARGEST_SINGLE
    return -_LARGEST if high > -_LARGEST else low
