"""The reference, computed by hand on trees small enough for that."""

from __future__ import annotations

import itertools
import subprocess
import sys
from fractions import Fraction
from typing import TYPE_CHECKING, Any, final

import attrs
import numpy as np
import pytest

from streed.data import Dataset
from streed.errors import MismatchError
from streed.reference import Evaluation, best_trees, cost_of_tree, every_tree, optimal_front, optimum
from streed.reference.definition import OptimizationTask, context_independent
from streed.reference.recursion import Recursion, Solution, _shares, feas, merge, nondom, opt
from streed.task import State, Task, Totals
from streed.tasks import Accuracy, BalancedAccuracy, MinSupport, Misclassifications, SparseAccuracy, Splits
from streed.tree import Branch, Leaf

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streed.exact import Array

XOR = ([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0])


@final
@attrs.frozen
class MissesAndAlarms(Task):
    """(false negatives, false positives), ordered by Pareto dominance."""

    def statistics(self, data: Dataset) -> dict[str, Array]:
        return {"positive": data.class_numbers, "negative": 1 - data.class_numbers}

    def labels(self, data: Dataset) -> Sequence[Any]:
        return (0, 1)

    def leaf_cost(self, s: State, k: int) -> tuple[int, int]:
        return (0, s.negative) if k else (s.positive, 0)

    def combine(self, a: Any, b: Any) -> Any:
        return tuple(x + y for x, y in zip(a, b, strict=True))

    def branching_cost(self, rows: int, path: tuple[int, ...], split: int) -> Any:
        return (0, 0)

    def better(self, a: Any, b: Any) -> bool:
        return a != b and all(x <= y for x, y in zip(a, b, strict=True))


@final
@attrs.frozen
class Tests(Task):
    """Errors, and a price per row for looking at a column: 3 for column 1 without column 0 above it, else nothing."""

    __test__ = False

    def statistics(self, data: Dataset) -> dict[str, Array]:
        return {"wrong": (data.class_numbers[:, None] != np.arange(data.n_classes)).astype(np.int64)}

    def labels(self, data: Dataset) -> Sequence[Any]:
        return data.classes

    def leaf_cost(self, s: State, k: int) -> int:
        return 10 * int(s.wrong[k])

    def branching_cost(self, rows: int, path: tuple[int, ...], split: int) -> int:
        return 3 * rows if split == 1 and 0 not in path else 0


def solutions(*values: Any) -> list[Solution]:
    return [Solution(value, 0, None) for value in values]


def values(found: Any) -> list[Any]:
    return [solution.value for solution in found]


def best_value(task: Task, data: Dataset, **limits: Any) -> Any:
    found = optimum(task, data, **limits)
    assert found is not None
    return found[0]


def problem(task: Task, X: Any, y: Any, min_leaf: int = 1) -> OptimizationTask:
    return OptimizationTask(task, Dataset.make(X, y), min_leaf)


# -- the equations -----------------------------------------------------------------------------------------------------


def test_equation_3_keeps_one_solution_of_each_nondominated_value() -> None:
    scalar = problem(Accuracy(), *XOR)
    assert values(nondom(scalar, solutions(3, 1, 2, 1))) == [1]
    pairs = problem(MissesAndAlarms(), *XOR)
    assert values(nondom(pairs, solutions((2, 2), (0, 3), (3, 0), (1, 2), (0, 3), (3, 1)))) == [(0, 3), (3, 0), (1, 2)]
    assert nondom(pairs, []) == []


def test_equation_5_keeps_leaves_that_meet_the_constraint_and_all_branches() -> None:
    o = problem(Accuracy().subject_to(MinSupport(3)), *XOR, min_leaf=2)
    leaf, branch = Solution(1, 0, None), Solution(0, 0, (Solution(0, 0, None),) * 2)
    assert list(feas(o, [leaf, branch], o.s0)) == [leaf, branch]
    (two_rows, _) = o.t(o.s0, 0)
    assert list(feas(o, [leaf, branch], two_rows)) == [branch]
    strict = problem(Accuracy(), *XOR, min_leaf=5)
    assert list(feas(strict, [leaf], strict.s0)) == []


