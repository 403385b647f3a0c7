"""The tasks of costs, policies, times and further regressions are separable, as far as the kit can tell."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import strategies as st

from streed import registry
from streed.applications.cost_tables import CostTable, TestCost
from streed.data import Dataset
from streed.task import Task
from streed.tasks import (
    CostSensitive,
    InstanceCosts,
    LinearLeaves,
    MisclassificationCosts,
    MonotoneErrors,
    PoissonDeviance,
    PolicyValue,
    QuantileError,
    RelativeRisk,
    TreatmentCosts,
)
from streed.testing import LAWS, datasets, find_violations
from tests.property.test_shipped_tasks import APPLICATIONS

MATRIX = [[0, 2, 5], [1.5, 0, 4], [3, 3, 0]]
TESTS = [TestCost("first", 1.5, 0.5, "lab", columns=0), TestCost("second", 2, 1, "lab", columns=1)]

SCORES = st.tuples(st.integers(-3, 6), st.integers(-3, 6), st.integers(-3, 6))


@st.composite
def past_treatments(draw: Any) -> Dataset:
    """Rows of which the first three were given one of three treatments each."""
    made = draw(datasets(row_data={"outcome": st.integers(0, 4), "predicted": SCORES}, few_kinds=True))
    n = max(made.n_rows, 3)
    rows = [min(row, made.n_rows - 1) for row in range(n)]
    given = [row if row < 3 else draw(st.integers(0, 2)) for row in range(n)]
    return Dataset.make(
        made.X[rows],
        made.y[rows],
        categorical=list(made.categorical),
        treatment=given,
        propensity=[draw(st.sampled_from((0.25, 0.5, 1))) for _ in range(n)],
        **{name: values[rows] for name, values in made.row_data.items()},
    )


CASES: dict[str, tuple[Task, st.SearchStrategy[Dataset]]] = {
    "cost-sensitive": (CostSensitive(CostTable.of(MATRIX, TESTS, range(3))), datasets(weights=False, few_kinds=True)),
    "instance-costs": (InstanceCosts(), datasets(row_data={"costs": SCORES}, few_kinds=True)),
    "linear-leaves": (
        LinearLeaves(0.5),
        datasets(y=st.integers(-2, 4), row_data={"features": st.tuples(st.integers(-2, 2))}, few_kinds=True),
    ),
    "misclassification-costs": (
        MisclassificationCosts(CostTable.of(MATRIX, classes=range(3))),
        datasets(few_kinds=True),
    ),
    "monotone-errors": (MonotoneErrors([0]), datasets(multiway=False, few_kinds=True)),
    "poisson-deviance": (
        PoissonDeviance(),
        datasets(y=st.integers(0, 4), row_data={"exposure": st.integers(1, 3)}, few_kinds=True),
    ),
    "policy-value": (PolicyValue("dr"), past_treatments()),
    "quantile-error": (QuantileError(0.25), datasets(y=st.integers(-2, 4), few_kinds=True)),
    "relative-risk": (
        RelativeRisk(),
        datasets(y=st.integers(0, 6), row_data={"event": st.integers(0, 1)}, few_kinds=True),
    ),
    "treatment-costs": (TreatmentCosts({0: 1, 1: 2.5}), datasets(row_data={"predicted": SCORES}, few_kinds=True)),
}

QUICK = ("cost-sensitive", "relative-risk")
"""One by prices, one by a kernel of its own; the rest is for the long run."""


def _cases() -> list[Any]:
    return [pytest.param(name, marks=() if name in QUICK else pytest.mark.slow) for name in sorted(CASES)]


def test_all_applications_are_here() -> None:
    assert set(CASES) == set(APPLICATIONS) == set(registry.tasks()) & set(CASES)


@pytest.mark.parametrize("name", _cases())
def test_every_application_is_separable(name: str) -> None:
    task, data = CASES[name]
    laws = tuple(law for law in LAWS if not law.needs_engine)
    report = find_violations(task, laws, data=data, max_examples=8 if name in QUICK else 20)
    assert report.holds, report
    assert report["recursion equals enumeration"].examples > 0


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(CASES))
def test_the_engine_agrees_on_every_application(name: str) -> None:
    task, data = CASES[name]
    report = find_violations(task, tuple(law for law in LAWS if law.needs_engine), data=data, max_examples=20)
    assert report.holds, report
    assert report["drivers equal recursion"].examples > 0
