"""Compiled tasks are never stale nor compiled without need; solves at the same time give what each gives alone."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import streed
from streed.tasks import Accuracy, BalancedAccuracy, SparseAccuracy
from tests.conftest import ROOT
from tests.processes import ended

pytestmark = pytest.mark.compiles

QUICK = 0.1
"""Seconds that a process may spend on compilation when another one has compiled the task before."""

TASK = """
import math
import sys

import attrs
import numpy as np

import streed
{imports}

SCALE = 2
TABLE = np.array([0.5, 0.25])


def made_price(base):
    def price(x):
        def twice(x):
            return x * 2

        return twice(x) + base

    return price


closed = made_price(1)


@attrs.frozen
class Priced(streed.Task):
    rate: float = 1.5

    def statistics(self, data):
        return {{"of": data.class_numbers[:, None] == np.arange(data.n_classes)}}

    def leaf_cost(self, s, k, offset=3):
        errors = s.rows - s.of[k]
        return math.sqrt(errors) * SCALE + {helper}(errors) + closed(errors) + offset + TABLE[0] * self.rate
"""

SOLVE = """
import json

X = [[0, 0], [0, 1], [1, 0], [1, 1]] * 2
y = [0, 1, 1, 1, 0, 1, 0, 1]


def answer(task, **limits):
    result = streed.solve(task, X, y, **limits)
    assert result.stats["route"] == "generated", result.stats["route"]
    return result.value, result.stats["seconds_compile"]
"""

HELPER = "FIFTH = 0.2\n\n\ndef helper(x):\n    return x * x * FIFTH\n"

ONE_LEAF = 2 * 3**0.5 + 9 * 0.2 + (6 + 1) + 3 + 0.5 * 1.5
"""Three errors of eight rows in one leaf."""


def script(imports: str = "from helpers import helper", helper: str = "helper") -> str:
    return TASK.format(imports=imports, helper=helper) + SOLVE


REPORT = "\nif __name__ == '__main__':\n    print(json.dumps(answer(Priced(), max_depth=0)))\n"


def run(command: list[str], cwd: Path, **variables: str) -> tuple[float, float]:
    """(value, seconds of compilation) that a fresh process prints last."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1", **variables}
    done = ended(*command, cwd=cwd, env=environment)
    assert done.returncode == 0, done.stderr
    value, seconds = json.loads(done.stdout.splitlines()[-1])
    return value, seconds


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A directory with a script and the module of its helper."""
    (tmp_path / "helpers.py").write_text(HELPER)
    (tmp_path / "script.py").write_text(script() + REPORT)
    return tmp_path


def changed(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


EDITS: dict[str, tuple[str, str, str, float]] = {
    "the method": ("script.py", "math.sqrt(errors) * SCALE", "errors * SCALE", 6 - 2 * 3**0.5),
    "a module constant": ("script.py", "SCALE = 2", "SCALE = 3", 3**0.5),
    "a default": ("script.py", "offset=3", "offset=4", 1),
    "a function within": ("script.py", "return x * 2", "return x * 4", 6),
    "a helper in another file": ("helpers.py", "x * x * FIFTH", "x * FIFTH", -6 * 0.2),
}
"""File, what is replaced by what, and how much more a leaf costs then."""

FIRST = ("the method", "a helper in another file")


@pytest.mark.parametrize("names", [FIRST, pytest.param(sorted({*EDITS} - {*FIRST}), marks=pytest.mark.slow)])
def test_edits_give_new_answers(place: Path, names: Sequence[str]) -> None:
    value, _ = run(["script.py"], place)
    assert value == pytest.approx(ONE_LEAF, rel=1e-12)
    _, again = run(["script.py"], place)
    assert again <= QUICK
    for name in names:
        file, old, new, more = EDITS[name]
        changed(place / file, old, new)
        assert run(["script.py"], place)[0] == pytest.approx(ONE_LEAF + more, rel=1e-12), name
        changed(place / file, new, old)
    value, seconds = run(["script.py"], place)
    assert value == pytest.approx(ONE_LEAF, rel=1e-12)
    assert seconds <= QUICK


@pytest.mark.parametrize("way", ["script", "command", "import"])
def test_tasks_from_anywhere(place: Path, way: str) -> None:
    (place / "tasks_of_mine.py").write_text(script())
    code = script() if way == "command" else "from tasks_of_mine import *"
    code += "\nprint(json.dumps(answer(Priced(), max_depth=0)))\n"
    for _ in range(2):
        value, seconds = run(["script.py"] if way == "script" else ["-c", code], place)
        assert value == pytest.approx(ONE_LEAF, rel=1e-12)
    assert seconds <= QUICK


JOBS: list[tuple[Any, int, int]] = [
    (task, seed, depth)
    for seed in range(4)
    for task, depth in ((Accuracy(), 3), (Accuracy(), 4), (SparseAccuracy(0.01), 3), (BalancedAccuracy(), 2))
]


def solved(job: tuple[Any, int, int]) -> tuple[Any, str, str]:
    """The value, the status and the tree of a job."""
    task, seed, depth = job
    draw = np.random.default_rng(seed)
    X, y = draw.integers(0, 2, (120 + 40 * seed, 9)), draw.integers(0, 2, 120 + 40 * seed)
    result = streed.solve(task, X, y, max_depth=depth)
    return result.value, result.status, result.tree.to_json()


@pytest.fixture(scope="module")
def alone() -> list[tuple[Any, str, str]]:
    return [solved(job) for job in JOBS]


def test_in_several_threads(alone: list[tuple[Any, str, str]]) -> None:
    with ThreadPoolExecutor(4) as pool:
        for _ in range(3):
            assert list(pool.map(solved, JOBS)) == alone


FORK = """
import json, multiprocessing, warnings
warnings.simplefilter("ignore", DeprecationWarning)  # of forking a process that has threads
from tests.unit.test_staleness import JOBS, solved
if {before}:
    solved(JOBS[0])
with multiprocessing.get_context("{method}").Pool(2) as pool:
    print(json.dumps(pool.map(solved, JOBS)))
"""


def printed(code: str, **variables: str) -> list[tuple[Any, str, str]]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **variables}
    done = ended(
        "-c", "if __name__ == '__main__':\n" + "".join(f"    {x}\n" for x in code.splitlines()), env=environment
    )
    assert done.returncode == 0, done.stderr
    return [tuple(each) for each in json.loads(done.stdout.splitlines()[-1])]


@pytest.mark.skipif(sys.platform == "win32", reason="no process forks there")
@pytest.mark.parametrize(("method", "before"), [("fork", True), ("fork", False), ("spawn", True)])
def test_in_other_processes(alone: list[tuple[Any, str, str]], method: str, before: bool) -> None:
    assert printed(FORK.format(method=method, before=before)) == alone
