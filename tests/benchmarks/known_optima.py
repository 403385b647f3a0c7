"""Every recorded optimum of the accuracy tables (acc_d4, acc_d5) solved again.

A row holds if the optimum was proved, equals the recorded one, and the tree misclassifies as many rows on the raw data.
The exit code is 1 if a row does not.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import streed
from streed.tasks import Accuracy
from tests.benchmarks import harness

TABLES = ("acc_d4", "acc_d5")


def main(arguments: list[str] | None = None) -> int:
    """1 if a row is not proved or has another optimum than recorded, else 0."""
    parser = harness.parser("known_optima", __doc__)
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=TABLES, metavar="TABLE", help="(default: both)")
    options = parser.parse_args(arguments)
    record: harness.Record = {"benchmark": "known-optima", "machine": harness.start(options), "rows": []}
    streed.solve(Accuracy(), [[0], [1]] * 20, [0, 1] * 20, max_depth=4)  # compiles, or loads what is compiled
    for table in options.tables:
        for row in harness.known_optima(options.data, table):
            record["rows"].append(measure(options.data, row))
    harness.finish(options, record, render(record))
    return harness.FINE if all(row["holds"] for row in record["rows"]) else harness.MISSED


def measure(folder: Path, known: harness.Record) -> harness.Record:
    """What streed finds for a recorded row."""
    name, depth, recorded = known["dataset"], known["max_depth"], known["value"]
    X, y = harness.read_data(folder, "classification", name)
    times = harness.Times()
    result = times.run(lambda: streed.solve(Accuracy(), X, y, max_depth=depth))
    assert result.tree is not None
    errors = int(np.count_nonzero(np.asarray(result.tree.predict(X)) != y))
    return {
        "dataset": name,
        "depth": depth,
        "recorded": recorded,
        "proved_by": known["proved_by"],
        "found": result.value,
        "errors": errors,
        "holds": result.status == "optimal" and result.value == errors == recorded,
        "seconds": times.wall[0],
        **result.summary(),
    }


def render(record: harness.Record) -> str:
    """The table and how many rows hold."""
    heads = ["data set", "depth", "recorded", "found", "errors of the tree", "ms", "proved, equal"]
    body = [
        [
            row["dataset"],
            row["depth"],
            row["recorded"],
            row["found"],
            row["errors"],
            harness.milliseconds(row["seconds"]),
            harness.verdict(row["holds"]),
        ]
        for row in record["rows"]
    ]
    held = sum(row["holds"] for row in record["rows"])
    return f"{harness.table(heads, body)}\n\n{held} of {len(body)} rows proved and equal to the recorded optimum."


if __name__ == "__main__":
    sys.exit(main())
