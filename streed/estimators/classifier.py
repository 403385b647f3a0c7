"""Classification: the tree of fewest errors, of the best F1 or other score, or of least cost of errors and tests.

>>> from streed.estimators import OptimalTreeClassifier
>>> table = [[22.0, "m"], [38.0, "f"], [26.0, "f"], [35.0, "m"], [54.0, "f"]]
>>> model = OptimalTreeClassifier(max_depth=1).fit(table, ["no", "yes", "yes", "no", "yes"])
>>> model.predict([[30.0, "f"]]).tolist(), model.optimal_
(['yes'], True)
>>> print(model.to_text())
x1 = m?
├── no: yes (3 rows, cost 0)
└── yes: no (2 rows, cost 0)

>>> from streed.estimators import CostSensitiveTreeClassifier
>>> model = CostSensitiveTreeClassifier([[0, 1], [10, 0]], max_depth=1).fit([[0.0], [0.5], [2.0], [2.5]], [0, 0, 1, 0])
>>> model.value_, model.predict([[1.9]]).tolist(), model.score([[2.2]], [0])
(1, [1], -1.0)
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets

from streed.data import Dataset, row_matrix
from streed.data.reading import read_values
from streed.data.rows import named_labels, read_row_data
from streed.errors import InputError, argument_names, brief, check_known, shown
from streed.estimators import reading
from streed.estimators.base import OptimalTree
from streed.exact import Array, Range
from streed.result import Result
from streed.task import Task
from streed.tasks import MonotoneErrors, SparseAccuracy
from streed.tasks.cost_sensitive import CostSensitive, InstanceCosts, read_costs, tests_of_leaves
from streed.tasks.cost_tables import CostTable
from streed.tree import Tree


class LabelTree(ClassifierMixin, OptimalTree):  # type: ignore[misc]
    """A tree whose leaves show classes; `classes_` are those of y."""

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of the rows, by weight, whose label is right."""
        predicted = self.predict(X)
        right = predicted == self._labels_of(y, len(predicted))
        return float(np.average(right, weights=reading.checked_weights(sample_weight, len(right))))

    def predict_proba(self, X: Any) -> Array:
        """(m, K) the share of each class in the training rows, by weight, of each row's leaf.

        The task chooses the label of a leaf, which need not be its most frequent class.
        """
        leaves = self._leaf_numbers(X)
        counts = self._leaf_sums
        return (counts / counts.sum(axis=1, keepdims=True))[leaves]  # type: ignore[no-any-return]

    def predict_log_proba(self, X: Any) -> Array:
        """(m, K) the logarithm of `predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X)))

    def _prepare(self, X: Any, y: Any, sample_weight: Any, row_data: Mapping[str, Any]) -> Dataset:
        X, weights = self._checked(X, sample_weight)
        labels = labels_of(y, len(X))
        if labels.dtype.kind in "fmM":  # of others, scikit-learn does not know dates, decimals and bytes
            with reading.named_errors("y", "give classes, not measurements"):
                check_classification_targets(labels)
        try:
            self.classes_ = np.unique(labels)
        except TypeError:  # several are told apart before
            raise InputError("y", f"{type(labels[0]).__name__} has no order", "use numbers or texts") from None
        self._check_classes()
        return self._make_data(X, labels, self._class_weights(labels, weights, row_data), row_data)

    def _class_weights(self, labels: Array, weights: Array | None, row_data: Mapping[str, Any]) -> Array | None:
        """The row weights times those of the classes; the row weights unless overridden."""
        return weights

    def _check_classes(self) -> None:
        """Raises InputError for classes that the estimator cannot deal with; nothing unless overridden."""

    def _statistics(self, data: Dataset) -> Array:
        classes = self._class_places(data.classes)[data.class_numbers]
        return np.asarray(classes[:, None] == np.arange(len(self.classes_)), np.float64)

    def _impurity(self, sums: Array) -> Array:
        """Gini's, times the rows."""
        totals = sums.sum(axis=1)
        return np.asarray(totals - (sums * (sums / np.maximum(totals, 1e-300)[:, None])).sum(axis=1))

    def _predictions(self, tree: Tree) -> Array:
        self._leaf_classes = self._class_places(tree.shows())
        return self.classes_[self._leaf_classes]

    def _labels_of(self, y: Any, n_rows: int) -> Array:
        """(n,) the labels of other rows; raises InputError for texts where the classes are none, and for others."""
        labels = labels_of(y, n_rows)
        if isinstance(labels[0], str) != isinstance(self.classes_[0], str):
            found = f"it has labels such as {labels.tolist()[0]!r}, which equal none of {shown(self.classes_.tolist())}"
            raise InputError("y", found, "give labels of the type that fit was given")
        return labels

    def _class_places(self, labels: Any, argument: str = "task") -> Array:
        """The places of labels in `classes_`; raises InputError, of the argument that has them, for others."""
        place = {label: number for number, label in enumerate(self.classes_.tolist())}
        check_known(argument, labels, place, "class")
        return np.array([place[label] for label in labels], dtype=np.int64)


