from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from streed.data import Dataset
from streed.task import Task
from streed.tasks import Accuracy, BalancedAccuracy, MinSupport, Misclassifications, SparseAccuracy, Splits
from streed.tree import Leaf, Tree
from streed.tree.evaluation import evaluate, inspect
from tests.unit.specimens import colour_tree


def test_values_by_hand() -> None:
    """Rows 0..4 with labels 1, 2, 2, 1, 1; the root leaf says 1 and errs twice."""
    tree, data = colour_tree()
    leaf = Tree.grown(Leaf(0, 5, 2), data)
    assert evaluate(leaf, Accuracy(), data) == 2
    assert evaluate(leaf, BalancedAccuracy(), data) == Fraction(1, 2)
    assert evaluate(leaf, SparseAccuracy(0.1), data) == Fraction(2, 5)
    assert evaluate(tree, SparseAccuracy(0.1), data) == Fraction(1, 5)
    assert evaluate(tree, Splits(), data) == 2
    found = inspect(tree, Accuracy().subject_to(MinSupport(2)), data)
    assert found.value == 0
    assert found.rows == (5, 1, 2, 1, 1, 2)
    assert found.leaf_rows == (1, 1, 1, 2)
    assert found.broken == tuple((leaf, MinSupport(2)) for leaf in (0, 1, 2))


class Worst(Task):
    """The largest number of errors in a leaf, plus a tenth per branch above the second level."""

    def statistics(self, data: Dataset) -> dict[str, Any]:
        return {"errors": Misclassifications().row_costs(data), "one": np.ones(data.n_rows)}

    def labels(self, data: Dataset) -> Any:
        return data.classes

    def leaf_cost(self, s: Any, k: int) -> Any:
        assert s.one == s.rows
        return s.errors[k]

    def branching_cost(self, rows: int, path: tuple[int, ...], split: int) -> Any:
        return 100 * rows + 10 * len(path) + split

    def combine(self, a: Any, b: Any) -> Any:
        return max(a, b)


def test_any_operator_and_branching_costs_by_path() -> None:
    tree, data = colour_tree()
    # Branches: the root, 5 rows, no path, column 0; below it 2 rows, path (0,), column 1.
    assert evaluate(tree, Worst(), data) == 500
    assert evaluate(Tree.grown(Leaf(1, 5, 3), data), Worst(), data) == 3
