"""The recursion finds what trying every tree finds, and what it finds does not depend on how the data are written."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from streed.data import Dataset
from streed.reference import Evaluation, best_trees, optimal_front, optimum
from streed.task import Task
from streed.tasks import (
    Accuracy,
    BalancedAccuracy,
    MinSupport,
    Misclassifications,
    SparseAccuracy,
    Splits,
    WeightedAccuracy,
)
from streed.tree import Branch, Leaf
from tests.unusual_tasks import Discounted, ErrorsByClass, WorstLeaf


def seeded() -> st.SearchStrategy[random.Random]:
    """Even draws: hypothesis prefers small numbers, and then nearly every optimal tree is a leaf."""
    return st.integers(0, 2**64 - 1).map(random.Random)


def data_set(draw: random.Random, most_rows: int = 8) -> Dataset:
    """A tiny data set; duplicate and contradictory rows are common among so few different ones."""
    n_classes = draw.choice((2, 2, 3, 4, 5))
    n_columns = draw.choice((1, 2, 3, 3, 3) if n_classes == 2 else (0, 1, 2, 2, 2))
    widths = [draw.choice((2, 2, 2, 3, 4)) for _ in range(n_columns)]
    n_rows = draw.choice((draw.randint(1, most_rows), most_rows, most_rows))
    X = [[draw.randrange(width) for width in widths] for _ in range(n_rows)]
    y = [draw.randrange(n_classes) if draw.random() < 0.2 else sum(row) % n_classes for row in X]
    weights: list[float] | None = None
    if draw.random() < 0.4:
        weights = [draw.choice((0, 1, 2, 5, 0.5, 0.1, 0.3, 1.25)) for _ in range(n_rows)]
        weights[0] = weights[0] or 1
    categorical = [column for column, width in enumerate(widths) if width > 2]
    array = np.array(X, dtype=np.uint8).reshape(n_rows, len(widths))
    return Dataset.make(array, y, sample_weight=weights, categorical=categorical)


def shipped_task(draw: random.Random, data: Dataset) -> Task:
    price = draw.choice((0, 0.01, 0.1, 0.25, 0.5, 1))
    weights = {label: draw.choice((0, 1, 3, 0.7)) for label in data.classes}
    tasks: tuple[Task, ...] = (
        Accuracy(),
        BalancedAccuracy(),
        Misclassifications() + price * Splits(),
        SparseAccuracy(price / 8),
        WeightedAccuracy(weights),
    )
    return draw.choice(tasks)


def supported(draw: random.Random, task: Task) -> Task:
    """The task, sometimes with a minimum support."""
    return task.subject_to(MinSupport(draw.randint(1, 3))) if draw.random() < 0.2 else task


@settings(max_examples=40, deadline=None)
@given(seeded())
def test_recursion_finds_what_trying_every_tree_finds(draw: random.Random) -> None:
    data = data_set(draw)
    unusual = (ErrorsByClass(), WorstLeaf(), Discounted())
    task = supported(draw, draw.choice(unusual) if draw.random() < 0.4 else shipped_task(draw, data))
    limits: dict[str, Any] = {
        "max_depth": draw.choice((None, None, 0, 1, 2, 2, 2, 3)),
        "max_nodes": draw.choice((2, 2, 3, 3) if data.n_columns > 2 else (None, None, 1, 2, 3, 3, 4)),
        "min_leaf": draw.choice((1, 1, 1, 1, 2, 3)),
    }
    front = optimal_front(task, data, **limits)
    expected = best_trees(task, data, **limits)
    assert sorted(value for value, _ in front) == sorted(value for value, _ in expected)

    evaluation = Evaluation(task, data)
    for value, tree in front:
        assert evaluation.cost(tree) == value
        assert evaluation.broken_limits(tree, **limits) == []


XOR = ([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0])


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
