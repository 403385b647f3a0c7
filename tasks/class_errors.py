"""The errors in every class apart: the front that the scores of confusion matrices choose from.

A value is (errors on rows of class 0, errors on rows of class 1, ...), all sums over rows, compared entry by entry (Eq.
3). For two classes that is false positives and false negatives. Any score that no error improves has an optimum on the
front (STreeD, Section 4.4), so one solve serves all of them.

>>> import streed
>>> from streed.tasks import ClassErrors
>>> result = streed.solve(ClassErrors(), [[0, 0], [0, 1], [1, 0], [1, 1]] * 2, [0, 1, 1, 1, 0, 0, 1, 1], max_depth=1)
>>> sorted(value for value, tree in result.front)
[(0, 1), (3, 0)]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, final

import attrs
import numpy as np

from streed.errors import InputError
from streed.exact import Array
from streed.task import COMPONENTWISE, State, Task

if TYPE_CHECKING:
    from streed.data import Dataset

MOST_CLASSES = 6
"""Components of a front that are practical; fronts grow quickly with their number."""


def check_classes(data: Dataset, name: str) -> None:
    """Raises InputError unless there are two to `MOST_CLASSES` classes."""
    if data.n_classes < 2:
        raise InputError("y", "every row has the same label", f"{name} compares the errors in two classes or more")
    if data.n_classes > MOST_CLASSES:
        raise InputError(
            "y",
            f"it has {data.n_classes} classes",
            f"{name} takes {MOST_CLASSES} at most: fronts of more components are not practical; join some classes",
        )


@final
@attrs.frozen
class ClassErrors(Task):
    """The errors in every class, as a front."""

    order: ClassVar[str] = COMPONENTWISE
    worsening: ClassVar[bool] = True

    def bind(self, data: Dataset) -> Task:
        check_classes(data, "ClassErrors")
        return self

    def statistics(self, data: Dataset) -> dict[str, Array]:
        return {"rows_of": (data.class_numbers[:, None] == np.arange(data.n_classes)).astype(np.int64)}

    def leaf_cost(self, s: State, k: int) -> tuple[Any, ...]:
        """Eq. 10's parts: all rows of the classes that the label is not."""
        return tuple(0 if k == label else rows for label, rows in enumerate(s.rows_of))
