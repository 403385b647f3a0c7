"""The report's section on near-optimal trees: how many there are, of which values, and which columns they ask."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from streed.errors import InputError
from streed.plot.cards import brief
from streed.plot.near_optimal import against_svg, columns_svg, values_svg
from streed.report.sections import charts
from streed.tasks import Splits

if TYPE_CHECKING:
    from streed.rashomon.rashomon_set import RashomonSet


def near_optimal(trees: RashomonSet | None) -> dict[str, Any] | None:
    """What there is beside the tree; None without a set, or of one without trees."""
    if trees is None or not trees.lower_count:
        return None
    values = list(trees.histogram)
    reach = f"values {brief(values[0])} to {brief(values[-1])}" if len(values) > 1 else f"value {brief(values[0])}"
    if trees.count is not None:
        return charts(_drawn(trees), f"{trees.count:,} {_trees(trees.count)}, {reach}.")
    most = "" if trees.upper_count is None else f", and at most {brief(trees.upper_count)}"
    said = f"At least {trees.lower_count:,} trees{most}: the count was stopped ({trees.stopped})."
    return charts([values_svg(trees)], f"{said} Of those that were counted, {reach}.")


def _drawn(trees: RashomonSet) -> list[str]:
    drawn = [values_svg(trees)]
    try:
        if trees.counted.question.sums:
            drawn.append(against_svg(trees, Splits(), "splits"))
        drawn.append(columns_svg(trees))
    except InputError as error:
        # a further count takes longer than the first, and may meet its limits
        if error.argument != "time_limit":
            raise
    return drawn


def _trees(count: int) -> str:
    return "tree within the budget" if count == 1 else "trees within the budget"
