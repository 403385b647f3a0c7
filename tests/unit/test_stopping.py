"""Solves that stop early, by time, memory, Ctrl-C or who listens: trees of their values, bounds, and on time."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any
from unittest import mock

import attrs
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import streed
from streed.cli.app import app
from streed.data import Dataset
from streed.reference import Evaluation
from streed.result import Progress, Result
from streed.task import State, Task, Totals
from streed.tasks import (
    F1,
    AbsoluteError,
    Accuracy,
    BalancedAccuracy,
    ClassErrors,
    DemographicParity,
    Gini,
    MinSupport,
    SparseAccuracy,
    Splits,
    SquaredError,
)
from tests import unusual_tasks as unusual
from tests.conftest import ROOT
from tests.processes import ended, started

_RNG = np.random.default_rng(0)
X, Y = _RNG.integers(0, 2, (3_000, 60)).astype(np.uint8), _RNG.integers(0, 2, 3_000)
"""Labels that have nothing to do with the columns: no search of depth seven ends within minutes."""
LARGE = Dataset.make(X, Y, z=_RNG.normal(size=3_000))

_WAIT = 60
"""Seconds within which what was stopped must end; it would take hours."""


@attrs.frozen
class Deviations(Task):
    """Real statistics, for which kernels are generated."""

    def statistics(self, data: Dataset) -> dict[str, Any]:
        z = data.row_data["z"]
        return {"z": z, "square": z * z}

    def labels(self, data: Dataset) -> tuple[str, ...]:
        return ("mean",)

    def leaf_cost(self, s: State, k: int) -> Any:
        return s.square - s.z * s.z / s.rows

    def lower_bound(self, s: State) -> Any:
        return 0.0


NATIVE: list[Any] = [
    Accuracy(),
    Accuracy().subject_to(MinSupport(3)),
    SparseAccuracy(0.0001),
    BalancedAccuracy(),
    pytest.param(Gini(), marks=pytest.mark.compiles),
    pytest.param(Deviations(), marks=pytest.mark.compiles),
]
FRONTS: Any = [pytest.param(each, marks=pytest.mark.compiles) for each in (ClassErrors(), Accuracy() & Splits())]
GENERAL: list[Any] = [
    AbsoluteError(),
    unusual.FewOfEach(),
    unusual.ErrorsByClass(),
    unusual.Gini(),
    unusual.Discounted(),
    unusual.ByOwnDominance(),
    unusual.Spread(),
]


def _search(task: Task) -> str:
    return "general" if any(type(task) is type(each) for each in GENERAL) else "depth-first"


def check_stopped(result: Result, reason: str, data: Dataset = LARGE) -> None:
    """Assert that a stopped result holds trees of their values, and a bound on the side of the optimum."""
    assert (result.status, result.stats["stopped"]) == ("feasible", reason)
    evaluation, totals = Evaluation(result.task, data), Totals(result.task, data)
    for value, tree in result.front:
        worth = result.task.score(evaluation.cost(tree.root), totals)
        assert np.ravel(value).astype(float) == pytest.approx(np.ravel(worth).astype(float), rel=1e-9)
    if result.task.order != "total":
        assert result.front
    elif result.task.larger_is_better:
        assert result.lower_bound == result.value < result.upper_bound <= 1
    elif result.lower_bound is not None:
        assert result.lower_bound < result.value == result.upper_bound
        assert result.gap == result.upper_bound - result.lower_bound


@pytest.mark.parametrize("limit", [1e-9, 0.3])
@pytest.mark.parametrize("task", [*NATIVE, *GENERAL], ids=lambda task: type(task).__name__)
def test_a_time_limit(task: Task, limit: float) -> None:
    search = _search(task)
    streed.solve(task, LARGE, max_depth=6, time_limit=1e-9, search=search)  # what must be compiled is compiled
    before, begin = threading.active_count(), time.perf_counter()
    result = streed.solve(task, LARGE, max_depth=7, time_limit=limit, search=search)
    assert time.perf_counter() - begin < limit + _WAIT
    assert threading.active_count() == before
    check_stopped(result, "time")


@pytest.mark.parametrize("task", [Accuracy(), F1(), SquaredError(), AbsoluteError(), FRONTS[1]], ids=str)
@pytest.mark.parametrize("cuts", [pytest.param("all", marks=pytest.mark.compiles), 5])
def test_no_time_is_too_short_for_a_leaf(task: Task, cuts: Any) -> None:
    rng = np.random.default_rng(2)
    values, labels = rng.normal(size=(1_000, 12)), rng.integers(0, 2, 1_000)
    result = streed.solve(task, values, labels, max_depth=5, max_cuts=cuts, time_limit=1e-6)
    assert result.status == "feasible"
    assert len(result.tree.predict(values)) == 1_000
    assert task.order != "total" or result.lower_bound < result.upper_bound


@pytest.mark.compiles
@pytest.mark.parametrize(("cuts", "depth", "questions"), [("all", 2, 2_392), ("auto", 5, 120)])
def test_pairs_of_thresholds_are_not_all_scored(cuts: str, depth: int, questions: int) -> None:
    z = np.random.default_rng(3).normal(size=(300, 8))
    data = Dataset.make(z, z[:, 0] > 0, z=z[:, 1], max_cuts=cuts)
    result = streed.solve(Deviations(), data, max_depth=depth, time_limit=1e-6)
    assert result.stats["questions"] == questions
    check_stopped(result, "time", data)


def test_a_first_tree_without_errors_is_the_answer() -> None:
    rng = np.random.default_rng(71)  # its value was compared with a code that is rounded up by two steps
    values, numbers = rng.integers(0, 36, (71, 7)).astype(float), rng.integers(0, 4, 71)
    for limit in (0.001, 0.05):
        result = streed.solve(SquaredError(), values, numbers, max_depth=7, time_limit=limit)
        assert ((result.tree.predict(values) - numbers) ** 2).sum() == pytest.approx(result.value)


@pytest.mark.parametrize("task", GENERAL, ids=lambda task: type(task).__name__)
def test_a_memory_limit_of_the_general_route(task: Task) -> None:
    check_stopped(streed.solve(task, LARGE, max_depth=6, memory_limit=1, search="general"), "memory")


class Never(streed.Limit):
    def allows(self, s: State) -> bool:
        return False


def test_nothing_known_is_not_infeasible() -> None:
    data = Dataset.make(X[:64, :6], Y[:64])
    few = unusual.FewOfEach(0).subject_to(Never())
    result = streed.solve(few, data, max_depth=6, time_limit=1e-9, search="general")
    assert (result.status, result.tree, result.front) == ("unknown", None, ())
    never = unusual.Gini().subject_to(Never())
    assert streed.solve(never, data, max_depth=2, search="general").status == "infeasible"


@pytest.mark.parametrize("task", [Accuracy(), BalancedAccuracy(), unusual.Gini(), *NATIVE[-1:]], ids=str)
def test_a_callable_hears_sane_numbers(task: Task) -> None:
    told: list[Progress] = []
    result = streed.solve(task, LARGE, max_depth=7, time_limit=1.2, progress=told.append, search=_search(task))
    # plain Python may come to tell its end only in so little time
    assert len(told) >= (1 if _search(task) == "general" else 2)
    assert [p.elapsed for p in told] == sorted(p.elapsed for p in told)
    assert [p.nodes for p in told] == sorted(p.nodes for p in told)
    sign = -1 if task.larger_is_better else 1
    costs = [sign * p.incumbent for p in told if p.incumbent is not None]
    bounds = [sign * p.lower_bound for p in told if p.lower_bound is not None]
    assert costs == sorted(costs, reverse=True)
    assert bounds == sorted(bounds)
    assert (told[-1].phase, told[-1].incumbent, told[-1].gap) == ("done", result.value, result.gap)


def test_the_end_is_told_of_short_and_of_infeasible_solves() -> None:
    told: list[Progress] = []
    for task, gap in ((SparseAccuracy(0.01), 0), (Accuracy().subject_to(MinSupport(51)), None)):
        result = streed.solve(task, X[:50], Y[:50], max_depth=2, progress=told.append)
        assert (told[-1].phase, told[-1].incumbent, told[-1].gap) == ("done", result.value, gap)


@pytest.mark.parametrize("task", [Accuracy(), unusual.Gini()], ids=str)
def test_what_a_callable_raises_ends_the_solve(task: Task) -> None:
    def enough(progress: Progress) -> None:
        raise KeyError("enough")

    before, begin = threading.active_count(), time.perf_counter()
    with pytest.raises(KeyError, match="enough"):
        streed.solve(task, LARGE, max_depth=7, progress=enough, search=_search(task))
    assert time.perf_counter() - begin < _WAIT
    assert threading.active_count() == before


@pytest.mark.parametrize("task", [Accuracy(), unusual.Gini(), unusual.FewOfEach(), FRONTS[0]], ids=str)
def test_an_interrupt_from_a_callable_gives_what_is_known(task: Task) -> None:
    def interrupt(progress: Progress) -> None:
        if progress.phase == "searching":
            raise KeyboardInterrupt

    result = streed.solve(task, LARGE, max_depth=7, progress=interrupt, search=_search(task))
    check_stopped(result, "interrupt")
    for missing in result.stats.get("missing", ()):
        for value, _ in result.front:
            assert sum(w * x for w, x in zip(missing["weights"], value, strict=True)) >= missing["bound"] - 1e-9


def test_an_interrupted_trade_off_says_where_the_rest_is() -> None:
    given: dict[str, Any] = {"max_depth": 2, "sensitive_features": _RNG.integers(0, 2, 200)}
    whole = streed.solve(Accuracy() & DemographicParity(), X[:200, :8], Y[:200], **given)
    for limit in (1e-9, 1e-3, 1e-2):
        result = streed.solve(Accuracy() & DemographicParity(), X[:200, :8], Y[:200], time_limit=limit, **given)
        if result.status == "optimal":
            assert result.front == whole.front
            continue
        missing, known = result.stats["missing"], {value for value, _ in result.front}
        for errors, gap in {value for value, _ in whole.front} - known:
            assert missing["gap_below"] is None or gap < missing["gap_below"]
            assert missing["score_bound"] is None or errors >= missing["score_bound"]
    with mock.patch("streed.tables.fronts.nondominated_at_root", side_effect=[KeyboardInterrupt, [0], [0]]):
        result = streed.solve(Accuracy() & Splits(), X[:99, :8], Y[:99], max_depth=2)
    assert (result.status, result.stats["stopped"], len(result.front)) == ("feasible", "interrupt", 1)


INTERRUPTED = """
import json, sys
import streed
from streed.tasks import Accuracy
from tests.unit.test_stopping import LARGE, X, Y

