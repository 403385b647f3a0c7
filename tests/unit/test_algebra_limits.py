"""Tasks under limits: thresholds on other tasks, limits on leaves, and the largest value."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings

from streed.data import Dataset
from streed.errors import NotSeparableError, TaskError
from streed.reference import Evaluation, best_trees, optimal_front
from streed.task import Task, Totals
from streed.task.algebra import maximize
from streed.tasks import (
    Accuracy,
    BalancedAccuracy,
    Misclassifications,
    SparseAccuracy,
    Splits,
)
from tests.unit.algebra_tasks import (
    Gain,
    Largest,
    Spread,
    WorstLeaf,
    data_sets,
    most,
    some_data,
    values,
)

THRESHOLDS: list[tuple[Task, list[tuple[Task, Any]]]] = [
    (Misclassifications(), [(Splits(), 1)]),
    (Spread(), [(WorstLeaf(), 1)]),
    (WorstLeaf(), [(Misclassifications(), 1.5), (Splits(), 2)]),
    (Splits(), [(SparseAccuracy(0.1), 0.3)]),
    (BalancedAccuracy(), [(Spread() + Splits(), 3)]),
]


@pytest.mark.parametrize(("task", "limits"), THRESHOLDS)
@given(data=data_sets())
@settings(max_examples=15, deadline=None)
def test_thresholds_keep_the_best_tree_within_them(task: Task, limits: list[tuple[Task, Any]], data: Dataset) -> None:
    limited = task.subject_to(*(most(other, limit) for other, limit in limits))
    rows = zip(values(task, data), *(values(other, data) for other, _ in limits), strict=True)
    within = [row[0] for row in rows if all(x <= Fraction(str(m)) for x, (_, m) in zip(row[1:], limits, strict=True))]
    found = optimal_front(limited, data, max_depth=2)
    totals = Totals(limited, data)
    scores = [limited.score(value, totals) for value, _ in found]
    if not within:
        assert scores == []
    else:
        best = task.score(min(within), Totals(task, data))
        assert (max if limited.larger_is_better else min)(scores) == best


def test_a_limit_needs_a_worsening_operator() -> None:
    with pytest.raises(NotSeparableError, match=r"Def\. A\.2"):
        most(Largest(), 3)
    with pytest.raises(NotSeparableError, match=r"Def\. A\.2.*costs may be negative"):
        Accuracy().subject_to(most(Gain(), 3)).bind(some_data())
    with pytest.raises(NotSeparableError, match=r"Def\. A\.2"):
        Accuracy().subject_to(most(Gain() + Accuracy(), 3)).bind(some_data())
    with pytest.raises(TaskError, match="not the value"):
        most(BalancedAccuracy(), 0.8)
    with pytest.raises(TaskError, match="is componentwise"):
        most(Accuracy() & Splits(), 3)
    with pytest.raises(TaskError, match="is componentwise"):
        (Accuracy() & Splits()).subject_to(most(Splits(), 3))
    with pytest.raises(TaskError, match="subject_to takes limits"):
        Accuracy().subject_to(3)  # type: ignore[arg-type]


@given(data=data_sets())
@settings(max_examples=15, deadline=None)
def test_the_largest_value_is_found_and_shown(data: Dataset) -> None:
    task = maximize(Gain())
    assert task.larger_is_better
    ((value, tree),) = best_trees(task, data, max_depth=2)
    shown = task.score(value, Totals(task, data))
    assert shown == max(values(Gain(), data)) == Evaluation(Gain(), data).cost(tree)
