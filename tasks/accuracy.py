"""Misclassified rows: plain, weighted, by leaf, and beside the size of the tree.

With E the sum of w(y) over the rows (x, y) that the tree gets wrong, n rows, and B branching nodes, these minimise

    Accuracy, WeightedAccuracy, BalancedAccuracy   E, by equal weights, those of classes, or one over their sizes
    SparseAccuracy(lam)                            E / n + lam * B
    Lexicographic                                  (E, B), the first entry before the second
    WorstLeaf                                      the largest E / n of a leaf

Separable: E is a sum over rows and B one over nodes (STreeD, Eq. 2 and 4; additivity implies Def. 4.4). Sparse accuracy
is the objective of Branches (Eq. 5: its accuracy minus lambda times splits is 1 minus this value). Pairs are ordered as
the numbers M * E + B are, with M above any number of nodes. Of the worst leaf (+) is max, which preserves order (not
additive, so DL8 and GOSDT cannot) and is worsening (Def. A.2).

>>> import streed
>>> from streed.tasks import Accuracy, Lexicographic, SparseAccuracy
>>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 0, 1]
>>> [streed.solve(task, X, y, max_depth=2).value for task in (Accuracy(), SparseAccuracy(0.1), Lexicographic())]
[0, 0.1, (0, 1)]
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, ClassVar, final

import attrs
import numpy as np

from streed.data import Dataset
from streed.errors import InputError
from streed.exact import Array, Range
from streed.task import Composition, RowCostTask, State, Task
from streed.task.algebra import WeightedSum, add, scale
from streed.tasks.impurity import ClassCounts, total


@final
@attrs.frozen
class Accuracy(RowCostTask):
    """The (weighted) number of misclassified rows, minimised, so that accuracy is maximal; the value is that number."""

    value_unit: ClassVar[str] = "misclassified rows"
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

    @property
    def value_unit(self) -> str:
        return f"misclassified rows of class {self.class_number}"

    def row_costs(self, data: Dataset) -> Array:
        return np.asarray(Accuracy().row_costs(data) * (data.class_numbers == self.class_number)[:, None])


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

    value_unit: ClassVar[str] = "misclassified rows by the weights of their classes"

    class_weight: Mapping[Any, Any] = attrs.field(factory=dict, converter=_copied, hash=False)

    def compose(self, data: Dataset) -> Task:
        classes = list(data.classes)
        for label in self.class_weight:
            if label not in classes:
                raise InputError("class_weight", f"label {label!r} does not occur in y", f"use labels of {classes}")
        weights = [Range(0).read("class_weight", self.class_weight.get(label, 1)) for label in classes]
        return WeightedSum(tuple((Fraction(weight), ErrorsOfClass(k)) for k, weight in enumerate(weights)))


@final
@attrs.frozen
class BalancedAccuracy(Composition):
    """Balanced accuracy: the mean over the classes of their recall, maximised.

    The search minimises its complement, the mean over the classes of their error rate; the score is the balanced
    accuracy itself. Classes whose rows all weigh nothing do not count.
    """

    value_unit: ClassVar[str] = "balanced accuracy"

    @property
    def larger_is_better(self) -> bool:
        return True

    def compose(self, data: Dataset) -> Task:
        totals = data.class_totals()
        present = sum(total > 0 for total in totals)
        shares = [(Fraction(1, present) / total, ErrorsOfClass(k)) for k, total in enumerate(totals) if total > 0]
        return WeightedSum(tuple(shares))

    def score(self, value: Any, totals: State) -> Any:
        return 1 - value


@final
@attrs.frozen
class Splits(RowCostTask):
    """The number of branching nodes."""

    value_unit: ClassVar[str] = "branching nodes"
    worsening: ClassVar[bool] = True
    any_label: ClassVar[bool] = True

    def row_costs(self, data: Dataset) -> Array:
        return np.zeros((data.n_rows, data.n_classes), dtype=np.int64)

    def split_cost(self) -> Fraction | int:
        return 1


@final
@attrs.frozen
class SparseAccuracy(Composition):
    """Error rate plus `lam` times the number of branching nodes; `lam` is an exact decimal >= 0."""

    worsening: ClassVar[bool] = True

    lam: Any = attrs.field(validator=Range(0, meaning="what a branching node costs"))

    @property
    def value_unit(self) -> str:
        return f"error rate + {self.lam} * branching nodes" if self.lam else "error rate"

    def compose(self, data: Dataset) -> Task:
        total = sum(data.class_totals())
        return add(scale(Fraction(1) / total, Misclassifications()), scale(self.lam, Splits()))


@final
@attrs.frozen
class Lexicographic(Composition):
    """(Misclassified rows, branching nodes), the first before the second; row weights must be whole numbers."""

    value_unit: ClassVar[str] = "misclassified rows, branching nodes"

    def compose(self, data: Dataset) -> Task:
        if data.weights is not None and data.weights.dtype.kind == "f" and (data.weights % 1).any():
            raise InputError("sample_weight", "a weight is not whole", "multiply all of them by a common factor")
        # n rows separate into n leaves at most, below n - 1 branching nodes.
        return add(scale(data.size, Misclassifications()), Splits())

    def score(self, value: Any, totals: State) -> tuple[int, int]:
        errors, nodes = divmod(Fraction(value), totals.rows)
        return int(errors), int(nodes)


@final
@attrs.frozen
class WorstLeaf(ClassCounts):
    """The largest error rate of a leaf."""

    value_unit: ClassVar[str] = "error rate of the worst leaf"
    worsening: ClassVar[bool] = True

    def leaf_cost(self, s: State, k: int) -> Any:
        rows = total(s.counts)
        return (rows - s.counts[k]) / rows if rows > 0 else 0.0

    def combine(self, a: Any, b: Any) -> Any:
        return max(a, b)

    def subtract(self, a: Any, b: Any) -> Any:
        """a where b is below it, else 0: then nothing helps, and no rate is below 0."""
        return a if b < a else 0.0

    def lower_bound(self, s: State) -> Any:
        return 0.0
