"""The reference, computed by hand on trees small enough for that."""

from __future__ import annotations

from streed.data import Dataset
from streed.reference import Evaluation, optimum
from streed.tasks import Accuracy, MinSupport
from streed.tree import Branch, Leaf

XOR = ([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0])


# -- values ------------------------------------------------------------------------------------------------------------


def test_a_category_without_rows_is_an_empty_leaf_with_the_best_label_of_its_parent() -> None:
    X = [[0, 0], [1, 0], [2, 0], [2, 0], [0, 1], [1, 1], [1, 1]]
    y = [1, 1, 0, 0, 0, 1, 1]
    found = optimum(Accuracy(), Dataset.make(X, y, categorical=[0]), min_leaf=1)
    assert found is not None
    value, tree = found
    assert value == 0
    assert tree == Branch(0, (Branch(1, (Leaf(1, 1, 0), Leaf(0, 1, 0)), 2), Leaf(1, 3, 0), Leaf(0, 2, 0)), 7)
    right = [row for row in range(7) if X[row][1] == 1]
    subset = Dataset.make(X, y, categorical=[0]).subset(right)
    assert optimum(Accuracy(), subset) == (0, Branch(0, (Leaf(0, 1, 0), Leaf(1, 2, 0), Leaf(1, 0, 0)), 3))


# -- trees -------------------------------------------------------------------------------------------------------------


def test_broken_limits_are_all_named() -> None:
    data = Dataset.make(*XOR)
    tree = Branch(0, (Leaf(0, 2, 0), Branch(1, (Leaf(0, 1, 0), Leaf(1, 1, 0)), 2)), 4)
    assert Evaluation(Accuracy(), data).broken_limits(tree, max_depth=2, max_nodes=2) == []
    task = Accuracy().subject_to(MinSupport(2))
    broken = Evaluation(task, data).broken_limits(tree, max_depth=1, max_nodes=1, min_leaf=3)
    assert broken == [
        "depth 2 is more than 1",
        "2 branching nodes are more than 1",
        "the leaf at (0,) has 2 rows, fewer than 3",
        "the leaf at (0, 1) has 1 rows, fewer than 3",
        "the leaf at (0, 1) breaks MinSupport(min_rows=2)",
        "the leaf at (0, 1) has 1 rows, fewer than 3",
        "the leaf at (0, 1) breaks MinSupport(min_rows=2)",
    ]
