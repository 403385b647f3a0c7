"""What a solve says about its tree, and how the table that it was grown on was read: kept with the tree."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import attrs

from streed.binarize import ColumnRecipe
from streed.data.dataset import AUTO, Dataset

if TYPE_CHECKING:
    from streed.tree.description import Description


@attrs.frozen
class Reading:
    """How columns, labels and weights were made of a table, where the shell did that."""

    target: str
    """The column of the labels."""
    weights: str | None
    """The column of the row weights."""
    categorical: tuple[str, ...]
    """The columns of numbers that were taken as categories."""
    one_hot: bool
    """Whether there is a 0/1 column per category, or one column with a child per category."""
    sources: Mapping[str, tuple[Any, ...]]
    """Where `one_hot`: the columns that became several, and the values that each had."""
    sensitive: tuple[str, ...] = ()
    """The columns of the groups that limits are about; they are no features."""
    recipes: tuple[ColumnRecipe, ...] = ()
    """The columns that questions were made of: numbers, dates, columns with gaps, texts of many values."""
    frequency: str | None = None
    """The column that says how many equal rows each row stands for."""
    ordered: tuple[str, ...] = ()
    """The columns of numbers and dates that are taken as they are, every threshold a split."""


@attrs.frozen
class Claims:
    """What a solve said about its tree, kept with it so that anyone may check it again."""

    task: Any
    """The task, or the description of it that was read from a file."""
    value: Any
    """What the task's `score` gave, in the task's own units."""
    lower_bound: Any
    upper_bound: Any
    status: str
    n_rows: int
    max_depth: int | None = None
    max_nodes: int | None = None
    min_leaf: int = 1
    reading: Reading | None = None
    over: str = ""
    """Among which splits the tree is the best, as `extent_text` says it."""
    max_cuts: int | None = None
    """The most thresholds of each ordered column that were tried; None: all of them."""

    def cut(self, data: Dataset) -> Dataset:
        """The data with the thresholds that the solve tried, where the caller left open how many there are."""
        return data if self.max_cuts is None or data.max_cuts != AUTO else data.cut(self.max_cuts)

    def describe_task(self) -> Description:
        """The task as nested dicts, lists and plain values."""
        from streed.tree.description import describe

        return self.task if isinstance(self.task, dict) else describe(self.task)


def extent_text(extent: str, bound: Any, maximize: bool) -> str:
    """Among which splits a tree is the best (`Dataset.extent`), and what no tree over all thresholds is better than.

    `bound`: None where that is not known.
    """
    from streed.tree.text import number

    if bound is None:
        return extent
    return f"{extent}; no tree over all thresholds is worth {'more' if maximize else 'less'} than {number(bound)}"
