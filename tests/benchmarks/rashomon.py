"""All near-optimal trees, counted beside treefarms, praxis and arborenum: the same trees, seconds, memory.

Errors plus lambda * n, whole, per leaf: what praxis and arborenum count below a whole budget, for all columns. Each run
is a process of its own. Seconds are those of the processor, the median of the calls after the first (which loads our
compiled code): of `fit` in theirs, and in ours of reading the data, of the solve that finds the optimum and of the
count. The last column is the count below the budget of lambda * n as it is, which peers round to whole rows. The exit
code is 1 where counts differ.

The peers may live in another environment: `--python PATH`. treefarms takes no whole budget, so its count, below its own
rounding of the same one, is shown and not compared.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
from typing import Any

from tests.benchmarks import harness

NAMES = (
    "tic-tac-toe", "hepatitis", "lymph", "heart-cleveland", "breast-wisconsin", "diabetes", "australian-credit",
    "primary-tumor", "german-credit", "kr-vs-kp",
)  # fmt: skip

PEERS = ("praxis", "arborenum", "treefarms")


CHILD = r"""import json, resource, sys, time
from fractions import Fraction
import numpy as np

asked = json.loads(sys.argv[1])
table = np.loadtxt(asked["path"], dtype=np.uint8)
X, y = table[:, 1:].copy(), table[:, 0].astype(int)
exact = Fraction(str(asked["lam"])) * len(y)
price, depth, epsilon = exact if asked["program"] == "exact" else round(exact), asked["depth"], asked["epsilon"]


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


def exact_run():
    import streed
    from streed.exact import exact_number
    from streed.tasks import Misclassifications, Splits

    task, data = Misclassifications() + price * Splits(), streed.Dataset.make(X, y)
    optimum = exact_number(streed.solve(task, data, max_depth=depth).value) + price
    budget = optimum * (1 + Fraction(str(epsilon))) - price
    return {"count": streed.rashomon(task, data, max_depth=depth, budget=budget, columns="all").count}, None


def praxis_run():
    import praxis

    def fit():
        model = praxis.PRAXIS()
        model.fit(X, y, lambda_reg=price / len(y), depth_budget=depth, rashomon_mult=epsilon, lookahead_k=depth - 1,
                  root_budget=asked["budget"])
        return model

    model, seconds = timed(fit)
    return {"count": int(model.count_trees())}, seconds


def arborenum_run():
    from arborenum import ArborEnum

    def fit():
        model = ArborEnum()
        model.fit_binarized(X, y, lambda_reg=price / len(y), depth_budget=depth, rashomon_mult=epsilon,
                            lookahead_k=depth - 1, root_budget=asked["budget"])
        return model

    model, seconds = timed(fit)
    return {"count": int(model.count_trees())}, seconds


def treefarms_run():
    import pandas as pd
    from treefarms.model.treefarms import TREEFARMS

    features = pd.DataFrame(X.astype(int), columns=[f"c{j}" for j in range(X.shape[1])])

    def fit():
        model = TREEFARMS({"regularization": price / len(y), "rashomon_bound_multiplier": epsilon, "verbose": False,
                           "depth_budget": depth + 1})
        model.fit(features, pd.Series(y, name="y"))
        return model

    model, seconds = timed(fit)
    return {"count": int(model.get_tree_count())}, seconds


