"""All thresholds of raw numbers under other tasks than errors, and on many rows: what is proved, seconds and memory.

On the data of `tests.benchmarks.thresholds`: F1, balanced errors, errors under a limit on demographic parity (the
group: whether the first column is above its median) and a user's task at depth three; errors and a price of a
tenth or a hundredth of the rows for each split, without a limit on the depth; squared errors of scikit-learn's
diabetes, which the other tasks take in thirds, at depth three and four. Then errors of made data, 100,000 and a million
rows of 20 columns of normal numbers, a tenth of the labels turned, at depth two and three.

Every solve has a process of its own. Its seconds are of the processor, of a call whose code was compiled by a call
before; its memory is all that the process ever held, the interpreter and the compiler among it. A row that the time
limit ends has a bound instead of a proof.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, final

import attrs
import numpy as np

import streed
from streed.data import Dataset
from streed.exact import Array
from streed.task import State, Task
from streed.tasks import F1, BalancedAccuracy, DemographicParity, Misclassifications, Splits, SquaredError
from tests.benchmarks import harness, thresholds

DATASETS = ("bank", "wilt", "raisin", "segment", "breast_cancer", "diabetes")

TWO_LABELS = ("bank", "wilt", "raisin", "breast_cancer")

MADE = {"made 10^5": 100_000, "made 10^6": 1_000_000}
"""Rows of made data."""

_COLUMNS, _TURNED = 20, 0.1

_MOMENT = 1e-3
"""Seconds of a search that compiles what it needs."""

_COMPILED = 0.01
"""A call that took longer to compile is made again."""


@final
@attrs.frozen
class Brier(Task):
    """A user's task: the Brier score of the shares of the classes in each leaf, summed over its rows."""

    any_label = True
    takes_weights = False

    def statistics(self, data: Dataset) -> dict[str, Array]:
        return {"of": (data.y[:, None] == np.arange(data.n_classes)).astype(np.int64)}

    def leaf_cost(self, s: State, k: int) -> Any:
        squares = 0
        for count in s.of:
            squares += count * count
        return s.rows - squares / s.rows

    def worst_per_row(self, data: Dataset) -> Array:
        """A row adds 1 + (sum of squares) / (n (n + 1)) - (2 c + 1) / (n + 1), which is less than 2."""
        return np.full(data.n_rows, 2.0)


def _parity() -> Task:
    return Misclassifications().subject_to(DemographicParity() <= 0.05)


TASKS: dict[str, Callable[[], Task]] = {
    "F1": F1,
    "balanced errors": BalancedAccuracy,
    "errors, parity <= 0.05": _parity,
    "a user's Brier score": Brier,
    "errors + n/10 per split": Misclassifications,
    "errors + n/100 per split": Misclassifications,
    "squared error": SquaredError,
    "errors": Misclassifications,
}


PRICES = {"errors + n/10 per split": 10, "errors + n/100 per split": 100}
"""What part of the rows a split costs; these have no limit on the depth."""


def jobs() -> list[harness.Record]:
    """Every solve: data set, task and depth."""
    found: list[harness.Record] = []
    for task in list(TASKS)[:-2]:
        names = TWO_LABELS if task in ("F1", "errors, parity <= 0.05") else DATASETS
        depth = None if task in PRICES else 3
        found += [{"dataset": name, "task": task, "depth": depth} for name in names]
    found += [{"dataset": "diabetes", "task": "squared error", "depth": depth} for depth in (3, 4)]
    return found + [{"dataset": name, "task": "errors", "depth": depth} for name in MADE for depth in (2, 3)]


def main(arguments: list[str] | None = None) -> int:
    """0; 2 if the benchmark could not be run."""
    parser = harness.parser("threshold_tasks", __doc__)
    parser.add_argument("--datasets", nargs="+", metavar="NAME", choices=(*DATASETS, *MADE), help="(default: all)")
    parser.add_argument("--tasks", nargs="+", metavar="TASK", choices=list(TASKS), help="(default: all)")
    parser.add_argument("--time-limit", type=float, default=60.0, metavar="S", help="of each solve (default: 60)")
    options = parser.parse_args(arguments)
    record: harness.Record = {"benchmark": "threshold-tasks", "machine": harness.start(options), "rows": []}
    record["time_limit"] = options.time_limit
    for job in jobs():
        if job["dataset"] in (options.datasets or (*DATASETS, *MADE)) and job["task"] in (options.tasks or TASKS):
            asked = {**job, "data": str(options.data), "time_limit": options.time_limit}
            record["rows"].append({**job, **_alone(asked)})
            harness.note(str(record["rows"][-1]))
    harness.finish(options, record, render(record))
    return harness.FINE


