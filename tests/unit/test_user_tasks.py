"""The objectives of examples/user_tasks.py: every one has the enumerated optimum, and looks like a user's."""

from __future__ import annotations

import inspect
import runpy
from typing import Any

import numpy as np
import pytest

import streed
from streed.data import Dataset
from streed.reference import best_trees
from streed.task import Limit, Task, Totals
from streed.task.algebra import objective
from tests.conftest import ROOT

EXAMPLE = runpy.run_path(str(ROOT / "examples" / "user_tasks.py"))
OBJECTIVES: dict[str, Task] = EXAMPLE["OBJECTIVES"]

MOST_LINES = 15


def some_data(seed: int) -> Dataset:
    """Seven random patients with the row data of the example."""
    rng = np.random.default_rng(seed)
    n = 7
    return Dataset.make(
        rng.integers(0, 2, (n, 3)),
        [0, 1, *rng.integers(0, 2, n - 2).tolist()],
        treated=rng.integers(0, 9, n) / 2,
        untreated=rng.integers(0, 9, n) / 2,
        was_treated=rng.integers(0, 2, n),
        events=rng.integers(0, 4, n),
        exposure=rng.integers(1, 9, n) / 2,
        group=rng.integers(0, 2, n),
    )


def same(found: list[Any], expected: list[Any]) -> bool:
    """Whether both are the same values, in any order; real numbers to rounding."""
    rows = [sorted(np.atleast_1d(np.array(v, dtype=float)).tolist() for v in side) for side in (found, expected)]
    return len(rows[0]) == len(rows[1]) and np.allclose(rows[0], rows[1], rtol=1e-12, atol=1e-12)


@pytest.mark.compiles
@pytest.mark.parametrize("name", OBJECTIVES)
def test_solve_finds_what_enumeration_finds(name: str) -> None:
    task = OBJECTIVES[name]
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


def test_each_is_written_in_a_few_lines() -> None:
    made = [thing for thing in EXAMPLE.values() if inspect.isclass(thing) and issubclass(thing, (Task, Limit))]
    own = [thing for thing in made if thing.__module__ == EXAMPLE["__name__"]]
    assert len([kind for kind in own if issubclass(kind, Task)]) >= 10
    lines = (ROOT / "examples" / "user_tasks.py").read_text(encoding="utf-8").split("\n@attrs.frozen\n")[1:]
    for text in lines:
        body = text.split("\n\n\n", maxsplit=1)[0].splitlines()[1:]
        code = [line for line in body if line.strip() and not line.strip().startswith('"""')]
        assert len(code) <= MOST_LINES, text.splitlines()[0]
