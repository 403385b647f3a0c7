"""All rows of Branches' Table 2 for which an optimum is recorded: error rate plus lambda per branching node, any depth.

Each row is solved in a fresh process, whose peak memory is measured; files ending in -o have one child per category.
A row holds if the optimum was proved within the time limit, equals the recorded one, and the tree, measured again on
the raw data, has that value (shown as the table has it: accuracy less lambda per split). The exit code is 1 if a row
does not hold.
"""

from __future__ import annotations

import math
import sys

from tests.benchmarks import harness

TIME_LIMIT = 30.0
"""Seconds in which every row should be proved."""

_TOLERANCE = 1e-9
"""Recorded values are floats; two different values of a row are at least 1 / (1000 n) > 7e-8 apart."""


def main(arguments: list[str] | None = None) -> int:
    """1 if a row is not proved or has another optimum than recorded, else 0."""
    parser = harness.parser("sparse", __doc__)
    parser.add_argument("--datasets", nargs="+", metavar="NAME", help="(default: all)")
    parser.add_argument("--time-limit", type=float, default=TIME_LIMIT, metavar="S", help="(default: %(default)g)")
    options = parser.parse_args(arguments)
    found = harness.start(options)
    known = harness.known_optima(options.data, "sparse")
    unknown = set(options.datasets or ()) - {row["dataset"] for row in known}
    if unknown:
        harness.fail(f"--datasets: no optimum is recorded for {', '.join(sorted(unknown))}")
    record: harness.Record = {"benchmark": "sparse", "machine": found, "time_limit": options.time_limit, "rows": []}
    for row in known:
        if options.datasets is None or row["dataset"] in options.datasets:
            record["rows"].append(measure(str(options.data), row, options.time_limit))
            done = record["rows"][-1]
            harness.note(f"{done['dataset']}: {done['status']}, holds: {harness.verdict(done['holds'])}")
    harness.finish(options, record, render(record))
    return harness.FINE if all(row["holds"] for row in record["rows"]) else harness.MISSED


def measure(data: str, known: harness.Record, time_limit: float) -> harness.Record:
    """What a fresh process finds for a recorded row."""
    name, lam = known["dataset"], known["params"]["lambda"]
    row = {"dataset": name, "lambda": lam, "recorded": known["value"], "proved_by": known["proved_by"]}
    job = {"data": data, "table": "sparse", "dataset": name, "lam": lam, "multiway": name.endswith("-o")}
    try:
        outcome = harness.run_job({**job, "limits": {"time_limit": time_limit}})
    except harness.CrashError as crash:
        return {**row, "status": f"crashed: {crash}", "holds": False}
    value = 1 - outcome["value"]
    measured = 1 - outcome["errors"] / outcome["rows"] - lam * outcome["tree"]["n_branches"]
    equal = all(abs(known["value"] - v) < _TOLERANCE for v in (value, measured))
    return {**row, **outcome, "found": value, "holds": equal and outcome["status"] == "optimal"}


def render(record: harness.Record) -> str:
    """The table and how many rows hold."""
    heads = ["data set", "lambda", "recorded", "found", "status", "rows", "columns", "errors", "splits"]
    heads += ["s", "nodes", "cache MB", "peak MB", "holds"]
    rows = record["rows"]
    held = sum(row["holds"] for row in rows)
    slowest = max(rows, key=lambda row: float(row.get("seconds", 0)))
    return (
        f"{harness.table(heads, map(_cells, rows))}\n\n{held} of {len(rows)} rows proved within "
        f"{record['time_limit']:g} s and equal to the recorded optimum; the slowest, {slowest['dataset']}, took "
        f"{slowest.get('seconds', math.nan):.2f} s."
    )


def _cells(row: harness.Record) -> list[object]:
    cells = [row["dataset"], row["lambda"], f"{row['recorded']:.5f}"]
    if "found" not in row:
        return [*cells, "-", row["status"], *["-"] * 8, harness.verdict(row["holds"])]
    return [
        *cells,
        f"{row['found']:.5f}",
        row["status"],
        row["rows"],
        row["columns"],
        row["errors"],
        row["tree"]["n_branches"],
        f"{row['seconds']:.3f}",
        f"{row['stats']['nodes']:,}",
        harness.megabytes(row["stats"]["cache_bytes"]),
        harness.megabytes(row["peak_bytes"]),
        harness.verdict(row["holds"]),
    ]


if __name__ == "__main__":
    sys.exit(main())
