"""Costs, policies, regression and survival: streed against pystreed 1.4.0, side by side in one run on one core.

As in `tests.benchmarks.accuracy`: `fit` or `streed.solve` alone is timed, in turns; medians are shown. The peer's tree
is measured by the same function as ours, on the raw data; the exit code is 1 if ours is worse, or not proved. Where the
peer's is worse, although it says that it is optimal, the row says so.

The generated data have the sizes of soybean (449 x 80, 15 classes) and krk (22,444 x 40, 18 classes), with tests of
five columns each in four groups.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

import streed
from streed.data import Dataset
from streed.tasks import CostSensitive, InstanceCosts, PolicyValue, RelativeRisk, SquaredError
from streed.tasks.cost_tables import CostTable, TestCost
from streed.tasks.expected_costs import costs_by_frequency
from streed.tasks.outcome_scores import METHODS, scores
from tests.benchmarks import duel, harness
from tests.golden.applications import numbers, policy_columns, whole

PEER = "pystreed"

GOALS: Mapping[str, float] = {
    "costs": 4,
    "generated costs": 10,
    "policy": 10,
    "instance costs": 8,
    "regression": 8,
    "survival": 4,
}
"""Per family, the geometric mean of the peer's time in ours."""

TINY = 1e-9


class Case:
    """A problem: how ours and the peer's solver are called, and what a labelling of the rows is worth (less is better).

    `value(result)` and `peer_value(model)` are measured on the raw data.
    """

    def __init__(
        self,
        name: str,
        depth: int,
        solve: Callable[[], Any],
        fit: Callable[[], Any],
        value: Callable[[Any], float],
        peer_value: Callable[[Any], float],
    ) -> None:
        self.name = name
        self.depth = depth
        self.solve = solve
        self.fit = fit
        self.value = value
        self.peer_value = peer_value


# -- families ------------------------------------------------------------------------------------------------------


def _cost_case(name: str, depth: int, X: Any, y: Any, table: CostTable) -> Case:
    from pystreed import STreeDCostSensitiveClassifier
    from pystreed.data import CostSpecifier, FeatureCostSpecifier

    features = []
    for test in table.tests:
        assert test.columns is not None
        places = [int(column) for column in test.columns]
        group = "x" if test.group is None else test.group
        features.append(FeatureCostSpecifier(float(test.cost), float(test.discounted), group, places[0], places[-1]))
    matrix = [[float(cost) for cost in row] for row in table.matrix]
    owner = table.feature_of({}, X.shape[1])

    def walk(node: Any, rows: Any, path: tuple[int, ...]) -> Fraction:
        if node.is_leaf_node():
            return sum((Fraction(table.matrix[k][int(node.label)]) for k in y[rows].tolist()), Fraction(0))
        column = int(node.feature)
        paid = len(rows) * Fraction(table.price(path, column, owner))
        has = X[rows, column] == 1
        sides = ((node.left_child, rows[~has]), (node.right_child, rows[has]))
        return paid + sum((walk(child, part, (*path, column)) for child, part in sides), Fraction(0))

    return Case(
        name,
        depth,
        lambda: streed.solve(CostSensitive(table), X, y, max_depth=depth),
        lambda: STreeDCostSensitiveClassifier(max_depth=depth).fit(X, y, CostSpecifier(matrix, features)),
        lambda result: float(result.value),
        lambda model: float(walk(model.get_tree(), np.arange(len(X)), ())),
    )


def costs(folder: Path, depths: list[int]) -> list[Case]:
    """The four data sets at hand, at three levels of costs."""
    cases = []
    for home in sorted((folder / "cost-sensitive").iterdir()):
        values = whole(numbers(home / f"{home.name}-train-1.csv"))
        for level in ("low", "middle", "high"):
            table = CostTable.read(home / f"{home.name}-{level}-costs.csv")
            for depth in depths:
                name = f"{home.name}, {level}"
                cases.append(_cost_case(name, depth, np.ascontiguousarray(values[:, 1:]), values[:, 0], table))
    return cases


