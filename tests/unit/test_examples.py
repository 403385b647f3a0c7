"""Every example runs, and says what it is meant to say; its tasks have the enumerated optimum."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import streed
from streed.data import Dataset
from streed.reference import best_trees
from streed.task import Task, Totals
from streed.task.objective import record_of
from tests.conftest import ROOT

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_sizes(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(EXAMPLES / "sizes.py"), run_name="__main__")
    errors = [int(line.split()[1]) for line in capsys.readouterr().out.splitlines()[1:]]
    assert (len(errors), errors[0], errors) == (8, 332, sorted(errors, reverse=True))


@pytest.mark.compiles
def test_user_tasks(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(EXAMPLES / "user_tasks.py"), run_name="__main__")
    assert capsys.readouterr().out == "two splits 108.0\nworst leaf 54.0\nodds 146.0\npaid 104.64\n"


def test_fair_admissions(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(EXAMPLES / "fair_admissions.py"), run_name="__main__")
    lines = capsys.readouterr().out.splitlines()
    accuracies = [float(line.split()[-3].rstrip(",")) for line in lines if "proved optimal" in line]
    gaps = [float(line.split()[2]) for line in lines if line.split()[:1] == ["DemographicParity"]]
    assert accuracies == sorted(accuracies, reverse=True)
    assert accuracies[0] == pytest.approx(1 - 1331 / 4526, abs=1e-4)
    assert gaps[0] > 0.2 >= gaps[1] > 0.01 >= gaps[2]


def test_to_production(capsys: pytest.CaptureFixture[str]) -> None:
    for needed in ("sklearn", "pandas", "onnxruntime"):
        pytest.importorskip(needed)
    runpy.run_path(str(EXAMPLES / "to_production.py"), run_name="__main__")
    said = capsys.readouterr().out
    found = re.search(r"gap (0\.\d+), proved optimal: True", said)
    assert float(found[1]) <= 0.05
    assert said.endswith("the same: True\n")


def test_pictures_of_the_documentation(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    runpy.run_path(str(EXAMPLES / "pictures.py"))["main"](tmp_path)
    drawn = {path.name for path in tmp_path.iterdir()}
    assert drawn == {path.name for path in (EXAMPLES.parent / "docs" / "pictures").glob("*.svg")} - {"rooms.svg"}


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
        elif task.order == "total" or record_of(task).most:  # of limited tasks the best is asked
            best = (max if task.larger_is_better else min)(task.score(value, totals) for value in every)
            assert result.status == "optimal"
            assert same([result.value], [best])
        else:
            assert same([value for value, _ in result.front], [task.score(value, totals) for value in every])