def test_equation_6_is_the_best_of_the_feasible() -> None:
    o = problem(Accuracy(), *XOR, min_leaf=5)
    branch = Solution(2, 0, (Solution(1, 0, None),) * 2)
    assert opt(o, [*solutions(0, 1), branch], o.s0) == [branch]


def test_equation_7_combines_every_choice_of_one_solution_per_child() -> None:
    o = problem(Misclassifications() + 10 * Splits(), *XOR)
    assert values(merge(o, [solutions(1, 2), solutions(0, 5)], o.s0, 1)) == [11, 16, 12, 17]
    assert values(merge(o, [solutions(1), solutions(2), solutions(3)], o.s0, 0)) == [16]
    assert values(merge(o, [solutions(1), []], o.s0, 0)) == []


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
    assert list(_shares(2, 2)) == [(0, 2), (1, 1), (2, 0)]
    assert list(_shares(2, 3)) == [(0, 0, 2), (0, 1, 1), (0, 2, 0), (1, 0, 1), (1, 1, 0), (2, 0, 0)]
    assert list(_shares(0, 3)) == [(0, 0, 0)]


def test_a_multiway_tree_of_depth_two_may_have_more_than_three_nodes() -> None:
    # The category says which of three columns is the answer; without one of them half of its eight rows are wrong.
    X = [[c, *bits] for c in range(3) for bits in itertools.product((0, 1), repeat=3)]
    data = Dataset.make(X, [row[1 + row[0]] for row in X], categorical=[0])
    best = [best_value(Accuracy(), data, max_depth=2, max_nodes=nodes) for nodes in (2, 3, 4, 5, None)]
    assert best == [8, 4, 0, 0, 0]


def test_limits_that_exclude_no_tree_share_one_entry_of_the_memo() -> None:
    o = problem(Accuracy(), *XOR)
    recursion = Recursion(o)
    everything = recursion.T(o.s0, None, None)
    for depth, nodes in ((2, None), (9, None), (None, 3), (2, 3), (7, 9)):
        assert recursion.T(o.s0, depth, nodes) is everything
    assert recursion.T(o.s0, 1, None) is not everything


# -- values ------------------------------------------------------------------------------------------------------------


def test_a_leaf_takes_the_smallest_of_the_cheapest_labels() -> None:
    found = optimum(Accuracy(), Dataset.make([[0], [0], [0], [0]], ["b", "c", "b", "c"]))
    assert found == (2, Leaf(0, 4, 2))


def test_weights_are_the_decimals_that_they_print_as() -> None:
    data = Dataset.make([[0], [0], [0]], ["a", "a", "b"], sample_weight=[0.1, 0.2, 0.3])
    assert optimum(Accuracy(), data) == (Fraction(3, 10), Leaf(0, 3, Fraction(3, 10)))


def test_sparse_accuracy_pays_for_every_branching_node() -> None:
    data = Dataset.make(*XOR)
    # Three splits against two of four rows wrong.
    assert best_value(SparseAccuracy(0.1), data) == Fraction(3, 10)
    assert best_value(SparseAccuracy(0.2), data) == Fraction(1, 2)
    assert best_value(SparseAccuracy(0), data) == 0


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


def test_rows_are_counted_without_weights_for_the_support_of_a_leaf() -> None:
    data = Dataset.make([[0], [0], [0], [1]], [0, 0, 0, 1], sample_weight=[1, 1, 1, 9])
    assert best_value(Accuracy(), data, min_leaf=1) == 0
    assert best_value(Accuracy(), data, min_leaf=2) == 3
    assert best_value(Accuracy().subject_to(MinSupport(2)), data) == 3
    assert optimum(Accuracy(), data, min_leaf=5) is None
    assert optimum(Accuracy().subject_to(MinSupport(5)), data) is None


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


