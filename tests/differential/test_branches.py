"""The best-first driver: what AO* promises, what it refuses, and the general route in its order; `auto` as well."""

from __future__ import annotations

import math
import random
from typing import Any, ClassVar

import pytest

import streed
from streed.data import Dataset
from streed.dp.search import search_general
from streed.errors import TaskError
from streed.exact import readable
from streed.problem import Driver, Outcome, Problem, SearchLimits
from streed.reference import best_trees, optimal_front
from streed.task import TOTAL, Task, Totals
from streed.tasks import AbsoluteError, Accuracy, SparseAccuracy, Splits
from tests.differential import test_general
from tests.differential.test_drivers import noisy
from tests.unit import unusual_tasks as unusual


class InPython(Driver):
    """The general route's best-first search, whatever kernels could take."""

    name: ClassVar[str] = "in python"
    reduces: ClassVar[bool] = False

    def check(self, task: Task) -> None:
        pass

    def search(self, problem: Problem, search_limits: SearchLimits) -> Outcome:
        return search_general(problem, search_limits, best_first=True)


TOTALLY_ORDERED = [kind for kind, make in test_general.TASKS.items() if make(random.Random(0)).order == TOTAL]


@pytest.mark.parametrize("every", [False, True], ids=["recursion", "enumeration"])
@pytest.mark.parametrize("kind", TOTALLY_ORDERED)
def test_the_general_route_finds_the_optimum(kind: str, every: bool) -> None:
    for seed in range(6):
        draw = random.Random(f"{kind} {seed}")
        data = test_general.data_set(draw, 7 if every else 12)
        limits = test_general.limits_of(draw, data) | ({"max_nodes": 2} if every else {})
        task = test_general.TASKS[kind](draw)
        result = streed.solve(task, data, **limits, search=InPython())
        expected = (best_trees if every else optimal_front)(task, data, **limits)
        if not expected:
            assert result.status == "infeasible"
            continue
        assert (result.status, result.gap) == ("optimal", 0)
        shown = [readable(task.score(value, Totals(task, data))) for value, _ in expected]
        assert result.value == min(shown)


def test_a_partial_order_is_refused() -> None:
    with pytest.raises(TaskError, match="best-first search needs a total one"):
        streed.solve(unusual.ErrorsByClass(), [[0], [1]], [0, 1], search="branches")


def most_branches(columns: int, width: int, deepest: int) -> int:
    """The branches of at most so many literals."""
    return sum(math.comb(columns, h) * width**h for h in range(min(deepest, columns) + 1))


@pytest.mark.parametrize("width", [2, 3])
@pytest.mark.parametrize("penalty", ["0.02", "0.05", "0.1"])
def test_no_more_branches_are_expanded_than_theorem_4_4_allows(penalty: str, width: int) -> None:
    """Theorem 4.4 with the problem's own kappa (G.5)."""
    for seed in range(8):
        columns = 5 if width == 3 else 7
        data = noisy(seed, 80, [width] * columns)
        result = streed.solve(SparseAccuracy(float(penalty)), data, search="branches")
        assert result.tree is not None
        splits = result.tree.n_branches
        errors = result.value - float(penalty) * splits
        deepest = math.floor(splits - 1 + errors / float(penalty) + 1e-9)
        expanded = result.stats["expansions"] - result.stats["repeats"]
        assert 1 <= expanded <= most_branches(columns, width, deepest)


@pytest.mark.parametrize(
    ("task", "options", "driver"),
    [
        (Accuracy(), {"max_depth": 2}, "depth-first"),
        (Accuracy(), {"time_limit": 60}, "depth-first"),
        (SparseAccuracy(0.05), {"time_limit": 60}, "branches"),
        (SparseAccuracy(0.05), {"gap": 0.01}, "branches"),
        (SparseAccuracy(0.05), {}, "depth-first"),
        (SparseAccuracy(0.001), {"time_limit": 60}, "depth-first"),
        (unusual.ErrorsByClass(), {"max_depth": 1}, "depth-first"),
    ],
)
def test_auto_says_which_driver_it_took(task: Task, options: dict[str, Any], driver: str) -> None:
    data = noisy(1, 60, [2] * 5)
    result = streed.solve(task, data, search="auto", **options)
    assert result.stats["search"] == driver
    assert result.stats["chosen"]
    if "gap" not in options:
        assert result.value == streed.solve(task, data, **options).value


def test_auto_takes_a_task_that_reads_rows_with_a_price() -> None:
    data = Dataset.make([[0], [0], [1], [1], [1]], [3, 5, 3, 9, 7])
    found = [streed.solve(AbsoluteError() + 0.01 * Splits(), data, search=search) for search in ("auto", "depth-first")]
    assert found[0].value == found[1].value == 8.01
    assert found[0].tree == found[1].tree