found, seconds = globals()[asked["program"] + "_run"]()
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
    parser.add_argument("--peers", nargs="*", choices=PEERS, default=["praxis", "arborenum"], help="(default: two)")
    parser.add_argument("--python", default=sys.executable, metavar="PATH", help="where the peers are installed")
    parser.add_argument("--limit", type=float, default=60.0, metavar="S", help="of each run (default: 60)")
    options = parser.parse_args(arguments)
    record: harness.Record = {
        "benchmark": "rashomon",
        "machine": harness.start(options),
        "limit": options.limit,
        "rows": [],
    }
    print(f"{'data':20} {'d':>2} {'eps':>5} {'trees':>16} {'streed':>9}" + "".join(f"{p:>11}" for p in options.peers))
    wrong, ratios, memory = 0, [], []
    for name in options.names:
        for depth in options.depths:
            for epsilon in options.epsilons:
                row = _row(options, name, depth, epsilon)
                record["rows"].append(row)
                own, others = row["streed"], {peer: row[peer] for peer in options.peers}
                counts = {each["count"] for peer, each in others.items() if "count" in each and peer != "treefarms"}
                wrong += len(counts | {own.get("count")}) > 1
                timed = [each["seconds"] for peer, each in others.items() if "seconds" in each]
                if timed and "seconds" in own:
                    ratios.append(min(timed) / own["seconds"])
                    memory.append(min(each["memory"] for each in others.values() if "memory" in each) / own["memory"])
                told = "".join(f"{_told(each):>11}" for each in others.values())
                print(f"{name:20} {depth:2} {epsilon:5g} {own.get('count', '-'):>16} {_told(own):>9}{told}", flush=True)
    text = f"counts that differ: {wrong}"
    if ratios:
        means = [math.exp(sum(map(math.log, each)) / len(each)) for each in (ratios, memory)]
        text += f"; the fastest peer takes {means[0]:.2f} times as long, in {means[1]:.2f} times the memory"
    harness.finish(options, record, text)
    return int(wrong > 0)


def _told(found: dict[str, Any]) -> str:
    return f"{found['seconds']:.4f}" if "seconds" in found else found.get("error", "-")


def _row(options: argparse.Namespace, name: str, depth: int, epsilon: float) -> dict[str, Any]:
    """What every program found."""
    asked: dict[str, Any] = {"path": str(options.data / "classification" / f"{name}.csv"), "depth": depth}
    asked |= {"epsilon": epsilon, "lam": options.lam}
    own = _child(sys.executable, {**asked, "program": "streed"}, options.limit)
    asked["budget"] = own.get("budget")
    found = {peer: _child(options.python, {**asked, "program": peer}, options.limit) for peer in options.peers}
    exact = _child(sys.executable, {**asked, "program": "exact"}, options.limit)
    return {"name": name, **asked, "streed": own, **found, "exact": exact}


def render(record: harness.Record) -> str:
    """The table of all rows, and what the faster peer takes by depth."""
    limit = record["limit"]
    peers = [peer for peer in PEERS if peer in record["rows"][0]]
    heads = [
        "data set",
        "depth",
        "epsilon",
        "trees",
        "streed s",
        *(f"{peer} s" for peer in peers),
        "of exact lambda * n",
    ]
    body = []
    by_depth: dict[int, list[tuple[float, bool]]] = {}
    for row in record["rows"]:
        own, exact = row["streed"], row["exact"]
        told = [_told(row[peer]) for peer in peers]
        counts = [f"{each['count']:,}" if each.get("count") is not None else "-" for each in (own, exact)]
        body.append([row["name"], row["depth"], f"{row['epsilon']:g}", counts[0], _told(own), *told, counts[1]])
        timed = [row[peer]["seconds"] for peer in peers if "seconds" in row[peer]]
        if "seconds" in own:
            ratio = min(timed, default=limit) / own["seconds"]
            by_depth.setdefault(row["depth"], []).append((ratio, bool(timed)))
    lines = [harness.table(heads, body), "How many times as long as streed the faster peer takes (geometric means):\n"]
    means = []
    every = [each for found in by_depth.values() for each in found]
    for name, found in [*by_depth.items(), ("all", every)]:
        ended = [ratio for ratio, is_ended in found if is_ended]
        ratios = [ratio for ratio, _ in found]
        mean = [f"{harness.geometric_mean(each):.2f}" if each else "-" for each in (ended, ratios)]
        means.append([name, len(ended), mean[0], len(found), mean[1]])
    heads = [
        "depth",
        "rows where a peer ended",
        "times as long",
        "rows where streed did",
        f"times, > {limit:g} s as that",
    ]
    return "\n".join([lines[0], "", lines[1], harness.table(heads, means)])


def _child(python: str, asked: dict[str, Any], limit: float) -> dict[str, Any]:
    """What a run in a process of its own says."""
    try:
        done = subprocess.run(
            [python, "-c", CHILD, json.dumps(asked)], capture_output=True, text=True, timeout=limit, check=False
        )
    except subprocess.TimeoutExpired:
        return {"error": f"> {limit:g} s"}
    if done.returncode != 0:
        return {"error": "failed", "said": done.stderr[-500:]}
    found: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


if __name__ == "__main__":
    sys.exit(main())
