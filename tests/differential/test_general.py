"""The general route gives the reference's fronts and optima, exactly, for every kind of task that it alone can take."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import streed
from streed.data import Dataset
from streed.dp import dominance, stumps
from streed.exact import readable
from streed.reference import Evaluation, best_trees, optimal_front
from streed.task import TOTAL, Task, Totals
from streed.tasks import AbsoluteError, Accuracy, MinSupport
from tests.unit import unusual_tasks as unusual
from tests.unit.unusual_tasks import general

TASKS: dict[str, Callable[[random.Random], Task]] = {
    "absolute error": lambda _: AbsoluteError(),
    "tuples of three": lambda _: unusual.ErrorsByClass(),
    "tuples of two": lambda _: unusual.FewOfEach(),
    "threshold on a component": lambda draw: unusual.FewOfEach(draw.randint(0, 4)),
    "two operators": lambda _: unusual.WorstOfEach(),
    "own dominance": lambda _: unusual.ByOwnDominance(),
    "maximum": lambda _: unusual.WorstLeaf(),
    "maximum with bounds": lambda _: unusual.WorstLeaf(bounded=True),
    "path": lambda _: unusual.Discounted(),
    "path, a front": lambda _: unusual.DiscountedFront(),
    "children in order": lambda _: unusual.LeftCountsMore(),
    "column": lambda draw: unusual.Priced(draw.choice((1000, 9, 4))),
    "lexicographic": lambda _: unusual.Lexicographic(),
    "fractions": lambda _: unusual.Gini(),
    "rows, a front": lambda _: unusual.Spread(),
    "limit on states": lambda _: unusual.Gini().subject_to(unusual.Mixed()),
    "limit on states, a front": lambda _: unusual.ErrorsByClass().subject_to(unusual.Mixed(), MinSupport(2)),
    "limit on states, costs per row": lambda _: Accuracy().subject_to(AtMostHalf()),
}


class AtMostHalf(streed.Limit):
    """No leaf errs on more than half of its rows with its second label: a limit on the costs of a leaf."""

    def allows(self, s: Any) -> bool:
        return bool(2 * s.cost[-1] <= 2 * s.rows - 1)


def data_set(draw: random.Random, most_rows: int) -> Dataset:
    """A small data set; duplicate and contradictory rows are common among so few different ones."""
    n_columns = draw.choice((1, 2, 3, 3, 4))
    widths = [draw.choice((2, 2, 2, 3, 4)) for _ in range(n_columns)]
    n_rows = draw.choice((draw.randint(1, most_rows), most_rows, most_rows))
    n_classes = draw.choice((2, 2, 3, 4))
    X = [[draw.randrange(width) for width in widths] for _ in range(n_rows)]
    y = [draw.randrange(n_classes) if draw.random() < 0.3 else sum(row) % n_classes for row in X]
    weights: list[float] | None = None
    if draw.random() < 0.4:
        weights = [draw.choice((0, 1, 2, 5, 0.5, 0.1, 0.3, 1.25)) for _ in range(n_rows)]
        weights[0] = weights[0] or 1
    categorical = [column for column, width in enumerate(widths) if width > 2]
    return Dataset.make(np.array(X, dtype=np.uint8), y, sample_weight=weights, categorical=categorical)


def limits_of(draw: random.Random, data: Dataset) -> dict[str, Any]:
    return {
        "max_depth": draw.choice((None, 0, 1, 2, 2, 3, 3)),
        "max_nodes": draw.choice((None, None, None, 1, 2, 3, 4)),
        "min_leaf": min(data.n_rows, draw.choice((1, 1, 1, 2, 3))),
    }


def check(
    task: Task, data: Dataset, limits: dict[str, Any], expected: list[tuple[Any, Any]], *, by_arrays: bool
) -> None:
    """Assert that the route finds the expected values, with trees that have them."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (dominance, stumps):
            patch.setattr(module, "_FEW", 0 if by_arrays else 10**9)
        result = general(task, data, **limits)
    if not expected:
        assert (result.status, result.front) == ("infeasible", ())
        return
    totals = Totals(task, data)
    assert result.stats["route"] == "general"
    assert result.stats["exact"] is True
    assert result.status == "optimal"
    shown = [readable(task.score(value, totals)) for value, _ in expected]
    assert sorted(value for value, _ in result.front) == sorted(shown)
    evaluation = Evaluation(task, data)
    for value, tree in result.front:
        assert readable(task.score(evaluation.cost(tree.root), totals)) == value
        assert evaluation.broken_limits(tree.root, **limits) == []
    assert result.value == min(value for value, _ in result.front)
    assert result.gap == 0
    if task.order == TOTAL:
        assert result.lower_bound == result.value == result.upper_bound
    else:
        assert (result.lower_bound, result.upper_bound) == (None, result.value)


@pytest.mark.parametrize("kind", TASKS)
@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**64 - 1))
def test_the_route_finds_what_the_recursion_finds(kind: str, seed: int) -> None:
    draw = random.Random(seed)
    data = data_set(draw, 14)
    limits = limits_of(draw, data)
    task = TASKS[kind](draw)
    check(task, data, limits, optimal_front(task, data, **limits), by_arrays=draw.random() < 0.5)


@pytest.mark.parametrize("kind", TASKS)
@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 2**64 - 1))
def test_the_route_finds_what_trying_every_tree_finds(kind: str, seed: int) -> None:
    draw = random.Random(seed)
    data = data_set(draw, 7)
    limits = limits_of(draw, data) | {"max_nodes": draw.choice((1, 2, 2))}
    task = TASKS[kind](draw)
    check(task, data, limits, best_trees(task, data, **limits), by_arrays=draw.random() < 0.5)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**64 - 1))
def test_costs_per_row_by_either_route(seed: int) -> None:
    """A limit that always holds sends a task the general way; the optimum stays the same."""
    draw = random.Random(seed)
    data = data_set(draw, 30)
    limits = limits_of(draw, data)
    native = streed.solve(Accuracy(), data, **limits)
    by_python = general(Accuracy().subject_to(Always()), data, **limits)
    assert (native.status, native.value) == (by_python.status, by_python.value)
    assert native.stats.get("route") != "general"
    assert by_python.stats["route"] == "general"


class Always(streed.Limit):
    def allows(self, s: Any) -> bool:
        return True
