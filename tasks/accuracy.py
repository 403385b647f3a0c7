"""Accuracy: as few misclassified rows as possible, plain, by class weights, or balanced over the classes.

    minimise sum over rows (x, y) of w(y) * [tree(x) != y]

Separable: a sum over rows, so additive over leaves (STreeD, Section 4.1 and Eq. 2; additivity implies Def. 4.4).

>>> import streed
>>> from streed.tasks import Accuracy
>>> result = streed.solve(Accuracy(), [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0], max_depth=2)
>>> result.value, result.status
(0, 'optimal')
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, final

import attrs
import numpy as np

from streed.errors import InputError
from streed.exact import Array, Range
from streed.task import Composition, RowCostTask, State, Task
from streed.task.algebra import weighted_sum

if TYPE_CHECKING:
    from streed.data import Dataset


@final
@attrs.frozen
class Accuracy(RowCostTask):
    """The (weighted) number of misclassified rows, minimised, so that accuracy is maximal; the value is that number."""

    worsening: ClassVar[bool] = True

    def row_costs(self, data: Dataset) -> Array:
        wrong: Array = np.empty((data.n_rows, data.n_classes), np.int64)
        for k in range(data.n_classes):
            wrong[:, k] = data.class_numbers != k
        return wrong


Misclassifications = Accuracy
"""The same task by the name that reads better in a sum: `Misclassifications() + 0.01 * Splits()`."""


@final
@attrs.frozen
class ErrorsOfClass(RowCostTask):
    """The (weighted) number of misclassified rows of one class, by the class's number in sorted order."""

    worsening: ClassVar[bool] = True

    class_number: int

    def row_costs(self, data: Dataset) -> Array:
        wrong: Array = Accuracy().row_costs(data) * (data.class_numbers == self.class_number)[:, None]
        return wrong


def _copied(class_weight: Mapping[Any, Any]) -> dict[Any, Any]:
    if not isinstance(class_weight, Mapping):
        raise InputError("class_weight", f"{class_weight!r} maps no labels", 'give a dict, such as {"yes": 2}')
    return dict(class_weight)


@final
@attrs.frozen
class WeightedAccuracy(Composition):
    """Misclassified rows, each worth the weight of its class.

    `class_weight` maps the caller's labels to weights >= 0 (ints, decimals or Fractions); classes that it does not
    name weigh 1. Raises InputError for labels that do not occur in y and for negative or non-finite weights.
    """

    class_weight: Mapping[Any, Any] = attrs.field(factory=dict, converter=_copied, hash=False)

    def compose(self, data: Dataset) -> Task:
        classes = list(data.classes)
        for label in self.class_weight:
            if label not in classes:
                raise InputError("class_weight", f"label {label!r} does not occur in y", f"use labels of {classes}")
        weights = [Range(0).read("class_weight", self.class_weight.get(label, 1)) for label in classes]
        return weighted_sum([(Fraction(weight), ErrorsOfClass(k)) for k, weight in enumerate(weights)])


@final
@attrs.frozen
class BalancedAccuracy(Composition):
    """Balanced accuracy: the mean over the classes of their recall, maximised.

    The search minimises its complement, the mean over the classes of their error rate; the score is the balanced
    accuracy itself. Classes whose rows all weigh nothing do not count.
    """

    @property
    def larger_is_better(self) -> bool:
        return True

    def compose(self, data: Dataset) -> Task:
        totals = data.class_totals()
        present = sum(total > 0 for total in totals)
        return weighted_sum(
            [(Fraction(1, present) / total, ErrorsOfClass(k)) for k, total in enumerate(totals) if total > 0]
        )

    def score(self, value: Any, totals: State) -> Any:
        return 1 - value
