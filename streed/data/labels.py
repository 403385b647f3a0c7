"""Labels: any values of one type become class numbers 0, 1, ... in the labels' sorted order."""

from __future__ import annotations

import numbers
from collections.abc import Iterable
from typing import Any

import numpy as np

from streed.data.column import distinct_numbers, distinct_objects, shown
from streed.data.outcomes import Outcome, is_outcome, paired
from streed.data.reading import read_values
from streed.errors import InputError, TaskError
from streed.exact import Array, as_objects


def code_labels(y: Any, n: int) -> tuple[Array, tuple[Any, ...]]:
    """The class number of each row, (n,) int64, and the classes that occur, sorted, as plain Python objects.

    `y` is a list, an array (n,) or a series; or times and events of survival, whose labels are `Outcome`. Raises
    InputError for a wrong length, missing labels, and labels that cannot be sorted.
    """
    labels = paired(y) if is_outcome(y) else read_values(y, "y", "it")
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


def named_labels(names: Iterable[Any], labels: Iterable[Any]) -> tuple[Any, ...]:
    """For each name the label that it is, or whose text it is, as tables may name columns by text only.

    A name of none stays itself.
    """
    known = tuple(labels)
    texts, exact = {str(label): label for label in known}, {label: label for label in known}
    return tuple(exact.get(name, texts.get(str(name), name)) for name in names)


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


class OwnValues(np.ndarray[Any, np.dtype[Any]]):
    """Labels or targets as the caller wrote them, which no comparison takes for class numbers by mistake.

    Whole numbers that texts are compared with, as in `data.y[:, None] == np.arange(data.n_classes)`, are class numbers:
    they can be nothing else. Numbers are compared with numbers among them; others raise TaskError. What is made of them
    by arithmetic is an ordinary array.
    """

    labels: Array | None
    """(K,) those that there are, in the order of their numbers."""

    def __array_finalize__(self, source: Any) -> None:
        self.labels = getattr(source, "labels", None)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **given: Any) -> Any:
        if ufunc in (np.equal, np.not_equal) and self.labels is not None:
            inputs = tuple(x if isinstance(x, OwnValues) else self._meant(np.asarray(x)) for x in inputs)
        if "out" in given:
            given["out"] = tuple(_plain(x) for x in given["out"])
        return getattr(ufunc, method)(*map(_plain, inputs), **given)

    def _meant(self, others: Array) -> Array:
        """What the values are to be compared with."""
        assert self.labels is not None
        if self.labels.dtype.kind == "O":
            if others.dtype.kind not in "biu":
                return others
            known = (others >= 0) & (others < len(self.labels))
            return as_objects([*self.labels, object()])[np.where(known, others, -1)]
        strange = np.array(others.dtype.kind in "biuf") & ~np.isin(others, self.labels)
        if strange.any():
            raise TaskError(
                f"data.y is compared with {others[strange][0].item()}, and its values are "
                f"{shown(self.labels.tolist())}; compare data.class_numbers with class numbers, such as "
                "np.arange(data.n_classes), data.y with data.classes, and data.targets with any number"
            )
        return others


def _plain(x: Any) -> Any:
    return np.asarray(x) if isinstance(x, OwnValues) else x


def own_values(classes: tuple[Any, ...], class_numbers: Array) -> Array:
    """(n,) the classes of the rows, by their numbers; an ordinary array where they are these numbers."""
    real = all(isinstance(label, numbers.Real) for label in classes)
    labels = read_targets(classes) if real else as_objects(classes)
    is_numbered = real and bool((labels == np.arange(len(labels))).all())
    if labels.dtype.kind == "i" and -len(labels) <= labels[0] < 0 and labels[-1] < len(labels):
        labels = labels.astype(np.float64)  # so that no list by class is asked for such a place
    found = labels[class_numbers] if is_numbered else labels[class_numbers].view(OwnValues)
    if isinstance(found, OwnValues):
        found.labels = labels
    found.setflags(write=False)
    return found


def read_targets(classes: tuple[Any, ...]) -> Array:
    """(K,) int64 or float64: labels as numbers; raises InputError for texts and where there are no labels."""
    kinds = set(map(type, classes))
    if not all(issubclass(kind, numbers.Real) for kind in kinds):
        label = next(label for label in classes if not isinstance(label, numbers.Real))
        found = "there is none" if label is None else f"it has the label {label!r}, which is no number"
        raise InputError("y", found, "a regression task needs one number per row")
    whole = (
        all(issubclass(kind, numbers.Integral) for kind in kinds) and max(map(abs, (classes[0], classes[-1]))) < 2**63
    )
    return np.array(classes, dtype=np.int64 if whole else np.float64)
