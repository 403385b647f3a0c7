"""Limits with statistics of their own, errors of limits, and rows per class, group and treatment."""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np
import pytest

import streed
from streed.data import Dataset
from streed.errors import TaskError
from streed.reference import optimum
from streed.task import Limit, State, Task
from streed.tasks import AbsoluteError, Accuracy, Gini, MinSupport, MinSupportOf
from tests.unit.refusal import refused

RNG = np.random.default_rng(2)
X = RNG.integers(0, 2, (30, 3))
Y = X[:, 0] ^ (X[:, 1] & X[:, 2])
WOMAN = np.where(X[:, 0], RNG.random(30) < 0.3, True).astype(int)


@attrs.frozen
class HalfWomen(Limit):
    """At least half of the rows of a leaf are women."""

    def statistics(self, data: Dataset) -> Any:
        return {"women": data.row_data["woman"]}

    def allows(self, s: State) -> bool:
        return bool(2 * s.women >= s.rows)


@attrs.frozen
class Errors(Task):
    def statistics(self, data: Dataset) -> Any:
        return {"n": (data.class_numbers[:, None] == np.arange(2)).astype(np.int64)}

    def leaf_cost(self, s: State, k: int) -> Any:
        return sum(s.n) - s.n[k]


@attrs.frozen
class LimitedErrors(Errors):
    @property
    def limits(self) -> tuple[Limit, ...]:
        return (HalfWomen(),)


@pytest.mark.compiles
@pytest.mark.parametrize("search", ["depth-first", "general"])
@pytest.mark.parametrize("weights", [None, RNG.choice([0.5, 3], 30)])
def test_limits_may_ask_for_statistics(search: str, weights: Any) -> None:
    given: dict[str, Any] = {"sample_weight": weights, "woman": WOMAN}
    task = Errors().subject_to(HalfWomen())
    found = streed.solve(task, X, Y, max_depth=2, search=search, **given)
    free = streed.solve(Errors(), X, Y, max_depth=2, search=search, **given)
    expected = optimum(task, Dataset.make(X, Y, **given), max_depth=2)
    assert found.value == expected[0] > free.value
    assert found.status == "optimal"


@pytest.mark.compiles
def test_a_task_that_sets_limits_itself_is_refused() -> None:
    with pytest.raises(TaskError, match=r"LimitedErrors.limits are the task's own; set them by subject_to"):
        streed.solve(LimitedErrors(), X, Y, woman=WOMAN, max_depth=1)


def limit(name: str, **members: Any) -> Any:
    return type(name, (Limit,), members)()


FIRST = {"statistics": lambda self, data: {"first": data.class_numbers}}


@pytest.mark.compiles
@pytest.mark.parametrize(
    ("limit", "said", "mark"),
    [
        (
            limit("Three", allows=lambda self, s: 3),  # here: three
            "Three.allows(State(rows=30, n=",
            "here: three",
        ),
        (
            limit("Missing", **FIRST, allows=lambda self, s: s.second > 0),  # here: missing
            "Missing.allows(State(rows=30, first=",
            "here: missing",
        ),
        (
            limit("Named", statistics=lambda self, data: {"rows": data.y}, allows=lambda self, s: True),  # here: rows
            "Named.statistics has the name 'rows'",
            "here: rows",
        ),
    ],
)
def test_errors_of_a_limit_name_the_limit_and_its_line(limit: Limit, said: str, mark: str) -> None:
    with pytest.raises(TaskError) as caught:
        streed.solve(Errors().subject_to(MinSupport(1), limit), X, Y, max_depth=1)
    first, second = str(caught.value).split("\n")
    assert first.startswith(said)
    assert second.endswith(mark)
    if mark == "here: missing":
        assert "no statistic 'second'; it has first, rows" in first


FIVE = [[0, 0], [0, 0], [0, 1], [1, 1], [1, 1]]
LABELS = [0, 0, 1, 1, 1]
SEX = ["f", "m", "f", "m", "f"]


def leaves(task: Task, **given: Any) -> int | None:
    tree = streed.solve(task, FIVE, LABELS, max_depth=2, **given).tree
    return None if tree is None else tree.n_leaves


@pytest.mark.compiles
@pytest.mark.parametrize("task", [Accuracy(), Gini(), AbsoluteError()])
def test_any_task_takes_limits_with_statistics_of_their_own(task: Task) -> None:
    assert leaves(task) > 1  # type: ignore[operator]
    assert leaves(task.subject_to(MinSupportOf("class", 1))) == 1
    assert leaves(task.subject_to(MinSupportOf("sex", 1)), sex=SEX) == 2
    assert leaves(task.subject_to(MinSupportOf("sex", 1), MinSupport(3)), sex=SEX) == 1
    assert leaves(task.subject_to(MinSupportOf("sex", 2)), sex=SEX) == 1
    assert leaves(task.subject_to(MinSupportOf("sex", 1), MinSupportOf("class", 1)), sex=SEX) == 1


@pytest.mark.compiles
def test_row_weights_do_not_count() -> None:
    limited = Accuracy().subject_to(MinSupportOf("class", 2))
    heavy: dict[str, Any] = {"sample_weight": [9, 9, 9, 9, 9]}
    assert streed.solve(limited, FIVE, LABELS, max_depth=1).value == 2
    assert streed.solve(limited, FIVE, LABELS, max_depth=1, **heavy).value == 18
    assert streed.solve(limited, FIVE, LABELS, max_depth=1, search="general", **heavy).value == 18


def test_no_tree_meets_the_limit() -> None:
    assert (
        streed.solve(Accuracy().subject_to(MinSupportOf("class", 3)), FIVE, LABELS, max_depth=1).status == "infeasible"
    )


def test_what_is_refused() -> None:
    refused("sex", "MinSupportOf needs it", call=lambda: leaves(Accuracy().subject_to(MinSupportOf("sex", 1))))
    wrong = Accuracy().subject_to(MinSupportOf("sex", 1, values=["x"]))
    refused("sex", "no row is 'x'", call=lambda: leaves(wrong, sex=SEX))
    refused("min_rows", "0", call=lambda: MinSupportOf("sex", 0))
