"""All near-optimal trees, counted beside praxis and arborenum: the same trees, seconds, memory.

Errors plus lambda * n, whole, per leaf: what the peers count below a whole budget, for all columns. Each run is a
process of its own. Seconds are those of the processor, the median of the calls after the first (which loads our
compiled code): of `fit` in theirs, and in ours of reading the data, of the solve that finds the optimum and of the
count. The exit code is 1 where counts differ. The peers may live in another environment: `--python PATH`.
"""

from __future__ import annotations

import argparse
import itertools
import json
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

from tests.benchmarks import harness

NAMES = (
    "tic-tac-toe", "hepatitis", "lymph", "heart-cleveland", "breast-wisconsin", "diabetes", "australian-credit",
    "primary-tumor", "german-credit", "kr-vs-kp",
)  # fmt: skip

PEERS = ("praxis", "arborenum")

CHILD = r"""import json, resource, sys, time
from fractions import Fraction
import numpy as np

asked = json.loads(sys.argv[1])
table = np.loadtxt(asked["path"], dtype=np.uint8)
X, y = table[:, 1:].copy(), table[:, 0].astype(int)
price, depth, epsilon = round(Fraction(str(asked["lam"])) * len(y)), asked["depth"], asked["epsilon"]


def timed(work):
    # what the last call found, and the median of the seconds of calls after the first, which loads code
    seconds = []
    began = time.process_time()
    while len(seconds) < 2 or (len(seconds) < 16 and time.process_time() - began < 1):
        begin = time.process_time()
        found = work()
        seconds.append(time.process_time() - begin)
    return found, sorted(seconds[1:])[(len(seconds) - 1) // 2]


def streed_run():
    import streed
    from streed.tasks import Misclassifications, Splits

    task = Misclassifications() + price * Splits()

    def count():
        data = streed.Dataset.make(X, y)
        optimum = streed.solve(task, data, max_depth=depth).value + price
        budget = int(optimum * (1 + epsilon) + 1e-9)
        return streed.rashomon(task, data, max_depth=depth, budget=budget - price, columns="all"), budget

    (trees, budget), seconds = timed(count)
    return {"count": trees.count, "budget": budget}, seconds


def peer_run():
    import importlib

    kind, fit = {"praxis": ("PRAXIS", "fit"), "arborenum": ("ArborEnum", "fit_binarized")}[asked["program"]]
    limits = {"lambda_reg": price / len(y), "depth_budget": depth, "rashomon_mult": epsilon}

    def fitted():
        model = getattr(importlib.import_module(asked["program"]), kind)()
        getattr(model, fit)(X, y, **limits, lookahead_k=depth - 1, root_budget=asked["budget"])
        return model

    model, seconds = timed(fitted)
    return {"count": int(model.count_trees())}, seconds


found, seconds = streed_run() if asked["program"] == "streed" else peer_run()
memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
print(json.dumps({**found, "seconds": seconds, "memory": memory}))
"""
"""What a run in a process of its own does; it must not need streed where the peers are."""


def main(arguments: list[str] | None = None) -> int:
    """1 if a count is another one than a peer's, else 0."""
    parser = harness.parser("rashomon", __doc__)
    parser.add_argument("--names", nargs="+", default=list(NAMES), metavar="NAME", help="(default: ten sets)")
    parser.add_argument("--depths", nargs="+", type=int, default=[3, 4], metavar="D", help="(default: 3 4)")
    parser.add_argument("--epsilons", nargs="+", type=float, default=[0.05, 0.1], metavar="E", help="(default: .05 .1)")
    parser.add_argument("--lam", type=float, default=0.01, metavar="L", help="(default: 0.01)")
    parser.add_argument("--peers", nargs="*", choices=PEERS, default=list(PEERS), help="(default: both)")
    parser.add_argument("--python", default=sys.executable, metavar="PATH", help="where the peers are installed")
    parser.add_argument("--limit", type=float, default=60.0, metavar="S", help="of each run (default: 60)")
    options = parser.parse_args(arguments)
    record: harness.Record = {"benchmark": "rashomon", "machine": harness.start(options), "rows": []}
    for name, depth, epsilon in itertools.product(options.names, options.depths, options.epsilons):
        record["rows"].append(_row(options, name, depth, epsilon))
        harness.note(" ".join(map(str, _cells(record["rows"][-1], options.peers))))
    harness.finish(options, record, render(record["rows"], options.peers))
    return harness.FINE if all(row["holds"] for row in record["rows"]) else harness.MISSED


def _row(options: argparse.Namespace, name: str, depth: int, epsilon: float) -> harness.Record:
    """What every program found."""
    asked: dict[str, Any] = {"path": str(options.data / "classification" / f"{name}.csv"), "depth": depth}
    asked |= {"epsilon": epsilon, "lam": options.lam}
    own = _child(sys.executable, {**asked, "program": "streed"}, options.limit)
    asked["budget"] = own.get("budget")
    found = {peer: _child(options.python, {**asked, "program": peer}, options.limit) for peer in options.peers}
    counts = {each["count"] for each in (own, *found.values()) if "count" in each}
    return {"name": name, **asked, "streed": own, **found, "holds": "count" in own and len(counts) == 1}


def _cells(row: harness.Record, peers: Sequence[str]) -> list[object]:
    told = [f"{row[each]['seconds']:.4f}" if "seconds" in row[each] else row[each]["error"] for each in peers]
    own = row["streed"]
    count, seconds = (f"{own['count']:,}", f"{own['seconds']:.4f}") if "count" in own else ("-", own["error"])
    return [row["name"], row["depth"], f"{row['epsilon']:g}", count, seconds, *told, harness.verdict(row["holds"])]


def render(rows: Sequence[harness.Record], peers: Sequence[str]) -> str:
    """The table of all rows, and what the faster peer takes, in time and in memory."""
    heads = ["data set", "depth", "epsilon", "trees", "streed s", *(f"{peer} s" for peer in peers), "same count"]
    text = harness.table(heads, [_cells(row, peers) for row in rows])
    for key in ("seconds", "memory"):
        ended = [[row[peer][key] for peer in peers if key in row[peer]] for row in rows if key in row["streed"]]
        own = [row["streed"][key] for row in rows if key in row["streed"]]
        ratios = [min(theirs) / ours for theirs, ours in zip(ended, own, strict=True) if theirs]
        if ratios:
            mean = harness.geometric_mean(ratios)
            text += f"\n\nThe best peer's {key} in ours, in {len(ratios)} rows where one ended: {mean:.2f}"
    return text


def _child(python: str, asked: dict[str, Any], limit: float) -> dict[str, Any]:
    """What a run in a process of its own says."""
    command = [python, "-c", CHILD, json.dumps(asked)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        return {"error": f"> {limit:g} s"}
    if done.returncode != 0:
        return {"error": "failed", "said": done.stderr[-500:]}
    found: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


if __name__ == "__main__":
    sys.exit(main())
