"""Proofs of optimal trees: claims, bytes, and the seconds to solve, to prove, and to check.

Accuracy with depth limits, also with a limit on the number of splits and under limits on what groups get, F1, and,
without a depth limit, accuracy with a price per split: the rows of Branches' Table 2. Times are of one core and one
thread of matrix products, each taken once; proving has its limit. A proof that does not hold, or does not reach the
tree's cost, makes the exit code 1.

    python -m tests.benchmarks.proofs --depths 3 4 --json proofs.json
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy is imported

import numpy as np

import streed
from streed import proof
from streed.data import Dataset
from streed.task import Task
from streed.tasks import F1, Accuracy, DemographicParity, EqualOpportunity, SparseAccuracy
from tests.benchmarks import duel, harness

_NODES = ("anneal", "breast-wisconsin", "hypothyroid", "kr-vs-kp", "tic-tac-toe")
"""Data sets that are also proved with five splits at most, at depth four."""

_FAIR = (DemographicParity() <= 0.01, EqualOpportunity() <= 0.01)
"""Limits of depth three, on the data of the fairness benchmark."""


class Job(NamedTuple):
    """What is to be solved and proved."""

    name: str
    table: str
    """The folder of the data."""
    task: Task
    words: str
    depth: int | None
    nodes: int | None = None


def main(arguments: list[str] | None = None) -> int:
    """1 if a proof does not hold or does not reach the tree's cost, else 0."""
    parser = harness.parser("proofs", __doc__)
    parser.add_argument("--depths", type=int, nargs="*", default=[3, 4], metavar="D")
    parser.add_argument("--datasets", nargs="+", metavar="NAME", help="(default: all)")
    parser.add_argument("--tables", nargs="+", default=["classification", "fairness", "sparse"], metavar="TABLE")
    parser.add_argument("--accuracy", action="store_true", help="without other tasks and limits on splits")
    parser.add_argument("--limit", type=float, default=120.0, metavar="S", help="of the prover (default: %(default)g)")
    options = parser.parse_args(arguments)
    record: harness.Record = {"benchmark": "proofs", "machine": harness.start(options)}
    record["rows"] = rows = []
    for job in _jobs(options):
        rows.append(measure(options.data, job, options.limit))
        harness.note(" ".join(str(cell) for cell in _cells(rows[-1])))
    harness.finish(options, record, render(record))
    return harness.FINE if all(row["proved"] for row in rows) else harness.MISSED


def _jobs(options: Any) -> list[Job]:

    def among(names: Iterable[str], table: str) -> list[str]:
        return [name for name in names if table in options.tables and name in (options.datasets or [name])]

    names = among(harness.names_of(options.data, "classification"), "classification")
    jobs = [Job(name, "classification", Accuracy(), "accuracy", depth) for depth in options.depths for name in names]
    if not options.accuracy:
        jobs += [Job(name, "classification", F1(), "F1", 3) for name in names if 3 in options.depths]
        several = [name for name in names if name in _NODES and 4 in options.depths]
        jobs += [Job(name, "classification", Accuracy(), "accuracy, 5 splits", 4, 5) for name in several]
    fair = among(
        duel.fair_names(options.data),
        "fairness",
    )
    jobs += [Job(name, "fairness", Accuracy().subject_to(limit), str(limit), 3) for name in fair for limit in _FAIR]
    prices = {row["dataset"]: row["params"]["lambda"] for row in harness.known_optima(options.data, "sparse")}
    sparse = among(prices, "sparse")
    return jobs + [Job(name, "sparse", SparseAccuracy(prices[name]), f"price {prices[name]}", None) for name in sparse]


def _read(folder: Path, job: Job) -> Dataset:
    if job.table == "fairness":
        X, y, groups = duel.read_groups(folder, job.name)
        return Dataset.make(X, y, sensitive_features=groups)
    X, y = harness.read_data(folder, job.table, job.name)
    wide = np.flatnonzero(X.max(axis=0) > 1).tolist() if job.name.endswith("-o") else []
    return Dataset.make(X, y, categorical=wide or None)


def measure(folder: Path, job: Job, limit: float) -> harness.Record:
    """The row of one job; `limit` is in seconds, of the prover."""
    data = _read(folder, job)
    began = time.perf_counter()
    result = streed.solve(job.task, data, max_depth=job.depth, max_nodes=job.nodes, time_limit=limit)
    solved = time.perf_counter() - began
    made = proof.prove(result, data, time_limit=limit)
    began = time.perf_counter()
    made.check()  # raises an error where it does not hold
    checked = time.perf_counter() - began
    row: harness.Record = {"name": job.name, "task": job.words, "depth": job.depth, "table": job.table}
    row |= {"solve": solved, "prove": made.seconds, "check": checked, "proved": made.optimal}
    return row | {"claims": made.claims, "bytes": len(made.data)}


def _cells(row: harness.Record) -> list[object]:
    depth = "any" if row["depth"] is None else row["depth"]
    times = [f"{row[name]:.2f}" for name in ("solve", "prove", "check")]
    return [row["name"], row["task"], depth, row["claims"], row["bytes"], *times, "yes" if row["proved"] else "bound"]


def render(record: harness.Record) -> str:
    """The table, and how many are proved."""
    heads = ("data", "task", "depth", "claims", "bytes", "solve s", "prove s", "check s", "proved")
    rows = record["rows"]
    lines = [harness.table(heads, map(_cells, rows), left=2)]
    for table in dict.fromkeys(row["table"] for row in rows):
        some = [row for row in rows if row["table"] == table]
        median = float(np.median([row["prove"] for row in some]))
        lines.append(
            f"{table}: {sum(row['proved'] for row in some)} of {len(some)} proved, {median:.2f} s in the median"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
