"""One, two and many threads: wall and processor seconds, nodes visited and memory, by the route that a task takes.

Every solve is a process of its own. Seconds are those of a call after a short one that loads code; memory is the most
that the process held. More threads than cores (16 and 64 by default) are not quicker: they show how many nodes are
visited for nothing, and what memory is needed, where more cores are.

The exit code is 1 if values differ, or a goal of two threads is missed: the geometric mean of the ratios of wall time
1.6 with a limited depth and 1.5 without, none below 1.1; at most 1.25 times the nodes of one thread, and 1.3 times the
memory. Measure seconds on a machine that does nothing else; nodes hardly depend on it.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from typing import Any

import numpy as np

from tests.benchmarks import harness

DEPTH, SPARSE, OTHER = "depth-limited", "sparse", "other"

CASES: dict[str, dict[str, Any]] = {
    "german-credit d4": {"part": DEPTH, "data": "german-credit", "depth": 4},
    "german-credit d5": {"part": DEPTH, "data": "german-credit", "depth": 5},
    "german-credit d6": {"part": DEPTH, "data": "german-credit", "depth": 6},
    "heart-cleveland d5": {"part": DEPTH, "data": "heart-cleveland", "depth": 5},
    "ionosphere d4": {"part": DEPTH, "data": "ionosphere", "depth": 4},
    "kr-vs-kp d6": {"part": DEPTH, "data": "kr-vs-kp", "depth": 6},
    "yeast d5": {"part": DEPTH, "data": "yeast", "depth": 5},
    "yeast d6": {"part": DEPTH, "data": "yeast", "depth": 6},
    "lymph": {"part": SPARSE, "data": "lymph", "lam": 0.01},
    "lymph-f": {"part": SPARSE, "data": "lymph-f", "lam": 0.01},
    "balance": {"part": SPARSE, "data": "balance", "lam": 0.001},
    "careval": {"part": SPARSE, "data": "careval", "lam": 0.001},
    "krvskp": {"part": SPARSE, "data": "krvskp", "lam": 0.003},
    "monk2-f": {"part": SPARSE, "data": "monk2-f", "lam": 0.0003},
    "mushroom-f": {"part": SPARSE, "data": "mushroom-f", "lam": 0.001},
    "tictactoe": {"part": SPARSE, "data": "tictactoe", "lam": 0.002},
    "F1 d4": {"part": OTHER, "data": "german-credit", "task": "F1", "depth": 4},
    "parity d4": {"part": OTHER, "data": "german-credit", "task": "parity", "depth": 4},
    "front d3": {"part": OTHER, "data": "german-credit", "task": "front", "depth": 3},
    "a user's task d4": {"part": OTHER, "data": "german-credit", "task": "user", "depth": 4},
    "regression d4": {"part": OTHER, "data": "airfoil", "task": "squares", "depth": 4},
    "thresholds d3": {"part": OTHER, "data": "thresholds", "task": "accuracy", "depth": 3},
}
"""What is solved; `lam` is the price of a split, with any depth. What takes a few ms is left to one thread."""

GOALS = {DEPTH: 1.6, SPARSE: 1.5}
"""Wall time of one thread in that of two, geometric means."""

LEAST_SPEEDUP, MOST_NODES, MOST_MEMORY = 1.1, 1.25, 1.3


def main(arguments: list[str] | None = None) -> int:
    """1 if values differ or a goal is missed, else 0."""
    parser = harness.parser("threads", __doc__)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2, 16, 64], help="(default: 1 2 16 64)")
    parser.add_argument("--cases", nargs="+", choices=CASES, metavar="CASE", help="(default: all)")
    parser.add_argument("--parts", nargs="+", choices=(DEPTH, SPARSE, OTHER), help="(default: all)")
    parser.add_argument("--repeats", type=int, default=1, metavar="N", help="of which the quickest counts (default: 1)")
    parser.add_argument("--case", help=argparse.SUPPRESS)
    parser.set_defaults(all_cores=True)
    options = parser.parse_args(arguments)
    if options.case is not None:
        print(json.dumps(run_case(json.loads(options.case))))
        return harness.FINE
    record: harness.Record = {"benchmark": "threads", "machine": harness.start(options), "rows": []}
    for name, case in CASES.items():
        if (options.cases and name not in options.cases) or (options.parts and case["part"] not in options.parts):
            continue
        found = {}
        for threads in options.threads:
            harness.note(f"{name}, {threads} threads")
            runs = [_measure(str(options.data), name, threads) for _ in range(options.repeats)]
            found[str(threads)] = min(runs, key=lambda run: float(run["wall"]))
        record["rows"].append({"case": name, "part": case["part"], "threads": found, **judged(found)})
        if options.json is not None:  # a long run that is stopped leaves what it has
            options.json.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    harness.finish(options, record, render(record))
    return harness.FINE if all(row["agrees"] for row in record["rows"]) and not missed(record) else harness.MISSED


def _measure(data: str, name: str, threads: int) -> harness.Record:
    asked = json.dumps({"data": data, "name": name, "threads": threads})
    command = [sys.executable, "-m", "tests.benchmarks.threads", "--case", asked]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=3600)
    if done.returncode:
        harness.fail(f"{name}: {done.stderr.strip().splitlines()[-1]}")
    found: harness.Record = json.loads(done.stdout.splitlines()[-1])
    return found


def judged(found: dict[str, harness.Record]) -> harness.Record:
    """Whether all numbers of threads gave the same value, and two of them in those of one, where both were run."""
    runs = list(found.values())
    agrees = len({(run["status"], run["value"]) for run in runs}) == 1
    one, two = found.get("1"), found.get("2")
    if one is None or two is None:
        return {"agrees": agrees}
    return {
        "agrees": agrees,
        "speedup": one["wall"] / two["wall"],
        "nodes": two["nodes"] / max(1, one["nodes"]),
        "memory": two["peak"] / one["peak"],
    }


def missed(record: harness.Record) -> list[str]:
    """The goals of two threads that are missed, in words."""
    rows = [row for row in record["rows"] if "speedup" in row]
    found = []
    for part, goal in GOALS.items():
        ratios = [row["speedup"] for row in rows if row["part"] == part]
        if ratios and harness.geometric_mean(ratios) < goal:
            found.append(f"{part}: {harness.geometric_mean(ratios):.2f} times as fast, {goal} wanted")
    for row in rows:
        for what, holds in (
            ("speedup", row["speedup"] >= LEAST_SPEEDUP),
            ("nodes", row["nodes"] <= MOST_NODES),
            ("memory", row["memory"] <= MOST_MEMORY),
        ):
            if not holds:
                found.append(f"{row['case']}: {what} {row[what]:.2f}")
    return found


def run_case(asked: dict[str, Any]) -> harness.Record:
    """What one process measures."""
    from pathlib import Path

    import streed

    case = CASES[asked["name"]]
    task, X, y, given = problem_of(Path(asked["data"]), case)
    limits: dict[str, Any] = {"max_depth": case.get("depth"), "threads": asked["threads"]}
    # all that is compiled, or loaded, at first, with what comes to the aid of a search after a second
    first = None if case["data"] == "thresholds" else 0.001 if "lam" not in case else 1.5
    streed.solve(task, X, y, **limits, time_limit=first, **given)
    wall, cpu = time.perf_counter(), time.process_time()
    result = streed.solve(task, X, y, **limits, **given)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    front = [str(value) for value, _ in result.front] if case.get("task") == "front" else None
    return {
        "wall": wall,
        "cpu": cpu,
        "nodes": result.stats.get("nodes", 0),
        "peak": harness.peak_bytes(),
        "used": result.stats.get("threads", 1),
        "route": result.stats.get("route") or result.stats.get("reduction"),
        "status": result.status,
        "value": str(result.value if front is None else front),
    }


def problem_of(folder: Any, case: dict[str, Any]) -> tuple[Any, Any, Any, dict[str, Any]]:
    """(task, X, y, row data) of a case."""
    import streed
    from streed.tasks import F1, Accuracy, DemographicParity, SparseAccuracy, SquaredError
    from tests.benchmarks.versions_solves import CompiledAccuracy

    name, kind = case["data"], case.get("task")
    if name == "thresholds":
        rng = np.random.default_rng(3)
        X = rng.normal(size=(2000, 8)).round(2)
        return Accuracy(), X, ((X[:, 0] > X[:, 1]) ^ (rng.random(2000) < 0.1)).astype(int), {}
    if name == "airfoil":
        values = np.loadtxt(folder / "regression" / "airfoil.csv")
        return SquaredError(), np.ascontiguousarray(values[:, 1:].astype(np.int32)), values[:, 0], {}
    if "lam" in case:
        X, y = harness.read_data(folder, "sparse", name)
        return SparseAccuracy(case["lam"]), X, y, {}
    X, y = harness.read_data(folder, "classification", name)
    if kind == "parity":
        fair = Accuracy().subject_to(DemographicParity() <= 0.01)
        return fair, np.ascontiguousarray(X[:, 1:]), y, {"sensitive_features": X[:, 0]}
    if kind == "front":
        from streed.tasks import ClassErrors

        return ClassErrors(), X, y, {}
    tasks: dict[str | None, streed.Task] = {None: Accuracy(), "F1": F1(), "user": CompiledAccuracy()}
    return tasks[kind], X, y, {}


def render(record: harness.Record) -> str:
    """The table, and which goals are missed."""
    counts = list(record["rows"][0]["threads"]) if record["rows"] else []
    heads = ["case", "route", *(f"{n}: wall s" for n in counts), *(f"{n}: CPU s" for n in counts)]
    heads += [*(f"{n}: nodes" for n in counts), *(f"{n}: MB" for n in counts), "speed-up", "nodes", "memory", "equal"]
    lines = []
    for row in record["rows"]:
        runs = [row["threads"][n] for n in counts]
        cells = [row["case"], f"{runs[-1]['route']}, {runs[-1]['used']} used"]
        cells += [f"{run['wall']:.2f}" for run in runs] + [f"{run['cpu']:.2f}" for run in runs]
        cells += [f"{run['nodes']:,}" for run in runs] + [harness.megabytes(run["peak"]) for run in runs]
        ratios = [row.get(what) for what in ("speedup", "nodes", "memory")]
        lines.append(
            [*cells, *("-" if each is None else f"{each:.2f}" for each in ratios), harness.verdict(row["agrees"])]
        )
    text = [harness.table(heads, lines, 2)]
    for part in GOALS:
        ratios = [row["speedup"] for row in record["rows"] if row["part"] == part and "speedup" in row]
        if ratios:
            text.append(f"{part}: {harness.geometric_mean(ratios):.2f} times as fast by two threads (geometric mean).")
    return "\n\n".join([*text, *(f"Missed: {each}." for each in missed(record))])


if __name__ == "__main__":
    sys.exit(main())
