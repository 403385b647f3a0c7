"""Collapsed trees: fewer branching nodes, the same predictions."""

from __future__ import annotations

import numpy as np
import pytest

import streed
from streed.data import Dataset
from streed.tasks import Accuracy, SparseAccuracy
from streed.tree import Branch, Leaf, Node, Tree
from streed.tree.collapse import CollapsedTree, GroupBranch, GroupLeaf, collapse

COLOURS = Dataset.make([[0, 0], [1, 1], [2, 0], [3, 1], [0, 1]], ["a", "b", "a", "b", "a"], categorical=[0])


def grown(root: Node) -> Tree:
    return Tree.grown(root, COLOURS)


def leaf(label: int, rows: int = 1) -> Leaf:
    return Leaf(label, rows, 0)


def below(first: int, second: int) -> Branch:
    return Branch(1, (leaf(first), leaf(second)), 2)


def test_equal_leaves_of_a_split_are_one() -> None:
    found = collapse(grown(Branch(0, (leaf(0, 2), leaf(1), leaf(0), leaf(1)), 5)))
    assert isinstance(found.root, GroupBranch)
    assert found.root.groups == ((0, 2), (1, 3))
    assert found.root.children == (GroupLeaf("a", 3), GroupLeaf("b", 2))
    assert (found.n_branches, found.n_leaves, found.root.rows) == (1, 2, 5)
    assert found.to_text().splitlines()[1:] == ["├── 0 or 2: a (3 rows)", "└── 1 or 3: b (2 rows)"]


def test_equal_subtrees_are_one_and_different_ones_stay() -> None:
    found = collapse(grown(Branch(0, (below(0, 1), below(1, 0), below(0, 1), leaf(1)), 7)))
    assert isinstance(found.root, GroupBranch)
    assert found.root.groups == ((0, 2), (1,), (3,))
    assert found.n_branches == 3
    first = found.root.children[0]
    assert isinstance(first, GroupBranch)
    assert first.children == (GroupLeaf("a", 2), GroupLeaf("b", 2))


def test_a_split_that_asks_nothing_goes() -> None:
    """The split on column 0 once its sides turn out equal, and then the one above it."""
    pointless = Branch(1, (leaf(1, 2), leaf(1, 3)), 5)
    found = collapse(grown(Branch(0, (pointless, leaf(1), leaf(1), pointless), 12)))
    assert found.root == GroupLeaf("b", 12)
    assert found.to_text() == "b (12 rows)"
    assert found.predict(COLOURS) == ["b"] * 5


@pytest.mark.parametrize("seed", range(5))
def test_predictions_stay_the_same(seed: int) -> None:
    draw = np.random.default_rng(seed)
    X = draw.integers(0, 4, (120, 4))
    y = (X[:, 0] // 2 + X[:, 1] // 2) % 2
    tree = streed.solve(SparseAccuracy(0.001), X, y, categorical=True, max_depth=3).tree
    assert tree is not None
    found = tree.collapse()
    assert isinstance(found, CollapsedTree)
    unseen = draw.integers(0, 4, (300, 4))
    assert found.predict(unseen) == tree.predict(unseen).tolist()
    assert (tree.n_branches, found.n_branches) == (5, 3)
    assert found.root.rows == 120


def test_a_leaf_collapses_to_itself() -> None:
    tree = streed.solve(Accuracy(), COLOURS, max_depth=0).tree
    assert tree is not None
    assert tree.collapse().root == GroupLeaf("a", 5)
