"""Proofs of optimal trees: claims, bytes, and the seconds to solve, to prove, and to check by numpy and compiled code.

Solved and proved with depth limits, for F1, for accuracy under a limit on the number of nodes and under limits on what
groups get, for squared errors, on thresholds of raw numbers, and without a depth limit with a price per split: the rows
of Branches' Table 2. Times are processor time on one
core, the least of several; reading tables is not in them, packing the table for a proof is. A proof that does not hold,
or does not reach the tree's cost, makes the exit code 1.

    python -m tests.benchmarks.proofs --json proofs.json
"""

from __future__ import annotations

import functools
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import streed
from streed.data import Dataset
from streed.proof import check, check_limits, check_squares
from streed.proof.check import Record
from streed.proof.claim import ProofClaim, SquaresClaim
from streed.proof.compiled import CompiledSums
from streed.proof.compiled_squares import CompiledSquares
from streed.proof.format import to_bytes
from streed.proof.judge import prove_bound
from streed.proof.planes import find_planes
from streed.proof.proving import claim_by_tree, numbers_of_claim, squares_records
from streed.task import Task
from streed.task.constrained import objective
from streed.tasks import F1, Accuracy, DemographicParity, EqualOpportunity, SparseAccuracy, SquaredError
from tests.benchmarks import fairness, harness, thresholds

GOALS = {"check": 5, "prove": 10}
"""Checking by compiled code and proving, in times of the solve, as geometric means."""

_DEEP = ("tic-tac-toe", "anneal", "kr-vs-kp", "hypothyroid", "breast-wisconsin")
"""Data sets of depth five."""

_NODES = 5
"""Branching nodes at most, at depth four."""

_FAIR = (DemographicParity() <= 0.01, EqualOpportunity() <= 0.01)
"""Limits of depth three, on the data of the fairness benchmark."""

_CUTS = {"iris": None, "wine": 16, "raisin": 16}
"""Data sets of raw numbers, at depth three, and how many thresholds of each column at most."""

PROVER_LIMIT = 60.0
"""Seconds of the prover; a proof that takes longer is one of a bound, and its row does not hold."""

_COMPILING = 90.0
"""Seconds that no compilation takes."""


class Job(NamedTuple):
    """What is to be solved and proved."""

    name: str
    table: str
    """The folder of the data."""
    task: Task
    depth: int | None
    nodes: int | None = None


def main(arguments: list[str] | None = None) -> int:
    """1 if a proof does not hold or does not reach the tree's cost, else 0."""
    parser = harness.parser("proofs", __doc__)
    parser.add_argument("--depths", type=int, nargs="+", default=[3, 4, 5], metavar="D")
    parser.add_argument("--datasets", nargs="+", metavar="NAME", help="(default: all; at depth five, five)")
    parser.add_argument("--no-sparse", action="store_true", help="without the rows of Branches' Table 2")
    parser.add_argument("--prover-limit", type=float, default=PROVER_LIMIT, metavar="S", help="(default: %(default)g)")
    options = parser.parse_args(arguments)
    record: harness.Record = {"benchmark": "proofs", "machine": harness.start(options)}
    record["rows"] = rows = []
    for job in _jobs(options):
        rows.append(measure(options.data, job, options.prover_limit))
        harness.note(" ".join(str(cell) for cell in _cells(rows[-1])))
    harness.finish(options, record, render(record))
    return harness.FINE if all(row["proved"] for row in rows) else harness.MISSED


def _jobs(options: Any) -> list[Job]:
    chosen = options.datasets

    def among(names: Iterable[str]) -> list[str]:
        return [name for name in names if name in (chosen or [name])]

    everything = among(harness.names_of(options.data, "classification"))
    jobs: list[Job] = []
    for depth in options.depths:
        names = everything if depth < 5 or chosen else _DEEP
        jobs += [Job(name, "classification", Accuracy(), depth) for name in names]
        jobs += [Job(name, "regression", SquaredError(), depth) for name in among(["airfoil"])]
        if depth == 3:
            jobs += [Job(name, "classification", F1(), depth) for name in names]
            fair = among(fairness.names(options.data))
            jobs += [Job(name, "fairness", Accuracy().subject_to(limit), depth) for name in fair for limit in _FAIR]
            jobs += [Job(name, "classification", SquaredError(), depth) for name in names if name in _DEEP]
            jobs += [Job(name, "continuous", Accuracy(), depth) for name in among(_CUTS)]
        if depth == 4:
            jobs += [Job(name, "classification", Accuracy(), depth, _NODES) for name in names if name in _DEEP]
    recorded = [] if options.no_sparse else harness.known_optima(options.data, "sparse")
    prices = {row["dataset"]: row["params"]["lambda"] for row in recorded}
    return jobs + [Job(name, "sparse", SparseAccuracy(prices[name]), None) for name in among(prices)]