def _alone(job: harness.Record) -> harness.Record:
    """What `solve` says, of a process of its own."""
    script = "import json, sys\nfrom tests.benchmarks import threshold_tasks\n"
    script += "print(json.dumps(threshold_tasks.solve(json.loads(sys.argv[1]))))"
    command = [sys.executable, "-c", script, json.dumps(job)]
    ended = subprocess.run(command, cwd=harness.ROOT, stdout=subprocess.PIPE, text=True, check=True, timeout=3600)
    found: harness.Record = json.loads(ended.stdout)
    return found


def solve(job: harness.Record) -> harness.Record:
    """The outcome of one job, by the public call."""
    X, y = read(Path(job["data"]), job["dataset"], measured=job["task"] == "squared error")
    task = TASKS[job["task"]]()
    if job["task"] in PRICES:
        task = task + max(1, len(X) // PRICES[job["task"]]) * Splits()
    given: dict[str, Any] = {"max_depth": job["depth"]}
    if "parity" in job["task"]:
        given["sensitive_features"] = (X[:, 0] > np.median(X[:, 0])).astype(int)
    streed.solve(task, X, y, **given, time_limit=_MOMENT)
    while True:
        begin = time.process_time()
        result = streed.solve(task, X, y, **given, time_limit=job["time_limit"])
        seconds = time.process_time() - begin
        if result.stats.get("seconds_compile", 0) < _COMPILED:
            break
    return {
        "rows": len(X),
        "columns": X.shape[1],
        "thresholds": Dataset.make(X, y).n_questions,
        "value": result.value,
        "status": result.status,
        "bounds": [result.lower_bound, result.upper_bound],
        "route": result.stats["route"],
        "splits": None if result.tree is None else result.tree.n_branches,
        "seconds": seconds,
        "peak_bytes": harness.peak_bytes(),
    }


def read(folder: Path, name: str, *, measured: bool = False) -> tuple[Array, Array]:
    """X (n, p) float64 and y (n,) of a data set."""
    if name in MADE:
        return make_rows(MADE[name])
    if measured:
        from sklearn.datasets import load_diabetes

        X, y = load_diabetes(return_X_y=True)
        return X, y
    return thresholds.read(folder, name)


def make_rows(n: int) -> tuple[Array, Array]:
    """X (n, 20) of normal numbers, and y (n,) of a rule of three columns, a tenth of it turned."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, _COLUMNS))
    y = (X[:, 0] * X[:, 1] + X[:, 2] > 0) ^ (rng.random(n) < _TURNED)
    return X, y.astype(np.int64)


def render(record: harness.Record) -> str:
    """The table."""
    heads = ["data set", "task", "depth", "rows", "columns", "thresholds", "value", "outcome", "splits", "s", "peak MB"]
    heads += ["route"]
    return harness.table(heads, map(_cells, record["rows"]))


def _cells(row: harness.Record) -> list[object]:
    outcome = "proved"
    if row["status"] != "optimal":
        low, high = row["bounds"]
        # of a gain, the bound lies above
        beyond = high if low == row["value"] else low
        outcome = "no bound" if beyond is None else f"bound {_number(beyond)}"
    cells = [row["dataset"], row["task"], row["depth"] or "any", row["rows"], row["columns"], f"{row['thresholds']:,}"]
    cells += ["-" if row["value"] is None else _number(row["value"]), outcome, row["splits"]]
    return [*cells, f"{row['seconds']:.3g}", harness.megabytes(row["peak_bytes"]), row["route"]]


def _number(value: float) -> str:
    return f"{value:,.2f}" if abs(value) >= 1000 and value != int(value) else f"{value:,.6g}"


if __name__ == "__main__":
    sys.exit(main())
