"""The fewest misclassified rows under a fairness limit of 0.01: streed against pystreed 1.4.0, side by side on a core.

Timed is `fit` or `streed.solve` alone, as in `accuracy.py`; the sensitive column is no feature. Both must misclassify
as many rows, as many as recorded where there is a record (dp_d2, dp_d3, eo_d2, eo_d3), and streed's tree must keep the
limit on the raw groups; otherwise the exit code is 1. Beyond --peer-depth the peer is not asked. What --time-limit
ends is said to be unproved, with the bound that is left, and compared with nothing:

    python -m tests.benchmarks.fairness --depths 5 --repeats 1 --time-limit 300

--rare takes generated data instead: 2,000 rows of 97 thresholds, 6 % of them of label 0, on which Lagrangian bounds
leave a gap, so that trees must be listed:

    python -m tests.benchmarks.fairness --rare --depths 3 --notions dp --peer-depth 0
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

import streed
from streed.tasks import Accuracy, DemographicParity, EqualOpportunity
from tests.benchmarks import duel, harness

LIMIT = 0.01

NOTIONS = {"dp": (DemographicParity(), "group-fairness"), "eo": (EqualOpportunity(), "equality-of-opportunity")}
"""Our notion and pystreed's name of it."""

GOALS: Mapping[int, float] = {3: 150}
"""Per depth, pystreed's time in ours: the geometric mean over both notions."""

RARE = [
    f"rare-{tie}-{seed}"
    for tie, seeds in {0.1: [30], 0.6: [40, 42], 1.0: [1, 27, 28, 40, 42, 44, 45]}.items()
    for seed in seeds
]
"""Names of generated sets, by what `rare_data` takes: those that took longest, of 60 seeds each, at depth 3."""

_CLOSE = 1e-12


def main(arguments: list[str] | None = None) -> int:
    """1 if two optima differ or a tree breaks the limit, else 0."""
    parser = harness.parser("fairness", __doc__)
    parser.add_argument("--depths", type=int, nargs="+", default=[2, 3, 4], metavar="D")
    parser.add_argument("--notions", nargs="+", choices=NOTIONS, default=list(NOTIONS), help="(default: both)")
    parser.add_argument("--datasets", nargs="+", metavar="NAME", help="(default: all)")
    parser.add_argument("--repeats", type=int, metavar="N", help="(default: by duration, 1 above 20 s to 30)")
    parser.add_argument("--peer-depth", type=int, default=3, metavar="D", help="(default: 3; 0: streed alone)")
    parser.add_argument("--rare", action="store_true", help="generated data of a rare class")
    parser.add_argument("--time-limit", type=float, metavar="S", help="of each of streed's solves (default: none)")
    options = parser.parse_args(arguments)
    peer = duel.peer_version() if options.peer_depth else None
    record: harness.Record = {"benchmark": "fairness", "machine": harness.start(options), "peer": peer, "rows": []}
    chosen = options.datasets or (RARE if options.rare else names(options.data))
    measure(options.data, chosen[0], "dp", 3, 1, peer=False)  # compiles, or loads what is compiled
    for depth in options.depths:
        for notion in options.notions:
            for name in chosen:
                row = measure(
                    options.data, name, notion, depth, options.repeats,
                    peer=depth <= options.peer_depth, time_limit=options.time_limit,
                )  # fmt: skip
                record["rows"].append(row)
                taken = harness.milliseconds(harness.median(row["seconds"]))
                harness.note(f"{notion} depth {depth} {name}: {taken} ms, {row['status']}, {row['optimum']} errors")
    harness.finish(options, record, render(record))
    return harness.FINE if all(row["agrees"] for row in record["rows"]) else harness.MISSED


def names(folder: Path) -> list[str]:
    """The data sets, in alphabetical order."""
    return sorted(path.name.removesuffix("-binarized.csv") for path in (folder / "fairness").glob("*-binarized.csv"))


def read_data(folder: Path, name: str) -> tuple[Any, Any, Any]:
    """X (n, p), y (n,) and the groups (n,), int32."""
    if name.startswith("rare-"):
        _, tie, seed = name.split("-")
        return rare_data(float(tie), int(seed))
    path = folder / "fairness" / f"{name}-binarized.csv"
    if not path.is_file():
        harness.fail(f"there is no file {path}")
    values = np.loadtxt(path, dtype=np.int32, ndmin=2)
    return np.ascontiguousarray(values[:, 2:]), values[:, 0].copy(), values[:, 1].copy()


