"""Branching costs that are prices per row, less where columns tested above make a test cheaper; and trees in order."""

from __future__ import annotations

from fractions import Fraction

import attrs

from streed.exact import Array
from streed.task.base import RowCostTask


@attrs.frozen(eq=False)
class CostsWithTests:
    """A task whose leaves and branching nodes cost what those of `costs` do, and the latter, at `rows` rows, besides

    rows * unit * min(full[split], min over the columns f tested above of given[f, split]).
    """

    costs: RowCostTask
    """Bound."""
    full: Array
    """(p,) int64 >= 0: the price of a column where nothing was tested above."""
    given: Array
    """(p, p) int64 >= 0: given[f, split], the price of `split` where f was tested above."""
    unit: Fraction


IN_ORDER = 3
"""Of leaves side by side: 1 if their labels do not fall, 2 if they do not rise, 3 both, or a tree in order."""


@attrs.frozen(eq=False)
class CostsInOrder:
    """A task of trees whose leaves rise with some columns and fall with others (`streed.tasks.accuracy`).

    Values are (cost, least label, largest label, IN_ORDER).
    """

    costs: RowCostTask
    """Bound: what rows and splits cost."""
    signs: Array
    """(p,) int64: 1 where leaves rise with the column, -1 where they fall, 0 elsewhere."""
