"""The objectives of examples/user_tasks.py: every one has the enumerated optimum."""

from __future__ import annotations

import runpy
from typing import Any

import numpy as np
import pytest

import streed
from streed.data import Dataset
from streed.reference import best_trees
from streed.task import Task, Totals
from streed.task.algebra import objective
from tests.conftest import ROOT

TASKS: dict[str, Task] = runpy.run_path(str(ROOT / "examples" / "user_tasks.py"))["TASKS"]


def some_data(seed: int) -> Dataset:
    rng = np.random.default_rng(seed)
    return Dataset.make(rng.integers(0, 2, (7, 3)), [0, 1, *rng.integers(0, 2, 5).tolist()])


def same(found: list[Any], expected: list[Any]) -> bool:
    """Whether both are the same values, in any order; real numbers to rounding."""
    rows = [sorted(np.atleast_1d(np.array(v, dtype=float)).tolist() for v in side) for side in (found, expected)]
    return len(rows[0]) == len(rows[1]) and np.allclose(rows[0], rows[1], rtol=1e-12, atol=1e-12)


@pytest.mark.compiles
@pytest.mark.parametrize("name", TASKS)
def test_solve_finds_what_enumeration_finds(name: str) -> None:
    task = TASKS[name]
    for data in map(some_data, range(4)):
        every = [value for value, _ in best_trees(task, data, max_depth=2)]
        result = streed.solve(task, data, max_depth=2)
        totals = Totals(task, data)
        if not every:
            assert result.status == "infeasible"
        elif task.order == "total" or objective(task).value_limits:  # of limited tasks the best is asked
            best = (max if task.larger_is_better else min)(task.score(value, totals) for value in every)
            assert result.status == "optimal"
            assert same([result.value], [best])
        else:
            assert same([value for value, _ in result.front], [task.score(value, totals) for value in every])
