"""The best-first driver: the reference's optimum on every kind of task, and what AO* promises on top of it."""

from __future__ import annotations

import math
import random
from typing import Any, ClassVar

import numpy as np
import pytest

import streed
from streed.data import Dataset
from streed.dp.search import search_general
from streed.errors import InputError, TaskError
from streed.exact import readable
from streed.problem import Driver, Outcome, Problem, SearchLimits
from streed.reference import best_trees, optimal_front
from streed.task import TOTAL, Task, Totals
from streed.tasks import F1, AbsoluteError, Accuracy, SparseAccuracy, Splits
from tests.differential import test_general
from tests.differential.comparison import differences
from tests.differential.instances import make_instance
from tests.unit import unusual_tasks as unusual

BLOCK = 40


@pytest.mark.parametrize("first", [0, *(pytest.param(k, marks=pytest.mark.slow) for k in range(BLOCK, 1200, BLOCK))])
def test_it_agrees_with_the_reference(first: int) -> None:
    for number in range(first, first + BLOCK):
        instance = make_instance(2026, number)
        wrong = differences(instance, streed.solve, search="branches")
        assert not wrong, "\n".join([*wrong, instance.snippet(search="branches")])


@pytest.mark.slow
def test_two_threads_agree_with_the_reference() -> None:
    for number in range(20):
        instance = make_instance(2027, number)
        wrong = differences(instance, streed.solve, search="branches", threads=2)
        assert not wrong, "\n".join([*wrong, instance.snippet(search="branches", threads=2)])


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


def noisy(seed: int, rows: int, widths: list[int], classes: int = 2) -> Dataset:
    """Data whose labels follow two columns, with noise; wide columns are categorical."""
    draw = np.random.default_rng(seed)
    X = np.stack([draw.integers(0, width, rows) for width in widths], axis=1).astype(np.uint8)
    y = np.where(draw.random(rows) < 0.25, draw.integers(0, classes, rows), (X[:, 0] + X[:, -1]) % classes)
    return Dataset.make(X, y, categorical=[j for j, width in enumerate(widths) if width > 2])


@pytest.mark.parametrize("seed", range(6))
def test_both_drivers_agree_at_any_depth(seed: int) -> None:
    widths = [[2] * 9, [3, 2, 2, 4, 2], [5, 4, 3]][seed % 3]
    data = noisy(seed, 150, widths, 2 + seed % 2)
    for task in (SparseAccuracy(0.004), SparseAccuracy(0.02)):
        found = [streed.solve(task, data, search=search) for search in ("branches", "depth-first")]
        assert found[0].value == found[1].value
        assert [each.status for each in found] == ["optimal"] * 2
        assert [each.stats["search"] for each in found] == ["branches", "depth-first"]


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


def test_the_gap_never_grows_and_ends_at_zero() -> None:
    data = noisy(3, 300, [2] * 14)
    for search in ("branches", "depth-first"):
        result = streed.solve(SparseAccuracy(0.002), data, search=search)
        trace = result.stats["trace"]
        assert result.status == "optimal"
        assert trace[-1][1:3] == (result.value, result.value)
        assert len(trace) <= 257
        gaps = [best - bound for _, best, bound, _ in trace if best is not None and bound is not None]
        assert gaps == sorted(gaps, reverse=True)
        assert [entry[0] for entry in trace] == sorted(entry[0] for entry in trace)


def test_a_stop_by_the_gap_keeps_its_promise() -> None:
    data = noisy(5, 400, [2] * 24)
    for search in ("branches", "depth-first"):
        result = streed.solve(SparseAccuracy(0.0005), data, search=search, gap=0.9, time_limit=60)
        assert result.status in ("optimal", "feasible")
        assert result.stats["stopped"] in (None, "gap")
        assert result.gap <= 0.9 * result.value
    assert streed.solve(Accuracy(), data, max_depth=2, gap=0).status == "optimal"


@pytest.mark.parametrize("limits", [{}, {"max_nodes": 3}, {"max_depth": 2}])
def test_scores_are_reduced_to_scalar_solves_of_either_driver(limits: dict[str, Any]) -> None:
    data = noisy(4, 60, [2] * 5)
    found = [streed.solve(F1(), data, search=search, **limits) for search in ("branches", "depth-first")]
    assert found[0].value == found[1].value
    assert [each.stats["search"] for each in found] == ["branches", "depth-first"]
    with pytest.raises(InputError, match="no bound before its end"):
        streed.solve(F1(), data, search="branches", gap=0.1)


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
