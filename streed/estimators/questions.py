"""What makes questions of an estimator's columns of numbers: its `cuts`, or its `binarizer`."""

from __future__ import annotations

import numbers
from typing import Any

from streed.errors import InputError
from streed.estimators.binarizer import Binarizer
from streed.exact import Range

ALL, AUTO = "all", "auto"
"""Of `cuts`: every threshold, or as many as the search can be expected to finish."""


def questions_of(cuts: Any, binarizer: Any) -> Binarizer | int | str:
    """A binarizer, the most thresholds of each column, ALL or AUTO; raises InputError for anything else, or both."""
    if cuts is None:
        if binarizer is None:
            return ALL
        if isinstance(binarizer, str) and binarizer == "auto":
            return Binarizer()
        if isinstance(binarizer, Binarizer):
            return binarizer
        if _is_whole(binarizer):
            return _most("binarizer", binarizer)
        advice = 'give "auto", a streed.Binarizer, None or a whole number; others go into a pipeline'
        raise InputError("binarizer", f"{binarizer!r} is no Binarizer", advice)
    if not (isinstance(binarizer, str) and binarizer == "auto"):
        raise InputError("cuts", "binarizer= says the same", "give one of the two")
    if isinstance(cuts, Binarizer) or (isinstance(cuts, str) and cuts in (ALL, AUTO)):
        return cuts
    if _is_whole(cuts):
        return _most("cuts", cuts)
    raise InputError("cuts", f"{cuts!r}", 'give "auto", "all", a whole number or a streed.Binarizer')


def _most(argument: str, value: Any) -> int:
    return Range(1, whole=True).read(argument, value)  # type: ignore[no-any-return]


def _is_whole(value: Any) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)
