"""The best F1: streed against pystreed 1.4.0, side by side in one run on one core.

Timed is `fit` or `streed.solve` alone, as in `accuracy.py`. Both must give the same F1, equal to the recorded one where
there is one (f1_d3, f1_d4), and streed's tree must have it on the raw data; otherwise the exit code is 1. What
--time-limit ends is said to be unproved, with the bound that is left, and compared with nothing:

    python -m tests.benchmarks.f1 --depths 5 --no-peer --repeats 1 --time-limit 300
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

import streed
from streed.tasks import F1
from tests.benchmarks import duel, harness

GOALS: Mapping[int, float] = {3: 60, 4: 120}
"""Per depth, pystreed's time in ours: the geometric mean."""

_CLOSE = 1e-9


def main(arguments: list[str] | None = None) -> int:
    """1 if two optima differ or a tree is not what it claims, else 0."""
    parser = harness.parser("f1", __doc__)
    parser.add_argument("--depths", type=int, nargs="+", default=[3, 4], metavar="D")
    parser.add_argument("--datasets", nargs="+", metavar="NAME", help="(default: all)")
    parser.add_argument("--repeats", type=int, metavar="N", help="(default: by duration, 1 above 20 s to 30)")
    parser.add_argument("--no-peer", action="store_true", help="streed alone")
    parser.add_argument("--time-limit", type=float, metavar="S", help="of each of streed's solves (default: none)")
    options = parser.parse_args(arguments)
    peer = None if options.no_peer else duel.peer_version()
    record: harness.Record = {"benchmark": "f1", "machine": harness.start(options), "peer": peer, "rows": []}
    streed.solve(F1(), [[0, 1], [1, 0]] * 20, [0, 1] * 20, max_depth=4)  # compiles, or loads what is compiled
    for depth in options.depths:
        for name in options.datasets or harness.names_of(options.data, "classification"):
            row = measure(options.data, name, depth, options.repeats, peer is not None, options.time_limit)
            record["rows"].append(row)
            taken = harness.milliseconds(harness.median(row["seconds"]))
            harness.note(f"depth {depth} {name}: {taken} ms, {row['status']}, F1 {row['optimum']:.6f}")
    harness.finish(options, record, render(record))
    return harness.FINE if all(row["agrees"] for row in record["rows"]) else harness.MISSED


def measure(
    folder: Path, name: str, depth: int, repeats: int | None, peer: bool, time_limit: float | None = None
) -> harness.Record:
    """The row of one data set and depth; `repeats` of None: by duration."""
    X, y = harness.read_data(folder, "classification", name)
    solvers: dict[str, Callable[[], Any]] = {duel.PEER: _peer(X, y, depth)} if peer else {}
    solvers["streed"] = functools.partial(streed.solve, F1(), X, y, max_depth=depth, time_limit=time_limit)
    times, answers = duel.run(solvers, repeats)
    result = answers["streed"]
    optima = {"streed": result.value, "its tree": f1(y, result.tree.predict(X))}
    proved = result.status == "optimal"
    if proved:
        optima |= recorded(folder, name, depth)
    if proved and peer:
        optima[duel.PEER] = f1(y, answers[duel.PEER].predict(X))
        proved = answers[duel.PEER].fit_result.is_optimal()
    return {
        "dataset": name,
        "rows": X.shape[0],
        "features": X.shape[1],
        "depth": depth,
        "optimum": result.value,
        "optima": optima,
        "status": result.status,
        "bound": result.upper_bound,
        "agrees": (proved or time_limit is not None) and max(optima.values()) - min(optima.values()) < _CLOSE,
        "seconds": times["streed"].wall,
        **duel.comparison(times["streed"], times.get(duel.PEER)),
        "solves": result.stats["scalar_solves"],
        "stats": result.summary()["stats"],
    }


def f1(y: Any, predicted: Any) -> float:
    """2 TP / (2 TP + FN + FP) of labels 0 and 1."""
    hits = int(np.count_nonzero((y == 1) & (predicted == 1)))
    return 2 * hits / int((y == 1).sum() + (predicted == 1).sum())


def recorded(folder: Path, name: str, depth: int) -> dict[str, float]:
    """The recorded optimum under the name "recorded", if there is one."""
    if depth not in GOALS:
        return {}
    known = {row["dataset"]: row["value"] for row in harness.known_optima(folder, f"f1_d{depth}")}
    return {"recorded": known[name]} if name in known else {}


def _peer(X: Any, y: Any, depth: int) -> Callable[[], Any]:
    from pystreed import STreeDClassifier

    return lambda: STreeDClassifier("f1-score", max_depth=depth).fit(X, y)


def render(record: harness.Record) -> str:
    """The tables, one per depth, and what they come to."""
    return duel.render(record, _table, GOALS)


def _shown(row: harness.Record) -> str:
    bound = "" if row["status"] == "optimal" else f" (unproved, at most {row['bound']:.6f})"
    return f"{row['optimum']:.6f}{bound}"


def _table(rows: list[harness.Record], peer: str | None) -> str:
    heads = [
        "data set",
        "rows",
        "features",
        "F1",
        f"{duel.PEER} {peer or '-'} ms",
        "streed ms",
        "ratio",
        "scalar solves",
    ]
    body = [
        [
            row["dataset"],
            row["rows"],
            row["features"],
            _shown(row) if row["agrees"] else f"MISMATCH {row['optima']}",
            harness.milliseconds(harness.median(row["peer_seconds"]) if row["peer_seconds"] else None),
            harness.milliseconds(harness.median(row["seconds"])),
            "-" if row["ratio"] is None else f"{row['ratio']:.1f}",
            row["solves"],
        ]
        for row in rows
    ]
    return harness.table(heads, body)


if __name__ == "__main__":
    sys.exit(main())
