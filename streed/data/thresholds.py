"""Where between two neighbouring values a threshold lies, and which numbers are no larger than it, exactly."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from streed.exact import Array

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


def between_integers(low: int, high: int) -> int:
    """The whole number in the middle of two others, of which the second is larger; low <= t < high."""
    return (low + high) // 2


def between_moments(low: int, high: int, off: Callable[[int], int] = lambda moment: 0) -> int:
    """A moment t with low <= t < high, in microseconds: about the middle, and the beginning of a day if there is one.

    Else of an hour, a minute or a second, by clocks that are `off(t)` microseconds ahead.
    """
    middle = (low + high) // 2
    ahead = off(middle)
    for unit in _DATE_UNITS:
        rounded = (middle + ahead) // unit * unit - ahead
        if low <= rounded < high:
            return rounded
    return middle


def between_durations(low: int, high: int) -> int:
    """A duration t with low <= t < high, in microseconds: in the middle half between them, and of whole days if it can.

    Else of hours, minutes or seconds.

    >>> between_durations(0, 30 * 60 * 10**6) // 10**6, between_durations(1, 2)
    (900, 1)
    """
    middle = (low + high) // 2
    for unit in _DATE_UNITS:
        rounded = (middle + unit // 2) // unit * unit
        if low <= rounded < high and 4 * abs(rounded - middle) <= high - low:
            return rounded
    return middle


def at_most(numbers: Array, threshold: float) -> Array:
    """(m,) bool: which of the numbers are no larger than the threshold, an int or a float, compared exactly.

    `numbers` (m,): float64, integers of any width, or Python's numbers as objects.
    """
    kind = numbers.dtype.kind
    if kind == "f":
        limit = float_below(threshold) if isinstance(threshold, int) else threshold
        return numbers.astype(np.float64, copy=False) <= limit
    if kind in "iu":
        if isinstance(threshold, float):
            if math.isinf(threshold):
                return np.full(len(numbers), threshold > 0)
            threshold = math.floor(threshold)
        info = np.iinfo(numbers.dtype)
        if not info.min <= threshold < info.max:
            return np.full(len(numbers), threshold >= info.max)
        return numbers <= numbers.dtype.type(threshold)  # type: ignore[no-any-return]
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


def float_below(number: int) -> float:
    """The largest float that is no larger than the whole number."""
    try:
        found = float(number)
    except OverflowError:
        return _LARGEST if number > 0 else -math.inf
    return found if found <= number else math.nextafter(found, -math.inf)
