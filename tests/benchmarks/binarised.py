"""Many binary columns that are thresholds of a few numbers: by counts of pairs of columns, and by the numbers.

Every column of the data of `tests.benchmarks.thresholds` is cut at its quantiles, `x <= t` for each, and the 0/1 matrix
is solved for the fewest errors, by turns on both routes, in one process and by processor time. The exit code is 1 if
they disagree.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

import streed
from streed.exact import Array
from streed.ordered import choice
from streed.tasks import Misclassifications
from tests.benchmarks import harness, thresholds

CUTS = {"bank": 200, "raisin": 150, "wilt": 200, "segment": 80, "breast_cancer": 40, "fault": 40}
"""Of each column."""


def main(arguments: list[str] | None = None) -> int:
    """1 if the two routes disagree, else 0."""
    parser = harness.parser("binarised", __doc__)
    parser.add_argument("--datasets", nargs="+", metavar="NAME", choices=list(CUTS), help="(default: all)")
    parser.add_argument("--depths", nargs="+", type=int, default=[3], metavar="D", help="(default: 3)")
    parser.add_argument("--time-limit", type=float, default=20.0, metavar="S", help="(default: %(default)g)")
    options = parser.parse_args(arguments)
    record: harness.Record = {"benchmark": "binarised", "machine": harness.start(options), "rows": []}
    for depth in options.depths:
        for name in options.datasets or CUTS:
            X, y = thresholds.read(options.data, name)
            record["rows"].append({"dataset": name, **measure(binary(X, CUTS[name]), y, depth, options.time_limit)})
            harness.note(str(record["rows"][-1]))
    harness.finish(options, record, render(record))
    agree = all(len({each["errors"] for each in row["routes"].values()}) == 1 for row in record["rows"])
    return harness.FINE if agree else harness.MISSED


def binary(X: Array, cuts: int) -> Array:
    """(n, q) uint8: every column at or below each of its quantiles, without columns that are constant."""
    found = []
    for column in X.T:
        points = np.unique(np.quantile(column, np.arange(1, cuts + 1) / (cuts + 1)))
        found.append(column[:, None] <= points)
    together = np.concatenate(found, axis=1).astype(np.uint8)
    return np.ascontiguousarray(together[:, together.min(axis=0) < together.max(axis=0)])


def measure(X: Array, y: Array, depth: int, limit: float) -> harness.Record:
    """What both routes find, and the median of their processor seconds."""
    as_shipped = choice.FEWEST
    times = {"pairs": harness.Times(), "thresholds": harness.Times()}
    routes: dict[str, Any] = {}
    for turn in range(4):
        for name, timed in times.items():
            choice.FEWEST = 10**9 if name == "pairs" else as_shipped
            kept = timed if turn > 0 else harness.Times()  # the first call compiles
            result = kept.run(lambda: streed.solve(Misclassifications(), X, y, max_depth=depth, time_limit=limit))
            routes[name] = {"errors": result.value, "status": result.status, "route": result.stats["route"]}
    choice.FEWEST = as_shipped
    for name, each in routes.items():
        each["seconds"] = harness.median(times[name].cpu)
    return {"rows": len(X), "columns": X.shape[1], "depth": depth, "routes": routes}


def render(record: harness.Record) -> str:
    """The table."""
    heads = ["data set", "depth", "rows", "columns", "errors", "by pairs ms", "by thresholds ms", "ratio"]
    return harness.table(heads, map(_cells, record["rows"]))


def _cells(row: harness.Record) -> list[object]:
    pairs, numbers = row["routes"]["pairs"], row["routes"]["thresholds"]
    ratio = pairs["seconds"] / numbers["seconds"]
    cells = [row["dataset"], row["depth"], row["rows"], row["columns"], numbers["errors"]]
    return [*cells, harness.milliseconds(pairs["seconds"]), harness.milliseconds(numbers["seconds"]), f"{ratio:.1f}"]


if __name__ == "__main__":
    sys.exit(main())
