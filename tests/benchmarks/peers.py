"""Other exact solvers beside ours, on one page: versions, optima, seconds, memory; each run in a process of its own.

Three objectives that several libraries have:

    sparse      error rate plus lambda per branching node, any depth    gosdt, imodels, pystreed (depth 20 at most)
    depth       fewest errors at depth 3, on 0/1 columns                pystreed, pydl8.5
    thresholds  fewest errors at depth 3, over all thresholds           pycontree

gosdt and imodels count leaves, one more than the branching nodes; their objectives are put in ours. A run is timed
after one on a few of the rows, which loads or compiles what is needed; memory is what the process held at most, and
beyond what it held before. Peers that are not installed are left out (`pip install -e ".[bench]"` has those that agree
with each other). Seconds are the processor's, of the fastest of three calls where one is quick. A row holds if ours is
proved and no peer that claims a proof has another objective. The exit code is 1 if a row does not hold.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import json
import math
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tests.benchmarks import harness, sparse_peers

PACKAGES = {
    "streed": "streed",
    "gosdt": "gosdt",
    "imodels": "imodels",
    "pystreed": "pystreed",
    "pydl8.5": "pydl8.5",
    "pycontree": "pycontree",
}
"""The name that a table shows, and the package that is asked for its version."""

SOLVERS = {
    "sparse": ("streed", "gosdt", "imodels", "pystreed"),
    "depth": ("streed", "pystreed", "pydl8.5"),
    "thresholds": ("streed", "pycontree"),
}

DATA = {
    "sparse": (
        ("monk1", 0.01),
        ("monk3", 0.001),
        ("tictactoe", 0.005),
        ("careval", 0.005),
        ("zoo", 0.001),
        ("monk2", 0.001),
        ("balance-f", 0.005),
        ("careval-f", 0.005),
        ("krvskp", 0.01),
        ("nursery-f", 0.01),
    ),
    "depth": (("tic-tac-toe", 3), ("heart-cleveland", 3), ("german-credit", 3), ("kr-vs-kp", 3)),
    "thresholds": (("iris", 3), ("wine", 3), ("breast_cancer", 3)),
}
"""By objective: data sets, with lambda or the depth. Those of thresholds are scikit-learn's."""

_GRACE = 30.0
"""Seconds that a run may take beyond its limit before it is killed."""

_QUICK = 1.0
"""Seconds; what takes less is measured again."""

_TOLERANCE = 1e-6
"""gosdt's objective is in single precision."""


def main(arguments: list[str] | None = None) -> int:
    """1 if a row does not hold, else 0."""
    parser = harness.parser("peers", __doc__)
    parser.add_argument("--objectives", nargs="+", choices=list(SOLVERS), default=list(SOLVERS), help="(default: all)")
    parser.add_argument("--time-limit", type=float, default=20.0, metavar="S", help="(default: %(default)g)")
    parser.add_argument("--first", type=int, metavar="N", help="only the first N data sets of each objective")
    options = parser.parse_args(arguments)
    versions = {name: version for name in PACKAGES if (version := version_of(PACKAGES[name])) is not None}
    record: harness.Record = {"benchmark": "peers", "machine": harness.start(options), "versions": versions, "rows": []}
    for objective in options.objectives:
        for name, parameter in DATA[objective][: options.first]:
            runs = {}
            for solver in SOLVERS[objective]:
                if solver in versions:
                    job = {"objective": objective, "data": str(options.data), "dataset": name, "parameter": parameter}
                    runs[solver] = measure({**job, "solver": solver, "limit": options.time_limit})
                    harness.note(f"{objective} {name} {solver}: {runs[solver]}")
            row = {"objective": objective, "dataset": name, "parameter": parameter, "runs": runs}
            record["rows"].append({**row, "holds": holds(runs)})
    harness.finish(options, record, render(record))
    return harness.FINE if all(row["holds"] for row in record["rows"]) else harness.MISSED


def version_of(package: str) -> str | None:
    """The version that is installed, None where there is none."""
    if package == "streed":
        import streed

        return streed.__version__
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def holds(runs: dict[str, harness.Record]) -> bool:
    """Whether ours is proved, and no proof of another has another objective."""
    ours = runs["streed"]
    proved = [run["value"] for run in runs.values() if run["status"] == "optimal"]
    return ours["status"] == "optimal" and all(math.isclose(v, ours["value"], abs_tol=_TOLERANCE) for v in proved)


def measure(job: harness.Record) -> harness.Record:
    """What a fresh process reports of a job; how it ended, where it reports nothing."""
    command = [sys.executable, "-m", "tests.benchmarks.peers", "--job", json.dumps(job)]
    patience = job["limit"] + _GRACE + 400  # numba compiles before the first run
    try:
        done = subprocess.run(command, cwd=harness.ROOT, capture_output=True, text=True, timeout=patience, check=False)
    except subprocess.TimeoutExpired:
        return {"status": "killed", "seconds": patience, "value": None}
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode != 0 or not lines:
        reason = (done.stderr.strip().splitlines() or [""])[-1][:80]
        return {"status": f"crashed ({done.returncode}) {reason}".strip(), "seconds": None, "value": None}
    found: harness.Record = json.loads(lines[-1])
    return found


# -- one run -----------------------------------------------------------------------------------------------------------

Found = dict[str, Any]
"""value and status of a run."""


def _ours(X: Any, y: Any, objective: str, parameter: Any, limit: float) -> Found:
    import streed
    from streed.tasks import Accuracy, SparseAccuracy

    task: Any = SparseAccuracy(parameter) if objective == "sparse" else Accuracy()
    depth = None if objective == "sparse" else parameter
    result = streed.solve(task, X, y, max_depth=depth, time_limit=limit)
    return {"status": result.status, "value": float(result.value)}


