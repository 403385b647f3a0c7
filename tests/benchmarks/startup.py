"""How long a user waits before anything is searched: the first solve ever, later processes, help and import.

The first solves run with an empty cache directory of compiled code and must say that they compile; later ones find the
code there. All are whole processes; what counts is wall time, and where processor time is much less, the machine was
busy. `--features` times the first use of every kind of solve of `tests.unit.every_kind` instead, each from an empty
cache of its own. On one core, as all benchmarks; with --all-cores as a user meets it, where compilation may use a
second one. The exit code is 1 if something takes longer than it may.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from tests.benchmarks import harness
from tests.unit.every_kind import solves

FIRST, LATER, HELP = 15.0, 1.0, 0.3
"""Seconds that a first solve, a later process and `streed --help` may take."""

SOLVE = ("solve", "tic-tac-toe", "--max-depth", "3")
OTHER = ("solve", "balance-scale", "--multiway", "--task", "sparse-accuracy", "--lam", "0.01")
"""A solve of another kind (several classes and children, any depth), which needs other compiled code."""


def main(arguments: list[str] | None = None) -> int:
    """1 if something takes longer than it may, or a first solve is silent about why it takes so long."""
    parser = harness.parser("startup", __doc__, data=False)
    parser.add_argument("--repeats", type=int, default=5, metavar="N", help="of all but first solves (default: 5)")
    parser.add_argument("--features", nargs="*", metavar="TEXT", help="the first use of all, or whose names have TEXT")
    parser.add_argument("--all-cores", action="store_true", help="do not stay on one core")
    options = parser.parse_args(arguments)
    record: harness.Record = {"benchmark": "startup", "machine": harness.start(options), "rows": []}
    rows = record["rows"]
    if options.features is not None:
        for what in (each for each in solves() if not options.features or any(t in each for t in options.features)):
            with tempfile.TemporaryDirectory() as cache:
                run = _run([sys.executable, "-m", "tests.unit.every_kind", what], cache)
            rows.append(_row(f"{what}, first ever", [run], None))
        harness.finish(options, record, render(record))
        return harness.FINE
    for kind in (SOLVE, OTHER):
        with tempfile.TemporaryDirectory() as cache:
            first = _run([_streed(), *kind], cache)
            rows.append(_row(f"streed {' '.join(kind)}, first ever", [first], FIRST, bool(first.said.strip())))
            later = [_run([_streed(), *kind], cache) for _ in range(options.repeats)]
            rows.append(_row(f"streed {' '.join(kind)}, later", later, LATER))
    with tempfile.TemporaryDirectory() as cache:
        for what, command, limit in (
            ("streed --help", [_streed(), "--help"], HELP),
            ("python -c 'import streed'", [sys.executable, "-c", "import streed"], None),
        ):
            _run(command, cache)
            rows.append(_row(what, [_run(command, cache) for _ in range(options.repeats)], limit))
    harness.finish(options, record, render(record))
    return harness.FINE if all(row["holds"] for row in rows) else harness.MISSED


class Run(NamedTuple):
    """A process that has ended: wall and processor seconds, and what it wrote to standard error."""

    wall: float
    cpu: float
    said: str


def _row(what: str, runs: list[Run], limit: float | None, holds: bool = True) -> harness.Record:
    wall = [run.wall for run in runs]
    within = limit is None or harness.median(wall) <= limit
    return {"what": what, "seconds": wall, "cpu": [run.cpu for run in runs], "limit": limit, "holds": holds and within}


def _run(command: Sequence[str], cache: str) -> Run:
    """The command, run with its compiled code kept in `cache`."""
    environment = {key: value for key, value in os.environ.items() if key != "STREED_CACHE"}
    environment["STREED_CACHE_DIR"] = cache
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, [str(harness.ROOT), environment.get("PYTHONPATH")]))
    begin, used = time.perf_counter(), _children_seconds()
    done = subprocess.run(
        command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=3600
    )
    run = Run(time.perf_counter() - begin, _children_seconds() - used, done.stderr)
    if done.returncode != 0:
        harness.fail(f"{' '.join(command)} gave {done.returncode}: {done.stderr}")
    return run


def _children_seconds() -> float:
    """Processor seconds of all child processes that have ended so far."""
    times = os.times()
    return times.children_user + times.children_system


def _streed() -> str:
    """The console script of this Python's environment."""
    found = shutil.which("streed", path=str(Path(sys.executable).parent)) or shutil.which("streed")
    return found or harness.fail("the command `streed` is not installed: pip install -e .")


def render(record: harness.Record) -> str:
    """The table."""
    body = [
        [
            row["what"],
            f"{harness.median(row['seconds']):.2f}",
            f"{min(row['seconds']):.2f} to {max(row['seconds']):.2f}" if len(row["seconds"]) > 1 else "once",
            f"{harness.median(row['cpu']):.2f}",
            "-" if row["limit"] is None else f"{row['limit']:g}",
            harness.verdict(row["holds"]),
        ]
        for row in record["rows"]
    ]
    return harness.table(["process", "wall s (median)", "range", "processor s", "at most", "holds"], body)


if __name__ == "__main__":
    sys.exit(main())
