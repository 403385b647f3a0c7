"""Costs of labels and tests, by class or row by row, and what the predictions of a tree cost.

CostSensitive: the costs of wrong labels and of the tests that a row needs on its way to its leaf.

    minimise sum over leaves of sum over rows (x, j) of M[j, label] + sum over branching nodes of |rows| * m(F, f)

M is any matrix of costs >= 0; m(F, f), the price of asking column f where the columns F were asked above, is nothing
where the feature of f is known already, its discounted price where another test of its group was made, and its full
price otherwise. Separable: g is Markovian, as F is part of the state, and both sums are additive (STreeD, Eq. 9,
Section 4.4 and Appendix C; S. Lomax: Cost-Sensitive Decision Tree Learning using a Multi-Armed Bandit Framework, PhD
thesis, University of Salford, 2013).

InstanceCosts: every row has its own cost for every label, as in choosing the algorithm for each instance.

    minimise sum over rows i of costs[i, label of the leaf of i]

`costs` is row data, an array (n, K) or a table with a column per label; the label of column k is its name in a table
(or the label of y that the name writes), its number in an array, or `labels[k]`.

>>> import streed
>>> from streed.tasks import CostSensitive, InstanceCosts
>>> from streed.tasks.cost_tables import CostTable, TestCost
>>> table = CostTable.of([[0, 2], [10, 0]], [TestCost("x0", 0.6)])
>>> streed.solve(CostSensitive(table), [[0], [0], [1], [1]], [0, 0, 0, 1], max_depth=1).value
4.4
>>> seconds = {"quick": [1, 1, 9, 9], "steady": [3, 3, 3, 3]}
>>> result = streed.solve(InstanceCosts(), [[0], [0], [1], [1]], costs=seconds, max_depth=1)
>>> result.value, result.tree.predict([[0], [1]]).tolist()
(8, ['quick', 'steady'])
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar, final

import attrs
import numpy as np

from streed.data import Dataset, row_matrix
from streed.data.rows import named_labels
from streed.data.strict_json import FILE
from streed.errors import InputError, check_known, listed
from streed.exact import LARGEST_TOTAL, Array
from streed.task import RowCostTask, State, Task, bound
from streed.task.joint import TaskWithTests
from streed.tasks.cost_tables import MOST_KNOWN, NO_TEST, CostTable, unlike, whole_numbers
from streed.tree import Branch, Node, Tree


def read_costs(costs: Any) -> CostTable:
    """The table itself, that of a file, or of a matrix alone."""
    if isinstance(costs, CostTable):
        return costs
    return CostTable.read(costs) if isinstance(costs, (str, Path)) else CostTable.of(costs)


@final
@attrs.frozen
class MisclassificationCosts(RowCostTask):
    """The (weighted) cost of all labels: `matrix[j][k]` for a row of class j with label k."""

    value_unit: ClassVar[str] = "total cost"
    worsening: ClassVar[bool] = True

    costs: CostTable = attrs.field(converter=read_costs, metadata={FILE: True})

    def row_costs(self, data: Dataset) -> Array:
        exact = np.array(self.costs.for_labels(data.class_labels).matrix, dtype=object)
        whole = all(isinstance(cost, int) and cost < LARGEST_TOTAL for cost in exact.flat)
        return (exact.astype(np.int64) if whole else exact)[_places(self.costs, data)]

    def cost_terms(self, data: Dataset) -> list[tuple[Fraction, Array]]:
        matrix, unit = whole_numbers(self.costs.for_labels(data.class_labels).matrix)
        return [(Fraction(unit), matrix[_places(self.costs, data)])]

    def labels(self, data: Dataset) -> Sequence[Any]:
        return self.costs.for_labels(data.class_labels).classes or ()


@final
@attrs.frozen
class CostSensitive(TaskWithTests):
    """The cost of all labels and of all tests; `costs` is a `CostTable`, its file, or a matrix alone.

    Tests are paid for per row, so data with row weights are refused where tests cost something.
    """

    value_unit: ClassVar[str] = "total cost"
    superadditive: ClassVar[bool] = True
    worsening: ClassVar[bool] = True

    costs: CostTable = attrs.field(converter=read_costs, metadata={FILE: True})
    matrix: Any = bound(None)
    """(K, K) int64: the cost of a row of class j with label k, in units."""
    unit: Any = bound(1)
    """The worth of a cost of 1 of the matrix, an exact number."""
    full: Any = bound(None)
    given: Any = bound(None)
    price_unit: Any = bound(1)

    def bind(self, data: Dataset) -> Task:
        """`MisclassificationCosts` where no test costs anything."""
        found = _bound_to(self, data.class_labels, data.names)
        if data.sample_weight is not None and isinstance(found, CostSensitive):
            said = "tests are paid for per row, which branching costs count unweighted"
            raise InputError("sample_weight", said, "give whole weights as frequency=, or leave the tests out")
        return found

    def row_task(self, data: Dataset) -> RowCostTask:
        return MisclassificationCosts(self.costs)

    def statistics(self, data: Dataset) -> dict[str, Array]:
        return {"cost": self.matrix[_places(self.costs, data)]}

    def labels(self, data: Dataset) -> Sequence[Any]:
        return self.row_task(data).labels(data)

    def leaf_cost(self, s: State, k: int) -> Any:
        return s.cost[k] * self.unit

    def lower_bound(self, s: State) -> Any:
        return 0 * self.unit


@functools.lru_cache(maxsize=MOST_KNOWN)
def _bound_to(task: CostSensitive, labels: tuple[Any, ...], names: tuple[str, ...]) -> Task:
    """As `CostSensitive.bind`, of data with these labels and names of columns: it depends on nothing else of them."""
    task, width = attrs.evolve(task, costs=task.costs.for_labels(labels)), len(names)
    owner = task.costs.feature_of(dict(enumerate(names)), width)
    if not any(test != NO_TEST and task.costs.tests[test].cost > 0 for test in owner):
        return MisclassificationCosts(task.costs)
    full, given, price_unit = task.costs.prices(owner)
    matrix, unit = whole_numbers(task.costs.matrix)
    if unit != 1 or price_unit != 1:
        # one type for all costs: whole ones are fractions too where others are
        unit, price_unit = Fraction(unit), Fraction(price_unit)
    return attrs.evolve(task, matrix=matrix, unit=unit, full=full, given=given, price_unit=price_unit)


def _places(costs: CostTable, data: Dataset) -> Array:
    """(n,) the row of the matrix for each row of the data."""
    classes = costs.for_labels(data.class_labels).classes or ()
    place_of = {label: place for place, label in enumerate(classes)}
    return np.array([place_of[label] for label in data.class_labels])[data.class_numbers]


def _listed(labels: Any) -> tuple[Any, ...] | None:
    if labels is None:
        return None
    given = listed("labels", labels, "give a label for every column of the costs")
    if not given or len(unlike(given)) < len(given):
        raise InputError("labels", f"{given!r}", "give every column of the costs a label of its own")
    return given


@final
@attrs.frozen
class InstanceCosts(RowCostTask):
    """The (weighted) cost of all rows, each with its own cost per label; negative costs are gains."""

    value_unit: ClassVar[str] = "total cost"

    labels_: Sequence[Any] | None = attrs.field(default=None, alias="labels", converter=_listed)

    def row_costs(self, data: Dataset) -> Array:
        return row_matrix(data, "costs", "InstanceCosts")[0]

    def labels(self, data: Dataset) -> Sequence[Any]:
        costs, names = row_matrix(data, "costs", "InstanceCosts")
        own = self.labels_
        if own is None:
            return tuple(range(costs.shape[1])) if names is None else named_labels(names, data.classes)
        if len(own) != costs.shape[1]:
            raise InputError("labels", f"there are {len(own)} for {costs.shape[1]} columns of costs", "give one each")
        named = own if names is None else named_labels(names, own)
        if set(named) == set(own):
            return named
        if names != tuple(range(len(own))):  # which is what pandas calls columns without names
            raise InputError("costs", f"its columns are {names!r}", f"give a column for each of the labels {own!r}")
        return own


@attrs.frozen
class CostReport:
    """Costs per row, as floats."""

    rows: int
    labels: float
    """The mean cost of labels."""
    tests: float
    """The mean cost of tests."""
    average_tests: float
    """The mean number of tests, of features that became known, per prediction."""
    standard: float
    """STreeD, Eq. 61: all tests and the best constant label, if it cost as much as the worst one; an upper bound."""

    @property
    def expected(self) -> float:
        """The mean cost of a prediction."""
        return self.labels + self.tests

    @property
    def total(self) -> float:
        """The cost of all rows."""
        return self.expected * self.rows

    @property
    def normalized(self) -> float:
        """The expected cost as a share of the standard costs."""
        return self.expected / self.standard if self.standard else 0.0


def cost_report(tree: Tree, costs: CostTable, X: Any, y: Any) -> CostReport:
    """What the tree's predictions for the rows of X (as `Tree.predict` takes it), of classes y (n,), cost.

    Class frequencies of the standard costs are those of y (Appendix C.2). Raises InputError for labels that the costs
    do not know.
    """
    classes = tree.labels if costs.classes is None else named_labels(costs.classes, tree.labels)
    place_of = {label: place for place, label in enumerate(classes)}
    actual = _numbers(np.asarray(y).tolist(), place_of)
    leaf_of = tree.apply(X)
    if len(actual) != len(leaf_of):
        raise InputError("y", f"it has {len(actual)} entries, but X has {len(leaf_of)} rows", "give one label per row")
    given = _numbers(list(tree.shows()), place_of)
    leaves = tests_of_leaves(tree, costs)
    matrix = np.array([[float(cost) for cost in row] for row in costs.matrix])
    frequencies = np.bincount(actual, minlength=len(matrix)) / len(actual)
    return CostReport(
        rows=len(actual),
        labels=float(matrix[actual, np.array(given)[leaf_of]].mean()),
        tests=float(np.array([float(cost) for cost, _ in leaves])[leaf_of].mean()),
        average_tests=float(np.array([made for _, made in leaves])[leaf_of].mean()),
        standard=float(costs.all_tests()) + float((1 - frequencies).min() * matrix.max()),
    )


def _numbers(labels: list[Any], place_of: dict[Any, int]) -> Any:
    check_known("y", labels, place_of, "label with costs")
    return np.array([place_of[label] for label in labels])


def tests_of_leaves(tree: Tree, costs: CostTable) -> list[tuple[Fraction, int]]:
    """For each leaf, left to right, what its tests cost and how many they are."""
    names = {j: column.name for j, column in tree.columns.items()}
    owner = costs.feature_of(names, tree.n_columns, every=False)
    full, given, unit = costs.prices([owner[j] for j in names])  # of those that the tree asks
    place = {j: at for at, j in enumerate(names)}
    found: list[tuple[Fraction, int]] = []
    stack: list[tuple[Node, tuple[int, ...], Fraction]] = [(tree.root, (), Fraction(0))]
    while stack:
        node, path, paid = stack.pop()
        if isinstance(node, Branch):
            asked = place[node.column]
            price: int = min([full.item(asked), *(given.item(place[above], asked) for above in path)])
            paid += price * unit
            stack.extend((child, (*path, node.column), paid) for child in reversed(node.children))
        else:
            # a column without a price is a feature of its own
            known = {owner[j] if owner[j] != NO_TEST else -2 - j for j in path}
            found.append((paid, len(known)))
    return found
