"""Columns and the cuts of ordered ones in a saved tree."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from streed.binarize import ColumnRecipe
from streed.data import Column, Cut, Kind
from streed.data.column import MOST_CATEGORIES
from streed.data.moments import FIRST, LAST
from streed.data.strict_json import is_finite
from streed.tree.stored_values import broken, checked_text, distinct, typed

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