def _gosdt(X: Any, y: Any, objective: str, parameter: Any, limit: float) -> Found:
    found = sparse_peers._gosdt(X, y, parameter, limit)
    return {**found, "value": 1 - found["objective"]}


def _imodels(X: Any, y: Any, objective: str, parameter: Any, limit: float) -> Found:
    model = importlib.import_module("imodels").FastSmallTreeClassifier(regularization=parameter, time_limit=limit)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns where the limit ends it, which `optimal_` says too
        model.fit(X.astype(float), y)
    return {"status": "optimal" if model.optimal_ else "time", "value": float(model.objective_) - parameter}


def _pystreed(X: Any, y: Any, objective: str, parameter: Any, limit: float) -> Found:
    if objective == "sparse":
        found = sparse_peers._pystreed(X, y, parameter, limit)
        return {**found, "value": 1 - float(found["objective"])}
    from pystreed import STreeDClassifier

    model = STreeDClassifier("accuracy", max_depth=parameter, time_limit=limit)
    begin = time.perf_counter()
    model.fit(X, y)
    seconds = time.perf_counter() - begin
    proved = seconds < limit and model.fit_result.is_optimal()
    errors = int(np.count_nonzero(model.predict(X) != y))
    return {"status": "optimal" if proved else "time", "value": float(errors)}


def _pydl85(X: Any, y: Any, objective: str, parameter: Any, limit: float) -> Found:
    model = importlib.import_module("pydl85").DL85Classifier(max_depth=parameter, time_limit=int(limit))
    model.fit(X, y)
    return {"status": "time" if model.timeout_ else "optimal", "value": float(model.error_)}


def _pycontree(X: Any, y: Any, objective: str, parameter: Any, limit: float) -> Found:
    from pycontree import ConTree

    begin = time.perf_counter()
    model = ConTree(max_depth=parameter, time_limit=limit).fit(X, y)
    seconds = time.perf_counter() - begin
    errors = float(np.count_nonzero(np.asarray(model.predict(X)) != y))
    return {"seconds": seconds, "status": "optimal" if seconds < limit else "time", "value": errors}


_RUN: dict[str, Callable[..., Found]] = {
    "streed": _ours,
    "gosdt": _gosdt,
    "imodels": _imodels,
    "pystreed": _pystreed,
    "pydl8.5": _pydl85,
    "pycontree": _pycontree,
}


def read(objective: str, data: str, name: str) -> tuple[Any, Any]:
    """X (n, p) and y (n,) of a data set."""
    if objective == "thresholds":
        X, y = getattr(importlib.import_module("sklearn.datasets"), f"load_{name}")(return_X_y=True)
        return np.ascontiguousarray(X), y.astype(np.int32)
    return harness.read_data(Path(data), {"depth": "classification"}.get(objective, objective), name)


def run(job: harness.Record) -> harness.Record:
    """The outcome of a job in this process, after one on every tenth row, with what both held at most."""
    X, y = read(job["objective"], job["data"], job["dataset"])
    solve = _RUN[job["solver"]]
    rows = np.arange(0, len(y), 10)
    first = job["parameter"] if job["objective"] != "sparse" else max(job["parameter"], 0.02)
    solve(np.ascontiguousarray(X[rows]), y[rows], job["objective"], first, job["limit"])
    held = harness.peak_bytes()
    times: list[float] = []
    while len(times) < (3 if sum(times) < _QUICK else 1):
        begin = time.process_time()
        found = solve(X, y, job["objective"], job["parameter"], job["limit"])
        times.append(time.process_time() - begin)
    peak = harness.peak_bytes()
    return {**found, "seconds": min(times), "peak_bytes": peak, "used_bytes": peak - held}


# -- the page ----------------------------------------------------------------------------------------------------------

_SAID = {"sparse": "lambda {} per branching node", "depth": "depth {}", "thresholds": "depth {}, all thresholds"}


def render(record: harness.Record) -> str:
    """The versions and the table."""
    versions = ", ".join(f"{name} {version}" for name, version in record["versions"].items())
    missing = [name for name in PACKAGES if name not in record["versions"]]
    cells: list[list[object]] = []
    for row in record["rows"]:
        for solver, found in row["runs"].items():
            value = found["value"]
            written = "-" if value is None else f"{value:.6f}" if row["objective"] == "sparse" else f"{value:.0f}"
            used = "used_bytes" in found
            cells.append(
                [
                    row["dataset"],
                    _SAID[row["objective"]].format(row["parameter"]),
                    solver,
                    found["status"],
                    written,
                    "-" if found["seconds"] is None else f"{found['seconds']:.3f}",
                    harness.megabytes(found["peak_bytes"]) if used else "-",
                    harness.megabytes(found["used_bytes"]) if used else "-",
                    harness.verdict(row["holds"]) if solver == "streed" else "",
                ]
            )
    heads = ["data set", "objective", "solver", "status", "value", "seconds", "peak MB", "solve MB", "holds"]
    told = f"Versions: {versions}." + (f" Not installed: {', '.join(missing)}." if missing else "")
    note = (
        "Values are the error rate plus the price of the branching nodes, or the number of errors; seconds are the "
        "processor's. A row holds if ours is proved and every other proof has its value."
    )
    return "\n\n".join([told, note, harness.table(heads, cells, 4)])


if __name__ == "__main__":
    if sys.argv[1:2] == ["--job"]:
        print(json.dumps(run(json.loads(sys.argv[2]))), flush=True)
        sys.exit(harness.FINE)
    sys.exit(main())
