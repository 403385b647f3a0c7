"""Whole fronts: false negatives and false positives at depths 3 and 4, error and disparity at depth 3.

pystreed 1.4.0 has no fronts to compare with; beside the first kind stands the time of its F1 solve, which keeps such
fronts inside and gives one point. `--plot FILE` draws some of the fronts (SVG, PNG).
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

import streed
from streed.tasks import Accuracy, ClassErrors, DemographicParity
from tests.benchmarks import duel, harness
from tests.benchmarks.fairness import read_data

GOALS: Mapping[int, float] = {4: 5}
"""Per depth, the time of pystreed's F1 solve in ours: the geometric mean."""

FAIR = ("adult", "german-credit", "ricci", "student-mat")

_DRAWN = ("german-credit", "heart-cleveland", "diabetes", "yeast")


def main(arguments: list[str] | None = None) -> int:
    """1 if a front is not whole or its trees are not what they claim, else 0."""
    parser = harness.parser("fronts", __doc__)
    parser.add_argument("--depths", type=int, nargs="+", default=[3, 4], metavar="D")
    parser.add_argument("--datasets", nargs="*", metavar="NAME", help="of errors by class (default: all)")
    parser.add_argument("--fairness", nargs="*", metavar="NAME", help="of error and disparity (default: all)")
    parser.add_argument("--repeats", type=int, default=1, metavar="N")
    parser.add_argument("--no-peer", action="store_true", help="streed alone")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw some fronts; needs matplotlib")
    options = parser.parse_args(arguments)
    peer = None if options.no_peer else duel.peer_version()
    record: harness.Record = {"benchmark": "fronts", "machine": harness.start(options), "peer": peer, "rows": []}
    _warm()
    named = harness.names_of(options.data, "classification") if options.datasets is None else options.datasets
    for depth in options.depths:
        for name in named:
            record["rows"].append(errors(options.data, name, depth, options.repeats, peer is not None))
            _say(record["rows"][-1])
    fair = FAIR if options.fairness is None else options.fairness
    for name in fair:
        record["rows"].append(disparity(options.data, name, 3))
        _say(record["rows"][-1])
    if options.plot is not None:
        draw(record, options.plot)
    harness.finish(options, record, render(record))
    return harness.FINE if all(row["agrees"] for row in record["rows"]) else harness.MISSED


def _warm() -> None:
    """Compiles all kernels, or loads what is compiled."""
    draw = np.random.default_rng(0)
    X, y = draw.integers(0, 2, (60, 6)), draw.integers(0, 2, 60)
    streed.solve(ClassErrors(), X, y, max_depth=4)
    streed.solve(Accuracy() & DemographicParity(), X, y, max_depth=3, sensitive_features=X[:, 0])


def errors(folder: Path, name: str, depth: int, repeats: int, peer: bool) -> harness.Record:
    """The row of the errors by class of one data set."""
    X, y = harness.read_data(folder, "classification", name)
    solvers: dict[str, Callable[[], Any]] = {duel.PEER: _peer(X, y, depth)} if peer else {}
    solvers["streed"] = functools.partial(streed.solve, ClassErrors(), X, y, max_depth=depth)
    times, answers = duel.run(solvers, repeats)
    result = answers["streed"]
    points = sorted((value[1], value[0]) for value, _ in result.front)
    counted = sorted(
        (int(((y == 1) & (predicted == 0)).sum()), int(((y == 0) & (predicted == 1)).sum()))
        for predicted in (tree.predict(X) for _, tree in result.front)
    )
    agrees = points == counted and result.status == "optimal"
    if peer:
        positives = int(y.sum())
        best = max(2 * (positives - fn) / (2 * positives - fn + fp) for fn, fp in points)
        hits = answers[duel.PEER].predict(X)
        found = 2 * int((hits * y).sum()) / int(hits.sum() + positives)
        agrees = agrees and best >= found - 1e-12
    return {
        "kind": "errors",
        "dataset": name,
        "rows": X.shape[0],
        "features": X.shape[1],
        "depth": depth,
        "points": points,
        "agrees": agrees,
        "seconds": times["streed"].wall,
        **duel.comparison(times["streed"], times.get(duel.PEER)),
        "nodes": result.stats["nodes"],
    }


