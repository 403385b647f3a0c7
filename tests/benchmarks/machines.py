"""Many machines: what two processes of a cluster take beside one.

For every instance, in processor seconds of all processes together and in nodes: one process, and `streed.Distributed`
on a LocalCluster of two. (What dies on the way is a test: tests/unit/test_cluster.py.)

The exit code is 1 if an optimum differs or is not proved, or two processes take more than 1.5 times the processor time
of one on the instances that take it 10 s or more.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

import streed
from streed.cluster import Frontier, forget, improve
from tests.benchmarks import harness

CASES: dict[str, dict[str, Any]] = {
    "german-credit d5": {"data": "german-credit", "depth": 5},
    "german-credit d6": {"data": "german-credit", "depth": 6},
    "tictactoe": {"data": "tictactoe", "lam": 0.002},
    "balance": {"data": "balance", "lam": 0.001},
}
"""What is solved; `lam` is the price of a split, with any depth."""

LONG, MOST_CPU = 10.0, 1.5
"""Processor seconds of one process from which on two may take so many times as much."""


def main(arguments: list[str] | None = None) -> int:
    """1 if a value differs, a proof is missing, or too much processor time is taken, else 0."""
    parser = harness.parser("machines", __doc__)
    parser.add_argument("--cases", nargs="+", choices=CASES, default=list(CASES), metavar="CASE")
    parser.add_argument("--slice", type=float, default=5.0, help="seconds of a piece (default: 5)")
    parser.set_defaults(all_cores=True)
    options = parser.parse_args(arguments)
    record: harness.Record = {"benchmark": "machines", "machine": harness.start(options), "rows": []}
    for name in options.cases:
        runs: dict[str, harness.Record] = {}
        for what, seconds in (("one process", None), ("two processes", options.slice)):
            harness.note(f"{name}: {what}")
            runs[what] = measure(options.data, name, seconds)
        record["rows"].append({"case": name, "runs": runs, "holds": holds(runs)})
    harness.finish(options, record, render(record))
    return harness.FINE if all(row["holds"] for row in record["rows"]) else harness.MISSED


def holds(runs: dict[str, harness.Record]) -> bool:
    """Whether all prove the value of one process, in the time that two may take."""
    one, two = runs.values()
    agrees = all((run["status"], run["value"]) == ("optimal", one["value"]) for run in runs.values())
    return agrees and (one["cpu"] < LONG or two["cpu"] <= MOST_CPU * one["cpu"])


def measure(folder: Path, name: str, seconds: float | None) -> harness.Record:
    """What a solve takes; `seconds` of a piece with two processes, None for one."""
    from streed.tasks import Accuracy, SparseAccuracy

    case = CASES[name]
    X, y = harness.read_data(folder, "sparse" if "lam" in case else "classification", case["data"])
    task = SparseAccuracy(case["lam"]) if "lam" in case else Accuracy()
    limits: dict[str, Any] = {"max_depth": case.get("depth")}
    streed.solve(task, X, y, **limits, time_limit=0.001)  # compiles, or loads
    if seconds is None:
        return timed(task, X, y, limits)
    import distributed

    dask: Any = distributed
    frontier = streed.frontier(task, X, y, **limits, seconds=0.001)
    quiet = {"dashboard_address": None, "silence_logs": 50}
    with dask.LocalCluster(n_workers=2, threads_per_worker=1, **quiet) as cluster, dask.Client(cluster) as client:
        client.run(load, frontier)
        before = dict(client.run(worker_time).values())
        found = timed(task, X, y, limits | {"search": streed.Distributed(client, slice=seconds)})
        after = dict(client.run(worker_time).values())
    found["cpu"] += sum(after[pid] - before.get(pid, 0.0) for pid in after)
    return found


def timed(task: Any, X: Any, y: Any, limits: dict[str, Any]) -> harness.Record:
    """What a solve took of this process."""
    wall, cpu = time.perf_counter(), time.process_time()
    result = streed.solve(task, X, y, **limits)
    took = {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu, "nodes": result.stats["nodes"]}
    return took | {"status": result.status, "value": str(result.value), "pieces": result.stats.get("pieces", 1)}


def load(frontier: Frontier) -> None:
    """Loads in a worker what a search needs, by the first moment of one."""
    piece = frontier.next()
    if piece is not None:
        improve(frontier.problem, piece)
    forget()


def worker_time() -> tuple[int, float]:
    """(the process, its processor seconds)."""
    return os.getpid(), time.process_time()


def render(record: harness.Record) -> str:
    """The table."""
    lines = []
    for row in record["rows"]:
        one = row["runs"]["one process"]
        for what, run in row["runs"].items():
            ratios = [f"{run[key] / one[key]:.2f}" for key in ("nodes", "cpu")]
            numbers = [f"{run['wall']:.1f}", f"{run['cpu']:.1f}", f"{run['nodes']:,}", *ratios, run["pieces"]]
            proved = harness.verdict((run["status"], run["value"]) == ("optimal", one["value"]))
            lines.append([row["case"], what, *numbers, proved])
    heads = ["case", "run", "wall s", "CPU s", "nodes", "nodes / one", "CPU / one", "pieces", "proved"]
    missed = [f"Missed: {row['case']}." for row in record["rows"] if not row["holds"]]
    return "\n\n".join([harness.table(heads, lines, 2), *missed])


if __name__ == "__main__":
    sys.exit(main())
