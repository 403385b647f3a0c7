"""The reference, computed by hand on trees small enough for that."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from streed.data import Dataset
from streed.reference import Evaluation, optimum
from streed.task import Task, Totals
from streed.tasks import Accuracy, BalancedAccuracy, MinSupport, Misclassifications, Splits
from streed.tree import Branch, Leaf

XOR = ([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0])


def best_value(task: Task, data: Dataset, **limits: Any) -> Any:
    found = optimum(task, data, **limits)
    assert found is not None
    return found[0]


# -- the equations -----------------------------------------------------------------------------------------------------


def test_equation_8_solves_exclusive_or_in_depth_two_only() -> None:
    data = Dataset.make(*XOR)
    assert [best_value(Accuracy(), data, max_depth=depth) for depth in (0, 1, 2, 3)] == [2, 2, 0, 0]
    found = optimum(Accuracy(), data)
    assert found is not None
    value, tree = found
    assert value == 0
    lower = Branch(1, (Leaf(0, 1, 0), Leaf(1, 1, 0)), 2)
    upper = Branch(1, (Leaf(1, 1, 0), Leaf(0, 1, 0)), 2)
    assert tree == Branch(0, (lower, upper), 4)


def test_equation_51_shares_the_nodes_among_the_children() -> None:
    data = Dataset.make(*XOR)
    best = [best_value(Accuracy(), data, max_nodes=nodes) for nodes in (0, 1, 2, 3, None)]
    assert best == [2, 2, 1, 0, 0]
    multiway = Dataset.make([[0, 0], [0, 1], [1, 0], [1, 1], [2, 0], [2, 1]], [0, 1, 1, 0, 0, 1], categorical=[0])
    best = [best_value(Accuracy(), multiway, max_nodes=nodes) for nodes in range(5)]
    # Column 1 first leaves one error in each half, and a split by category there mends it.
    assert best == [3, 2, 1, 0, 0]


# -- values ------------------------------------------------------------------------------------------------------------


def test_balanced_accuracy_is_the_mean_of_the_recalls() -> None:
    data = Dataset.make([[0], [0], [0], [1]], [0, 0, 1, 0])
    found = optimum(BalancedAccuracy(), data)
    assert found is not None
    value, tree = found
    assert (value, BalancedAccuracy().score(value, Totals(BalancedAccuracy(), data))) == (
        Fraction(1, 3),
        Fraction(2, 3),
    )
    assert tree == Branch(0, (Leaf(1, 3, Fraction(1, 3)), Leaf(0, 1, 0)), 4)


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


def test_equation_4_adds_up_leaves_and_branches() -> None:
    data = Dataset.make(*XOR)
    tree = Branch(0, (Leaf(0, 2, 0), Branch(1, (Leaf(0, 1, 0), Leaf(1, 1, 0)), 2)), 4)
    task = Misclassifications() + 0.25 * Splits()
    assert Evaluation(task, data).cost(tree) == 1 + 2 + 2 * Fraction(1, 4)
    evaluation = Evaluation(task, data)
    assert evaluation.shape(tree) == (2, 2, 3)


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
