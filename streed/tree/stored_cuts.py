"""The versions of a saved tree, and ordered columns and their cuts in it.

A file is of the least version that has what its tree needs, so that older programs read all that they can: version 2
has ordered columns and their cuts, version 3 recipes of ordered categories.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from streed.binarize import ColumnRecipe
from streed.binarize.raw import Kind
from streed.data import Column, Cut, Scale
from streed.data.moments import date_text
from streed.data.strict_json import is_finite
from streed.tree.stored_values import broken

PLAIN, WITH_CUTS, WITH_STEPS = VERSIONS = 1, 2, 3
"""The versions of the format: without and with ordered columns, and with recipes of ordered categories."""

MOST_STEPS = 65_536
"""Categories of an ordered column."""


def version_of(columns: Mapping[int, Column], recipes: Iterable[ColumnRecipe]) -> int:
    """The version in which a tree on these columns, made by these recipes, is saved."""
    if any(recipe.is_scale for recipe in recipes):
        return WITH_STEPS
    return PLAIN if all(column.scale is None for column in columns.values()) else WITH_CUTS


def held_column(column: Column) -> dict[str, Any]:
    """What a file says of an ordered column beside its name and categories; {} of any other one."""
    return {} if column.scale is None else {"scale": column.scale.value, "has_gaps": column.has_gaps}


def held_cut(cut: Sequence[Cut], plain_value: Callable[[Any], Any]) -> dict[str, Any]:
    """What a file says of the cut of a branch, as `flatten` gives it: of one, or of none."""
    return {"threshold": plain_value(cut[0].threshold), "gaps": cut[0].gaps} if cut else {}


def check_version(document: Mapping[str, Any]) -> None:
    """Raises InputError for ordered columns, cuts or categories in a file of a version that has none."""
    if document["version"] < WITH_STEPS:
        recipes = document.get("recipe", {}).get("columns", [])
        reading = (document["claims"] or {}).get("reading") or {}
        for recipe in (*recipes, *reading.get("recipes", ())):
            if recipe["kind"] == Kind.CATEGORY and recipe["thresholds"]:
                where = f"recipe of {recipe['name'][:40]!r}"
                raise broken(where, f"thresholds of categories, which version {document['version']} does not have")
    if document["version"] != PLAIN:
        return
    for what, keys in (("columns", ("scale", "has_gaps")), ("nodes", ("threshold", "gaps"))):
        for place, entry in enumerate(document[what]):
            found = next((key for key in keys if key in entry), None)
            if found is not None:
                raise broken(f"$.{what}[{place}]", f"{found}, which version {PLAIN} does not have")


def scale_of(entry: Mapping[str, Any], categories: tuple[Any, ...], where: str) -> Scale | None:
    """The scale of a column, None of one that is not ordered; raises InputError where the entry contradicts itself."""
    if "scale" not in entry:
        if entry.get("has_gaps"):
            raise broken(where, "gaps in a column that is not ordered")
        return None
    scale = Scale(entry["scale"])
    if entry["multiway"] or bool(categories) != (scale is Scale.CATEGORY):
        raise broken(where, f"children or categories that an ordered column of {scale.value} values does not have")
    return scale


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
    if column.scale is Scale.NUMBER:
        return True
    if not isinstance(threshold, int):
        return False
    if column.scale is Scale.CATEGORY:
        return 0 <= threshold < len(column.categories)
    return is_moment(threshold) if column.scale is Scale.DATE else is_duration(threshold)


def is_duration(threshold: Any) -> bool:
    """Whether it is a duration in microseconds, of fewer than 2**63 of them."""
    return isinstance(threshold, int) and abs(threshold) < 2**63


def is_moment(threshold: Any) -> bool:
    """Whether it is a moment of the years 1 to 9999, in microseconds since 1970."""
    try:
        return isinstance(threshold, int) and bool(date_text(threshold))
    except OverflowError:
        return False
