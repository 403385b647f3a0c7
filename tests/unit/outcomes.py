"""Tiny data with optima by hand, what every proved result must satisfy, and how bad input is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import streed
import streed.tasks
from streed.data import Dataset
from streed.errors import InputError
from streed.reference import Evaluation
from streed.result import Result
from streed.task import Task, Totals
from streed.tree import Tree

CUBE = [[i >> 2 & 1, i >> 1 & 1, i & 1] for i in range(8)]
"""All rows of three binary columns."""

BOTH = [0, 0, 0, 0, 0, 0, 1, 1]
"""Whether the first two of them are 1: a leaf errs twice, one split errs twice, two splits never."""


def task_of(source: str) -> Task:
    task = eval(source, {**vars(streed.tasks), "minimize": streed.minimize})
    assert isinstance(task, Task)
    return task


def tree_of(result: Result) -> Tree:
    assert result.tree is not None
    return result.tree


def errors(result: Result, X: Any, y: Any) -> int:
    return int((tree_of(result).predict(X) != np.array(y)).sum())


def check(result: Result, data: Dataset, limits: dict[str, Any]) -> None:
    """Assert that a result is proved, that its tree keeps the limits, and that by the reference it costs its value."""
    task, root = result.task, tree_of(result).root
    evaluation = Evaluation(task, data)
    score = task.score(evaluation.cost(root), Totals(task, data))
    assert (score if isinstance(score, tuple) else float(score)) == pytest.approx(result.value, rel=1e-12)
    assert evaluation.broken_limits(root, **limits) == []
    assert result.status == "optimal"
    assert 0 <= result.gap <= 2 * result.stats.get("rounding", 0)
    assert result.value == (result.lower_bound if task.larger_is_better else result.upper_bound)
    assert result.front == ((result.value, result.tree),)


def refused(argument: str, *fragments: str, call: Callable[[], Any]) -> None:
    """Assert that the call raises InputError for this argument, with all fragments in its message."""
    with pytest.raises(InputError) as caught:
        call()
    assert caught.value.argument == argument
    for fragment in fragments:
        assert fragment in str(caught.value)