@dataclasses.dataclass(eq=False, repr=False, kw_only=True)
class OptimalTreeClassifier(LabelTree):
    """The optimal classification tree for a task; see `OptimalTree` for what all estimators share.

    `task`: any task of `streed.tasks` or of one's own whose labels are the classes, or its name, such as "f1"; None is
    the error rate. `cost_complexity`: what a branching node costs: a share of the rows where `task` is None
    (`SparseAccuracy`), else in the task's own units. `class_weight`: a weight >= 0 for each
    class, 1 where it is not named, or "balanced", as scikit-learn has it; row weights are multiplied by it.
    `monotonic_cst`: for each column 1 if labels are not to fall where it rises, -1 if they are not to rise, 0 if they
    may do either; or a dict of these by name. Labels rise in the order of `classes_`: more than two must be numbers.
    The tree is the best in order (`streed.tasks.MonotoneErrors`), by the error rate alone.

    Fitted: `classes_`, and what `OptimalTree` says.
    """

    task: Any = dataclasses.field(default=None, kw_only=False)
    class_weight: Any = None
    monotonic_cst: Any = None

    def _check_classes(self) -> None:
        if reading.signs_of(self).any() and len(self.classes_) > 2 and self.classes_.dtype.kind not in "iuf":
            found = f"the order of {shown(self.classes_.tolist())} is that of their letters"
            raise InputError("monotonic_cst", found, "give labels that are numbers, or two of them")

    def _class_weights(self, labels: Array, weights: Array | None, row_data: Mapping[str, Any]) -> Array | None:
        given, classes = self.class_weight, self.classes_.tolist()
        if given is None:
            return weights
        if isinstance(given, Mapping):
            check_known("class_weight", given, classes, "label")
            found = [float(Range(0).read("class_weight", given.get(label, 1))) for label in classes]
            if not any(found):
                raise InputError("class_weight", "no class weighs anything", "give one a weight > 0")
        elif isinstance(given, str) and given == "balanced":
            copies = row_data.get(reading.FREQUENCY)
            counted = labels if copies is None else np.repeat(labels, copies)
            found = compute_class_weight(given, classes=self.classes_, y=counted)
        else:
            raise InputError("class_weight", brief(given), 'give a dict of the weights of labels, "balanced", or None')
        each: Array = np.asarray(found)[np.searchsorted(self.classes_, labels)]
        return each if weights is None else weights * each

    def _objective(self, cost_complexity: Any) -> Task:
        signs = reading.signs_of(self)
        if not signs.any():
            return label_task(self.task, cost_complexity)
        if self.task is not None:
            found = "it goes with the error rate alone, and a task is given"
            raise InputError("monotonic_cst", found, "leave task out")
        up, down = (np.flatnonzero(signs == side).tolist() for side in (1, -1))
        return MonotoneErrors(up, down, cost_complexity=cost_complexity, normalized=True)

    def _solve(self, data: Dataset, **other: Any) -> Result:
        names = {} if self.monotonic_cst is None else dict.fromkeys(("increasing", "decreasing"), "monotonic_cst")
        with argument_names(**names):
            return super()._solve(data, **other)


def labels_of(y: Any, n_rows: int) -> Array:
    """(n,) the labels; numbers and truth values that are kept as objects are such."""
    labels = reading.checked_column(y, n_rows)
    read = read_values(labels, "y", "it") if labels.dtype.kind == "O" else labels
    return read if isinstance(read, np.ndarray) else labels


