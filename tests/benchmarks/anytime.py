"""What a search knows when it is stopped: incumbent, bound and gap over time.

    python -m tests.benchmarks.anytime stops            # lymph and balance, lambda / 10: after 1, 5 and 30 s
    python -m tests.benchmarks.anytime classification   # lambda 0.01 and 0.005, any depth: proved, or the gap at 60 s
    python -m tests.benchmarks.anytime smaller          # five rows of Table 2 with a tenth of their lambda
    python -m tests.benchmarks.anytime early            # six that take long: after 1, 3 and 10 s of the processor
    python -m tests.benchmarks.anytime deep             # depth four to ten, beside peers and an older version (deep.py)

Each solve has a process of its own. A row holds if its gap never grew, its tree is worth what it says, and, with the
original's lambda, the incumbent at the end is no worse than what the original reports after 300 s. The exit code is 1
if a row does not hold.
"""

from __future__ import annotations

import itertools
import sys
from pathlib import Path

from tests.benchmarks import deep, harness
from tests.benchmarks.sparse import DRIVERS

PARTS = ("stops", "classification", "smaller", "early")

ORIGINAL = {"lymph": 0.828, "lymph-f": 0.811, "balance": 0.766}
"""Objectives of the original after 300 s, where it does not end (ICML 2025, Table 2; the objective of balance is
printed as 0.776, which its accuracy of 0.806 and 8 splits do not give)."""

LAMBDA = {"lymph": 0.01, "lymph-f": 0.01, "balance": 0.005}

SMALLER = {"tictactoe": 0.0005, "careval": 0.0005, "balance": 0.0005, "monk2": 0.0001, "zoo": 0.0001}

LAMBDAS = (0.01, 0.005)

EARLY = (
    ("sparse", "lymph", 0.01), ("sparse", "lymph", 0.001), ("classification", "anneal", 0.005),
    ("classification", "german-credit", 0.005), ("classification", "heart-cleveland", 0.005),
    ("classification", "ionosphere", 0.005),
)  # fmt: skip
"""(table, data set, lambda) of what no driver proves in ten seconds."""

_TOLERANCE = 1e-9


def main(arguments: list[str] | None = None) -> int:
    """1 if a row does not hold, else 0."""
    parser = harness.parser("anytime", __doc__)
    parser.add_argument("part", choices=(*PARTS, "deep"))
    parser.add_argument("--datasets", nargs="+", metavar="NAME", help="(default: all)")
    parser.add_argument("--drivers", nargs="+", choices=DRIVERS, default=list(DRIVERS), help="(default: all)")
    parser.add_argument("--time-limit", type=float, default=60.0, metavar="S", help="(default: %(default)g)")
    parser.add_argument("--what", choices=deep.DEPTHS, default="binary", help="deep: which data or tasks")
    parser.add_argument("--beside", type=Path, metavar="FOLDER", help="deep: an older checkout")
    parser.add_argument("--depths", nargs="+", type=int, metavar="D", help="deep: (default: all)")
    parser.add_argument("--reference", type=float, default=60.0, metavar="S", help="deep: (default: %(default)g)")
    options = parser.parse_args(arguments)
    found = harness.start(options)
    if options.part == "deep":
        rows = deep.run(options)
        harness.finish(options, {"benchmark": "deep", "machine": found, "rows": rows}, deep.render(rows, harness.table))
        return harness.FINE if deep.holds(rows) else harness.MISSED
    record: harness.Record = {"benchmark": "anytime", "what": options.part, "machine": found, "rows": []}
    for table, name, lam, seconds in _problems(options.part, str(options.data), options.time_limit):
        if options.datasets is not None and name not in options.datasets:
            continue
        for driver in options.drivers:
            record["rows"].append(
                measure(str(options.data), table, name, lam, seconds, driver, processor=options.part == "early")
            )
            done = record["rows"][-1]
            harness.note(
                f"{name} {lam:g} {seconds:g} s by {driver}: {done['status']}, {harness.verdict(done['holds'])}"
            )
    harness.finish(options, record, render(record))
    return harness.FINE if all(row["holds"] for row in record["rows"]) else harness.MISSED


def _problems(what: str, data: str, limit: float) -> list[tuple[str, str, float, float]]:
    """(table, data set, lambda, seconds) of every solve."""
    if what == "stops":
        small = [("sparse", name, LAMBDA[name] / 10, s) for name in ("lymph", "balance") for s in (1.0, 5.0, 30.0)]
        return small + [("sparse", name, LAMBDA[name], seconds) for name in ORIGINAL for seconds in (1.0, 5.0)]
    if what == "early":
        return [(*problem, seconds) for problem in EARLY for seconds in (1.0, 3.0, 10.0)]
    if what == "smaller":
        return [("sparse", name, lam, limit) for name, lam in SMALLER.items()]
    names = harness.names_of(Path(data), "classification")
    return [("classification", name, lam, limit) for name in names for lam in LAMBDAS]


def measure(
    data: str, table: str, name: str, lam: float, seconds: float, driver: str, *, processor: bool = False
) -> harness.Record:
    """What a fresh process knows after so many seconds, of the clock or of its processor."""
    row = {"dataset": name, "driver": driver, "lambda": lam, "limit": seconds, "processor": processor}
    job = {"data": data, "table": table, "dataset": name, "lam": lam, "processor": processor}
    try:
        outcome = harness.run_job({**job, "limits": {"time_limit": seconds, "search": driver}})
    except harness.CrashError as crash:
        return {**row, "status": f"crashed: {crash}", "holds": False}
    gaps = [best - bound for _, best, bound, _ in outcome["stats"]["trace"] if None not in (best, bound)]
    falls = all(after <= before + _TOLERANCE for before, after in itertools.pairwise(gaps))
    worth = outcome["errors"] / outcome["rows"] + lam * outcome["tree"]["n_branches"]
    holds = falls and abs(worth - outcome["value"]) < _TOLERANCE
    if LAMBDA.get(name) == lam:
        # the original's numbers are printed with three digits
        holds = holds and 1 - outcome["value"] >= ORIGINAL[name] - 0.0005
    return {**row, **outcome, "found": 1 - outcome["value"], "first": gaps[0] if gaps else None, "holds": holds}


def render(record: harness.Record) -> str:
    """The table, and how many rows hold."""
    rows = record["rows"]
    proved = sum(row["status"] == "optimal" for row in rows)
    return (
        f"{harness.table(_HEADS, map(_cells, rows), 2)}\n\n{proved} of {len(rows)} rows proved, "
        f"{sum(row['holds'] for row in rows)} hold."
    )


_HEADS = [
    "data set",
    "driver",
    "lambda",
    "limit s",
    "status",
    "found",
    "bound",
    "gap",
    "s",
    "expanded",
    "peak MB",
    "holds",
]


def _cells(row: harness.Record) -> list[object]:
    cells = [row["dataset"], row["driver"], f"{row['lambda']:g}", f"{row['limit']:g}", row["status"]]
    if "found" not in row:
        return [*cells, *["-"] * 6, harness.verdict(row["holds"])]
    return [
        *cells,
        f"{row['found']:.5f}",
        f"{1 - row['lower_bound']:.5f}",
        f"{row['gap'] / row['value']:.1%}" if row["value"] else "0",
        f"{row['cpu_seconds' if row.get('processor') else 'seconds']:.2f}",
        f"{row['stats']['expansions']:,}",
        harness.megabytes(row["peak_bytes"]),
        harness.verdict(row["holds"]),
    ]


if __name__ == "__main__":
    sys.exit(main())
