"""Many machines: the same proof as of one process, through workers that die and a coordinator that is stopped."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import streed
from streed.cluster import forget
from streed.tasks import F1, Accuracy, BalancedAccuracy, DemographicParity, Gini, SparseAccuracy, SquaredError
from streed.tree.evaluation import evaluate
from tests.processes import started
from tests.unit.refusal import refused

pytestmark = pytest.mark.compiles

distributed = pytest.importorskip("distributed", reason="needs Dask (the extra `cluster`)")

RNG = np.random.default_rng(29)
X = (RNG.random((500, 30)) < 0.35).astype(np.uint8)
Y = ((X[:, 0] & X[:, 1]) | (X[:, 2] ^ X[:, 3])) ^ (RNG.random(500) < 0.2)
HARD = np.random.default_rng(29).integers(0, 2, (500, 75)).astype(np.uint8)
HARD_Y = np.random.default_rng(30).integers(0, 2, 500)
HARD_TASK: dict[str, Any] = {"max_depth": 5, "min_leaf": 3}
"""Some seconds of search."""


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """A client of two processes of one thread."""
    quiet = {"dashboard_address": None, "silence_logs": 50}
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


@pytest.mark.parametrize("name", CASES)
def test_many_machines_prove_what_one_process_proves(name: str, client: Any) -> None:
    task, asked = CASES[name]
    y = np.round(2.0 * Y + np.arange(500) % 7 / 7, 2) if name == "real" else Y
    one = streed.solve(task, X, y, **asked)
    many = streed.solve(task, X, y, search=streed.Distributed(client, slice=0.5), **asked)
    assert (many.status, many.value, many.lower_bound, many.upper_bound) == (
        one.status,
        one.value,
        one.lower_bound,
        one.upper_bound,
    )
    assert many.tree is not None
    row_data = {key: value for key, value in asked.items() if key == "sensitive_features"}
    if name not in ("reduced", "fair"):
        assert float(evaluate(many.tree, task, streed.Dataset.make(X, y, **row_data))) == pytest.approx(
            float(1 - many.value if task.larger_is_better else many.value), rel=1e-9
        )


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


def test_a_solve_that_is_stopped_has_a_gap_and_is_taken_up_again(client: Any, tmp_path: Path) -> None:
    asked = {**HARD_TASK, "min_leaf": 4}  # workers know nothing of it yet
    file = tmp_path / "frontier.json"
    there = streed.Distributed(client, slice=0.2, file=file)
    first = streed.solve(Accuracy(), HARD, HARD_Y, search=there, time_limit=0.5, **asked)
    assert first.status == "feasible"
    assert first.stats["unsettled"] > 0
    assert file.exists()
    other: dict[str, Any] = {"search": there, "max_depth": 4}
    refused("path", "another problem", call=lambda: streed.solve(Accuracy(), HARD, 1 - HARD_Y, **other))
    second = streed.solve(Accuracy(), HARD, HARD_Y, search=there, **asked)
    assert first.lower_bound < second.value <= first.value
    assert (second.status, second.lower_bound) == ("optimal", second.value)
    assert second.stats["pieces"] > first.stats["pieces"]
    assert not file.exists()
    assert second.value == streed.solve(Accuracy(), HARD, HARD_Y, **asked).value


COORDINATOR = """
import sys, distributed, streed
from tests.unit.test_cluster import Accuracy, HARD, HARD_TASK, HARD_Y
with distributed.Client(sys.argv[1]) as client:
    there = streed.Distributed(client, slice=0.1, file=sys.argv[2])
    streed.solve(Accuracy(), HARD, HARD_Y, search=there, **HARD_TASK)
"""


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


def test_what_cannot_be_shared_out_is_refused(client: Any) -> None:
    refused("client", "no Dask client", call=lambda: streed.Distributed(object()))
    refused("slice", "> 0", call=lambda: streed.Distributed(client, slice=0))
    with pytest.raises(streed.TaskError, match="front"):
        streed.solve(Accuracy() & BalancedAccuracy(), X, Y, max_depth=2, search=streed.Distributed(client))
