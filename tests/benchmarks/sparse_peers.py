"""gosdt and pystreed on rows of Branches' Table 2, each in a process of its own: `measure`, or run with a JSON job.

Both minimise the error rate plus a penalty: gosdt per leaf, which is one more than the branching nodes, at any depth;
pystreed per branching node, up to its largest depth, 20.
"""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from tests.benchmarks import harness

PEERS = ("gosdt", "pystreed")

LONG = 1.0
"""Seconds: of a peer's rows above, memory is compared."""

GOALS = {"gosdt": 200, "pystreed": 40}
"""Their time in ours, as a geometric mean over the rows that both finish."""

DEEPEST = 20

_GRACE = 30.0
"""Seconds that a peer may take beyond its limit before it is killed."""


def measure(data: str, name: str, lam: float, peer: str, limit: float) -> harness.Record:
    """Seconds, objective (accuracy less lambda per split), peak bytes and whether it was proved, by a fresh process."""
    job = json.dumps({"data": data, "dataset": name, "lam": lam, "peer": peer, "limit": limit})
    command = [sys.executable, "-m", "tests.benchmarks.sparse_peers", job]
    try:
        done = subprocess.run(
            command, cwd=harness.ROOT, capture_output=True, text=True, timeout=limit + _GRACE, check=False
        )
    except subprocess.TimeoutExpired:
        return {"status": "killed", "seconds": limit}
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode != 0 or not lines:
        return {"status": f"crashed ({done.returncode})", "seconds": limit}
    found: harness.Record = json.loads(lines[-1])
    return found


def render(rows: list[harness.Record]) -> list[str]:
    """The table of what the peers took, and the geometric means; nothing if there are none."""
    compared = [row for row in rows if "peers" in row]
    if not compared:
        return []
    cells: list[list[object]] = []
    ratios: dict[str, list[float]] = {peer: [] for peer in PEERS}
    shares: list[float] = []
    for row in compared:
        for peer, found in row["peers"].items():
            ratio = None
            if found["status"] == "optimal" and row["status"] == "optimal":
                ratio = found["seconds"] / row["seconds"]
                ratios[peer].append(ratio)
            cells.append(
                [
                    row["dataset"],
                    peer,
                    found["status"],
                    f"{found['seconds']:.3f}",
                    f"{row['seconds']:.3f}",
                    "-" if ratio is None else f"{ratio:,.0f}",
                    f"{found['iterations']:,}" if found.get("iterations") else "-",
                    harness.megabytes(found["peak_bytes"]) if "peak_bytes" in found else "-",
                    harness.megabytes(row["peak_bytes"]) if "peak_bytes" in row else "-",
                    harness.megabytes(found["used_bytes"]) if "used_bytes" in found else "-",
                    harness.megabytes(row["used_bytes"]) if "used_bytes" in row else "-",
                ]
            )
            if found["seconds"] > LONG and "used_bytes" in found and "used_bytes" in row:
                shares.append(row["used_bytes"] / found["used_bytes"])
    heads = ["data set", "peer", "status", "peer s", "s", "ratio", "iterations"]
    heads += ["peer peak MB", "peak MB", "peer solve MB", "solve MB"]
    lines = [
        f"{peer}: geometric mean of the ratios {harness.geometric_mean(found):,.0f} on {len(found)} rows that both "
        f"finish (goal: {GOALS[peer]})."
        for peer, found in ratios.items()
        if found
    ]
    if shares:
        lines.append(
            f"Memory that the solve took beyond what the process held before (solve MB), on the {len(shares)} rows on "
            f"which a peer takes above {LONG:g} s: at most a tenth of the peer's on {sum(s <= 0.1 for s in shares)}, "
            f"{max(shares):.3f} of it at most."
        )
    return [harness.table(heads, cells, 3), *lines]


def _gosdt(X: Any, y: Any, lam: float, limit: float) -> harness.Record:
    model = importlib.import_module("gosdt").GOSDTClassifier(
        regularization=lam, allow_small_reg=True, time_limit=int(limit), verbose=False
    )
    begin = time.perf_counter()
    model.fit(X.astype(bool), y)
    seconds = time.perf_counter() - begin
    found = model.result_
    proved = abs(found.upperbound - found.lowerbound) < 1e-9 and seconds < limit
    return {
        "seconds": seconds,
        "status": "optimal" if proved else "time",
        # a penalty per leaf
        "objective": 1 - found.upperbound + lam,
        "iterations": int(found.n_iterations),
    }


def _pystreed(X: Any, y: Any, lam: float, limit: float) -> harness.Record:
    from pystreed import STreeDClassifier

    model = STreeDClassifier("cost-complex-accuracy", cost_complexity=lam, max_depth=DEEPEST, time_limit=limit)
    begin = time.perf_counter()
    model.fit(X, y)
    seconds = time.perf_counter() - begin
    errors = np.count_nonzero(model.predict(X) != y)
    proved = seconds < limit and model.fit_result.is_optimal()
    objective = 1 - errors / len(y) - lam * model.get_n_leaves() + lam
    return {"seconds": seconds, "status": "optimal" if proved else "time", "objective": objective}


def main(arguments: list[str]) -> int:
    job = json.loads(arguments[0])
    X, y = harness.read_data(Path(job["data"]), "sparse", job["dataset"])
    solve = {"gosdt": _gosdt, "pystreed": _pystreed}[job["peer"]]
    solve(X[:20], y[:20], job["lam"], job["limit"])  # loads what the peer needs
    held = harness.peak_bytes()
    found = solve(X, y, job["lam"], job["limit"])
    peak = harness.peak_bytes()
    print(json.dumps({**found, "peak_bytes": peak, "used_bytes": peak - held}), flush=True)
    return harness.FINE


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
