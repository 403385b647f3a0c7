"""Misclassified rows: plain, weighted, by leaf, beside the size of the tree, and of monotone trees.

With E the sum of w(y) over the rows (x, y) that the tree gets wrong, n rows, and B branching nodes, these minimise

    Accuracy, WeightedAccuracy, BalancedAccuracy   E, by equal weights, those of classes, or one over their sizes
    SparseAccuracy(lam)                            E / n + lam * B
    Lexicographic                                  (E, B), the first entry before the second
    WorstLeaf                                      the largest E / n of a leaf

Separable: E is a sum over rows and B one over nodes (STreeD, Eq. 2 and 4; additivity implies Def. 4.4). Sparse accuracy
is the objective of Branches (Eq. 5: its accuracy minus lambda times splits is 1 minus this value). Pairs are ordered as
the numbers M * E + B are, with M above any number of nodes. Of the worst leaf (+) is max, which preserves order (not
additive, so DL8 and GOSDT cannot) and is worsening (Def. A.2).

MonotoneErrors, of monotone trees: predictions that do not fall where a chosen column rises, or do not rise.

    minimise misclassified rows + price * branching nodes, over trees in which, at every branch on a chosen column, no
    leaf to the left has a larger label than any leaf to the right (a smaller one, where labels are to fall)

(by the order of the classes). Such trees are monotone: two rows that differ in the column alone part at a branch on
it, or share a leaf. Monotone trees that are not of this kind exist, and all of them cannot be searched subtree by
subtree by their costs; `docs/explanation/search.md` shows both. Separable, with values (errors, least label,
largest label, order of the children): fewer errors and labels within narrower bounds do no harm in any context
(STreeD, Def. 4.4), and a subtree out of order puts every tree above it out of order (Def. 4.5).

>>> import streed
>>> from streed.tasks import Accuracy, Lexicographic, SparseAccuracy
>>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 0, 1]
>>> [streed.solve(task, X, y, max_depth=2).value for task in (Accuracy(), SparseAccuracy(0.1), Lexicographic())]
[0, 0.1, (0, 1)]
>>> from streed.tasks import MonotoneErrors
>>> X, falling = [[0], [0], [1], [1]], [1, 1, 0, 0]
>>> [streed.solve(MonotoneErrors(columns), X, falling, max_depth=1).value for columns in ([], [0])]
[0, 2]
>>> streed.solve(MonotoneErrors(decreasing=["x0"]), X, falling, max_depth=1).value
0
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, ClassVar, final

import attrs
import numpy as np

from streed.data import Dataset
from streed.errors import InputError, brief, check_known, listed, shown
from streed.exact import Array, Range, exact_number
from streed.task import PARTIAL, Composition, RowCostTask, State, Task, Value, bound
from streed.task.algebra import add, scale
from streed.task.joint import IN_ORDER, TaskInOrder, WeightedSum
from streed.tasks.impurity import ClassCounts


@final
@attrs.frozen
class Accuracy(RowCostTask):
    """The (weighted) number of misclassified rows, minimised, so that accuracy is maximal; the value is that number."""

    value_unit: ClassVar[str] = "misclassified rows"
    worsening: ClassVar[bool] = True

    def row_costs(self, data: Dataset) -> Array:
        return data.rows_of_classes(1 - np.eye(data.n_classes, dtype=np.int64))


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
        check_known("class_weight", self.class_weight, classes, "label")
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
    larger_is_better: ClassVar[bool] = True

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
        rows = sum(s.counts)
        return (rows - s.counts[k]) / rows if rows > 0 else 0.0

    def combine(self, a: Any, b: Any) -> Any:
        return max(a, b)

    def subtract(self, a: Any, b: Any) -> Any:
        """a where b is below it, else 0: then nothing helps, and no rate is below 0."""
        return a if b < a else 0.0


OUT_OF_ORDER = -1
"""Fourth entry of a value that is never feasible; others are as of IN_ORDER, or, of a branching node, what its children
must be."""


def _listed(columns: Any) -> Any:
    if isinstance(columns, (int, str)):
        return (columns,)
    with contextlib.suppress(InputError):
        return listed("columns", columns, "give a list")
    return columns


def _names_columns(task: Task, attribute: Any, columns: Any) -> None:
    if not isinstance(columns, tuple):
        raise InputError(attribute.name, f"{brief(columns)} names no columns", "give names or places of columns")


@final
@attrs.frozen
class MonotoneErrors(TaskInOrder):
    """The (weighted) number of misclassified rows of trees whose leaves rise with chosen columns, and fall with others.

    `increasing` and `decreasing` name binary and ordered columns, or give their places; `cost_complexity`: what a
    branching node costs, in rows; `normalized`: count all in shares of the rows. Raises InputError for columns that are
    not there, multiway, or have gaps.
    """

    order: ClassVar[str] = PARTIAL
    worsening: ClassVar[bool] = True

    increasing: Sequence[Any] = attrs.field(default=(), converter=_listed, validator=_names_columns)
    decreasing: Sequence[Any] = attrs.field(default=(), converter=_listed, validator=_names_columns)
    cost_complexity: Any = attrs.field(default=0, validator=Range(0, meaning="what a branching node costs"))
    normalized: bool = False
    signs: Any = bound(None)
    """(p,) of every column: 1, -1, or 0 where it is not chosen."""
    price: Any = bound(0)
    """What a branching node costs, in rows."""

    @property
    def value_unit(self) -> str:
        price = f" + {self.cost_complexity} * branching nodes" if self.cost_complexity else ""
        return ("share of " if self.normalized else "") + "misclassified rows" + price

    def bind(self, data: Dataset) -> Task:
        signs = np.zeros(data.n_columns, np.int64)
        for argument, sign in (("increasing", 1), ("decreasing", -1)):
            for column in getattr(self, argument):
                place = _place(data, column, argument)
                if signs[place] == -sign:
                    raise InputError(argument, f"column {column!r} is to fall as well", "name it once")
                signs[place] = sign
        total = sum(data.class_totals()) if self.normalized else 1
        price = exact_number(Fraction(exact_number(self.cost_complexity)) * total)
        return attrs.evolve(self, signs=tuple(signs.tolist()), price=price)

    def row_task(self, data: Dataset) -> RowCostTask:
        costs = add(Misclassifications(), scale(self.price, Splits())).bind(data)
        assert isinstance(costs, RowCostTask)
        return costs

    def statistics(self, data: Dataset) -> dict[str, Array]:
        return {"wrong": data.rows_of_classes(1 - np.eye(len(data.class_labels), dtype=np.int64))}

    def leaf_cost(self, s: State, k: int) -> Value:
        return (s.wrong[k], k, k, IN_ORDER)

    def branching_cost(self, rows: int, path: tuple[int, ...], split: int) -> Value:
        """A value of no labels, which says how the children must lie: 1, not falling, 2, not rising, 0, anyhow."""
        return (self.price, 1, 0, (0, 1, 2)[self.signs[split]])

    def combine(self, a: Value, b: Value) -> Value:
        cost = a[0] + b[0]
        if OUT_OF_ORDER in (a[3], b[3]):
            return (cost, min(a[1], b[1]), max(a[2], b[2]), OUT_OF_ORDER)
        if b[1] > b[2]:
            return (cost, a[1], a[2], IN_ORDER if a[3] & b[3] == b[3] else OUT_OF_ORDER)
        lies = (a[2] <= b[1]) + 2 * (a[1] >= b[2])
        return (cost, min(a[1], b[1]), max(a[2], b[2]), a[3] & b[3] & lies)

    def better(self, a: Value, b: Value) -> bool:
        is_ordered = b[3] == OUT_OF_ORDER or (a[3] != OUT_OF_ORDER and a[3] & b[3] == b[3])
        return bool(a != b and a[0] <= b[0] and a[1] >= b[1] and a[2] <= b[2] and is_ordered)

    def feasible(self, value: Value) -> bool:
        return bool(value[3] != OUT_OF_ORDER)

    def objective_of(self, value: Value) -> Value:
        return value[0]

    def score(self, value: Value, totals: State) -> Any:
        if not (self.normalized and any(totals.wrong)):
            return value[0]
        return Fraction(value[0]) * (len(totals.wrong) - 1) / Fraction(sum(totals.wrong))


def _place(data: Dataset, column: Any, argument: str) -> int:
    """The place of a column that is in some order; raises InputError for any other."""
    place = data.names.index(column) if column in data.names else column
    if not isinstance(place, int) or isinstance(place, bool) or not 0 <= place < data.n_columns:
        raise InputError(argument, f"there is no column {column!r}", f"the columns are {shown(data.names)}")
    if place in data.categorical:
        raise InputError(argument, f"column {column!r} is multiway", "give it as 0/1 columns, one a threshold")
    categories = data.column(place).categories
    if place not in data.ordered and isinstance(categories[0], str) and list(categories) == sorted(categories):
        found = f"column {column!r} holds texts ({shown(categories)}), in no order but that of letters"
        raise InputError(argument, found, "give it as 0 and 1")
    if place in data.ordered and data.ordered[place].has_gaps:
        raise InputError(argument, f"column {column!r} has gaps, which are in no order", "fill them in")
    return place
