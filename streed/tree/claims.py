"""What a solve says about its tree, and which columns of a table the shell took for what: kept with the tree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from streed.data.dataset import AUTO, Dataset

if TYPE_CHECKING:
    from streed.data.database import Roles
    from streed.tree.description import Description


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
    roles: Roles | None = None
    """The columns of the labels, of weights and groups, where the shell read a table."""
    over: str = ""
    """Among which splits the tree is the best, as `extent_text` says it."""
    max_cuts: int | None = None
    """The most thresholds of each ordered column that were tried; None: all of them."""

    gains: int = 0
    """1 where the costs of leaves are what they gain, the larger the better; -1 where they are minus that."""

    positive: int | None = None
    """The number of the class that the task calls positive."""

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
    if bound is None:
        return extent
    from streed.tree.text import number

    return f"{extent}; no tree over all thresholds is worth {'more' if maximize else 'less'} than {number(bound)}"