def disparity(folder: Path, name: str, depth: int) -> harness.Record:
    """The row of error and demographic parity of one data set."""
    X, y, groups = read_data(folder, name)
    times, answers = duel.run(
        {
            "streed": functools.partial(
                streed.solve, Accuracy() & DemographicParity(), X, y, max_depth=depth, sensitive_features=groups
            )
        },
        1,
    )
    result = answers["streed"]
    points = sorted(value for value, _ in result.front)
    counted = sorted(int((tree.predict(X) != y).sum()) for _, tree in result.front)
    return {
        "kind": "disparity",
        "dataset": name,
        "rows": X.shape[0],
        "features": X.shape[1],
        "depth": depth,
        "points": points,
        "agrees": result.status == "optimal" and [point[0] for point in points] == counted,
        "seconds": times["streed"].wall,
        **duel.comparison(times["streed"], None),
        "nodes": result.stats["limited_solves"],
    }


def _peer(X: Any, y: Any, depth: int) -> Callable[[], Any]:
    from pystreed import STreeDClassifier

    return lambda: STreeDClassifier("f1-score", max_depth=depth).fit(X, y)


def _say(row: harness.Record) -> None:
    harness.note(
        f"{row['kind']} depth {row['depth']} {row['dataset']}: {len(row['points'])} points, "
        f"{harness.milliseconds(harness.median(row['seconds']))} ms"
    )


def render(record: harness.Record) -> str:
    """The tables by kind and depth, and what they come to."""
    parts = []
    for kind in ("errors", "disparity"):
        for depth in sorted({row["depth"] for row in record["rows"] if row["kind"] == kind}):
            rows = [row for row in record["rows"] if row["kind"] == kind and row["depth"] == depth]
            title = "False negatives and false positives" if kind == "errors" else "Error and demographic parity"
            parts += [f"{title}, depth {depth}", _table(rows, record["peer"])]
            if kind == "errors":
                parts.append(duel.mean_line(rows, GOALS, depth))
    return "\n\n".join(part for part in parts if part)


def _table(rows: list[harness.Record], peer: str | None) -> str:
    heads = ["data set", "rows", "features", "points", f"{duel.PEER} {peer} F1 ms", "front ms", "ratio"]
    body = [
        [
            row["dataset"],
            row["rows"],
            row["features"],
            len(row["points"]) if row["agrees"] else "MISMATCH",
            harness.milliseconds(harness.median(row["peer_seconds"]) if row["peer_seconds"] else None),
            harness.milliseconds(harness.median(row["seconds"])),
            "-" if row["ratio"] is None else f"{row['ratio']:.1f}",
        ]
        for row in rows
    ]
    return harness.table(heads, body)


def draw(record: harness.Record, path: Path) -> None:
    """Draws the fronts of some data sets, errors by class on the left and error against disparity on the right."""
    import matplotlib as mpl

    mpl.use("Agg")
    mpl.rcParams["svg.fonttype"] = "none"
    mpl.rcParams["svg.hashsalt"] = "streed"
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6))
    for row in record["rows"]:
        x, y = zip(*row["points"], strict=True)
        if row["kind"] == "errors" and row["dataset"] in _DRAWN:
            style = {3: ":", 4: "-"}.get(row["depth"], "--")
            colour = f"C{_DRAWN.index(row['dataset'])}"
            left.step(x, y, style, where="post", color=colour, label=f"{row['dataset']}, depth {row['depth']}")
        elif row["kind"] == "disparity":
            right.step(y, [100 * e / row["rows"] for e in x], "-", where="post", label=row["dataset"])
    left.set(xlabel="false negatives", ylabel="false positives")
    right.set(xlabel="difference of rates (demographic parity)", ylabel="errors, % of rows")
    right.set_xlim(left=0)
    for axes in (left, right):
        if axes.get_legend_handles_labels()[0]:
            axes.legend(fontsize=7, frameon=False)
        axes.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)


if __name__ == "__main__":
    sys.exit(main())
