"""Searches by generated kernels stop and tell as those of costs per row do: values and bounds, on time."""

from __future__ import annotations

import json
import math
import os
import signal
import sys
import time
from typing import Any

import attrs
import numpy as np
import pytest

from streed.data import Dataset
from streed.progress import Progress
from streed.reference import cost_of_tree
from streed.result import Result
from streed.solve import solve
from streed.task import State, Task
from streed.tasks import Gini
from tests.conftest import ROOT
from tests.processes import started

pytestmark = pytest.mark.compiles


def large() -> tuple[Any, Any, Any]:
    """Labels and numbers that have nothing to do with the columns: no search of depth seven ends within minutes."""
    rng = np.random.default_rng(0)
    return rng.integers(0, 2, (1_500, 50)).astype(np.uint8), rng.integers(0, 2, 1_500), rng.normal(size=1_500)


X, Y, Z = large()


@attrs.frozen
class Deviations(Task):
    """Real statistics, summed row by row."""

    def statistics(self, data: Dataset) -> dict[str, Any]:
        z = data.row_data["z"]
        return {"z": z, "square": z * z}

    def labels(self, data: Dataset) -> tuple[str, ...]:
        return ("mean",)

    def leaf_cost(self, s: State, k: int) -> Any:
        return s.square - s.z * s.z / s.rows

    def lower_bound(self, s: State) -> Any:
        return 0.0


@attrs.frozen
class WorstErrors(Task):
    """Whole values, combined by max."""

    def statistics(self, data: Dataset) -> dict[str, Any]:
        return {"of": data.class_numbers[:, None] == np.arange(data.n_classes)}

    def leaf_cost(self, s: State, k: int) -> Any:
        return s.rows - s.of[k]

    def combine(self, a: Any, b: Any) -> Any:
        return max(a, b)

    def subtract(self, a: Any, b: Any) -> Any:
        return a

    def lower_bound(self, s: State) -> Any:
        return 0


@attrs.frozen
class Hits(WorstErrors):
    """Larger values are better."""

    maximize = True

    def leaf_cost(self, s: State, k: int) -> Any:
        return max(s.of) * max(s.of) / s.rows

    def combine(self, a: Any, b: Any) -> Any:
        return a + b

    def better(self, a: Any, b: Any) -> bool:
        return a > b  # type: ignore[no-any-return]

    def subtract(self, a: Any, b: Any) -> Any:
        return a - b

    def lower_bound(self, s: State) -> Any:
        return s.rows


TASKS: list[Task] = [Gini(), Deviations(), WorstErrors(), Hits()]

DATA = Dataset.make(X, Y, z=Z)


@pytest.fixture(scope="module", autouse=True)
def _compiled() -> None:
    """Compiling is not what is timed here."""
    for task in TASKS:
        solve(task, DATA, max_depth=7, time_limit=0.01)
        solve(task, DATA, max_depth=7, time_limit=0.01, threads=2)


def check(result: Result) -> None:
    """Assert that a stopped result has a tree of its value, and a proved bound on the side of the optimum."""
    assert result.stats["route"] == "generated"
    assert result.status == "feasible"
    assert result.tree is not None
    assert result.value == pytest.approx(float(cost_of_tree(result.task, DATA, result.tree.root)), rel=1e-9)
    if result.task.larger_is_better:
        assert result.lower_bound == result.value
        assert result.upper_bound is None or result.value < result.upper_bound <= len(X)
    else:
        assert result.upper_bound == result.value
        assert result.lower_bound is None or 0 <= result.lower_bound < result.value


@pytest.mark.parametrize("task", TASKS, ids=lambda task: type(task).__name__)
@pytest.mark.parametrize(("limit", "threads"), [(1e-9, 1), (0.3, 1), (0.3, 2)])
def test_a_time_limit(task: Task, limit: float, threads: int) -> None:
    begin = time.perf_counter()
    result = solve(task, DATA, max_depth=7, time_limit=limit, threads=threads)
    assert time.perf_counter() - begin < limit + 60  # it would take hours
    assert result.stats["stopped"] == "time"
    check(result)


@pytest.mark.parametrize("task", TASKS, ids=lambda task: type(task).__name__)
def test_a_memory_limit(task: Task) -> None:
    """The optimum under little memory is that under much, or the search says that it had too little."""
    part = DATA.subset(np.arange(150))
    free = solve(task, part, max_depth=3)
    tight = solve(task, part, max_depth=3, memory_limit=int(free.stats["peak_bytes"]) + 2**24)
    assert free.status == "optimal"
    if tight.status == "optimal":
        assert tight.value == pytest.approx(free.value, rel=1e-9)
    else:
        assert tight.stats["stopped"] == "memory"


@pytest.mark.parametrize("task", TASKS, ids=lambda task: type(task).__name__)
def test_a_callable_hears_sane_numbers(task: Task) -> None:
    told: list[Progress] = []
    result = solve(task, DATA, max_depth=7, time_limit=0.8, progress=told.append)
    assert len(told) >= 2
    assert [p.nodes for p in told] == sorted(p.nodes for p in told)
    sign = -1 if task.larger_is_better else 1
    costs = [sign * p.incumbent for p in told if p.incumbent is not None]
    bounds = [sign * p.lower_bound for p in told if p.lower_bound is not None]
    assert costs == sorted(costs, reverse=True)
    assert bounds == sorted(bounds)
    assert all(math.isfinite(x) for x in [*costs, *bounds])
    assert (told[-1].phase, told[-1].incumbent) == ("done", result.value)


INTERRUPTED = """
import json, sys
from streed.solve import solve
from tests.unit.test_generated_stopping import DATA, Deviations

def tell(progress):
    if progress.phase == "searching" and progress.nodes > 0:
        print("searching", flush=True)

result = solve(Deviations(), DATA, max_depth=7, progress=tell, threads=int(sys.argv[1]))
print(json.dumps([result.status, result.stats["stopped"], result.value]))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there, signals reach whole consoles")
@pytest.mark.parametrize("threads", [1, 2])
def test_an_interrupt_gives_the_best_tree_so_far(threads: int) -> None:
    command = [sys.executable, "-c", INTERRUPTED, str(threads)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with started(command, stderr=None, env=environment) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "searching\n"
        time.sleep(0.3)
        child.send_signal(signal.SIGINT)
        begin = time.perf_counter()
        *_, last = child.stdout.read().splitlines()
        took = time.perf_counter() - begin
    assert child.returncode == 0
    status, stopped, value = json.loads(last)
    assert (status, stopped) == ("feasible", "interrupt")
    assert 0 < value < 1_700
    assert took < 60  # it would take hours