def generated_costs(folder: Path, depths: list[int]) -> list[Case]:
    """Data of two sizes, made up: classes depend on a few one-hot features, with noise."""
    cases = []
    for name, n, p, K in (("as soybean", 449, 80, 15), ("as krk", 22_444, 40, 18)):
        rng = np.random.default_rng(7)
        codes = rng.integers(0, 5, (n, p // 5))
        X = (codes[:, :, None] == np.arange(5)).reshape(n, p).astype(np.int64)
        rule = codes[:, 0] * 4 + codes[:, 1] * codes[:, 2] + (codes[:, 3] > 2)
        y = np.where(rng.random(n) < 0.1, rng.integers(0, K, n), rule % K)
        y[:K] = np.arange(K)
        full = rng.integers(200, 10_000, p // 5)
        tests = [
            TestCost(
                f"f{j}", Fraction(int(cost), 100), Fraction(int(cost) // 2, 100), "abcd"[j % 4], range(5 * j, 5 * j + 5)
            )
            for j, cost in enumerate(full)
        ]
        rounded = [[round(float(cost)) for cost in row] for row in costs_by_frequency(y, tests, Fraction(1, 3)).matrix]
        table = CostTable.of(rounded, tests, range(K))
        cases += [_cost_case(name, depth, X, y, table) for depth in depths]
    return cases


def instance_costs(folder: Path, depths: list[int]) -> list[Case]:
    from pystreed import STreeDInstanceCostSensitiveClassifier

    values = numbers(folder / "instance-cost" / "maxsat21-32f.txt")
    X, rows = whole(values[:, 9:]), np.ascontiguousarray(values[:, 1:9])

    def worth(labels: Any) -> float:
        return float(rows[np.arange(len(rows)), np.asarray(labels, dtype=np.int64)].sum())

    return [
        Case(
            "maxsat21",
            depth,
            lambda depth=depth: streed.solve(InstanceCosts(), X, costs=rows, max_depth=depth),  # type: ignore[misc]
            lambda depth=depth: STreeDInstanceCostSensitiveClassifier(max_depth=depth).fit(X, rows),  # type: ignore[misc]
            lambda result: worth(result.tree.predict(X)),
            lambda model: worth(model.predict(X)),
        )
        for depth in depths
    ]


def policy(folder: Path, depths: list[int]) -> list[Case]:
    cases: list[Case] = []
    for path in sorted((folder / "policy").glob("train_*.csv")):
        values = numbers(path)
        X, past = policy_columns(values)
        seen = np.ascontiguousarray(values[:, 1:7])
        for method in METHODS:
            scored = scores(method, Dataset.make(X, **past))
            name = f"{path.stem[6:]}, {method}"
            cases += [_policy_case(name, depth, X, past, seen, method, scored) for depth in depths]
    return cases


def _policy_case(name: str, depth: int, X: Any, past: Any, seen: Any, method: str, scored: Any) -> Case:
    from pystreed import STreeDPrescriptivePolicyGenerator

    def worth(labels: Any) -> float:
        return -float(scored[np.arange(len(scored)), np.asarray(labels, dtype=np.int64)].mean())

    return Case(
        name,
        depth,
        lambda: streed.solve(PolicyValue(method), X, max_depth=depth, **past),
        lambda: STreeDPrescriptivePolicyGenerator(max_depth=depth, teacher_method=method.upper()).fit(X, seen),
        lambda result: worth(result.tree.predict(X)),
        lambda model: worth(model.predict(X)),
    )


def regression(folder: Path, depths: list[int]) -> list[Case]:
    from pystreed import STreeDRegressor

    values = numbers(folder / "regression" / "airfoil.csv")
    X, y = whole(values[:, 1:]), np.ascontiguousarray(values[:, 0])
    whole_errors = float(((y - y.mean()) ** 2).sum())

    def case(lam: float, depth: int) -> Case:
        task = SquaredError(lam, normalized=True)

        def worth(predicted: Any, splits: int) -> float:
            return float(((y - predicted) ** 2).sum()) / whole_errors + lam * splits

        def fit() -> Any:
            kind = "cost-complex-regression"
            return STreeDRegressor(optimization_task=kind, max_depth=depth, cost_complexity=lam).fit(X, y)

        return Case(
            f"airfoil, {lam}",
            depth,
            lambda: streed.solve(task, X, y, max_depth=depth),
            fit,
            lambda result: worth(result.tree.predict(X), result.tree.n_branches),
            lambda model: worth(model.predict(X), model.get_n_leaves() - 1),
        )

    return [case(lam, depth) for lam in (0.0001, 0.001, 0.01) for depth in depths]


def survival(folder: Path, depths: list[int]) -> list[Case]:
    from pystreed import STreeDSurvivalAnalysis

    class Peer(STreeDSurvivalAnalysis):  # type: ignore[misc]
        def _compute_baseline_cumulative_hazard_function(self, events: Any, times: Any) -> Any:
            # it indexes lists by the events, which numpy's bools no longer can
            return super()._compute_baseline_cumulative_hazard_function(np.asarray(events).astype(int).tolist(), times)

    values = numbers(folder / "survival" / "colon_binary.txt")
    X, times, events = whole(values[:, 2:]), np.ascontiguousarray(values[:, 0]), whole(values[:, 1])
    seen = np.array(
        [(bool(e), t) for t, e in zip(times, events, strict=True)], dtype=[("event", bool), ("time", float)]
    )

    def leaf_value(leaf_of: Any) -> float:
        """The mean loss of the leaves' own best risks."""
        from streed.tasks.survival import nelson_aalen

        hazards = nelson_aalen(times, events).at(times)
        total = 0.0
        for leaf in np.unique(leaf_of):
            rows = leaf_of == leaf
            d, h = events[rows].sum(), hazards[rows].sum()
            total -= np.log(hazards[rows][events[rows] > 0]).sum() + (d * np.log(d / h) if d else 0.0)
        return float(total / len(times))

    def leaves_of(model: Any) -> Any:
        def walk(node: Any, rows: Any) -> None:
            if node.is_leaf_node():
                found[rows] = len(np.unique(found)) + 1
                return
            has = X[rows, int(node.feature)] == 1
            walk(node.left_child, rows[~has])
            walk(node.right_child, rows[has])

        found = np.zeros(len(X), dtype=np.int64)
        walk(model.get_tree(), np.arange(len(X)))
        return found

    return [
        Case(
            "colon",
            depth,
            lambda depth=depth: streed.solve(RelativeRisk(), X, times, event=events, max_depth=depth),  # type: ignore[misc]
            lambda depth=depth: Peer(max_depth=depth).fit(X, seen),  # type: ignore[misc]
            lambda result: leaf_value(result.tree.apply(X)),
            lambda model: leaf_value(leaves_of(model)),
        )
        for depth in depths
    ]


FAMILIES: Mapping[str, tuple[Callable[[Path, list[int]], list[Case]], list[int]]] = {
    "costs": (costs, [4, 5]),
    "generated costs": (generated_costs, [4, 5]),
    "policy": (policy, [4, 5]),
    "instance costs": (instance_costs, [4, 5]),
    "regression": (regression, [5]),
    "survival": (survival, [4, 5]),
}
"""The cases of a family, and the depths that its goal is for."""


# -- the run -------------------------------------------------------------------------------------------------------


def main(arguments: list[str] | None = None) -> int:
    """1 if a tree of ours is worse than the peer's, or not proved, else 0."""
    parser = harness.parser("costs", __doc__)
    parser.add_argument("--families", nargs="+", choices=FAMILIES, default=list(FAMILIES), metavar="FAMILY")
    parser.add_argument("--depths", type=int, nargs="+", metavar="D", help="(default: those of the goals)")
    parser.add_argument("--only", metavar="TEXT", help="only cases whose name has it")
    parser.add_argument("--repeats", type=int, metavar="N", help="(default: by duration)")
    options = parser.parse_args(arguments)
    record: harness.Record = {"benchmark": "costs", "machine": harness.start(options), "rows": []}
    for family in options.families:
        make, depths = FAMILIES[family]
        for case in make(options.data, options.depths or depths):
            if options.only is None or options.only in case.name:
                row = {"family": family, **measure(case, options.repeats)}
                record["rows"].append(row)
                harness.note(" ".join(map(str, _cells(row))))
    harness.finish(options, record, render(record))
    return harness.FINE if all(row["holds"] for row in record["rows"]) else harness.MISSED


def measure(case: Case, repeats: int | None) -> harness.Record:
    """Both solvers in turns, as elsewhere, after one solve each that compiles and warms up."""
    case.solve()
    case.fit()
    times, answers = duel.run({"streed": case.solve, PEER: case.fit}, repeats)
    (ours, result), (theirs, model) = ((times[solver], answers[solver]) for solver in ("streed", PEER))
    value, peer = case.value(result), case.peer_value(model)
    near = TINY * max(1.0, abs(value))
    return {
        "case": case.name,
        "depth": case.depth,
        "value": value,
        "peer_value": peer,
        "is_proved": result.status == "optimal",
        "is_as_good": value <= peer + near,
        "holds": result.status == "optimal" and value <= peer + near,
        "peer_is_worse": peer > value + near,
        "seconds": ours.wall,
        "peer_seconds": theirs.wall,
        "cpu_seconds": ours.cpu,
        **duel.comparison(ours, theirs),
        "route": result.stats["route"],
        "nodes": result.stats["nodes"],
    }


def _cells(row: harness.Record) -> list[Any]:
    same = "worse" if row["peer_is_worse"] else "same" if row["is_as_good"] else "OURS IS WORSE"
    return [
        row["family"],
        row["case"],
        row["depth"],
        f"{row['value']:.10g}",
        same if row["is_proved"] else f"{same}, not proved",
        harness.milliseconds(harness.median(row["peer_seconds"])),
        harness.milliseconds(harness.median(row["seconds"])),
        f"{row['ratio']:.1f}",
        f"{row['cpu_ratio']:.1f}",
        f"{row['nodes']:,}",
    ]


def render(record: harness.Record) -> str:
    """The table, and the geometric mean of each family beside its goal."""
    heads = ["family", "case", "depth", "value", "peer's", f"{PEER} ms", "streed ms", "ratio", "cpu ratio", "nodes"]
    lines = [harness.table(heads, map(_cells, record["rows"]), left=2), ""]
    for family, goal in GOALS.items():
        ratios = [row["ratio"] for row in record["rows"] if row["family"] == family]
        if ratios:
            mean = harness.geometric_mean(ratios)
            others = [
                f"{name} {harness.geometric_mean([row[key] for row in record['rows'] if row['family'] == family]):.1f}"
                for name, key in (
                    ("by processor time", "cpu_ratio"),
                    ("by the least", "least_ratio"),
                    ("of the first solves of turns", "first_ratio"),
                )
            ]
            lines.append(
                f"- {family}: geometric mean {mean:.1f}, {', '.join(others)} (goal: at least {goal:g}), "
                f"smallest {min(ratios):.1f}"
            )
    every = [row["ratio"] for row in record["rows"]]
    least = harness.geometric_mean([row["least_ratio"] for row in record["rows"]])
    lines.append(
        f"- all rows: geometric mean {harness.geometric_mean(every):.1f}, by the least processor times {least:.1f}, "
        f"smallest {min(every):.1f}"
    )
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
