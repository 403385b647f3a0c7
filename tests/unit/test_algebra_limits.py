"""Tasks under limits: thresholds on other tasks, limits on leaves, and the largest value."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings

from streed.data import Dataset
from streed.errors import NotSeparableError, TaskError
from streed.reference import Evaluation, best_trees, optimal_front
from streed.task import RowCostTask, Task, Totals
from streed.task.algebra import maximize, minimize
from streed.task.analysis.linear_form import row_cost_form
from streed.tasks import (
    Accuracy,
    BalancedAccuracy,
    MinSupport,
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


def test_thresholds_and_limits_join_in_any_order() -> None:
    one = Accuracy().subject_to(MinSupport(2), most(Splits(), 1))
    two = Accuracy().subject_to(most(Splits(), 1)).subject_to(MinSupport(2))
    three = Accuracy().subject_to(MinSupport(2)).subject_to(most(Splits(), 1))
    assert one == two == three
    assert one.limits == (MinSupport(2),)
    four = Accuracy().subject_to(most(Splits(), 1)).subject_to(most(WorstLeaf(), 3))
    assert four == Accuracy().subject_to(most(Splits(), 1), most(WorstLeaf(), 3))
    assert four.feasible((9, 1, 3))
    assert not four.feasible((9, 2, 3))
    assert not four.feasible((9, 1, 4))


def test_thresholds_are_exact_decimals() -> None:
    limited = Accuracy().subject_to(most(0.1 * Splits(), 0.3))
    assert limited.feasible((0, Fraction(3, 10)))
    assert not limited.feasible((0, Fraction(3, 10) + Fraction(1, 10**12)))


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


def test_directions() -> None:
    assert minimize(Gain()) == Gain()
    assert maximize(BalancedAccuracy()) == BalancedAccuracy()
    assert maximize(Gain().subject_to(MinSupport(2))) == maximize(Gain()).subject_to(MinSupport(2))
    with pytest.raises(TaskError, match="added up"):
        maximize(WorstLeaf())
    with pytest.raises(TaskError, match="takes a Task"):
        maximize(3)  # type: ignore[arg-type]
    form = row_cost_form(maximize(Misclassifications()), some_data())
    assert isinstance(form, RowCostTask)
    assert form.row_costs(some_data()).tolist()[0] == [0, -1]
