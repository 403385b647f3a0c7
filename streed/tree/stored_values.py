"""Labels, categories and texts in a saved tree: with their types, and checked when they are read."""

from __future__ import annotations

import math
import numbers
from fractions import Fraction
from typing import Any

from streed.data.strict_json import MOST_DIGITS, MOST_LETTERS, is_finite, is_text, whole_fraction
from streed.errors import InputError

REMEDY = "give what Tree.to_json wrote"
"""For whoever gives another file."""

_LONGEST: int = 10 ** (MOST_DIGITS - 1)


def broken(where: str, found: str) -> InputError:
    """The error for a place in the file and what is wrong there."""
    return InputError("tree", f"{where}: {found}", REMEDY)


def typed(value: Any) -> dict[str, Any]:
    """A label or category with its type, as {type: value}."""
    if value is None:
        return {"none": True}
    if isinstance(value, bool):
        return {"bool": value}
    if isinstance(value, numbers.Integral) and _is_short(int(value)):
        return {"int": int(value)}
    if isinstance(value, float) and math.isfinite(value):
        return {"float": float(value)}
    if isinstance(value, str):
        return {"str": checked_text(value)}
    if isinstance(value, Fraction) and _is_short(value.numerator) and _is_short(value.denominator):
        return {"fraction": str(value)}
    if isinstance(value, (numbers.Integral, Fraction)):
        raise InputError("labels", f"a number has more than {MOST_DIGITS:,} digits", "use smaller numbers, or texts")
    raise InputError(
        "labels", f"{value!r} of type {type(value).__name__} has no JSON form", "use texts, numbers or truth values"
    )


def plain(held: dict[str, Any], where: str) -> Any:
    """What `typed` gave as it was."""
    ((kind, value),) = held.items()
    if kind == "none":
        return None
    if kind == "float":
        if not is_finite(value):
            raise broken(where, "a number is too large for a float")
        return float(value)
    return fraction(value, where) if kind == "fraction" else value


def distinct(held: list[dict[str, Any]], where: str) -> tuple[Any, ...]:
    """The labels or categories, no two of which are equal (as 1, 1.0 and true are)."""
    found = tuple(plain(each, where) for each in held)
    if len(set(found)) < len(found):
        raise broken(where, "two of them are equal")
    return found


def fraction(text: str, where: str) -> Fraction:
    """The fraction that a text such as "3/958" writes."""
    try:
        return whole_fraction(text)
    except ValueError as error:
        raise broken(where, str(error)) from None


def _is_short(x: int) -> bool:
    return -_LONGEST < x < _LONGEST


def checked_text(text: str) -> str:
    """A name or label as it is; raises InputError where no file can hold it."""
    if len(text) > MOST_LETTERS or not is_text(text):
        found = f"{len(text):,} letters" if len(text) > MOST_LETTERS else "half of a character"
        raise InputError("labels", f"the text {text[:40]!r} has {found}", "use shorter texts of whole characters")
    return text