def label_task(task: Any, cost_complexity: Any) -> Task:
    """The task that was given or named, or that of the rate of errors, with that cost for each branching node."""
    return SparseAccuracy(cost_complexity) if task is None else reading.with_splits(task, cost_complexity)


COSTS = "costs"
"""The row data of costs that are the row's own."""


@dataclasses.dataclass(eq=False, repr=False, kw_only=True)
class CostSensitiveTreeClassifier(LabelTree):
    """The tree of least total cost; see `OptimalTreeClassifier` for the rest.

    `costs`: what each label costs a row of each class: an array (K, K) in the order of `classes_`, a table whose
    columns and rows are named by the labels, a dict of dicts, `costs[class][label]`, or a
    `streed.tasks.cost_tables.CostTable` with prices of tests, named after the columns of the raw table; None: every
    error costs 1, unless `fit` is given the costs of each row. `cost_complexity`: what a branching node costs, in the
    same units. `value_` is the cost of all training rows.
    """

    costs: Any = dataclasses.field(default=None, kw_only=False)

    def fit(self, X: Any, y: Any, sample_weight: Any = None, costs: Any = None, *, frequency: Any = None) -> Self:
        """Grows and proves the tree; all but `costs` as for `OptimalTreeClassifier`.

        `costs`: what each label costs each row, an array (n, K) in the order of `classes_`, or a table whose columns
        are named by the labels; costs below 0 are gains.
        """
        if costs is not None and self.costs is not None:
            raise InputError(COSTS, "the estimator has costs of its own", "leave them out there, or here")
        self._grow(X, y, sample_weight, {COSTS: costs, reading.FREQUENCY: frequency})
        return self

    def score(self, X: Any, y: Any, sample_weight: Any = None, costs: Any = None) -> float:
        """Minus the mean cost of a row, labels and tests: more is better; `costs` as for `fit`."""
        leaves = self._leaf_numbers(X)
        weights = reading.checked_weights(sample_weight, len(leaves))
        if (costs is None) == self.has_row_costs_:
            found = "fit was given the costs of each row" if costs is None else "fit was given none"
            raise InputError(COSTS, found, "give them to both, or to neither")
        if costs is not None:
            each, labels = self._row_costs(read_row_data({COSTS: costs}, len(leaves)))
            each, tests = each[:, np.argsort(self._class_places(labels))], np.zeros(len(self._leaf_classes))
        else:
            table = self._table()
            order = [list(table.classes or ()).index(label) for label in self.classes_.tolist()]
            actual = self._class_places(self._labels_of(y, len(leaves)).tolist(), "y")
            each = np.array(table.matrix, dtype=np.float64)[np.ix_(order, order)][actual]
            tests = np.array([float(paid) for paid, _ in tests_of_leaves(self.tree_, table)])
        paid = each[np.arange(len(leaves)), self._leaf_classes[leaves]] + tests[leaves]
        return -float(np.average(paid, weights=weights))

    def _prepare(self, X: Any, y: Any, sample_weight: Any, row_data: Mapping[str, Any]) -> Dataset:
        data = super()._prepare(X, y, sample_weight, row_data)
        self.has_row_costs_ = COSTS in data.row_data
        self._labels = self._row_costs(data.row_data)[1] if self.has_row_costs_ else None
        return data

    def _row_costs(self, row_data: Mapping[str, Array]) -> tuple[Array, tuple[Any, ...]]:
        """(the costs (n, K), the label of each column); raises InputError unless these are the classes."""
        costs, names = row_matrix(row_data, COSTS, type(self).__name__)
        classes = self.classes_.tolist()
        labels = tuple(classes[: costs.shape[1]]) if names is None else named_labels(names, classes)
        if set(labels) != set(classes) or costs.shape[1] != len(classes):
            found = f"it has {costs.shape[1]} columns" if names is None else f"its columns are {names!r}"
            raise InputError(COSTS, found, f"give a column for each of the labels {classes!r}")
        return costs, labels

    def _objective(self, cost_complexity: Any) -> Task:
        if self._labels is not None:
            return reading.with_splits(InstanceCosts(self._labels), cost_complexity)
        return reading.with_splits(CostSensitive(self._table()), cost_complexity)

    def _table(self) -> CostTable:
        """The costs of the classes."""
        costs = 1 - np.eye(len(self.classes_), dtype=int) if self.costs is None else self.costs
        return read_costs(costs).for_labels(tuple(self.classes_.tolist()))
