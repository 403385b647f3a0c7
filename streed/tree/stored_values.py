"""What a saved tree has beside its nodes: labels, categories and texts with their types, columns, and cuts."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from streed.binarize import ColumnRecipe
from streed.data import Column, Cut, Kind
from streed.data.column import MOST_CATEGORIES
from streed.data.moments import FIRST, LAST
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


MOST_STEPS = 65_536
"""Categories of an ordered column."""

_DAY = 24 * 3600 * 10**6


def held_column(column: Column) -> dict[str, Any]:
    """What a file says of a column."""
    held: dict[str, Any] = {
        "name": checked_text(column.name),
        "categories": [typed(category) for category in column.categories],
        "multiway": column.multiway,
    }
    if column.scale is not None:
        held["scale"] = column.scale.value
    more = {"has_gaps": column.has_gaps, "zone": column.zone, "other": column.other, "usual": column.usual}
    return held | {name: value for name, value in more.items() if value}


def column_of(entry: Mapping[str, Any], where: str) -> Column:
    """What `held_column` was given; raises InputError where the entry contradicts itself."""
    categories = distinct(entry["categories"], f"{where}.categories")
    scale = Kind(entry["scale"]) if "scale" in entry else None
    held = {name: entry[name] for name in ("has_gaps", "zone", "other", "usual") if name in entry}
    column = Column(entry["name"], categories, entry["multiway"], scale, **held)
    if column.zone is not None and scale is not Kind.DATE:
        raise broken(where, "a zone of what are no dates")
    if scale is not None:
        if column.multiway or column.other or column.usual or bool(categories) != (scale is Kind.CATEGORY):
            raise broken(where, f"children or categories that an ordered column of {scale.value} values does not have")
        return column
    if not 0 < len(categories) <= MOST_CATEGORIES:
        raise broken(where, f"{len(categories)} categories")
    if not column.multiway and len(categories) > 2:
        raise broken(where, f"{len(categories)} categories of a column that is not multiway")
    if column.usual >= len(categories) or column.has_gaps + column.other > len(categories):
        raise broken(where, "children for gaps or for other values that there are not")
    return column


def held_cut(cut: Sequence[Cut], plain_value: Callable[[Any], Any]) -> dict[str, Any]:
    """What a file says of the cut of a branch, as `flatten` gives it: of one, or of none."""
    return {"threshold": plain_value(cut[0].threshold), "gaps": cut[0].gaps} if cut else {}


def cut_of(node: Mapping[str, Any], column: Column, where: str) -> tuple[Cut, ...]:
    """The cut of a branch as `nest` takes it, () of a branch on a column that is not ordered.

    Raises InputError where the column does not have such a cut.
    """
    present = [key for key in ("threshold", "gaps") if key in node]
    if column.scale is None:
        if present:
            raise broken(where, f"{present[0]} of column {column.name[:40]!r}, which is not ordered")
        return ()
    if len(present) < 2:
        raise broken(where, f"no threshold and no side of gaps for column {column.name[:40]!r}, which is ordered")
    threshold, gaps = node["threshold"], node["gaps"]
    if threshold is None:
        if gaps != 1:
            raise broken(where, "the question whether a value is missing leads gaps to its second child")
        return (Cut(None, 1),)
    if threshold in ("Infinity", "-Infinity"):
        threshold = float(threshold)
    elif isinstance(threshold, str) or not is_finite(threshold):
        raise broken(where, "a threshold is no number within the range of floats")
    if not _fits(threshold, column):
        raise broken(where, f"no threshold of the {column.scale.value} column {column.name[:40]!r}")
    return (Cut(threshold, gaps),)


def check_steps(recipe: ColumnRecipe, where: str) -> None:
    """Raises InputError for a recipe of categories whose thresholds are no steps of a scale."""
    if recipe.multiway or recipe.other:
        raise broken(where, "ordered categories have thresholds, and no children and no others")
    if not all(isinstance(t, int) and 0 <= t < len(recipe.categories) for t in recipe.thresholds):
        raise broken(where, "a threshold is no place among the categories")
    if len(recipe.categories) > MOST_STEPS:
        raise broken(where, f"more than {MOST_STEPS:,} ordered categories")


def _fits(threshold: Any, column: Column) -> bool:
    """Whether the scale of the column has the threshold."""
    if column.scale is Kind.NUMBER:
        return True
    if not isinstance(threshold, int):
        return False
    if column.scale is Kind.CATEGORY:
        return 0 <= threshold < len(column.categories)
    return is_time(threshold, column.scale)


def is_time(threshold: Any, kind: Kind | None) -> bool:
    """Whether it is a whole number of microseconds that a date, clock time or duration may have."""
    least, most = {Kind.DATE: (FIRST, LAST), Kind.TIME: (0, _DAY - 1)}.get(kind, (1 - 2**63, 2**63 - 1))  # type: ignore[arg-type]
    return isinstance(threshold, int) and least <= threshold <= most
