"""Costs per row of every task that ships, beyond the laws that the kit tries (`test_shipped_tasks`)."""

from __future__ import annotations

import functools
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streed.data import Dataset
from streed.reference import Evaluation
from streed.task import RowCostTask, Task
from streed.task.algebra import Constrained, exact_costs
from streed.tasks import (
    Accuracy,
    BalancedAccuracy,
    MinSupport,
    Misclassifications,
    SparseAccuracy,
    Splits,
)
from tests import shipped

if TYPE_CHECKING:
    from collections.abc import Callable

SHIPPED: dict[str, Callable[[Dataset], Task]] = {
    name: functools.partial(shipped.example_for, name)
    for name in shipped.of_any_data(RowCostTask)
    if name not in shipped.WHOLE_WEIGHTS
}
COMPOSED: dict[str, Callable[[Dataset], Task]] = {
    "sum": lambda _: Misclassifications() + 0.3 * Splits(),
    "weighted sum": lambda _: 0.5 * Accuracy() + Fraction(1, 3) * Misclassifications() + 2 * Splits(),
    "constrained": lambda _: SparseAccuracy(0.01).subject_to(MinSupport(2)),
    "sum of compositions": lambda _: 3 * BalancedAccuracy() - 0.1 * SparseAccuracy(0.2),
}
every_task = pytest.mark.parametrize("make_task", [*SHIPPED.values(), *COMPOSED.values()], ids=[*SHIPPED, *COMPOSED])


@st.composite
def data_sets(draw: st.DrawFn) -> Dataset:
    n_rows = draw(st.integers(1, 12))
    n_classes = draw(st.integers(1, 5))
    y = [draw(st.integers(0, n_classes - 1)) for _ in range(n_rows)]
    weights = draw(
        st.none() | st.lists(st.sampled_from((0, 1, 2, 0.1, 0.5, 7.25)), min_size=n_rows, max_size=n_rows).filter(any)
    )
    X = np.array([[draw(st.integers(0, 1)) for _ in range(3)] for _ in range(n_rows)], dtype=np.uint8)
    return Dataset.make(X, y, sample_weight=weights)


@every_task
@given(data=data_sets())
def test_the_engines_integers_are_the_exact_costs(make_task: Callable[[Dataset], Task], data: Dataset) -> None:
    """What the engine adds up, times its unit, is what the reference adds up, row by row."""
    evaluation = Evaluation(make_task(data), data)
    costs = exact_costs(evaluation.task, data)
    assert costs.exact
    for row in range(data.n_rows):
        assert tuple(costs.unit * cost for cost in costs.costs[row].tolist()) == evaluation.state([row]).cost
    inner = evaluation.task.task if isinstance(evaluation.task, Constrained) else evaluation.task
    assert isinstance(inner, RowCostTask)
    assert costs.unit * costs.split == inner.split_cost()
