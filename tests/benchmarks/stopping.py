"""Three solves that are too large for their limits, each in a process of its own, and how they end.

- Ctrl-C: german-credit at depth 6 gets SIGINT 3 s after its search began, and must return within 1 s.
- time limit: the same with a limit of 5 s, which it may overshoot by less than 10 %.
- memory limit: lymph with lambda 0.001 and any depth, which takes more than a gigabyte if it may, with a limit of
  500 MB for the whole process; it must end, or be stopped by a time limit, and never have held more.

Each must give a tree that costs what it claims on the raw data, no more than any reported while it ran, and bounds
around it. The exit code is 1 if one fails.
"""

from __future__ import annotations

import math
import signal
import sys
import time
from collections.abc import Callable

from tests.benchmarks import harness

INTERRUPT_AFTER, RETURN_WITHIN = 3.0, 1.0
TIME_LIMIT, OVERSHOOT = 5.0, 0.10
MEMORY_LIMIT = 500 * harness.MEGABYTE
MEMORY_SECONDS = 60.0
"""Seconds after which the memory-limited solve is stopped."""

CREDIT = {"table": "classification", "dataset": "german-credit"}
LYMPH = {"table": "sparse", "dataset": "lymph", "lam": 0.001}


def main(arguments: list[str] | None = None) -> int:
    """1 if a solve does not stop as it should, else 0."""
    parser = harness.parser("stopping", __doc__)
    parser.add_argument(
        "--memory-seconds", type=float, default=MEMORY_SECONDS, metavar="S", help="(default: %(default)g)"
    )
    options = parser.parse_args(arguments)
    record: harness.Record = {"benchmark": "stopping", "machine": harness.start(options), "rows": []}
    limited = {"memory_limit": MEMORY_LIMIT, "time_limit": options.memory_seconds}
    for what, case, data, limits in (
        (f"SIGINT at {INTERRUPT_AFTER:g} s", _interrupted, CREDIT, {"max_depth": 6}),
        (f"time limit of {TIME_LIMIT:g} s", _out_of_time, CREDIT, {"max_depth": 6, "time_limit": TIME_LIMIT}),
        (f"memory limit of {harness.megabytes(MEMORY_LIMIT)} MB", _out_of_memory, LYMPH, limited),
    ):
        job = {**data, "data": str(options.data), "limits": limits, "watched": True}
        record["rows"].append(measure(what, case, job))
    harness.finish(options, record, render(record))
    return harness.FINE if all(row["holds"] for row in record["rows"]) else harness.MISSED


def measure(what: str, case: Callable[[harness.Job], harness.Record], job: harness.Record) -> harness.Record:
    """The row of a case: how the job ended, and whether as it should and with a sound result."""
    row: harness.Record = {"what": what, "job": job}
    with harness.Job(job) as running:
        try:
            running.begun()
            row.update(case(running))
        except harness.CrashError as crash:
            return {**row, "measured": f"crashed: {crash}", "must": "-", "found": None, "faults": [], "holds": False}
    faults = faults_of(job, row["found"])
    return {**row, "faults": faults, "holds": row["holds"] and not faults}


def _interrupted(running: harness.Job) -> harness.Record:
    """A solve that gets SIGINT, and the seconds from the signal to its result."""
    time.sleep(INTERRUPT_AFTER)
    running.process.send_signal(signal.SIGINT)
    sent = time.perf_counter()
    found = running.outcome()
    took = running.outcome_seen - sent
    return {
        "measured": f"{took:.3f} s after the signal",
        "must": f"at most {RETURN_WITHIN:g} s",
        "found": found,
        "holds": took <= RETURN_WITHIN and found["stats"]["stopped"] == "interrupt",
    }


def _out_of_time(running: harness.Job) -> harness.Record:
    """A solve with a time limit; counted are the seconds of the whole call, set-up and the tree's check included."""
    found = running.outcome()
    over = found["seconds"] / TIME_LIMIT - 1
    return {
        "measured": f"{found['seconds']:.3f} s, {over:+.1%}",
        "must": f"less than {OVERSHOOT:+.0%}",
        "found": found,
        "holds": over < OVERSHOOT and found["stats"]["stopped"] == "time",
    }


def _out_of_memory(running: harness.Job) -> harness.Record:
    """A solve with a memory limit; counted is the peak of its process, interpreter and libraries included."""
    found = running.outcome()
    return {
        "measured": f"peak {harness.megabytes(found['peak_bytes'])} MB in {found['seconds']:.1f} s",
        "must": f"below {harness.megabytes(MEMORY_LIMIT)} MB",
        "found": found,
        "holds": found["peak_bytes"] < MEMORY_LIMIT,
    }


def faults_of(job: harness.Record, found: harness.Record) -> list[str]:
    """What is wrong with a result: its tree, its value, its bounds."""
    if found["tree"] is None:
        return ["there is no tree"]
    cost = found["errors"]
    if "lam" in job:
        cost = cost / found["rows"] + job["lam"] * found["tree"]["n_branches"]
    faults = []
    if not math.isclose(cost, found["value"], abs_tol=1e-9):
        faults.append(f"the tree costs {cost:g} on the raw data, not {found['value']:g}")
    if not found["lower_bound"] <= found["value"] <= found["upper_bound"]:
        faults.append("the value is not between its bounds")
    if (found["gap"] == 0) != (found["status"] == "optimal"):
        faults.append(f"status {found['status']} with gap {found['gap']:g}")
    if found["best_reported"] is not None and found["value"] > found["best_reported"]:
        faults.append(
            f"a tree of {found['best_reported']:g} was reported while it ran, one of {found['value']:g} returned"
        )
    return faults


def render(record: harness.Record) -> str:
    """The table: how each solve ended, and the result that it gave back; then what is wrong with results."""
    heads = ["stopped by", "data set", "measured", "must be", "status", "value", "bounds", "gap"]
    heads += ["splits", "depth", "peak MB", "holds"]
    faults = [f"{row['what']}: {fault}." for row in record["rows"] for fault in row["faults"]]
    return "\n\n".join([harness.table(heads, map(_cells, record["rows"]), left=5), *faults])


def _cells(row: harness.Record) -> list[object]:
    cells: list[object] = [row["what"], row["job"]["dataset"], row["measured"], row["must"]]
    found = row["found"]
    if found is None:
        return [*cells, *["-"] * 7, harness.verdict(row["holds"])]
    return [
        *cells,
        found["status"],
        _number(found["value"]),
        f"{_number(found['lower_bound'])} to {_number(found['upper_bound'])}",
        _number(found["gap"]),
        "-" if found["tree"] is None else found["tree"]["n_branches"],
        "-" if found["tree"] is None else found["tree"]["depth"],
        harness.megabytes(found["peak_bytes"]),
        harness.verdict(row["holds"]),
    ]


def _number(x: float | None) -> str:
    return "-" if x is None else f"{x:.6g}"


if __name__ == "__main__":
    sys.exit(main())