def _read(folder: Path, job: Job) -> dict[str, Any]:
    """The arguments of `Dataset.make`."""
    if job.table == "fairness":
        X, y, groups = fairness.read_data(folder, job.name)
        return {"X": X, "y": y, "sensitive_features": groups}
    if job.table == "regression":
        values = np.loadtxt(folder / job.table / f"{job.name}.csv")
        return {"X": values[:, 1:].astype(np.int64), "y": values[:, 0]}
    if job.table == "continuous":
        X, y = thresholds.read(folder, job.name)
        return {"X": X, "y": y, "max_cuts": _CUTS[job.name]}
    X, y = harness.read_data(folder, job.table, job.name)
    wide = np.flatnonzero(X.max(axis=0) > 1).tolist() if job.name.endswith("-o") else []
    return {"X": X, "y": y, "categorical": wide or None}


def measure(folder: Path, job: Job, limit: float) -> harness.Record:
    """The row of one job; `limit` is in seconds, of the prover."""
    data = _read(folder, job)
    call = functools.partial(streed.solve, job.task, **data, max_depth=job.depth, max_nodes=job.nodes)
    solve, result = _timed(call)
    assert result.tree is not None
    claim = claim_by_tree(result.tree, Dataset.make(**data))
    row: harness.Record = {"name": job.name, "task": _label(job.task, job.nodes), "depth": job.depth}
    row |= {"table": job.table, "solve": solve, "proved": True}
    if isinstance(claim, SquaresClaim):
        judges = _squares(claim, row, limit)
    else:
        judges = _within(claim, row) if claim.amounts else _plain(claim, row, limit)
    for how, judge in zip(("numpy", "compiled"), judges, strict=True):
        row[how], bound = _timed(judge, compiles=how == "compiled")
        row["proved"] &= bound >= claim.goal.reached
    return row


def _label(task: Task, nodes: int | None) -> str:
    if isinstance(task, SparseAccuracy):
        return f"Accuracy, {task.lam} a split"
    limits = objective(task).vector_form.limits
    words = [type(task).__name__ if not limits else "Accuracy", *map(str, limits)]
    return ", ".join([*words, *([] if nodes is None else [f"{nodes} nodes"])])


_Judges = tuple[Callable[[], Any], Callable[[], Any]]
"""By numpy and by compiled code: what is proved."""


def _plain(claim: ProofClaim, row: harness.Record, limit: float) -> _Judges:

    def prove() -> bytes:
        return to_bytes({"tree": claim.tree}, numbers_of_claim(claim, time.monotonic() + limit))

    row["prove"], written = _timed(prove)
    body = check.read_file(written)[1]
    _size(row, written, check.read_records(check.read_numbers(body).tolist()))
    about = claim.X, claim.goal.costs, claim.limits, body
    return lambda: check.prove_bound(*about)[0], lambda: prove_bound(*about)[0]


def _squares(claim: SquaresClaim, row: harness.Record, limit: float) -> _Judges:
    row["prove"], (records, near) = _timed(lambda: squares_records(claim, time.monotonic() + limit))
    written = to_bytes({"tree": claim.tree, "near": near}, records)
    _size(row, written, records)
    body = check.read_file(written)[1]

    def judge(sums: type[check_squares.SquaredSums]) -> Any:
        return check_squares.prove_bound(claim.X, claim.goal, claim.limits, body, sums, near=near)[0]

    return functools.partial(judge, check_squares.SquaredSums), functools.partial(judge, CompiledSquares)


def _size(row: harness.Record, written: bytes, records: list[Record]) -> None:
    row |= {"bytes": len(written), "claims": len(records), "columns": sum(len(record.columns) for record in records)}


def _within(claim: ProofClaim, row: harness.Record) -> _Judges:
    """Of trees within limits on sums."""
    about = claim.X, claim.goal.costs, list(claim.amounts), claim.limits
    row["prove"], planes = _timed(functools.partial(find_planes, *about, claim.reached, None))
    records = [record for plane in planes for record in plane.records]
    header = {"tree": claim.tree, "planes": [plane.header() for plane in planes]}
    written = to_bytes(header, records, check_limits.MAGIC)
    _size(row, written, records)
    given = check_limits.read_planes(*check.read_file(written, check_limits.MAGIC))

    def judge(sums: type[check.Sums]) -> Any:
        found = check_limits.prove_within(*about, given, claim.reached, sums)
        return found * claim.goal.costs.unit

    return functools.partial(judge, check.Sums), functools.partial(judge, CompiledSums)


def _timed(call: Callable[[], Any], *, compiles: bool = True) -> tuple[float, Any]:
    """The least processor time of some calls, behind a first one if that may compile, and the answer.

    What takes longer than any compilation is called once.
    """
    best, spent, count = float("inf"), 0.0, -1 if compiles else 0
    while count < 1 or (count < 5 and spent < 2):
        begin = time.process_time()
        answer = call()
        seconds = time.process_time() - begin
        count += 1
        if count > 0 or seconds > _COMPILING:
            best, spent = min(best, seconds), spent + seconds
            count = max(count, 1)
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
