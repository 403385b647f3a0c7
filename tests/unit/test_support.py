"""Limits of rows per class, group and treatment: by hand, on every kind of task, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

import streed
from streed.task import Task
from streed.tasks import AbsoluteError, Accuracy, Gini, MinSupport, MinSupportOf
from tests.unit.refusal import refused

X = [[0, 0], [0, 0], [0, 1], [1, 1], [1, 1]]
Y = [0, 0, 1, 1, 1]
SEX = ["f", "m", "f", "m", "f"]


def leaves(task: Task, **given: Any) -> int | None:
    tree = streed.solve(task, X, Y, max_depth=2, **given).tree
    return None if tree is None else tree.n_leaves


@pytest.mark.compiles
@pytest.mark.parametrize(
    "task",
    [
        Accuracy(),
        Gini(),
        AbsoluteError(),
    ],
)
def test_any_task_takes_limits_with_statistics_of_their_own(task: Task) -> None:
    assert leaves(task) > 1  # type: ignore[operator]
    assert leaves(task.subject_to(MinSupportOf("class", 1))) == 1
    assert leaves(task.subject_to(MinSupportOf("sex", 1)), sex=SEX) == 2
    assert leaves(task.subject_to(MinSupportOf("sex", 1), MinSupport(3)), sex=SEX) == 1
    assert leaves(task.subject_to(MinSupportOf("sex", 2)), sex=SEX) == 1
    assert leaves(task.subject_to(MinSupportOf("sex", 1), MinSupportOf("class", 1)), sex=SEX) == 1


def test_row_weights_do_not_count() -> None:
    limited = Accuracy().subject_to(MinSupportOf("class", 2))
    heavy: dict[str, Any] = {"sample_weight": [9, 9, 9, 9, 9]}
    assert streed.solve(limited, X, Y, max_depth=1).value == 2
    assert streed.solve(limited, X, Y, max_depth=1, **heavy).value == 18
    assert streed.solve(limited, X, Y, max_depth=1, search="general", **heavy).value == 18


def test_no_tree_meets_the_limit() -> None:
    assert streed.solve(Accuracy().subject_to(MinSupportOf("class", 3)), X, Y, max_depth=1).status == "infeasible"


def test_what_is_refused() -> None:
    refused("sex", "MinSupportOf needs it", call=lambda: leaves(Accuracy().subject_to(MinSupportOf("sex", 1))))
    wrong = Accuracy().subject_to(MinSupportOf("sex", 1, values=["x"]))
    refused("sex", "no row is 'x'", call=lambda: leaves(wrong, sex=SEX))
    refused("min_rows", "0", call=lambda: MinSupportOf("sex", 0))
