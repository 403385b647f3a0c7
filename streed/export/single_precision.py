"""Numbers in single precision that stand on the same side of a tree's thresholds as they do in full."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from streed.data.thresholds import at_most, float_below
from streed.errors import InputError

if TYPE_CHECKING:
    from streed.data.new_rows import Numbers
    from streed.exact import Array

_LARGEST = np.finfo(np.float32).max


def as_double(threshold: int | float | None) -> float:
    """The largest double that is no larger than the threshold; infinity in place of none."""
    if threshold is None:
        return float("inf")
    return float_below(threshold) if isinstance(threshold, int) else threshold


def single_precision(numbers: Numbers, thresholds: Sequence[int | float], name: str) -> Array:
    """(m,) float32: the values rounded, and moved where rounding took them across a threshold; NaN of gaps.

    `thresholds` ascend. Raises InputError, naming the column, where no number of single precision lies on the side of a
    value.
    """
    doubles = [as_double(threshold) for threshold in thresholds]
    with np.errstate(over="ignore", invalid="ignore"):
        rounded = np.clip(numbers.values.astype(np.float64), -_LARGEST, _LARGEST).astype(np.float32)
    interval = np.zeros(len(rounded), np.int64)
    for threshold in thresholds:
        interval += ~at_most(numbers.values, threshold)
    least = np.array([-_LARGEST, *map(_above, doubles)], np.float32)
    most = np.array([*map(_up_to, doubles), _LARGEST], np.float32)
    asked = interval[~numbers.missing]
    closed = asked[least[asked] > most[asked]]
    if len(closed):
        found = f"no number of single precision lies between the thresholds of {name!r} as some rows do"
        raise InputError("tree", f"{found} (the {closed[0] + 1}. interval of {len(doubles) + 1})", "scale the column")
    held = np.minimum(np.maximum(rounded, least[interval]), most[interval])
    held[numbers.missing] = np.nan
    return held


def _up_to(threshold: float) -> np.float32:
    """The largest number of single precision that is no larger."""
    clipped = np.float32(np.clip(threshold, -_LARGEST, _LARGEST))
    with np.errstate(over="ignore"):
        return np.nextafter(clipped, np.float32(-np.inf)) if float(clipped) > threshold else clipped


def _above(threshold: float) -> np.float32:
    """The least number of single precision that is larger."""
    below = _up_to(threshold)
    with np.errstate(over="ignore"):
        return np.nextafter(below, np.float32(np.inf)) if float(below) <= threshold else below
