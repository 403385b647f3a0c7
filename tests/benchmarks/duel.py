"""Optima and seconds beside pystreed 1.4.0, and beside pycontree over all thresholds: turns of solves on one core.

    python -m tests.benchmarks.duel --families accuracy F1 --depths 3 4

Timed is `fit` or `streed.solve` alone, through the public API: validation and the tree that is returned are in, reading
files and compiling are not. The two take turns, of one solve each, of five where they are quick; a row shows the
medians. A row holds if ours is proved, and no worse than the peer's tree, both measured on the raw data. The exit
code is 1 if one does not.

The same for AVX2, on a machine that has more: `NUMBA_CPU_NAME=haswell NUMBA_CPU_FEATURES= python -m
tests.benchmarks.duel`. Both variables are needed: the name alone leaves the features of the machine on.
"""

from __future__ import annotations

import importlib.metadata
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import streed
from streed import tasks
from tests.benchmarks import harness, versions

LIMIT = 0.01
"""On gaps of fairness."""

_CLOSE = 1e-9


class Case(NamedTuple):
    """A problem: how both solvers are called, and what a labelling of the rows is worth (less is better)."""

    name: str
    solve: Callable[[], streed.Result]
    fit: Callable[[], Any]
    worth: Callable[[Any], float]
    features: Callable[[], Any]
    """What the peer's `predict` takes; ours takes X."""
    X: Any


def _peer(name: str, *given: Any, **named: Any) -> Any:
    import pystreed

    return getattr(pystreed, name)(*given, **named)


def _classified(folder: Path, depth: int, task: Any, peer: str, worth: Callable[..., float]) -> Iterator[Case]:
    for name in harness.names_of(folder, "classification"):
        X, y = harness.read_data(folder, "classification", name)
        yield Case(
            name,
            lambda X=X, y=y: streed.solve(task, X, y, max_depth=depth),  # type: ignore[misc]
            lambda X=X, y=y: _peer("STreeDClassifier", peer, max_depth=depth).fit(X, y),  # type: ignore[misc]
            lambda found, y=y: worth(y, found),  # type: ignore[misc]
            lambda X=X: X,  # type: ignore[misc]
            X,
        )


def errors(y: Any, found: Any) -> int:
    """Rows whose prediction is another label."""
    return int(np.count_nonzero(np.asarray(found) != y))


def f1(y: Any, found: Any) -> float:
    """2 TP / (2 TP + FN + FP) of labels 0 and 1."""
    hits = int(np.count_nonzero((y == 1) & (found == 1)))
    return 2 * hits / int((y == 1).sum() + (found == 1).sum())


def read_groups(folder: Path, name: str) -> tuple[Any, Any, Any]:
    """X (n, p), y (n,) and the groups (n,), int32, of a data set of fairness."""
    values = np.loadtxt(folder / "fairness" / f"{name}-binarized.csv", dtype=np.int32, ndmin=2)
    return np.ascontiguousarray(values[:, 2:]), values[:, 0].copy(), values[:, 1].copy()


def gap(found: Any, y: Any, groups: Any, parity: bool) -> float:
    """The difference of the two groups' rates of prediction 1, over all rows or over those of label 1."""
    counted = np.ones(len(y), np.bool_) if parity else y == 1
    rates = [np.asarray(found)[counted & (groups == group)].mean() for group in (0, 1)]
    return float(abs(rates[0] - rates[1]))


def _fair(folder: Path, depth: int, parity: bool) -> Iterator[Case]:
    notion = tasks.DemographicParity() if parity else tasks.EqualOpportunity()
    peer = "group-fairness" if parity else "equality-of-opportunity"
    for name in sorted(each.name.removesuffix("-binarized.csv") for each in folder.glob("fairness/*-binarized.csv")):
        X, y, groups = read_groups(folder, name)
        whole = np.column_stack([groups, X])  # pystreed takes the group as the first column

        def solve(X: Any = X, y: Any = y, groups: Any = groups) -> streed.Result:
            task = tasks.Accuracy().subject_to(notion <= LIMIT)
            return streed.solve(task, X, y, max_depth=depth, sensitive_features=groups)

        def fit(whole: Any = whole, y: Any = y) -> Any:
            made = _peer("STreeDGroupFairnessClassifier", peer, max_depth=depth, discrimination_limit=LIMIT)
            return made.fit(whole, y)

        def worth(found: Any, y: Any = y, groups: Any = groups) -> float:
            return errors(y, found) if gap(found, y, groups, parity) <= LIMIT + _CLOSE else float("inf")

        yield Case(name, solve, fit, worth, lambda whole=whole: whole, X)  # type: ignore[misc]


