"""What the objectives share whose leaves cost the same whatever they predict, and so predict their majority class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import attrs
import numpy as np

from streed.exact import Array
from streed.task import State, Task, bound

if TYPE_CHECKING:
    from streed.data import Dataset


def class_counts(data: Dataset) -> Array:
    """(n, K) int64: 1 in the column of the row's class; raises InputError where y holds measured numbers."""
    columns: Array = np.arange(len(data.class_labels))
    counts: Array = (data.class_numbers[:, None] == columns).astype(np.int64)
    return counts


def total(counts: Any) -> Any:
    """The sum of the counts."""
    whole = 0
    for count in counts:
        whole += count
    return whole


def largest(counts: Any) -> Any:
    """The largest of the counts."""
    most = counts[0]
    for count in counts:
        if count > most:
            most = count
    return most


@attrs.frozen
class MajorityLeaves(Task):
    """A task of the (weighted) numbers of rows per class; its leaves show the class of most, ties to the first."""

    any_label: ClassVar[bool] = True

    classes: tuple[Any, ...] = bound(())

    def bind(self, data: Dataset) -> Task:
        return attrs.evolve(self, classes=data.class_labels)

    def statistics(self, data: Dataset) -> dict[str, Array]:
        return {"counts": class_counts(data)}

    def labels(self, data: Dataset) -> Sequence[Any]:
        return ("majority class",)

    def leaf_label(self, s: State, k: int) -> Any:
        return self.classes[s.counts.index(max(s.counts))]
