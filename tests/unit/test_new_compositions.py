"""Compositions made here alone, which streed does not know: facts, explain, fronts, reductions, encodings take them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

import attrs
import numpy as np
import pytest

import streed
from streed.data import Dataset
from streed.task import State, Task
from streed.task.algebra import at_most
from streed.task.analysis.facts import explain, facts
from streed.task.analysis.vector_form import vector_costs
from streed.task.constrained import Wrapping
from streed.tasks import (
    F1,
    Accuracy,
    ClassErrors,
    DemographicParity,
    MatthewsCorrelation,
    MinSupport,
    Misclassifications,
    SparseAccuracy,
    Splits,
)
from tests.unit.algebra_tasks import Spread, WorstLeaf

DRAW = np.random.default_rng(29)
X = DRAW.integers(0, 2, (60, 4))
Y = ((X[:, 0] & X[:, 1]) ^ (DRAW.random(60) < 0.2)).astype(int)
GROUPS = X[:, 2] ^ (DRAW.random(60) < 0.3)
PARITY = DemographicParity() <= 0.1


@final
@attrs.frozen
class Named(Wrapping):
    """A task with a name."""

    name: str = "named"

    def outline(self) -> list[str]:
        return [f"{self.name}:", *self.task.outline()]


@final
@attrs.frozen
class Rescaled(Wrapping):
    """A task whose score is shown as a percentage."""

    def score(self, value: Any, totals: State) -> Any:
        return self.task.score(value, totals) * 100


@final
@attrs.frozen
class Capped(Wrapping):
    """A task of several sums over the trees whose first sum is at most `most`."""

    most: int = attrs.field(default=0, kw_only=True)

    def feasible(self, value: Any) -> bool:
        return bool(value[0] <= self.most) and self.task.feasible(value)

    def value_caps(self, width: int) -> Sequence[Any] | None:
        inner = self.task.value_caps(width)
        if inner is None:
            return None
        return [self.most if inner[0] is None else min(self.most, inner[0]), *inner[1:]]


def solved(task: Task, **options: Any) -> Any:
    return streed.solve(task, X, Y, max_depth=2, sensitive_features=GROUPS, **options)


def of(task: Task) -> Any:
    data = Dataset.make(X, Y, sensitive_features=GROUPS)
    return facts(task.bind(data), data)


TASKS = [
    Accuracy(),
    SparseAccuracy(0.01),
    Spread(),
    Spread() + 0.5 * Splits(),
    WorstLeaf(),
    Misclassifications().subject_to(at_most(Splits(), 2)),
    Accuracy().subject_to(PARITY),
    F1(),
    F1() - 0.01 * Splits(),
    F1().subject_to(PARITY),
    MatthewsCorrelation(),
]
FRONTS = [
    Misclassifications() & Splits(),
    ClassErrors(),
    WorstLeaf() & Splits(),
    Accuracy() & DemographicParity(),
    F1() & DemographicParity(),
]


@pytest.mark.parametrize("task", [*TASKS, *FRONTS], ids=str)
def test_facts_are_those_of_the_task_within(task: Task) -> None:
    inner, outer = of(task), of(Named(task))
    forms = attrs.evolve(inner, row_costs=None), attrs.evolve(outer, row_costs=None)
    assert forms[0] == forms[1]
    assert (inner.row_costs is None) == (outer.row_costs is None)


@pytest.mark.parametrize("task", [*TASKS, *FRONTS], ids=str)
def test_explain_shows_the_composition_as_it_wants_to_be_shown(task: Task) -> None:
    inner, outer = explain(task).splitlines(), explain(Named(task, "mine")).splitlines()
    assert outer == ["mine:", *inner]
    data = Dataset.make(X, Y, sensitive_features=GROUPS)
    assert explain(Named(task, "mine"), data) == "mine:\n" + explain(task, data)


@pytest.mark.parametrize("task", TASKS, ids=str)
def test_optima_are_those_of_the_task_within(task: Task) -> None:
    inner, outer = solved(task), solved(Named(task))
    assert (outer.value, outer.status) == (inner.value, "optimal")
    for key in ("route", "reduction"):
        assert outer.stats.get(key) == inner.stats.get(key)


@pytest.mark.parametrize("task", FRONTS, ids=str)
def test_fronts_are_those_of_the_task_within(task: Task) -> None:
    inner, outer = solved(task), solved(Named(task))
    assert sorted(value for value, _ in outer.front) == sorted(value for value, _ in inner.front)
    assert outer.stats.get("route") == inner.stats.get("route")


def test_a_composition_in_a_composition_is_limited_and_stopped_like_any_task() -> None:
    task = Named(Named(F1())).subject_to(MinSupport(5))
    assert solved(task).value == solved(F1().subject_to(MinSupport(5))).value
    stopped = solved(Named(Accuracy() & DemographicParity()), time_limit=1e-9)
    assert stopped.status == "feasible" or stopped.tree is None


@pytest.mark.parametrize("task", [F1(), Accuracy(), Accuracy().subject_to(PARITY), MatthewsCorrelation()], ids=str)
def test_a_score_of_its_own_is_shown(task: Task) -> None:
    assert solved(Rescaled(task)).value == pytest.approx(100 * solved(task).value)


@pytest.mark.parametrize("most", [0, 3, 8])
def test_a_limit_of_its_own_reaches_the_native_fronts(most: int) -> None:
    task = Misclassifications() & Splits()
    data = Dataset.make(X, Y)
    form = vector_costs(Capped(task, most=most).bind(data), data)
    assert form is not None
    assert form.caps == (most, None)
    within = sorted(value for value, _ in solved(task).front if value[0] <= most)
    found = solved(Capped(task, most=most))
    assert sorted(value for value, _ in found.front) == within
    assert found.status == ("optimal" if within else "infeasible")
    assert of(Capped(task, most=most)).constrained
