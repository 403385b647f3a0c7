"""Proofs of optimal trees: claims, bytes, and the seconds to solve, to prove, and to check by numpy and compiled code.

Solved and proved with depth limits, with a price per split and without one, for F1, for accuracy under a limit on the
number of nodes, and under limits on what groups get. Times are processor time on one
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
from streed.proof import check, check_limits
from streed.proof.check import Record
from streed.proof.claim import ProofClaim
from streed.proof.compiled import CompiledSums
from streed.proof.format import to_bytes
from streed.proof.planes import find_planes
from streed.proof.prover import Prover
from streed.proof.prover_sums import ProverSums
from streed.proof.proving import claim_by_tree
from streed.task import Task
from streed.task.constrained import objective
from streed.tasks import F1, Accuracy, DemographicParity, EqualOpportunity, SparseAccuracy
from tests.benchmarks import fairness, harness

GOALS = {"check": 5, "prove": 10}
"""Checking by compiled code and proving, in times of the solve, as geometric means."""

_DEEP = ("tic-tac-toe", "anneal", "kr-vs-kp", "hypothyroid", "breast-wisconsin")
"""Data sets of depth five."""

_SPARSE = (("tic-tac-toe", 0.05), ("breast-wisconsin", 0.02), ("kr-vs-kp", 0.05), ("mushroom", 0.02), ("anneal", 0.05))
"""Data sets and prices without a limit on the depth."""

_NODES = 5
"""Branching nodes at most, at depth four."""

_FAIR = (DemographicParity() <= 0.01, EqualOpportunity() <= 0.01)
"""Limits of depth three, on the data of the fairness benchmark."""


def main(arguments: list[str] | None = None) -> int:
    """1 if a proof does not hold or does not reach the tree's cost, else 0."""
    parser = harness.parser("proofs", __doc__)
    parser.add_argument("--depths", type=int, nargs="+", default=[3, 4, 5], metavar="D")
    parser.add_argument("--datasets", nargs="+", metavar="NAME", help="(default: all; at depth five, five)")
    options = parser.parse_args(arguments)
    record: harness.Record = {"benchmark": "proofs", "machine": harness.start(options)}
    record["rows"] = rows = []
    for job in _jobs(options):
        rows.append(measure(options.data, *job))
        harness.note(" ".join(str(cell) for cell in _cells(rows[-1])))
    harness.finish(options, record, render(record))
    return harness.FINE if all(row["proved"] for row in rows) else harness.MISSED


def _jobs(options: Any) -> list[tuple[str, Task, int | None, int | None]]:
    """Data sets, tasks, depths and numbers of nodes."""
    chosen = options.datasets
    everything = [name for name in harness.names_of(options.data, "classification") if name in (chosen or [name])]
    fair = [name for name in fairness.names(options.data) if name in (chosen or [name])]
    jobs: list[tuple[str, Task, int | None, int | None]] = []
    for depth in options.depths:
        names = everything if depth < 5 or chosen else _DEEP
        jobs += [(name, Accuracy(), depth, None) for name in names]
        if depth == 3:
            jobs += [(name, F1(), depth, None) for name in names]
            jobs += [(name, Accuracy().subject_to(limit), depth, None) for name in fair for limit in _FAIR]
        if depth == 4:
            jobs += [(name, Accuracy(), depth, _NODES) for name in names if name in _DEEP]
    return jobs + [(name, SparseAccuracy(price), None, None) for name, price in _SPARSE if name in everything]


def measure(folder: Path, name: str, task: Task, depth: int | None, nodes: int | None) -> harness.Record:
    """The row of one data set, task, depth and number of nodes."""
    row_data = {}
    if objective(task).vector_form.limits:
        X, y, row_data["sensitive_features"] = fairness.read_data(folder, name)
    else:
        X, y = harness.read_data(folder, "classification", name)
    solve, result = _timed(functools.partial(streed.solve, task, X, y, max_depth=depth, max_nodes=nodes, **row_data))
    assert result.tree is not None
    claim = claim_by_tree(result.tree, Dataset.make(X, y, **row_data))
    row: harness.Record = {"name": name, "task": _label(task, nodes), "depth": depth, "solve": solve, "proved": True}
    judges = _within(claim, row) if claim.amounts else _plain(claim, row)
    for how, judge in zip(("numpy", "compiled"), judges, strict=True):
        row[how], bound = _timed(judge)
        row["proved"] &= bound >= claim.goal.reached
    return row


def _label(task: Task, nodes: int | None) -> str:
    limits = objective(task).vector_form.limits
    words = [type(task).__name__ if not limits else "Accuracy", *map(str, limits)]
    return ", ".join([*words, *([] if nodes is None else [f"{nodes} nodes"])])


_Judges = tuple[Callable[[], Any], Callable[[], Any]]
"""By numpy and by compiled code: what is proved."""


def _plain(claim: ProofClaim, row: harness.Record) -> _Judges:
    least = claim.goal.costs.costs.min(1)

    def prove() -> tuple[bytes, list[Record]]:
        regrets = claim.goal.costs.costs - least[:, None]
        prover = Prover(ProverSums(claim.X, regrets, claim.goal.costs.split, claim.limits))
        records = prover.records(prover.prove(claim.limits, claim.reached - int(least.sum()))[0])
        return to_bytes({"tree": claim.tree}, records), records

    row["prove"], (written, records) = _timed(prove)
    row |= {"bytes": len(written), "claims": len(records), "columns": sum(len(record.columns) for record in records)}
    body = check.read_file(written)[1]

    def judge(sums: type[check.Sums]) -> Any:
        return check.prove_bound(claim.X, claim.goal.costs, claim.limits, body, sums)[0]

    return functools.partial(judge, check.Sums), functools.partial(judge, CompiledSums)


def _within(claim: ProofClaim, row: harness.Record) -> _Judges:
    """Of trees within limits on sums."""
    about = claim.X, claim.goal.costs, list(claim.amounts), claim.limits
    row["prove"], planes = _timed(functools.partial(find_planes, *about, claim.reached, None))
    records = [record for plane in planes for record in plane.records]
    header = {"tree": claim.tree, "planes": [plane.header() for plane in planes]}
    written = to_bytes(header, records, check_limits.MAGIC)
    row |= {"bytes": len(written), "claims": len(records), "columns": sum(len(record.columns) for record in records)}
    given = check_limits.read_planes(*check.read_file(written, check_limits.MAGIC))

    def judge(sums: type[check.Sums]) -> Any:
        found = check_limits.prove_within(*about, given, claim.reached, sums)
        return found * claim.goal.costs.unit

    return functools.partial(judge, check.Sums), functools.partial(judge, CompiledSums)


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
