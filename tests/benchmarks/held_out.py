"""Rows that were held out: trees over all thresholds beside trees over a few quantiles of each column.

The data are those of `tests.benchmarks.thresholds`. Each is divided several times, by class, three quarters to learn
from; both trees are proved to be the best of their depth. The exit code is 1 if one is not, or makes more errors over
all thresholds than over some, on the rows that it was learned from.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

import streed
from streed.tasks import Misclassifications
from tests.benchmarks import harness
from tests.benchmarks.thresholds import FILES, SCIKIT, read

TRAINED = 0.75


def main(arguments: list[str] | None = None) -> int:
    """1 if something does not hold, else 0."""
    parser = harness.parser("held_out", __doc__)
    parser.add_argument("--datasets", nargs="+", metavar="NAME", choices=FILES + SCIKIT, help="(default: all)")
    parser.add_argument("--depth", type=int, default=3, metavar="D", help="(default: %(default)s)")
    parser.add_argument("--splits", type=int, default=10, metavar="N", help="of each data set (default: %(default)s)")
    parser.add_argument("--cuts", type=int, default=8, metavar="K", help="of each column (default: %(default)s)")
    options = parser.parse_args(arguments)
    found = harness.start(options)
    record: harness.Record = {"benchmark": "held-out", "machine": found, "rows": [], "cuts": options.cuts}
    for name in options.datasets or FILES + SCIKIT:
        X, y = read(options.data, name)
        record["rows"].append({"dataset": name, **compare(X, y, options.depth, options.splits, options.cuts)})
        harness.note(str(record["rows"][-1]))
    harness.finish(options, record, render(record))
    return harness.FINE if all(row["holds"] for row in record["rows"]) else harness.MISSED


def compare(X: Any, y: Any, depth: int, splits: int, cuts: int) -> harness.Record:
    """The mean shares of rows that both trees get right, and how often one of them gets more right than the other."""
    rng = np.random.default_rng(0)
    learned = np.zeros((splits, 2))
    right = np.zeros((splits, 2))
    holds = True
    for i in range(splits):
        inside = halves(y, rng)
        for j, most in enumerate((None, cuts)):
            result = streed.solve(Misclassifications(), X[inside], y[inside], max_depth=depth, max_cuts=most)
            assert result.tree is not None
            holds &= result.status == "optimal"
            learned[i, j] = 1 - result.value / inside.sum()
            right[i, j] = (result.tree.predict(X[~inside]) == y[~inside]).mean()
    more = right[:, 0] - right[:, 1]
    return {
        "depth": depth,
        "rows": len(X),
        "splits": splits,
        "learned": learned.mean(axis=0).tolist(),
        "right": right.mean(axis=0).tolist(),
        "difference": float(more.mean()),
        "deviation": float(more.std(ddof=1)) if splits > 1 else 0.0,
        "better": int((more > 0).sum()),
        "worse": int((more < 0).sum()),
        "holds": bool(holds and (learned[:, 0] >= learned[:, 1]).all()),
    }


def halves(y: Any, rng: np.random.Generator) -> Any:
    """(n,) bool: the rows to learn from, the same share of every class."""
    inside = np.zeros(len(y), bool)
    for label in np.unique(y):
        rows = rng.permutation(np.flatnonzero(y == label))
        inside[rows[: max(1, round(TRAINED * len(rows)))]] = True
    return inside


def render(record: harness.Record) -> str:
    """The table, and the mean over the data sets."""
    cuts = record["cuts"]
    heads = ["data set", "depth", "rows", "splits", "learned: all %", f"{cuts} cuts %", "held out: all %"]
    heads += [f"{cuts} cuts %", "difference", "deviation", "better", "worse"]
    lines = []
    for row in record["rows"]:
        shares = [f"{100 * share:.2f}" for share in (*row["learned"], *row["right"])]
        apart = [f"{100 * row['difference']:+.2f}", f"{100 * row['deviation']:.2f}"]
        lines.append([row["dataset"], row["depth"], row["rows"], row["splits"], *shares, *apart])
        lines[-1] += [row["better"], row["worse"]]
    mean = np.mean([row["difference"] for row in record["rows"]])
    return f"{harness.table(heads, lines)}\n\nmean difference on held-out rows: {100 * mean:+.2f} points"


if __name__ == "__main__":
    sys.exit(main())
