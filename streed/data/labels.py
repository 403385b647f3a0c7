"""Labels: any values of one type become class numbers 0, 1, ... in the labels' sorted order."""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, Any

import numpy as np

from streed.data.column import distinct_numbers, distinct_objects, shown
from streed.data.outcomes import Outcome, is_outcome, paired
from streed.data.table import read_values
from streed.errors import InputError

if TYPE_CHECKING:
    from streed.exact import Array


def code_labels(y: Any, n: int) -> tuple[Array, tuple[Any, ...]]:
    """The class number of each row, (n,) int64, and the classes that occur, sorted, as plain Python objects.

    `y` is a list, an array (n,) or a series; or times and events of survival, whose labels are `Outcome`. Raises
    InputError for a wrong length, missing labels, and labels that cannot be sorted.
    """
    labels = paired(y) if is_outcome(y) else read_values(y, "y", "it").values
    if len(labels) != n:
        raise InputError("y", f"it has {len(labels)} labels, but X has {n} rows", "give one label per row")
    if isinstance(labels, list):
        classes, codes = distinct_objects(labels, "y", "it")
        return codes, classes
    if labels.dtype.kind == "b":
        ones = int(np.count_nonzero(labels))
        if 0 < ones < n:
            return labels.astype(np.int64), (False, True)
        return np.zeros(n, dtype=np.int64), (ones > 0,)
    found, codes = distinct_numbers(labels)
    return codes, tuple(found.tolist())


MOST_REAL_CLASSES = 32
"""Different labels that are not whole numbers; of more, they are taken to be measured."""


def check_classes(classes: tuple[Any, ...]) -> None:
    """Raises InputError for many different numbers that are not whole, and for times: they name no classes."""
    if isinstance(classes[0], Outcome):
        raise InputError("y", "it holds events and times", "solve RelativeRisk(), or give one column")
    if len(classes) <= MOST_REAL_CLASSES:
        return
    real = [label for label in classes if isinstance(label, float) and not label.is_integer()]
    if real:
        raise InputError(
            "y",
            f"it has {len(classes)} different labels that are not whole numbers: {shown(real)}",
            "a classification task needs classes; bin a real target, or give its classes as text",
        )


def read_targets(classes: tuple[Any, ...]) -> Array:
    """(K,) int64 or float64: labels as numbers; raises InputError for texts and where there are no labels."""
    kinds = set(map(type, classes))
    if not all(issubclass(kind, numbers.Real) for kind in kinds):
        label = next(label for label in classes if not isinstance(label, numbers.Real))
        found = "there is none" if label is None else f"it has the label {label!r}, which is no number"
        raise InputError("y", found, "a regression task needs one number per row")
    whole = all(issubclass(kind, numbers.Integral) for kind in kinds)
    return np.array(classes, dtype=np.int64 if whole else np.float64)