def _instance_costs(folder: Path, depth: int) -> Iterator[Case]:
    task, X, _, given = versions.of_rows(folder, "maxsat21-32f")
    rows = given["costs"]
    yield Case(
        "maxsat21",
        lambda: streed.solve(task, X, costs=rows, max_depth=depth),
        lambda: _peer("STreeDInstanceCostSensitiveClassifier", max_depth=depth).fit(X, rows),
        lambda found: float(rows[np.arange(len(rows)), np.asarray(found, np.int64)].sum()),
        lambda: X,
        X,
    )


def _regression(folder: Path, depth: int) -> Iterator[Case]:
    task, X, y, _ = versions.of_numbers(folder, "airfoil", tasks.SquaredError())
    yield Case(
        "airfoil",
        lambda: streed.solve(task, X, y, max_depth=depth),
        lambda: _peer("STreeDRegressor", max_depth=depth).fit(X, y),
        lambda found: float(((y - found) ** 2).sum()),
        lambda: X,
        X,
    )


def _thresholds(folder: Path, depth: int) -> Iterator[Case]:
    """Raw numbers, beside pycontree."""
    from pycontree import ConTree

    for path in sorted((folder / "continuous").glob("*.txt")):
        values = np.loadtxt(path)
        X, y = np.ascontiguousarray(values[:, 1:]), np.unique(values[:, 0], return_inverse=True)[1]

        def fit(X: Any = X, y: Any = y) -> Any:
            made = ConTree(max_depth=depth, time_limit=60)
            made.fit(X, y)
            return made

        yield Case(
            path.stem,
            lambda X=X, y=y: streed.solve(tasks.Misclassifications(), X, y, max_depth=depth),  # type: ignore[misc]
            fit,
            lambda found, y=y: errors(y, found),  # type: ignore[misc]
            lambda X=X: X,  # type: ignore[misc]
            X,
        )


FAMILIES: dict[str, tuple[Callable[[Path, int], Iterator[Case]], float]] = {
    "accuracy": (lambda folder, depth: _classified(folder, depth, tasks.Accuracy(), "accuracy", errors), 40),
    "F1": (
        lambda folder, depth: _classified(folder, depth, tasks.F1(), "f1-score", lambda y, found: -f1(y, found)),
        60,
    ),
    "parity": (lambda folder, depth: _fair(folder, depth, parity=True), 150),
    "opportunity": (lambda folder, depth: _fair(folder, depth, parity=False), 150),
    "instance costs": (_instance_costs, 8),
    "regression": (_regression, 8),
    "thresholds": (_thresholds, 15),
}
"""The cases of a family, and the least geometric mean of the peer's time in ours at depth 3."""


def main(arguments: list[str] | None = None) -> int:
    """1 if a tree of ours is worse than the peer's, or not proved, else 0."""
    parser = harness.parser("duel", __doc__)
    parser.add_argument("--families", nargs="+", choices=FAMILIES, default=list(FAMILIES), metavar="FAMILY")
    parser.add_argument("--depths", type=int, nargs="+", default=[3], metavar="D", help="(default: 3)")
    parser.add_argument("--datasets", nargs="+", metavar="NAME", help="(default: all)")
    parser.add_argument("--repeats", type=int, metavar="N", help="(default: by duration, 1 above 20 s to 30)")
    parser.add_argument("--no-peer", action="store_true", help="streed alone")
    options = parser.parse_args(arguments)
    record: harness.Record = {"benchmark": "duel", "machine": harness.start(options), "rows": []}
    record["peers"] = {} if options.no_peer else {name: _version(name) for name in ("pystreed", "pycontree")}
    for family in options.families:
        for depth in options.depths:
            for case in FAMILIES[family][0](options.data, depth):
                if options.datasets is None or case.name in options.datasets:
                    row = measure(case, options.repeats, not options.no_peer)
                    record["rows"].append({"family": family, "depth": depth, **row})
                    harness.note(" ".join(map(str, _cells(record["rows"][-1]))))
    harness.finish(options, record, render(record))
    return harness.FINE if all(row["holds"] for row in record["rows"]) else harness.MISSED


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        harness.fail(f'{name} is not installed: pip install -e ".[bench]", or give --no-peer')


