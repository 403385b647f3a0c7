"""Every driver has one value, with row prices or without, one tree with any threads, and with machines that fail."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import streed
from streed import tasks
from streed.bnb.pricing_beside import PricingBeside
from streed.cluster import forget
from streed.data import Dataset
from streed.drivers import Branches, DepthFirst
from streed.errors import TaskError
from streed.task import Task
from streed.tasks import F1, Accuracy, BalancedAccuracy, DemographicParity, Gini, SparseAccuracy, SquaredError
from streed.tree.evaluation import inspect
from tests import unusual_tasks as unusual
from tests.processes import started
from tests.shipped import NATIVE
from tests.unit.outcomes import refused

KINDS = ("errors", "weights", "huge weights", "frequency", "cost matrix", "costs of rows", "a score", "a limit")


@pytest.fixture
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Searches begin with the best prices of their rows."""

    def work(self: PricingBeside, seconds: float) -> None:
        if self._end is None:
            self._end = threading.Event()
            self._work(self._end)

    monkeypatch.setattr(PricingBeside, "start_after", work)


def pose(kind: str, number: int) -> tuple[Any, Any, Any, dict[str, Any]]:
    """(task, X, y, arguments) of a random problem whose search takes a moment."""
    rng = np.random.default_rng((12, KINDS.index(kind), number))
    n, m, labels = int(rng.integers(20, 120)), int(rng.integers(3, 9)), int(rng.integers(2, 4))
    X = rng.integers(0, 2, (n, m))
    given: dict[str, Any] = {"min_leaf": int(rng.choice([1, 1, 2, 4]))}
    if rng.random() < 0.3:
        X[:, 0] = rng.integers(0, 3, n)
        X[:3, 0] = range(3)
        given["categorical"] = [0]
    labels = 2 if kind in ("a score", "a limit") else labels
    y: Any = (X[:, 0] + (X[:, -1] & X[:, 1]) + (rng.random(n) < 0.25)) % labels
    y[:labels] = range(labels)
    lam = Fraction(str(rng.choice(["0.01", "0.03", "0.05"])))
    task: Any = tasks.SparseAccuracy(lam)
    if "weights" in kind:
        given["sample_weight"] = rng.integers(1, 10**12 if kind == "huge weights" else 99, n)
    elif kind == "frequency":
        given["frequency"] = rng.integers(1, 5, n)
    elif kind == "cost matrix":
        matrix = rng.integers(0, 10, (labels, labels))
        np.fill_diagonal(matrix, 0)
        task = tasks.MisclassificationCosts(matrix.tolist()) + int(rng.integers(1, 20)) * tasks.Splits()
    elif kind == "costs of rows":
        given["costs"] = rng.integers(-5, 20, (n, labels))
        task, y = tasks.InstanceCosts() + int(rng.integers(1, 20)) * tasks.Splits(), None
    elif kind == "a score":
        task = tasks.F1() - lam * tasks.Splits()
    elif kind == "a limit":
        task = task.subject_to(tasks.DemographicParity() <= Fraction(int(rng.integers(3, 20)), 100))
        given["sensitive_features"] = rng.permutation(np.arange(n) % 2)
    return task, X, y, given


@pytest.mark.compiles
@pytest.mark.usefixtures("_at_once")
@pytest.mark.parametrize("kind", KINDS)
def test_prices_change_no_answer(kind: str) -> None:
    for number in range(3):
        task, X, y, given = pose(kind, number)
        plain = streed.solve(task, X, y, memory_limit=2**40, **given)
        for driver in (DepthFirst, Branches):
            result = streed.solve(task, X, y, search=driver(), **given)
            assert (result.status, result.value) == (plain.status, plain.value)


@pytest.mark.compiles
@pytest.mark.usefixtures("_at_once")
@pytest.mark.parametrize("driver", [DepthFirst, Branches])
def test_a_search_that_is_stopped_keeps_the_bound_of_its_prices(driver: Any) -> None:
    rng = np.random.default_rng(2)
    X = rng.integers(0, 2, (90, 14))
    y = ((X[:, 0] & X[:, 1]) ^ (rng.random(90) < 0.3)).astype(int)
    prices: Any = {}
    while "rounds" not in prices:  # what prices need is still compiled
        result = streed.solve(tasks.SparseAccuracy(0.02), X, y, time_limit=3, search=driver())
        prices = result.stats["row_prices"]
    assert prices["bound"] <= result.lower_bound <= result.value