def rare_data(tie: float, seed: int, rows: int = 2000, columns: int = 97) -> tuple[Any, Any, Any]:
    """X (n, p), y (n,) with 6 % of label 0, and groups (n,) that hang together with the first number by the `tie`."""
    draw = np.random.default_rng(seed)
    numbers = draw.normal(size=(rows, 12))
    cuts = [(j, q) for j in range(12) for q in np.linspace(0.03, 0.97, 9)][:columns]
    X = np.column_stack([numbers[:, j] > np.quantile(numbers[:, j], q) for j, q in cuts]).astype(np.int32)
    score = numbers[:, 0] + numbers[:, 1] + 0.5 * numbers[:, 2] * numbers[:, 3] + 0.02 * draw.normal(size=rows)
    y = (score > np.quantile(score, 0.06)).astype(int)
    groups = (draw.random(rows) < 1 / (1 + np.exp(-tie * (numbers[:, 0] + numbers[:, 4])))).astype(int)
    return X, y, groups


def measure(
    folder: Path,
    name: str,
    notion: str,
    depth: int,
    repeats: int | None,
    *,
    peer: bool,
    time_limit: float | None = None,
) -> harness.Record:
    """The row of one data set, notion and depth; `repeats` of None: by duration."""
    X, y, groups = read_data(folder, name)
    ours, theirs = NOTIONS[notion]
    task = Accuracy().subject_to(ours <= LIMIT)
    solvers: dict[str, Callable[[], Any]] = {duel.PEER: _peer(X, y, groups, theirs, depth)} if peer else {}
    solvers["streed"] = functools.partial(
        streed.solve, task, X, y, max_depth=depth, sensitive_features=groups, time_limit=time_limit
    )
    times, answers = duel.run(solvers, repeats)
    result = answers["streed"]
    predicted = np.asarray(result.tree.predict(X))
    optima = {"streed": result.value, "its tree": int(np.count_nonzero(predicted != y))}
    proved = result.status == "optimal"
    fair = gap(predicted, y, groups, notion) <= LIMIT + _CLOSE
    if proved:
        optima |= recorded(folder, name, notion, depth)
    if proved and peer:
        fitted = answers[duel.PEER].predict(np.column_stack([groups, X]))
        optima[duel.PEER] = int(np.count_nonzero(np.asarray(fitted) != y))
    return {
        "dataset": name,
        "notion": notion,
        "rows": X.shape[0],
        "features": X.shape[1],
        "depth": depth,
        "optimum": result.value,
        "optima": optima,
        "gap": gap(predicted, y, groups, notion),
        "status": result.status,
        "bound": result.lower_bound,
        "agrees": fair and (proved or time_limit is not None) and len(set(optima.values())) == 1,
        "seconds": times["streed"].wall,
        **duel.comparison(times["streed"], times.get(duel.PEER)),
        "solves": result.stats["scalar_solves"],
        "enumerations": result.stats["enumerations"],
        "stats": result.summary()["stats"],
    }


def gap(predicted: Any, y: Any, groups: Any, notion: str) -> float:
    """The difference of the two groups' rates of prediction 1, over all rows or over those of label 1."""
    counted = np.ones(len(y), np.bool_) if notion == "dp" else y == 1
    rates = [predicted[counted & (groups == group)].mean() for group in (0, 1)]
    return float(abs(rates[0] - rates[1]))


def recorded(folder: Path, name: str, notion: str, depth: int) -> dict[str, int]:
    """The recorded optimum under the name "recorded", if there is one."""
    if depth > 3 or depth < 2:
        return {}
    known = {row["dataset"]: row["value"] for row in harness.known_optima(folder, f"{notion}_d{depth}")}
    return {"recorded": known[name]} if name in known else {}


def _peer(X: Any, y: Any, groups: Any, task: str, depth: int) -> Callable[[], Any]:
    from pystreed import STreeDGroupFairnessClassifier

    # pystreed takes the group as the first column and asks apart whether trees may split on it
    whole = np.column_stack([groups, X])
    return lambda: STreeDGroupFairnessClassifier(task, max_depth=depth, discrimination_limit=LIMIT).fit(whole, y)


def render(record: harness.Record) -> str:
    """The tables, one per depth, and what they come to."""
    return duel.render(record, _table, GOALS)


def _shown(row: harness.Record) -> str:
    bound = "" if row["status"] == "optimal" else f" (unproved, at least {row['bound']})"
    return f"{row['optimum']}{bound}"


def _table(rows: list[harness.Record], peer: str | None) -> str:
    heads = [
        "data set", "notion", "rows", "features", "errors", "gap", f"{duel.PEER} {peer or '-'} ms", "streed ms",
        "ratio", "scalar solves", "enumerations",
    ]  # fmt: skip
    body = [
        [
            row["dataset"],
            row["notion"],
            row["rows"],
            row["features"],
            _shown(row) if row["agrees"] else f"MISMATCH {row['optima']}",
            f"{row['gap']:.5f}",
            harness.milliseconds(harness.median(row["peer_seconds"]) if row["peer_seconds"] else None),
            harness.milliseconds(harness.median(row["seconds"])),
            "-" if row["ratio"] is None else f"{row['ratio']:.1f}",
            row["solves"],
            row["enumerations"],
        ]
        for row in rows
    ]
    return harness.table(heads, body, left=2)


if __name__ == "__main__":
    sys.exit(main())
