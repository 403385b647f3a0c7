"""Solves that stop early, and those who are told how far they are: values and bounds, on time."""

from __future__ import annotations

import json
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from streed.bnb.session import is_short
from streed.data import Dataset
from streed.encoding.choice import encoding_of
from streed.problem import Problem
from streed.progress import Progress
from streed.result import Result
from streed.solve import solve
from streed.task import Task
from streed.tasks import (
    F1,
    AbsoluteError,
    Accuracy,
    BalancedAccuracy,
    Entropy,
    MinSupport,
    SparseAccuracy,
    Splits,
    SquaredError,
)
from tests.processes import started


def large() -> tuple[Any, Any]:
    """Labels that have nothing to do with the columns: no search of depth seven ends within minutes."""
    rng = np.random.default_rng(0)
    return rng.integers(0, 2, (3_000, 60)).astype(np.uint8), rng.integers(0, 2, 3_000)


X, Y = large()


def predicted(result: Result) -> Any:
    assert result.tree is not None
    return result.tree.predict(X)


def wrong(result: Result) -> int:
    return int((predicted(result) != Y).sum())


def n_branches(result: Result) -> int:
    assert result.tree is not None
    return result.tree.n_branches


TASKS: list[tuple[Task, Callable[[Result], float]]] = [
    (Accuracy(), wrong),
    (Accuracy().subject_to(MinSupport(3)), wrong),
    (SparseAccuracy(0.0001), lambda r: wrong(r) / 3_000 + 0.0001 * n_branches(r)),
    (BalancedAccuracy(), lambda r: np.mean([(predicted(r)[k == Y] == k).mean() for k in (0, 1)])),
]
"""A task, and the value of a result's tree on the raw data."""


@pytest.mark.parametrize(
    ("task", "rows", "columns", "short"),
    [
        (Accuracy(), 8_000, 100, True),
        (Accuracy(), 8_000, 200, False),
        (SquaredError(), 500, 40, True),
        (SquaredError(), 8_000, 100, False),  # rows are summed, which takes longer than to count them
        (Entropy(), 100, 60, True),
        (Entropy(), 100, 150, False),  # logarithms for every pair of columns
    ],
)
def test_what_cannot_last_and_may_run_in_the_callers_thread(task: Task, rows: int, columns: int, short: bool) -> None:
    rng = np.random.default_rng(1)
    labels = rng.random(rows) if isinstance(task, SquaredError) else rng.integers(0, 2, rows)
    data = Dataset.make(rng.integers(0, 2, (rows, columns)), labels)
    measure = encoding_of(Problem(data, task.bind(data), 3, None, 1))
    assert measure is not None
    assert is_short(measure.packed, 3) == short


@pytest.fixture(scope="module", autouse=True)
def _compiled() -> None:
    """Compiling is not what is timed here."""
    for task, _ in TASKS:
        solve(task, X, Y, max_depth=7, time_limit=0.01)
    solve(Accuracy(), X, Y, max_depth=7, time_limit=0.01, threads=2)


def check(result: Result, found: float) -> None:
    """Assert that a stopped result has a tree of its value, and a proved bound on the side of the optimum."""
    assert result.status == "feasible"
    assert result.value == pytest.approx(found, rel=1e-12)
    if result.task.larger_is_better:
        assert result.lower_bound == result.value < result.upper_bound <= 1
    else:
        assert 0 <= result.lower_bound < result.value == result.upper_bound
    assert result.gap == result.upper_bound - result.lower_bound > 0


# -- time --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("task", "measured"), TASKS)
@pytest.mark.parametrize("limit", [1e-9, 0.3])
def test_a_time_limit(task: Task, measured: Callable[[Result], float], limit: float) -> None:
    begin = time.perf_counter()
    result = solve(task, X, Y, max_depth=7, time_limit=limit)
    assert time.perf_counter() - begin < limit + 60  # it would take hours
    assert result.stats["stopped"] == "time"
    check(result, measured(result))


def test_a_time_limit_on_two_threads() -> None:
    result = solve(Accuracy(), X, Y, max_depth=7, time_limit=0.3, threads=2)
    check(result, wrong(result))


def test_a_limit_that_does_not_matter() -> None:
    small = solve(Accuracy(), X[:200], Y[:200], max_depth=2)
    limited = solve(Accuracy(), X[:200], Y[:200], max_depth=2, time_limit=60, memory_limit=2**34)
    assert (limited.value, limited.status, limited.stats["stopped"]) == (small.value, "optimal", None)
    assert limited.tree == small.tree


