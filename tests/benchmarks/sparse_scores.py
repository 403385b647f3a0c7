"""F1, and errors under demographic parity, with a price for every branching node and no limit on the depth.

By best-first search. Data sets of Branches' table have no groups, so that their first column is taken for one under
parity, and is no feature. A row holds if the optimum was proved within the time limit and the tree has that score and
keeps the limit on the raw data; the exit code is 1 if a row does not hold.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

import streed
from streed.tasks import F1, DemographicParity, SparseAccuracy, Splits
from tests.benchmarks import fairness, harness
from tests.benchmarks.f1 import f1

SCORES: Mapping[str, str] = {
    "monk1-l": "0.01", "monk1-f": "0.001", "monk2-f": "0.001", "monk3-f": "0.001", "tictactoe-f": "0.005",
    "mushroom-f": "0.01", "krvskp": "0.01",
}  # fmt: skip
"""The price of a node for F1, by data set: as recorded for errors."""

PARITY: Mapping[str, tuple[str, str]] = {
    "monk1-l": ("0.01", "0.02"), "monk1-f": ("0.001", "0.02"), "monk2-f": ("0.001", "0.02"),
    "tictactoe-f": ("0.005", "0.02"), "ricci": ("0.01", "0.01"), "student-mat": ("0.01", "0.1"),
    "adult": ("0.01", "0.05"),
}  # fmt: skip
"""The price of a node and the largest gap, by data set."""

_CLOSE = 1e-9


def main(arguments: list[str] | None = None) -> int:
    """1 if a row is not proved or its tree is not what it claims, else 0."""
    parser = harness.parser("sparse_scores", __doc__)
    parser.add_argument("--datasets", nargs="+", metavar="NAME", help="(default: all)")
    parser.add_argument("--time-limit", type=float, default=60.0, metavar="S", help="(default: %(default)g)")
    options = parser.parse_args(arguments)
    record: harness.Record = {"benchmark": "sparse-scores", "machine": harness.start(options), "rows": []}
    for objective, table in (("F1", SCORES), ("parity", PARITY)):
        for name in table:
            if options.datasets is None or name in options.datasets:
                row = measure(options.data, name, objective, options.time_limit)
                record["rows"].append(row)
                harness.note(f"{objective} {name}: {row['status']}, {row['seconds']:.2f} s")
    harness.finish(options, record, render(record))
    return harness.FINE if all(row["holds"] for row in record["rows"]) else harness.MISSED


def measure(folder: Path, name: str, objective: str, time_limit: float) -> harness.Record:
    """The row of a data set and objective, "F1" or "parity"; what has to be compiled is, before."""
    X, y, groups = _read(folder, name)
    if objective == "F1":
        lam, limit = Fraction(SCORES[name]), None
        task: Any = F1() - lam * Splits()
        X = np.column_stack([groups, X])
    else:
        lam, limit = (Fraction(text) for text in PARITY[name])
        task = SparseAccuracy(lam).subject_to(DemographicParity() <= limit)

    def solve(seconds: float) -> Any:
        return streed.solve(task, X, y, search="branches", sensitive_features=groups, time_limit=seconds)

    solve(0.001)
    begin = time.perf_counter()
    result = solve(time_limit)
    seconds = time.perf_counter() - begin
    predicted = np.asarray(result.tree.predict(X))
    price = float(lam) * result.tree.n_branches
    value = f1(y, predicted) - price if objective == "F1" else float((predicted != y).mean()) + price
    gap = None if limit is None else fairness.gap(predicted, y, groups, "dp")
    fair = limit is None or gap is None or gap <= float(limit) + _CLOSE
    return {
        "dataset": name,
        "objective": objective,
        "rows": X.shape[0],
        "features": X.shape[1],
        "price": float(lam),
        "limit": None if limit is None else float(limit),
        "status": result.status,
        "value": float(result.value),
        "gap": gap,
        "splits": result.tree.n_branches,
        "depth": result.tree.depth,
        "seconds": seconds,
        "solves": result.stats["scalar_solves"],
        "enumerations": result.stats["enumerations"],
        "holds": result.status == "optimal" and fair and abs(value - float(result.value)) < _CLOSE,
    }


def _read(folder: Path, name: str) -> tuple[Any, Any, Any]:
    if name in fairness.names(folder):
        return fairness.read_data(folder, name)
    X, y = harness.read_data(folder, "sparse", name)
    return np.ascontiguousarray(X[:, 1:]), y, X[:, 0].copy()


def render(record: harness.Record) -> str:
    """The table of all rows."""
    heads = ["objective", "data set", "rows", "features", "price", "limit", "value", "gap", "splits", "depth", "s"]
    heads += ["scalar solves", "enumerations", "holds"]
    body = [
        [
            row["objective"],
            row["dataset"],
            row["rows"],
            row["features"],
            f"{row['price']:g}",
            "-" if row["limit"] is None else f"{row['limit']:g}",
            f"{row['value']:.5f}",
            "-" if row["gap"] is None else f"{row['gap']:.4f}",
            row["splits"],
            row["depth"],
            f"{row['seconds']:.2f}",
            row["solves"],
            row["enumerations"],
            harness.verdict(row["holds"]),
        ]
        for row in record["rows"]
    ]
    return harness.table(heads, body, left=2)


if __name__ == "__main__":
    sys.exit(main())