def tell(progress):
    if progress.phase == "searching" and progress.nodes > 0:
        print("searching", flush=True)

result = streed.solve(Accuracy(), LARGE, max_depth=7, progress=tell, threads=int(sys.argv[1]))
wrong = int((result.tree.predict(X) != Y).sum())
print(json.dumps([result.status, result.stats["stopped"], result.value, wrong, result.lower_bound, result.gap]))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there, signals reach whole consoles")
@pytest.mark.parametrize("threads", [1, 2])
def test_an_interrupt_gives_the_best_tree_so_far(threads: int) -> None:
    with started([sys.executable, "-c", INTERRUPTED, str(threads)], stderr=None) as child:
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
    assert took < _WAIT


LIMITED = """
import json, sys
import streed
from streed.tasks import SparseAccuracy
from streed.problem.process_memory import peak
from tests.unit.test_stopping import X, Y

asked = SparseAccuracy(0.0005), X[:400], Y[:400]
streed.solve(*asked, memory_limit=int(sys.argv[1]), time_limit=1e-3)  # compiled code takes room, too
result = streed.solve(*asked, memory_limit=int(sys.argv[1]), time_limit=15)
print(json.dumps([result.stats["evictions"], result.lower_bound, result.value, peak()]))
"""


@pytest.mark.slow
def test_a_process_never_holds_more_than_its_memory_limit() -> None:
    limit = 350_000_000
    with started([sys.executable, "-c", LIMITED, str(limit)], stderr=None) as child:
        evictions, lower, value, peak = json.loads(child.stdout.read())
    assert evictions > 0
    assert lower < value
    assert peak < limit