@pytest.mark.compiles
@pytest.mark.usefixtures("_at_once")
def test_a_failure_of_the_linear_programs_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "highspy", None)
    task, X, y, given = pose("errors", 1)
    plain = streed.solve(task, X, y, memory_limit=2**40, **given)
    result = streed.solve(task, X, y, **given)
    assert (result.status, result.value) == ("optimal", plain.value)


@pytest.mark.compiles
@pytest.mark.usefixtures("_at_once")
def test_nothing_is_priced_under_a_depth_limit_or_a_memory_limit() -> None:
    X, y = np.eye(6, dtype=int), np.arange(6) % 2
    assert "row_prices" not in streed.solve(tasks.SparseAccuracy(0.01), X, y, max_depth=3).stats
    assert "row_prices" not in streed.solve(tasks.SparseAccuracy(0.01), X, y, memory_limit=2**32).stats


def noisy(seed: int, rows: int, widths: list[int], classes: int = 2) -> Dataset:
    """Data whose labels follow two columns, with noise; wide columns are categorical."""
    draw = np.random.default_rng(seed)
    X = np.stack([draw.integers(0, width, rows) for width in widths], axis=1).astype(np.uint8)
    y = np.where(draw.random(rows) < 0.25, draw.integers(0, classes, rows), (X[:, 0] + X[:, -1]) % classes)
    groups = draw.integers(0, 2, rows)
    wide = [j for j, width in enumerate(widths) if width > 2]
    return Dataset.make(X, y, categorical=wide, sensitive_features=groups)


LIMITS: list[dict[str, Any]] = [
    {},
    {"max_depth": 5},
    {"max_nodes": 4},
    {"max_depth": 4, "max_nodes": 6},
    {"max_depth": 4, "min_leaf": 9},
]


@pytest.mark.parametrize("limits", LIMITS, ids=str)
def test_all_find_one_value_and_one_tree_with_any_number_of_threads(limits: dict[str, Any]) -> None:
    for seed in range(3):
        data = noisy(seed, 150, [[2] * 9, [3, 2, 2, 4, 2], [5, 4, 3]][seed], 2 + seed % 2)
        for penalty in (0.004, 0.02):
            found = [
                streed.solve(SparseAccuracy(penalty), data, search=search, threads=threads, **limits)
                for search in NATIVE
                for threads in (1, 2)
            ]
            assert {each.status for each in found} == {"optimal"}
            assert len({each.value for each in found}) == 1
            assert len({str(each.tree) for each in found}) == 1


@pytest.mark.compiles
@pytest.mark.parametrize("search", NATIVE)
def test_the_gap_never_grows_and_ends_at_zero(search: str) -> None:
    result = streed.solve(SparseAccuracy(0.002), noisy(3, 300, [2] * 14), search=search)
    trace = result.stats["trace"]
    assert result.status == "optimal"
    assert trace[-1][1:3] == (result.value, result.value)
    gaps = [best - bound for _, best, bound, _ in trace if best is not None and bound is not None]
    assert gaps == sorted(gaps, reverse=True)
    assert [entry[0] for entry in trace] == sorted(entry[0] for entry in trace)


@pytest.mark.parametrize("search", NATIVE)
def test_a_stop_by_the_gap_keeps_its_promise(search: str) -> None:
    result = streed.solve(SparseAccuracy(0.0005), noisy(5, 400, [2] * 24), search=search, gap=0.9, time_limit=60)
    assert result.status in ("optimal", "feasible")
    assert result.stats["stopped"] in (None, "gap")
    assert result.gap <= 0.9 * result.value
    assert streed.solve(Accuracy(), noisy(5, 400, [2] * 8), search=search, max_depth=2, gap=0).status == "optimal"


