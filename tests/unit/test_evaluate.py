from __future__ import annotations

from fractions import Fraction

from streed.tasks import Accuracy, BalancedAccuracy, MinSupport, SparseAccuracy, Splits
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
