"""Labels: any values of one type become class numbers 0, 1, ... in the labels' sorted order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from streed.data.column import distinct_numbers, distinct_objects, shown
from streed.data.table import read_values
from streed.errors import InputError

if TYPE_CHECKING:
    from streed.exact import Array


def code_labels(y: Any, n: int) -> tuple[Array, tuple[Any, ...]]:
    """The class number of each row, (n,) int64, and the classes that occur, sorted, as plain Python objects.

    `y` is a list, an array (n,) or a series. Raises InputError for a wrong length, missing labels, labels that cannot
    be sorted, and real numbers that are not whole.
    """
    labels = read_values(y, "y", "it").values
    if len(labels) != n:
        raise InputError("y", f"it has {len(labels)} labels, but X has {n} rows", "give one label per row")
    if isinstance(labels, list):
        _check_whole([label for label in labels if isinstance(label, float)])
        classes, codes = distinct_objects(labels, "y", "it")
        return codes, classes
    if labels.dtype.kind == "f":
        _check_whole(labels)
    if labels.dtype.kind == "b":
        ones = int(np.count_nonzero(labels))
        if 0 < ones < n:
            return labels.astype(np.int64), (False, True)
        return np.zeros(n, dtype=np.int64), (ones > 0,)
    found, codes = distinct_numbers(labels)
    return codes, tuple(found.tolist())


def _check_whole(labels: Any) -> None:
    real = np.asarray(labels, dtype=np.float64)
    if not (real == np.rint(real)).all():
        found = np.unique(real).tolist()
        raise InputError(
            "y",
            f"it has labels that are not whole numbers: {shown(found)}",
            "a classification task needs classes; bin a real target, or give its classes as text",
        )
