"""Every recorded optimum of accuracy, F1 and fairness solved again (STreeD's Tables 7 to 9, and others).

A row holds if the optimum was proved, equals the recorded one, and the tree is worth as much on the raw data. The exit
code is 1 if a row does not.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Any

import streed
from streed.tasks import F1, Accuracy, DemographicParity, EqualOpportunity
from tests.benchmarks import duel, harness

TABLES = ("acc_d4", "acc_d5", "f1_d3", "f1_d4", "dp_d2", "dp_d3", "eo_d2", "eo_d3")


def main(arguments: list[str] | None = None) -> int:
    """1 if a row is not proved or has another optimum than recorded, else 0."""
    parser = harness.parser("known_optima", __doc__)
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=TABLES, metavar="TABLE", help="(default: all)")
    options = parser.parse_args(arguments)
    record: harness.Record = {"benchmark": "known-optima", "machine": harness.start(options), "rows": []}
    for table in options.tables:
        record["rows"] += [measure(options.data, row) for row in harness.known_optima(options.data, table)]
    heads = ["table", "data set", "recorded", "found", "of the tree", "ms", "proved, equal"]
    body = [
        [r["table"], r["dataset"], r["recorded"], r["found"], r["worth"], harness.milliseconds(r["seconds"]),
         harness.verdict(r["holds"])]
        for r in record["rows"]
    ]  # fmt: skip
    held = sum(row["holds"] for row in record["rows"])
    harness.finish(options, record, f"{harness.table(heads, body, 2)}\n\n{held} of {len(body)} rows hold.")
    return harness.FINE if held == len(body) else harness.MISSED


def measure(folder: Path, known: harness.Record) -> harness.Record:
    """What streed finds for a recorded row."""
    name, table = known["dataset"], known["table"]
    kind, given = table[:2], dict[str, Any]()
    task: Any = F1() if kind == "f1" else Accuracy()
    if kind in ("dp", "eo"):
        X, y, groups = duel.read_groups(folder, name)
        given = {"sensitive_features": groups}
        task = task.subject_to((DemographicParity() if kind == "dp" else EqualOpportunity()) <= duel.LIMIT)
    else:
        X, y = harness.read_data(folder, "classification", name)
    times = harness.Times()
    result = times.run(lambda: streed.solve(task, X, y, max_depth=known["max_depth"], **given))
    predicted = result.tree.predict(X)
    worth: float = duel.f1(y, predicted) if kind == "f1" else duel.errors(y, predicted)
    fair = not given or duel.gap(predicted, y, given["sensitive_features"], kind == "dp") <= duel.LIMIT + 1e-12
    same = all(math.isclose(each, known["value"], rel_tol=0, abs_tol=1e-12) for each in (worth, result.value))
    row = {"table": table, "dataset": name, "recorded": known["value"], "found": result.value, "worth": worth}
    return {**row, "holds": result.status == "optimal" and same and fair, "seconds": times.wall[0]}


if __name__ == "__main__":
    sys.exit(main())