def test_a_wide_table_has_a_deep_tree_at_once() -> None:
    data = noisy(3, 300, [2] * 640)
    first = streed.solve(SparseAccuracy(0.0), data, max_depth=5, gap=1, threads=2, time_limit=60)
    assert first.stats["stopped"] == "gap"
    assert first.value < streed.solve(SparseAccuracy(0.0), data, max_depth=3).value


def test_a_partial_order_is_refused_by_the_best_first_driver() -> None:
    with pytest.raises(TaskError, match="best-first search needs a total one"):
        streed.solve(unusual.ErrorsByClass(), [[0], [1]], [0, 1], search="branches")


@pytest.mark.parametrize(
    ("task", "options", "driver"),
    [
        (Accuracy(), {"max_depth": 2}, "depth-first"),
        (SparseAccuracy(0.05), {"time_limit": 60}, "branches"),
        (SparseAccuracy(0.05), {}, "depth-first"),
        pytest.param(unusual.ErrorsByClass(), {"max_depth": 1}, "depth-first", marks=pytest.mark.compiles),
    ],
)
def test_auto_says_which_driver_it_took(task: Task, options: dict[str, Any], driver: str) -> None:
    data = noisy(1, 60, [2] * 5)
    result = streed.solve(task, data, search="auto", **options)
    assert result.stats["chosen"]
    assert result.stats["search"] == driver
    assert result.value == streed.solve(task, data, **options).value


distributed = pytest.importorskip("distributed", reason="needs Dask (the extra `cluster`)")

RNG = np.random.default_rng(29)
X = (RNG.random((500, 30)) < 0.35).astype(np.uint8)
Y = ((X[:, 0] & X[:, 1]) | (X[:, 2] ^ X[:, 3])) ^ (RNG.random(500) < 0.2)
HARD = np.random.default_rng(29).integers(0, 2, (500, 65)).astype(np.uint8)
HARD_Y = np.random.default_rng(30).integers(0, 2, 500)
HARD_TASK: dict[str, Any] = {"max_depth": 5, "min_leaf": 3}
"""Some seconds of search."""


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """A client of two processes of one thread."""
    quiet = {"dashboard_address": ":0", "silence_logs": 50}
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, **quiet) as cluster,
        distributed.Client(cluster) as found,
    ):
        yield found


@pytest.fixture(scope="module")
def hard() -> streed.Result:
    """The proof of one process."""
    return streed.solve(Accuracy(), HARD, HARD_Y, **HARD_TASK)


CASES: dict[str, tuple[streed.Task, dict[str, Any]]] = {
    "sparse": (SparseAccuracy(0.01), {}),
    "deep": (Accuracy(), {"max_depth": 5}),
    "support": (BalancedAccuracy(), {"max_depth": 4, "min_leaf": 10}),
    "few nodes": (Accuracy(), {"max_depth": 5, "max_nodes": 6}),
    "generated": (Gini(), {"max_depth": 4}),
    "real": (SquaredError(), {"max_depth": 4}),
    "reduced": (F1(), {"max_depth": 3}),
    "fair": (Accuracy().subject_to(DemographicParity() <= 0.1), {"max_depth": 3, "sensitive_features": X[:, 5]}),
    "shallow": (Accuracy(), {"max_depth": 2}),
}


@pytest.mark.compiles
@pytest.mark.parametrize("name", CASES)
def test_many_machines_prove_what_one_process_proves(name: str, client: Any) -> None:
    task, asked = CASES[name]
    y = np.round(2.0 * Y + np.arange(500) % 7 / 7, 2) if name == "real" else Y
    one = streed.solve(task, X, y, **asked)
    many = streed.solve(task, X, y, search=streed.Distributed(client, slice=0.5), **asked)
    for part in ("status", "value", "lower_bound", "upper_bound"):
        assert getattr(many, part) == getattr(one, part)
    assert many.tree is not None
    row_data = {key: value for key, value in asked.items() if key == "sensitive_features"}
    if name not in ("reduced", "fair"):
        assert float(inspect(many.tree, task, streed.Dataset.make(X, y, **row_data)).value) == pytest.approx(
            float(1 - many.value if task.larger_is_better else many.value), rel=1e-9
        )


