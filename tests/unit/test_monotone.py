"""Trees that rise with chosen columns, against all trees; and why costs alone cannot tell monotone ones."""

from __future__ import annotations

import itertools
import random
from typing import Any

import pytest

import streed
from streed.reference import Evaluation, best_trees, every_tree
from streed.tasks import Misclassifications, MonotoneErrors
from streed.tree import Branch, Leaf, Node
from tests.unit.refusal import refused

X3 = [list(row) for row in itertools.product((0, 1), repeat=3)]


def labels_of(node: Node) -> list[int]:
    return [node.label] if isinstance(node, Leaf) else [k for child in node.children for k in labels_of(child)]


def in_order(node: Node, chosen: set[int]) -> bool:
    """The definition."""
    if isinstance(node, Leaf):
        return True
    left, right = node.children
    rises = node.column not in chosen or max(labels_of(left)) <= min(labels_of(right))
    return rises and in_order(left, chosen) and in_order(right, chosen)


def label(node: Node, row: tuple[int, ...]) -> int:
    while isinstance(node, Branch):
        node = node.children[row[node.column]]
    return node.label


def is_monotone(node: Node, chosen: set[int], p: int) -> bool:
    """Whether no prediction falls where a chosen column rises, over all rows that there could be."""
    for row in itertools.product((0, 1), repeat=p):
        for j in chosen:
            if row[j] == 0 and label(node, row) > label(node, (*row[:j], 1, *row[j + 1 :])):
                return False
    return True


@pytest.mark.parametrize("seed", range(12))
def test_it_finds_the_best_tree_in_order(seed: int) -> None:
    draw = random.Random(seed)
    n, p = draw.randint(4, 9), draw.randint(2, 3)
    X = [[draw.randint(0, 1) for _ in range(p)] for _ in range(n)]
    data = streed.Dataset.make(X, [draw.randrange(draw.choice((2, 3))) for _ in X])
    chosen = set(draw.sample(range(p), draw.randint(1, p)))
    result = streed.solve(MonotoneErrors(sorted(chosen)), data, max_depth=2)
    evaluation = Evaluation(Misclassifications(), data)
    every = every_tree(Misclassifications(), data, max_depth=2)
    expected = min(evaluation.cost(root) for root in every if in_order(root, chosen))
    assert result.value == expected
    assert result.tree is not None
    assert in_order(result.tree.root, chosen)
    assert is_monotone(result.tree.root, chosen, p)
    assert min(value[0] for value, _ in best_trees(MonotoneErrors(sorted(chosen)), data, max_depth=2)) == expected


def test_costs_alone_cannot_tell() -> None:
    """Of `docs/explanation/monotone.md`: equal costs at an equal state, and only one of the two trees is monotone."""
    data = streed.Dataset.make([[0], [0], [1], [1]], [0, 1, 0, 0])
    left = [Leaf(0, 2, 0), Leaf(1, 2, 0)]
    evaluation = Evaluation(Misclassifications(), data)
    assert [evaluation.task.leaf_cost(evaluation.state([0, 1]), leaf.label) for leaf in left] == [1, 1]
    trees = [Branch(0, (leaf, Leaf(0, 2, 0)), 4) for leaf in left]
    assert [evaluation.cost(tree) for tree in trees] == [1, 1]
    assert [is_monotone(tree, {0}, 1) for tree in trees] == [True, False]


def test_a_majority_is_monotone_and_no_tree_in_order() -> None:
    y = [int(sum(row) >= 2) for row in X3]
    data = streed.Dataset.make(X3, y)
    free = streed.solve(Misclassifications(), data, max_depth=3)
    assert free.value == 0
    assert free.tree is not None
    assert is_monotone(free.tree.root, {0, 1, 2}, 3)
    assert streed.solve(MonotoneErrors([0, 1, 2]), data, max_depth=3).value == 1
    assert streed.solve(MonotoneErrors([0]), data, max_depth=3).value == 0


def test_what_is_refused() -> None:
    refused("increasing", "'age'", call=lambda: streed.solve(MonotoneErrors("age"), X3, [0, 1] * 4))
    refused("increasing", "7", call=lambda: streed.solve(MonotoneErrors([7]), X3, [0, 1] * 4))
    table: Any = {"c": ["a", "b", "c"] * 2}
    refused("increasing", "multiway", call=lambda: streed.solve(MonotoneErrors(["c"]), table, [0, 1] * 3))