def test_no_search_outlives_its_solve() -> None:
    before = threading.active_count()
    solve(Accuracy(), X, Y, max_depth=7, time_limit=0.1)
    assert threading.active_count() == before


# -- progress ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("task", [Accuracy(), BalancedAccuracy()])
def test_a_callable_hears_sane_numbers(task: Task) -> None:
    told: list[Progress] = []
    result = solve(task, X, Y, max_depth=7, time_limit=1.2, progress=told.append)
    assert len(told) >= 2
    assert [p.elapsed for p in told] == sorted(p.elapsed for p in told)
    assert [p.nodes for p in told] == sorted(p.nodes for p in told)
    sign = -1 if task.larger_is_better else 1
    known = [p for p in told if p.incumbent is not None]
    costs, bounds = [sign * p.incumbent for p in known], [sign * p.lower_bound for p in told]
    assert costs == sorted(costs, reverse=True)
    assert bounds == sorted(bounds)
    assert all(p.gap == abs(p.incumbent - p.lower_bound) for p in known)
    assert {p.phase for p in told[:-1]} <= {"compiling", "searching"}
    proved = result.upper_bound if task.larger_is_better else result.lower_bound
    end = told[-1]
    assert (end.phase, end.incumbent, end.lower_bound, end.gap) == ("done", result.value, proved, result.gap)
    assert end.nodes == result.stats["nodes"] > 0
    assert 1.2 <= end.elapsed < 60


def test_a_callable_hears_the_end_of_a_short_solve() -> None:
    told: list[Progress] = []
    result = solve(SparseAccuracy(0.01), X[:50], Y[:50], max_depth=2, progress=told.append)
    assert (told[-1].phase, told[-1].incumbent, told[-1].lower_bound, told[-1].gap) == (
        "done",
        result.value,
        result.value,
        0,
    )


def test_an_infeasible_solve_has_no_incumbent() -> None:
    told: list[Progress] = []
    solve(Accuracy().subject_to(MinSupport(51)), X[:50], Y[:50], max_depth=2, progress=told.append)
    assert (told[-1].phase, told[-1].incumbent, told[-1].gap) == ("done", None, None)


def test_what_a_callable_raises_ends_the_solve() -> None:
    def enough(progress: Progress) -> None:
        raise KeyError("enough")

    before = threading.active_count()
    begin = time.perf_counter()
    with pytest.raises(KeyError, match="enough"):
        solve(Accuracy(), X, Y, max_depth=7, progress=enough)
    assert time.perf_counter() - begin < 60  # it would take hours
    assert threading.active_count() == before


# -- Ctrl-C ------------------------------------------------------------------------------------------------------------

INTERRUPTED = """
import json, sys
from streed.solve import solve
from streed.tasks import Accuracy
from tests.unit.test_solve_stopping import X, Y, wrong

def tell(progress):
    if progress.phase == "searching" and progress.nodes > 0:
        print("searching", flush=True)

result = solve(Accuracy(), X, Y, max_depth=7, progress=tell, threads=int(sys.argv[1]))
print(json.dumps([result.status, result.stats["stopped"], result.value, wrong(result), result.lower_bound, result.gap]))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there, signals reach whole consoles")
@pytest.mark.parametrize("threads", [1, 2])
def test_an_interrupt_gives_the_best_tree_so_far(threads: int) -> None:
    command = [sys.executable, "-c", INTERRUPTED, str(threads)]
    with started(command, stderr=None) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "searching\n"
        time.sleep(0.3)
        child.send_signal(signal.SIGINT)
        begin = time.perf_counter()
        *_, last = child.stdout.read().splitlines()
        took = time.perf_counter() - begin
    assert child.returncode == 0
    status, stopped, value, found, lower, gap = json.loads(last)
    assert (status, stopped, value) == ("feasible", "interrupt", found)
    assert 0 <= lower < value == lower + gap
    assert took < 60  # it would take hours


@pytest.mark.parametrize("task", [Accuracy(), F1(), SquaredError(), AbsoluteError(), Accuracy() & Splits()], ids=str)
@pytest.mark.parametrize("cuts", ["all", 5])
def test_no_time_is_too_short_for_a_leaf(task: Task, cuts: Any) -> None:
    rng = np.random.default_rng(2)
    values, labels = rng.normal(size=(1_000, 12)), rng.integers(0, 2, 1_000)
    result = solve(task, values, labels, max_depth=5, max_cuts=cuts, time_limit=1e-6)
    assert result.status == "feasible"
    assert result.tree is not None
    assert len(result.tree.predict(values)) == 1_000