@pytest.mark.compiles
def test_a_worker_that_dies_costs_nothing_but_its_piece(client: Any, hard: streed.Result) -> None:
    dead: list[int] = []

    def kill() -> None:
        time.sleep(1.0)
        dead.append(min(client.run(os.getpid).values()))
        os.kill(dead[0], signal.SIGKILL)

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    many = streed.solve(Accuracy(), HARD, HARD_Y, search=streed.Distributed(client, slice=0.3), **HARD_TASK)
    killer.join()
    assert (many.status, many.value) == ("optimal", hard.value)
    assert len(dead) == 1
    assert many.stats["seconds_search"] > 1


@pytest.mark.compiles
def test_a_solve_that_is_stopped_has_a_gap_and_is_taken_up_again(client: Any, tmp_path: Path) -> None:
    asked = {**HARD_TASK, "min_leaf": 4}  # workers know nothing of it yet
    file = tmp_path / "frontier.json"
    there = streed.Distributed(client, slice=0.2, file=file)
    first = streed.solve(Accuracy(), HARD, HARD_Y, search=there, time_limit=0.5, **asked)
    assert first.status == "feasible"
    assert first.stats["unsettled"] > 0
    assert file.exists()
    again: dict[str, Any] = {"search": there, **asked}
    refused("path", "another problem", call=lambda: streed.solve(Accuracy(), HARD, 1 - HARD_Y, **again))
    second = streed.solve(Accuracy(), HARD, HARD_Y, **again)
    assert first.lower_bound < second.value <= first.value
    assert (second.status, second.lower_bound) == ("optimal", second.value)
    assert second.stats["pieces"] > first.stats["pieces"]
    assert not file.exists()
    assert second.value == streed.solve(Accuracy(), HARD, HARD_Y, **asked).value


COORDINATOR = """
import sys, distributed, streed
from tests.unit.test_drivers import Accuracy, HARD, HARD_TASK, HARD_Y
with distributed.Client(sys.argv[1]) as client:
    there = streed.Distributed(client, slice=0.1, file=sys.argv[2])
    streed.solve(Accuracy(), HARD, HARD_Y, search=there, **HARD_TASK)
"""


@pytest.mark.compiles
def test_a_coordinator_that_is_killed_is_resumed(client: Any, hard: streed.Result, tmp_path: Path) -> None:
    client.run(forget)
    file = tmp_path / "frontier.json"
    with started([sys.executable, "-c", COORDINATOR, client.scheduler.address, str(file)]) as first:
        while first.poll() is None and not file.exists():
            time.sleep(0.02)
        first.kill()
    assert first.returncode == -signal.SIGKILL
    there = streed.Distributed(client, slice=0.3, file=file)
    second = streed.solve(Accuracy(), HARD, HARD_Y, search=there, **HARD_TASK)
    assert (second.status, second.value) == ("optimal", hard.value)
    assert not file.exists()


@pytest.mark.compiles
def test_files_that_hold_no_search_are_refused(client: Any, tmp_path: Path) -> None:
    client.run(forget)
    file = tmp_path / "frontier.json"
    there = streed.Distributed(client, slice=0.2, file=file)
    first = streed.solve(Accuracy(), HARD, HARD_Y, search=there, time_limit=0.5, **HARD_TASK)
    assert first.status == "feasible"
    saved = json.loads(file.read_text(encoding="utf-8"))["streed frontier"]
    texts = ["[1, 2", "[1, 2]", "", '{"streed frontier": 3}', '{"streed frontier": []}']
    texts += [json.dumps({"streed frontier": [*saved[:k], {}, *saved[k + 1 :]]}) for k in range(1, len(saved))]
    for text in texts:
        file.write_text(text, encoding="utf-8")
        with pytest.raises(streed.InputError, match="no frontier"):
            streed.solve(Accuracy(), HARD, HARD_Y, search=there, **HARD_TASK)


@pytest.mark.compiles
def test_what_cannot_be_shared_out_is_refused(client: Any) -> None:
    refused("client", "no Dask client", call=lambda: streed.Distributed(object()))
    refused("slice", "> 0", call=lambda: streed.Distributed(client, slice=0))
    with pytest.raises(streed.TaskError, match="front"):
        streed.solve(Accuracy() & BalancedAccuracy(), X, Y, max_depth=2, search=streed.Distributed(client))
