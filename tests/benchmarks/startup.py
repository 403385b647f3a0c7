"""How long a user waits before anything is searched: the first solve ever, later processes, help and import.

The first solves run with an empty cache directory of compiled code and must say that they compile; later ones find the
code there. All are whole processes, wall time. The exit code is 1 if something takes longer than it may.
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

from tests.benchmarks import harness

FIRST, LATER, HELP = 15.0, 1.0, 0.3
"""Seconds that a first solve, a later process and `streed --help` may take."""

SOLVE = ("solve", "tic-tac-toe", "--max-depth", "3")
OTHER = ("solve", "balance-scale", "--multiway", "--task", "sparse-accuracy", "--lam", "0.01")
"""A solve of another kind (several classes and children, any depth), which needs other compiled code."""


def main(arguments: list[str] | None = None) -> int:
    """1 if something takes longer than it may, or a first solve is silent about why it takes so long."""
    parser = harness.parser("startup", __doc__, data=False)
    parser.add_argument("--repeats", type=int, default=5, metavar="N", help="of all but first solves (default: 5)")
    options = parser.parse_args(arguments)
    if options.repeats < 1:
        parser.error("--repeats: give a number >= 1")
    record: harness.Record = {"benchmark": "startup", "machine": harness.start(options), "rows": []}
    rows = record["rows"]
    for kind in (SOLVE, OTHER):
        with tempfile.TemporaryDirectory() as cache:
            seconds, said = _run([_streed(), *kind], cache)
            rows.append(_row(f"streed {' '.join(kind)}, first ever", [seconds], FIRST, bool(said.strip())))
            times = [_run([_streed(), *kind], cache)[0] for _ in range(options.repeats)]
            rows.append(_row(f"streed {' '.join(kind)}, later", times, LATER))
    with tempfile.TemporaryDirectory() as cache:
        for what, command, limit in (
            ("streed --help", [_streed(), "--help"], HELP),
            ("python -c 'import streed'", [sys.executable, "-c", "import streed"], None),
            ("python -c pass (for comparison)", [sys.executable, "-c", "pass"], None),
        ):
            _run(command, cache)
            rows.append(_row(what, [_run(command, cache)[0] for _ in range(options.repeats)], limit))
    harness.finish(options, record, render(record))
    return harness.FINE if all(row["holds"] for row in rows) else harness.MISSED


def _row(what: str, seconds: list[float], limit: float | None, holds: bool = True) -> harness.Record:
    within = limit is None or harness.median(seconds) <= limit
    return {"what": what, "seconds": seconds, "limit": limit, "holds": holds and within}


def _run(command: Sequence[str], cache: str) -> tuple[float, str]:
    """(wall seconds, standard error) of a process that keeps compiled code in `cache`."""
    environment = {key: value for key, value in os.environ.items() if key != "STREED_CACHE"}
    environment["STREED_CACHE_DIR"] = cache
    begin = time.perf_counter()
    done = subprocess.run(
        command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    seconds = time.perf_counter() - begin
    if done.returncode != 0:
        harness.fail(f"{' '.join(command)} gave {done.returncode}: {done.stderr}")
    return seconds, done.stderr


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
            "-" if row["limit"] is None else f"{row['limit']:g}",
            harness.verdict(row["holds"]),
        ]
        for row in record["rows"]
    ]
    return harness.table(["process", "wall s (median)", "range", "at most", "holds"], body)


if __name__ == "__main__":
    sys.exit(main())
