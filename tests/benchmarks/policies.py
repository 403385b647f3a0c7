"""Policy trees of many rows: 100,000 x 200 columns x 20 treatments, proved at depths two and three.

Rows are drawn by a fixed seed: 200 yes/no columns of which each treatment's outcome depends on three, and noise. The
estimated outcomes (floats of 17 digits) are given as predictions of the direct method. Every depth is a process of its
own, with all cores: wall and processor seconds of the solve, without those of compiling, and the most memory that the
process held, data included. The value is measured again on the raw data.

The exit code is 1 if a tree is not worth what it says, or a bar is missed: depth two in 15 s and 1.5 GB, proved or with
a gap of 1e-9 of the value, as such outcomes are rounded once to 2^-50 of their total; depth three proved, or with a gap
within 1 % of the value, in five minutes.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import time
from typing import Any

import numpy as np

from tests.benchmarks import harness

BARS: dict[int, tuple[float, float, float]] = {2: (15.0, 1500, 1e-9), 3: (300.0, math.inf, 0.01)}
"""Seconds, megabytes, and how far bound and value may be apart, as a share of the value, by depth."""


def main(arguments: list[str] | None = None) -> int:
    """1 if a bar is missed, else 0."""
    parser = harness.parser("policies", __doc__, data=False)
    parser.add_argument("--depths", type=int, nargs="+", choices=BARS, default=list(BARS), metavar="D")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2], metavar="N", help="(default: 1 2)")
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--columns", type=int, default=200)
    parser.add_argument("--treatments", type=int, default=20)
    parser.add_argument("--case", help=argparse.SUPPRESS)
    parser.set_defaults(all_cores=True)
    options = parser.parse_args(arguments)
    if options.case is not None:
        print(json.dumps(run_case(json.loads(options.case))))
        return harness.FINE
    record: harness.Record = {"benchmark": "policies", "machine": harness.start(options), "rows": []}
    size = {"rows": options.rows, "columns": options.columns, "treatments": options.treatments}
    for depth in options.depths:
        for threads in options.threads:
            harness.note(f"depth {depth}, {threads} threads")
            record["rows"].append(measure({**size, "depth": depth, "threads": threads}))
            if options.json is not None:  # a long run that is stopped leaves what it has
                options.json.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    harness.finish(options, record, render(record))
    return harness.FINE if all(row["holds"] for row in record["rows"]) else harness.MISSED


def draw(rows: int, columns: int, treatments: int) -> tuple[Any, Any]:
    """X (rows, columns) uint8 and the estimated outcomes (rows, treatments) float64, the same in every run."""
    rng = np.random.default_rng(4)
    X = (rng.random((rows, columns)) < rng.uniform(0.15, 0.85, columns)).astype(np.uint8)
    outcomes = rng.normal(size=(rows, treatments))
    for treatment in range(treatments):
        chosen = rng.choice(columns, 3, replace=False)
        outcomes[:, treatment] += X[:, chosen] @ rng.normal(size=3) + rng.normal(scale=0.3)
    return X, outcomes


def measure(asked: harness.Record) -> harness.Record:
    """The row of a case, which is a process of its own."""
    command = [sys.executable, "-m", "tests.benchmarks.policies", "--case", json.dumps(asked)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=3600)
    if done.returncode:
        harness.fail(done.stderr.strip().splitlines()[-1])
    return row_of(asked, json.loads(done.stdout.splitlines()[-1]))


def row_of(asked: harness.Record, found: harness.Record) -> harness.Record:
    """What was asked and found, and whether it holds."""
    seconds, megabytes, most = BARS[asked["depth"]]
    gap = found["gap"] / abs(found["value"])  # of a stopped search, which knows an upper bound
    row = {**asked, **found, "gap": gap}
    row["agrees"] = math.isclose(found["value"], found["measured"], rel_tol=1e-9)
    proved = found["status"] == "optimal" or gap <= most
    within = found["wall"] <= seconds and found["peak"] <= megabytes * harness.MEGABYTE
    return row | {"within": proved and within, "holds": row["agrees"] and proved and within}


def run_case(asked: harness.Record) -> harness.Record:
    """What one process measures."""
    import streed
    from streed.tasks import PolicyValue

    X, outcomes = draw(asked["rows"], asked["columns"], asked["treatments"])
    given = np.arange(len(X)) % asked["treatments"]
    wall, cpu = time.perf_counter(), time.process_time()
    result = streed.solve(
        PolicyValue("dm"),
        X,
        treatment=given,
        predicted=outcomes,
        max_depth=asked["depth"],
        threads=asked["threads"],
        time_limit=BARS[asked["depth"]][0] * 2,
    )
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    assert result.tree is not None
    chosen = np.asarray(result.tree.predict(X), np.int64)
    return {
        "wall": wall - result.stats["seconds_compile"],
        "cpu": cpu,
        "compile": result.stats["seconds_compile"],
        "nodes": result.stats["nodes"],
        "status": result.status,
        "value": float(result.value),
        "gap": float(result.gap),
        "measured": float(outcomes[np.arange(len(X)), chosen].mean()),
        "peak": harness.peak_bytes(),
    }


def render(record: harness.Record) -> str:
    """The table."""
    heads = ["depth", "rows", "columns", "treatments", "threads", "wall s", "CPU s", "peak MB", "value", "gap"]
    heads += ["status", "within the bar"]
    lines = [
        [
            row["depth"],
            f"{row['rows']:,}",
            row["columns"],
            row["treatments"],
            row["threads"],
            f"{row['wall']:.1f}",
            f"{row['cpu']:.1f}",
            harness.megabytes(row["peak"]),
            f"{row['value']:.6f}" if row["agrees"] else f"MISMATCH {row['value']}, {row['measured']}",
            f"{row['gap']:.1g}",
            row["status"],
            harness.verdict(row["within"]),
        ]
        for row in record["rows"]
    ]
    return harness.table(heads, lines, 0)


if __name__ == "__main__":
    sys.exit(main())