def test_no_columns_leave_a_leaf() -> None:
    assert optimum(Accuracy(), Dataset.make(np.zeros((3, 0), dtype=np.uint8), [0, 1, 1])) == (1, Leaf(1, 3, 1))


def test_vector_valued_tasks_have_a_front() -> None:
    data = Dataset.make([[0], [0], [0], [1], [1]], [0, 0, 1, 1, 0])
    front = optimal_front(MissesAndAlarms(), data, max_depth=1)
    assert sorted(value for value, _ in front) == [(0, 3), (1, 1), (2, 0)]
    for value, tree in front:
        assert cost_of_tree(MissesAndAlarms(), data, tree) == value


# -- costs that depend on the branch -----------------------------------------------------------------------------------


def test_only_costs_that_ignore_the_branch_are_context_independent() -> None:
    assert context_independent(SparseAccuracy(0.1).subject_to(MinSupport(2)))
    assert not context_independent(Tests())
    assert not context_independent(Tests().subject_to(MinSupport(2)))


def test_the_branch_is_remembered_where_costs_depend_on_it() -> None:
    # Columns 2 and 0 part the rows alike, and column 1 costs nothing only below column 0: the same rows, other costs.
    X = [[0, 0, 0], [0, 1, 0], [1, 0, 1], [1, 1, 1]]
    data = Dataset.make([[row[2], row[1], row[0]] for row in X], [0, 1, 1, 0])
    found = optimum(Tests(), data, max_depth=2)
    assert found is not None
    value, tree = found
    assert value == 0
    assert cost_of_tree(Tests(), data, tree) == 0
    below = [Branch(1, (Leaf(k, 1, 0), Leaf(1 - k, 1, 0)), 2) for k in (0, 1)]
    by_column_2 = Branch(2, tuple(below), 4)
    assert cost_of_tree(Tests(), data, by_column_2) == 12


# -- trees -------------------------------------------------------------------------------------------------------------


def test_equation_4_adds_up_leaves_and_branches() -> None:
    data = Dataset.make(*XOR)
    tree = Branch(0, (Leaf(0, 2, 0), Branch(1, (Leaf(0, 1, 0), Leaf(1, 1, 0)), 2)), 4)
    task = Misclassifications() + 0.25 * Splits()
    assert cost_of_tree(task, data, tree) == 1 + 2 + 2 * Fraction(1, 4)
    evaluation = Evaluation(task, data)
    assert evaluation.shape(tree) == (2, 2, 3)
    assert evaluation.predictions(tree) == [0, 0, 0, 1]


def test_trees_that_do_not_fit_are_refused() -> None:
    data = Dataset.make([[0, 0], [1, 0]], [0, 1])
    with pytest.raises(MismatchError, match=r"column 1 .* separates no rows"):
        cost_of_tree(Accuracy(), data, Branch(1, (Leaf(0, 2, 0), Leaf(0, 0, 0)), 2))
    with pytest.raises(MismatchError, match="2 children, the tree 3"):
        cost_of_tree(Accuracy(), data, Branch(0, (Leaf(0, 1, 0), Leaf(0, 1, 0), Leaf(0, 0, 0)), 2))
    with pytest.raises(MismatchError, match="label 2, and there are 2"):
        cost_of_tree(Accuracy(), data, Leaf(2, 2, 0))


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


def test_every_tree_is_enumerated() -> None:
    # Two labels: 2 leaves; a split over two of them 4; at depth two each child of a root is one of 2 + 4.
    data = Dataset.make(*XOR)
    assert [sum(1 for _ in every_tree(Accuracy(), data, max_depth=depth)) for depth in range(4)] == [2, 10, 74, 74]
    assert [sum(1 for _ in every_tree(Accuracy(), data, max_nodes=nodes)) for nodes in range(4)] == [2, 10, 42, 74]
    ((value, tree),) = best_trees(Accuracy(), data, max_nodes=2)
    assert (value, Evaluation(Accuracy(), data).shape(tree)) == (1, (2, 2, 3))


def test_the_reference_needs_no_numba() -> None:
    program = "import sys, streed.reference; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False, timeout=600).returncode == 0
