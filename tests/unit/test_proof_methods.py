"""Proofs by a task's own methods: what is best is proved, what is not is refused, and the checker stands alone."""

from __future__ import annotations

import shutil
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import streed
from streed import proof
from streed.errors import InputError, TaskError
from streed.exact import Array
from streed.proof import check, check_methods
from streed.proof.check_methods import Enumeration, Methods
from streed.proof.checker import run_checker
from streed.reference import optimal_front
from streed.tasks import AbsoluteError, BalancedAccuracy

TASKS = """
import numpy as np
from streed.task import Task

class Counts(Task):
    def statistics(self, data):
        return {"x": (np.asarray(data.class_numbers)[:, None] == np.arange(2)).astype(int)}

    def leaf_cost(self, s, k):
        return s.rows - s.x[k]

class WorstLeaf(Counts):
    def combine(self, a, b):
        return max(a, b)

class Tests(Counts):
    def branching_cost(self, rows, path, split):
        return rows * (1 if split in path or split == 0 else 3) / 8

class Both(Counts):
    order = "componentwise"

    def leaf_cost(self, s, k):
        return (s.x[0] * k, s.x[1] * (1 - k))
"""

ALONE = """
class Mine:
    def leaf_cost(self, s, k):
        return s.rows - s.x[k]
"""


def _data(seed: int = 0, p: int = 4) -> tuple[Array, Array]:
    draw = np.random.default_rng(seed)
    X = draw.integers(0, 2, (30, p))
    return X, (X[:, 0] & X[:, 1]) ^ (draw.random(30) < 0.25)


@pytest.fixture
def tasks(tmp_path: Path) -> Path:
    path = tmp_path / "tasks_of_mine.py"
    path.write_text(TASKS, encoding="utf-8")
    return path


def _solved(tasks: Path, name: str, depth: int, **more: Any) -> tuple[Any, Array, Array]:
    X, y = _data()
    task, _ = check_methods.load(f"{tasks}:{name}")
    return streed.solve(task, X, y, max_depth=depth, search="general", **more), X, y


@pytest.mark.parametrize("name", ["Counts", "WorstLeaf", "Tests", "Both"])
@pytest.mark.parametrize("depth", [0, 2, 3])
def test_what_solve_finds_is_proved(tasks: Path, name: str, depth: int, tmp_path: Path, capsys: Any) -> None:
    result, X, y = _solved(tasks, name, depth)
    made = proof.prove(result, X, y, methods=f"{tasks}:{name}")
    assert made.optimal
    files = [str(tmp_path / "tree.proof"), str(tmp_path / "table.csv")]
    made.save(*files)
    assert run_checker([*files, *made.arguments]) == 0
    said = capsys.readouterr().out
    if name == "Both":
        assert len(result.front) > 1
        assert sorted(made.bound) == sorted(value for value, _ in result.front)
        assert f"the file's {len(result.front)} trees" in said
    else:
        assert "it is optimal" in said


@pytest.mark.parametrize("name", ["Counts", "WorstLeaf", "Tests", "Both"])
def test_best_values_are_those_of_the_reference(tasks: Path, name: str) -> None:
    task, _ = check_methods.load(f"{tasks}:{name}")
    for seed in range(12):
        draw = np.random.default_rng(seed)
        n, p, depth, min_leaf = draw.integers(3, 16), draw.integers(1, 4), draw.integers(0, 4), draw.integers(1, 3)
        X, y = draw.integers(0, draw.integers(2, 4), (n, p)), np.append(draw.integers(0, 2, n - 2), [0, 1])
        data = streed.Dataset.make(X, y, categorical=np.flatnonzero(X.max(axis=0) > 1).tolist() or None)
        columns = {f"x.{k}": [Fraction(int(label == k)) for label in y.tolist()] for k in (0, 1)}
        enumeration = Enumeration(data.X.astype(np.uint8), Methods(task, columns, 2), int(min_leaf))
        found = enumeration.trees(np.arange(n), int(depth))
        front = optimal_front(task, data, max_depth=int(depth), min_leaf=int(min_leaf))
        assert sorted(found) == sorted(value for value, _ in front)


def test_a_front_without_one_of_its_trees_is_refused(tasks: Path) -> None:
    result, X, y = _solved(tasks, "Both", 2)
    assert len(result.front) > 1
    with pytest.raises(InputError, match="none given is as good"):
        proof.prove(result.tree, X, y, methods=f"{tasks}:Both")


def test_a_worse_tree_is_refused_and_rejected(tasks: Path, tmp_path: Path, capsys: Any) -> None:
    result, X, y = _solved(tasks, "WorstLeaf", 1)
    where = f"{tasks}:WorstLeaf"
    with pytest.raises(InputError, match="a tree costs"):
        proof.prove(result, X, y, methods=where, limits={"max_depth": 3})
    made = proof.prove(result, X, y, methods=where)
    files = [str(tmp_path / "tree.proof"), str(tmp_path / "table.csv")]
    made.save(*files)
    assert check_methods.main([*files, *made.arguments, "--max-depth", "3"]) == 1
    assert capsys.readouterr().out.startswith("REJECTED: a tree costs")


def test_what_the_checker_does_not_know_is_refused(tasks: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result, X, y = _solved(tasks, "Counts", 2)
    where = f"{tasks}:Counts"
    for task in (BalancedAccuracy(), AbsoluteError()):
        with pytest.raises(TaskError, match="does not know its bind"):
            proof.prove(result, X, y, task=task, methods=where)
    with pytest.raises(TaskError, match="limit on nodes"):
        proof.prove(result, X, y, limits={"max_nodes": 2}, methods=where)
    for wrong in ("nowhere.py:Counts", str(tasks), f"{tasks}:np"):
        with pytest.raises(InputError, match="methods"):
            proof.prove(result, X, y, methods=wrong)
    monkeypatch.setattr(check_methods, "MOST_SETS", 3)
    with pytest.raises(InputError, match="more sets of rows"):
        proof.prove(result, X, y, methods=where)


def test_the_checker_needs_one_file_beside_it_and_numpy(tasks: Path, tmp_path: Path) -> None:
    result, X, y = _solved(tasks, "Counts", 2)
    made = proof.prove(result, X, y, methods=f"{tasks}:Counts")
    alone = tmp_path / "alone"
    alone.mkdir()
    made.save(alone / "tree.proof", alone / "table.csv")
    for module in (check, check_methods):
        shutil.copy(str(module.__file__), alone)
    (alone / "mine.py").write_text(ALONE, encoding="utf-8")
    arguments = [text.replace(f"{tasks}:Counts", "mine.py:Mine") for text in made.arguments]
    script = (
        "import sys; sys.argv = sys.argv[1:]; import runpy; sys.path.insert(0, '.')\n"
        "sys.modules['streed'] = sys.modules['numba'] = None\n"
        "runpy.run_path('check_methods.py', run_name='__main__')\n"
    )
    call = [sys.executable, "-c", script, "check_methods.py", "tree.proof", "table.csv", *arguments]
    found = subprocess.run(call, cwd=alone, capture_output=True, text=True, check=False, timeout=600)
    assert found.returncode == 0, found.stderr + found.stdout
    assert "it is optimal" in found.stdout
