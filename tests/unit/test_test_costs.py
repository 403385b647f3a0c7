"""What a task says of its prices is what its branching nodes cost."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest

import streed
from streed.data import Dataset
from streed.reference import optimum
from streed.task import State
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


def test_discounts_beside_a_categorical_column() -> None:
    """No costs per row are searched there, but the task's own methods in native code."""
    tests = [TestCost("x0", Fraction(9, 4), 0, "a"), TestCost("x1", 2, 1, "a"), TestCost("x2", Fraction(7, 8), 0, None)]
    task = CostSensitive(CostTable.of([[0, 4], [9, 0]], tests, classes=[0, 1]))
    X = [[i & 1, i % 3, i >> 1 & 1] for i in range(24)]
    data = Dataset.make(X, [(i % 3 == 1) ^ (i & 1) for i in range(24)], categorical=[1])
    result, best = streed.solve(task, data, max_depth=2), optimum(task, data, max_depth=2)
    assert best is not None
    assert (result.value, result.status, result.stats["route"]) == (best[0], "optimal", "generated")
