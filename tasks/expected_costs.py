"""What a tree's predictions cost on given rows: wrong labels, tests, and both against the standard costs."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import attrs
import numpy as np

from streed.data.labels import named_labels
from streed.errors import InputError
from streed.tasks.cost_tables import NO_TEST, CostTable
from streed.tree import Branch, Node, Tree


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
    actual = _places(np.asarray(y).tolist(), place_of)
    leaf_of = tree.apply(X)
    if len(actual) != len(leaf_of):
        raise InputError("y", f"it has {len(actual)} entries, but X has {len(leaf_of)} rows", "give one label per row")
    given = _places(list(tree.shows()), place_of)
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


def _places(labels: list[Any], place_of: dict[Any, int]) -> Any:
    for label in labels:
        if label not in place_of:
            raise InputError("y", f"the label {label!r} has no costs", f"use labels of {list(place_of)}")
    return np.array([place_of[label] for label in labels])


def tests_of_leaves(tree: Tree, costs: CostTable) -> list[tuple[Fraction, int]]:
    """For each leaf, left to right, what its tests cost and how many they are."""
    names = {j: column.name for j, column in tree.columns.items()}
    owner = costs.feature_of(names, tree.n_columns, every=False)
    found: list[tuple[Fraction, int]] = []
    stack: list[tuple[Node, tuple[int, ...], Fraction]] = [(tree.root, (), Fraction(0))]
    while stack:
        node, path, paid = stack.pop()
        if isinstance(node, Branch):
            paid += costs.price(path, node.column, owner)
            stack.extend((child, (*path, node.column), paid) for child in reversed(node.children))
        else:
            # a column without a price is a feature of its own
            known = {owner[j] if owner[j] != NO_TEST else -2 - j for j in path}
            found.append((paid, len(known)))
    return found
