"""The numbers that a recipe cuts, with the cuts that it makes: what the thresholds that it leaves out are about."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from streed.binarize.cuts import in_order
from streed.binarize.recipe import TableRecipe
from streed.data.ordered import TIMES, Cut, Kind, OrderedValues, rank

if TYPE_CHECKING:
    from streed.exact import Array


def uncut_numbers(recipe: TableRecipe, X: Any) -> tuple[tuple[Array, OrderedValues], ...]:
    """(the rank of every row (n,), the values) of each column of numbers, moments or steps of a table.

    Of the values' thresholds only those are cuts that the recipe asks for. Empty if such a column has gaps, since a
    recipe sends them one way only.

    >>> from streed.binarize import Settings, make_recipe
    >>> table = {"age": [22, 38, 54, 61], "sex": ["m", "f", "m", "f"]}
    >>> recipe = make_recipe(table, settings=Settings(n_thresholds=1))
    >>> [(values.values.tolist(), values.cuts.tolist()) for _, values in uncut_numbers(recipe, table)]
    [([22, 38, 54, 61], [1])]
    """
    _, read = recipe.raw_columns(X, range(len(recipe.columns)))
    found = []
    for j, column in enumerate(recipe.columns):
        raw = read(j)
        if not (raw.is_scale or column.kind in (Kind.NUMBER, *TIMES)):
            continue
        if raw.gaps is not None:
            return ()
        values, ranks = rank(in_order(raw), None, raw.kind, None, None, raw.zone)
        limits = [
            values.limit(Cut(threshold, 0))
            for threshold in (column.thresholds if column.is_scale or not raw.is_scale else ())
        ]
        cuts = np.unique([limit for limit in limits if 0 <= limit < len(values.values) - 1])
        found.append((ranks, attrs.evolve(values, cuts=cuts.astype(np.int64))))
    return tuple(found)
