"""What a task says of its prices is what its branching nodes cost."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest

import streed
from streed.data import Dataset
from streed.errors import InputError
from streed.kernels.counting.distinct_rows import merge_rows
from streed.reference import optimum
from streed.task import State
from streed.task.analysis.facts import facts
from streed.tasks import CostSensitive
from streed.tasks.cost_tables import CostTable, TestCost


@pytest.mark.parametrize("seed", range(20))
def test_prices_are_those_of_branching_nodes(seed: int) -> None:
    draw = random.Random(seed)
    owners = [draw.randrange(4) for _ in range(6)]
    tests = []
    for number in sorted(set(owners)):
        price = Fraction(draw.randint(0, 40), draw.choice((1, 2, 4)))
        columns = [j for j, owner in enumerate(owners) if owner == number and draw.random() < 0.9]
        if columns:
            tests.append(
                TestCost(f"t{number}", price, price / draw.choice((1, 2, 3)), draw.choice((None, "g")), columns)
            )
    table = CostTable.of([[0, 3], [Fraction(7, 2), 0]], tests)
    data = Dataset.make(np.array([[0, 1] * 3, [1, 0] * 3]), [0, 1])
    task = CostSensitive(table).bind(data)
    priced = task.priced(data)
    if not any(test.cost for test in tests):
        assert priced is None
        return
    assert priced is not None
    for _ in range(30):
        path = tuple(sorted(draw.sample(range(6), draw.randint(0, 5))))
        split, rows = draw.randrange(6), draw.randint(1, 9)
        cheapest = min([priced.full[split], *(priced.given[f, split] for f in path)])
        assert rows * int(cheapest) * priced.unit == task.branching_cost(rows, path, split)
    costs = priced.costs.statistics(data)["cost"]
    matrix = task.statistics(data)["cost"]
    for k in range(2):
        s = State(2, cost=tuple(matrix.sum(axis=0).tolist()))
        assert task.leaf_cost(s, k) == costs.sum(axis=0)[k]


def test_distinct_rows_cost_what_their_rows_do() -> None:
    """Rows 0 and 2 are alike: 4 and 1 beyond what both pay, so 3 of profit for label 1, and 1 is of the base."""
    codes = np.array([[0, 1], [1, 1], [0, 1]], np.uint8)
    costs = np.array([[0, 1], [5, 2], [4, 0]])
    found = merge_rows(codes, costs, 1, True)
    assert found.first.tolist() == [0, 1]
    assert found.values[:2].tolist() == [[0, 3, 3, 2], [0, 3, 3, 1]]
    assert (found.values[2:] == 0).all()
    assert (found.base, found.worst) == (1 + 2, 6)


def test_prices_need_no_kernel() -> None:
    table = CostTable.of([[0, 3], [2, 0]], [TestCost("t", 1, columns=0)])
    data = Dataset.make(np.array([[0, 1], [1, 0]]), [0, 1])
    assert facts(CostSensitive(table).bind(data), data).kernel == "test costs"
    multiway = Dataset.make(np.array([[0, 1], [2, 0], [1, 0]]), [0, 1, 1], categorical=[0])
    assert facts(CostSensitive(table).bind(multiway), multiway).kernel == "generated"


@pytest.mark.parametrize("search", ["depth-first", "branches", "general"])
@pytest.mark.parametrize("depth", [2, 3, 4])
def test_a_test_that_parts_no_rows_cheapens_no_other(depth: int, search: str) -> None:
    """Below x0, either x1 or x2 is the same in all rows; x1 would make x2 free of charge there, but is no node."""
    X = [[0, 0, v] for v in (0, 1) for _ in range(3)] + [[1, v, 1] for v in (0, 1) for _ in range(3)]
    y = [0, 0, 0, 1, 1, 1] * 2
    tests = [TestCost("x0", 0), TestCost("x1", 1, 1, "g"), TestCost("x2", 10, 0, "g")]
    task = CostSensitive(CostTable.of([[0, 1000], [1000, 0]], tests=tests, classes=[0, 1]))
    result = streed.solve(task, X, y, max_depth=depth, search=search)
    best = optimum(task, Dataset.make(X, y), max_depth=depth)
    assert best is not None
    assert (result.status, result.value) == ("optimal", best[0])


def test_a_table_that_was_solved_with_before_gives_what_a_new_one_does() -> None:
    tests = (TestCost("a", 3, 1, "lab"), TestCost("b", Fraction(1, 2), 0, "lab"), TestCost("c", 0))
    matrix = [[0, Fraction(7, 2)], [9, 0]]
    used = CostTable.of(matrix, tests)
    draw = np.random.default_rng(3)
    for names in [("a", "b", "c"), ("c", "b", "a"), ("a=1", "b", "c", "z"), ("a", "a > 2", "b", "c")] * 2:
        X = {name: draw.integers(0, 2, 40) for name in names}
        y = draw.integers(0, 2, 40)
        results = [
            streed.solve(CostSensitive(table), X, y, max_depth=2) for table in (used, CostTable.of(matrix, tests))
        ]
        assert results[0].value == results[1].value
        assert str(results[0].tree) == str(results[1].tree)
    for _ in range(2):
        with pytest.raises(InputError, match="paid for per row"):
            streed.solve(CostSensitive(used), X, y, max_depth=2, sample_weight=np.arange(40) / 2)
        with pytest.raises(InputError, match="no column"):
            streed.solve(CostSensitive(used), {"a": X["a"]}, y, max_depth=2)
    assert used == CostTable.of(matrix, tests)