def measure(case: Case, repeats: int | None, peer: bool) -> harness.Record:
    """Both solvers in turns."""
    solvers: dict[str, Callable[[], Any]] = {"peer": case.fit} if peer else {}
    solvers["streed"] = case.solve
    times = {solver: harness.Times() for solver in solvers}
    answers: dict[str, Any] = {}
    with harness.no_collection():
        while due := [solver for solver, taken in times.items() if len(taken) < _wanted(taken, repeats)]:
            for solver in due:
                taken = times[solver]
                turn = min(harness.turn(min(taken.wall)), _wanted(taken, repeats) - len(taken)) if taken.wall else 1
                for _ in range(turn):
                    answers[solver] = taken.run(solvers[solver], _is_compiled)
    result = answers["streed"]
    worth = case.worth(result.tree.predict(case.X))
    row = {"case": case.name, "value": result.value, "worth": worth, "status": result.status}
    row |= {"seconds": times["streed"].wall, "nodes": result.stats.get("nodes"), "ratio": None}
    row["holds"] = result.status == "optimal"
    if peer:
        found = case.worth(answers["peer"].predict(case.features()))
        row["peer_worth"], row["peer_seconds"] = found, times["peer"].wall
        row["ratio"] = harness.median(times["peer"].wall) / harness.median(times["streed"].wall)
        row["cpu_ratio"] = min(times["peer"].cpu) / min(times["streed"].cpu)
        row["holds"] = row["holds"] and worth <= found + _CLOSE * max(1.0, abs(found))
    return row


def _wanted(taken: harness.Times, repeats: int | None) -> int:
    return repeats or (harness.repeats(min(taken.wall)) if taken.wall else 1)


def _is_compiled(answer: Any) -> bool:
    """Whether nothing was compiled for the answer, as is for a kernel that a solve needs for the first time."""
    return not isinstance(answer, streed.Result) or answer.stats["seconds_compile"] == 0


def _cells(row: harness.Record) -> list[Any]:
    theirs = harness.median(row["peer_seconds"]) if "peer_seconds" in row else None
    cells = [row["family"], row["case"], row["depth"], f"{row['worth']:.9g}", harness.verdict(row["holds"])]
    cells += [harness.milliseconds(theirs), harness.milliseconds(harness.median(row["seconds"]))]
    return [*cells, "-" if row["ratio"] is None else f"{row['ratio']:.1f}", row["nodes"]]


def render(record: harness.Record) -> str:
    """The table, and the geometric mean of each family and depth beside its goal."""
    heads = ["family", "data set", "depth", "worth", "proved, as good", "peer ms", "streed ms", "ratio", "nodes"]
    lines = [harness.table(heads, map(_cells, record["rows"]), left=2), ""]
    for family, depth in dict.fromkeys((row["family"], row["depth"]) for row in record["rows"]):
        rows = [r for r in record["rows"] if (r["family"], r["depth"]) == (family, depth) and r["ratio"] is not None]
        if rows:
            goal = f" (goal: at least {FAMILIES[family][1]:g})" if depth == 3 else ""
            wall, cpu = (harness.geometric_mean([row[key] for row in rows]) for key in ("ratio", "cpu_ratio"))
            least = min(row["ratio"] for row in rows)
            lines.append(f"- {family}, depth {depth}: {wall:.1f}{goal}, by processor time {cpu:.1f}, least {least:.1f}")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
