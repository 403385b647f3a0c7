"""Proofs of optimal trees: claims, bytes, and the seconds to solve, to prove, and to check by numpy and compiled code.

Solved and proved with depth limits, with a price per split and without one, and for F1. Times are processor time on one
core, the least of several; reading tables is not in them, packing the table for a proof is. A proof that does not hold,
or does not reach the tree's cost, makes the exit code 1.

    python -m tests.benchmarks.proofs --json proofs.json
"""

from __future__ import annotations

import functools
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import streed
from streed.data import Dataset
from streed.proof import check
from streed.proof.compiled import CompiledSums
from streed.proof.format import to_bytes
from streed.proof.prover import Prover
from streed.proof.prover_sums import ProverSums
from streed.proof.proving import claim_by_tree
from streed.task import Task
from streed.tasks import F1, Accuracy, SparseAccuracy
from tests.benchmarks import harness

GOALS = {"check": 5, "prove": 10}
"""Checking by compiled code and proving, in times of the solve, as geometric means."""

_DEEP = ("tic-tac-toe", "anneal", "kr-vs-kp", "hypothyroid", "breast-wisconsin")
"""Data sets of depth five."""

_SPARSE = (("tic-tac-toe", 0.05), ("breast-wisconsin", 0.02), ("kr-vs-kp", 0.05), ("mushroom", 0.02), ("anneal", 0.05))
"""Data sets and prices without a limit on the depth."""


def main(arguments: list[str] | None = None) -> int:
    """1 if a proof does not hold or does not reach the tree's cost, else 0."""
    parser = harness.parser("proofs", __doc__)
    parser.add_argument("--depths", type=int, nargs="+", default=[3, 4, 5], metavar="D")
    parser.add_argument("--datasets", nargs="+", metavar="NAME", help="(default: all; at depth five, five)")
    options = parser.parse_args(arguments)
    record: harness.Record = {"benchmark": "proofs", "machine": harness.start(options)}
    record["rows"] = rows = []
    for name, task, depth in _jobs(options):
        rows.append(measure(options.data, name, task, depth))
        harness.note(" ".join(str(cell) for cell in _cells(rows[-1])))
    harness.finish(options, record, render(record))
    return harness.FINE if all(row["proved"] for row in rows) else harness.MISSED


def _jobs(options: Any) -> list[tuple[str, Task, int | None]]:
    """Data sets, tasks and depths."""
    everything = options.datasets or harness.names_of(options.data, "classification")
    jobs: list[tuple[str, Task, int | None]] = []
    for depth in options.depths:
        names = everything if depth < 5 or options.datasets else _DEEP
        jobs += [(name, Accuracy(), depth) for name in names]
        jobs += [(name, F1(), depth) for name in names if depth == 3]
    return jobs + [(name, SparseAccuracy(price), None) for name, price in _SPARSE if name in everything]


def measure(folder: Path, name: str, task: Task, depth: int | None) -> harness.Record:
    """The row of one data set, task and depth."""
    X, y = harness.read_data(folder, "classification", name)
    solve, result = _timed(functools.partial(streed.solve, task, X, y, max_depth=depth))
    assert result.tree is not None
    claim = claim_by_tree(result.tree, Dataset.make(X, y))
    least = claim.goal.costs.costs.min(1)
    target = int(claim.goal.reached / claim.goal.costs.unit) - int(least.sum())

    def prove() -> tuple[bytes, int]:
        regrets = claim.goal.costs.costs - least[:, None]
        prover = Prover(ProverSums(claim.X, regrets, claim.goal.costs.split, claim.limits))
        records = prover.records(prover.prove(claim.limits, target)[0])
        return to_bytes({"tree": claim.tree}, records), sum(len(record.columns) for record in records)

    proving, (written, counted) = _timed(prove)
    row: harness.Record = {"name": name, "task": type(task).__name__, "depth": depth, "solve": solve, "prove": proving}
    row |= {"bytes": len(written), "columns": counted, "proved": True}
    for how, sums in (("numpy", check.Sums), ("compiled", CompiledSums)):
        body = check.read_file(written)[1]
        judge = functools.partial(check.prove_bound, claim.X, claim.goal.costs, claim.limits, body, sums)
        row[how], (bound, row["claims"]) = _timed(judge)
        row["proved"] &= bound >= claim.goal.reached
    return row


def _timed(call: Callable[[], Any]) -> tuple[float, Any]:
    """The least processor time of some calls behind a first one that may compile, and the answer."""
    answer = call()
    best, spent, count = float("inf"), 0.0, 0
    while count < 1 or (count < 5 and spent < 2):
        begin = time.process_time()
        answer = call()
        seconds = time.process_time() - begin
        best, spent, count = min(best, seconds), spent + seconds, count + 1
    return best, answer


def _cells(row: harness.Record) -> list[object]:
    depth = "any" if row["depth"] is None else row["depth"]
    times = [harness.milliseconds(row[name]) for name in ("solve", "prove", "numpy", "compiled")]
    ratios = [f"{row[name] / row['solve']:.1f}" for name in ("prove", "compiled")]
    return [row["name"], row["task"], depth, row["claims"], row["columns"], row["bytes"], *times, *ratios]


def render(record: harness.Record) -> str:
    """The table, and the geometric means beside the goals."""
    heads = ("data", "task", "depth", "claims", "columns", "bytes", "solve ms", "prove ms", "numpy ms", "compiled ms")
    rows = record["rows"]
    lines = [harness.table((*heads, "prove / solve", "check / solve"), map(_cells, rows), left=2)]
    for name, column in (("prove", "prove"), ("check", "compiled")):
        mean = harness.geometric_mean([row[column] / row["solve"] for row in rows])
        lines.append(f"{name}: {mean:.1f} times the solve in geometric mean (goal: {GOALS[name]} at most)")
    lines.append(f"slowest check by compiled code: {max(row['compiled'] for row in rows):.2f} s")
    lines.append(f"{sum(row['proved'] for row in rows)} of {len(rows)} proved")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
