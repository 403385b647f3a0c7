"""One problem in a process of its own: `python -m tests.benchmarks.job JOB`, for the other benchmarks.

JOB is a JSON object: `data` (folder), `table`, `dataset`; `lam` (null: accuracy), `multiway` (columns of more than two
values have one child each), and `limits`, keyword arguments of `streed.solve`; with
`watched`, the solve reports its progress; with `processor`, its time limit is in seconds of the processor, which other
work on the machine does not use up. Two lines of JSON are printed: one when the search is about to begin, so that
compilation and reading are over, one with its outcome.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

import streed
from streed.bnb import native_search, runner
from streed.tasks import Accuracy, SparseAccuracy
from tests.benchmarks import harness

_MOMENT = 1e-3
"""Seconds of search that load, or compile, all that a problem needs at first."""


def solve(job: dict[str, Any]) -> harness.Record:
    """The outcome of the job, its tree measured again from the raw data."""
    X, y = harness.read_data(Path(job["data"]), job["table"], job["dataset"])
    lam = job.get("lam")
    task = Accuracy() if lam is None else SparseAccuracy(lam)
    limits = dict(job["limits"])
    arguments: dict[str, Any] = {"categorical": True if job.get("multiway") else None}
    begin = time.perf_counter()
    first = {key: limits[key] for key in ("max_depth", "search") if key in limits}
    streed.solve(task, X, y, **arguments, **first, time_limit=_MOMENT)
    warm_up = time.perf_counter() - begin
    held = harness.peak_bytes()
    _tell({"held_bytes": held})
    for module in (runner, native_search) if job.get("processor") else ():
        mock.patch.object(module, "clock", time.process_time).start()

    reported: list[streed.Progress] = []
    begin, cpu = time.perf_counter(), time.process_time()
    watcher = reported.append if job.get("watched") else None
    result = streed.solve(task, X, y, **arguments, **limits, progress=watcher)
    seconds, cpu = time.perf_counter() - begin, time.process_time() - cpu
    outcome: harness.Record = {
        "rows": X.shape[0],
        "columns": X.shape[1],
        "seconds": seconds,
        "cpu_seconds": cpu,
        "seconds_warm_up": warm_up,
        "peak_bytes": harness.peak_bytes(),
        "used_bytes": harness.peak_bytes() - held,
        **result.summary(),
    }
    incumbents = [progress.incumbent for progress in reported if progress.incumbent is not None]
    outcome["best_reported"] = min(incumbents, default=None)
    if result.tree is not None:
        outcome["errors"] = int(np.count_nonzero(np.asarray(result.tree.predict(X)) != y))
    return outcome


def _tell(line: harness.Record) -> None:
    print(json.dumps(line), flush=True)


def main(arguments: list[str]) -> int:
    if len(arguments) != 1 or arguments[0] in ("-h", "--help"):
        print(__doc__)
        return harness.FINE if arguments in (["-h"], ["--help"]) else harness.UNUSABLE
    _tell(solve(json.loads(arguments[0])))
    return harness.FINE


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