@pytest.mark.compiles
def test_the_command_prints_the_front_that_it_has() -> None:
    words = ("front", "tic-tac-toe", "--max-depth", "7", "--time-limit", "0.5", "--json")
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 3, done.output
    found = json.loads(done.stdout)
    assert found["status"] == "feasible"
    assert len(found["points"]) >= 2


posix = pytest.mark.skipif(sys.platform == "win32", reason="there, signals reach whole consoles")

LIBRARY = """
import numpy as np, streed
draw = np.random.default_rng(0)
try:
    streed.solve(streed.tasks.Accuracy(), draw.integers(0, 2, (60, 7)), draw.integers(0, 2, 60), max_depth=4)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""

SHELL = "from streed.cli.app import main; main()"


def interrupted(code: str, arguments: list[str], number: signal.Signals, place: Path) -> tuple[int, str, str, float]:
    """A process that gets a signal once it compiles: exit code, what it prints and says, seconds from then on."""
    environment = {**os.environ, "STREED_CACHE_DIR": str(place), "PYTHONPATH": str(ROOT)}
    with started([sys.executable, "-c", code, *arguments], env=environment) as child:
        first = child.stderr.readline()
        assert "compiling" in first, first + child.stderr.read()
        time.sleep(0.5)
        begin = time.perf_counter()
        child.send_signal(number)
        printed, said = child.communicate()
        return child.returncode, printed, said, time.perf_counter() - begin


@pytest.mark.compiles
@posix
def test_an_interrupt_of_the_library(tmp_path: Path) -> None:
    code, printed, said, took = interrupted(LIBRARY, [], signal.SIGINT, tmp_path)
    assert (code, printed) == (0, "interrupted\n"), said
    assert took < 10  # it would take half a minute and more


@pytest.mark.compiles
@posix
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_of_the_shell(tmp_path: Path, number: signal.Signals) -> None:
    arguments = ["solve", "tic-tac-toe", "--max-depth", "3"]
    code, printed, said, took = interrupted(SHELL, arguments, number, tmp_path)
    assert (code, printed) == (130, ""), said
    assert "interrupted: no tree yet" in said
    assert "Traceback" not in said
    assert took < 10


SEARCHING = """
import sys, threading, os, signal
import numpy as np
from streed.bnb import session as watch
from streed.cli.app import main
run = watch.run_stoppable
def told(searches, control, deadline, look):
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGTERM)).start()
    return run(searches, control, deadline, look)
watch.run_stoppable = told
main()
"""


@pytest.mark.compiles
@posix
def test_sigterm_gives_the_best_tree_so_far(tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    pd.DataFrame(X).add_prefix("c").assign(y=Y).to_csv(table, index=False)
    arguments = ["solve", str(table), "--target", "y", "--max-depth", "7", "--no-progress"]
    done = ended("-c", SEARCHING, *arguments)
    assert done.returncode == 3, done.stdout + done.stderr
    assert "feasible" in done.stdout
    assert "interrupt" in done.stdout
