"""Solves at the same time, and in processes of every kind: each gives what it gives alone."""

from __future__ import annotations

import json
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import streed
from streed.tasks import Accuracy, BalancedAccuracy, SparseAccuracy
from tests.conftest import ROOT
from tests.processes import ended

pytestmark = pytest.mark.compiles

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
from tests.unit.test_solves_at_once import JOBS, solved
if {before}:
    solved(JOBS[0])
with multiprocessing.get_context("{method}").Pool(2) as pool:
    print(json.dumps(pool.map(solved, JOBS)))
"""


def run(code: str, **variables: str) -> list[tuple[Any, str, str]]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **variables}
    done = ended(
        "-c", "if __name__ == '__main__':\n" + "".join(f"    {x}\n" for x in code.splitlines()), env=environment
    )
    assert done.returncode == 0, done.stderr
    return [tuple(each) for each in json.loads(done.stdout.splitlines()[-1])]


@pytest.mark.skipif(sys.platform == "win32", reason="no process forks there")
@pytest.mark.parametrize("before", [True, False])
def test_in_forked_processes(alone: list[tuple[Any, str, str]], before: bool) -> None:
    assert run(FORK.format(method="fork", before=before)) == alone


def test_in_spawned_processes(alone: list[tuple[Any, str, str]]) -> None:
    assert run(FORK.format(method="spawn", before=True)) == alone
