"""Costs, policies, regression and survival on small random data, engine against reference and against every tree.

    python -m tests.differential.applications --instances 3000 --seed 0

Each family makes a task and the row data it needs. The exit code is 1 if an optimum was not found, or a tree is not
worth what it claims.
"""

from __future__ import annotations

import argparse
import collections
import math
import random
import sys
import time
import traceback
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

import streed
from streed.data import Dataset
from streed.errors import TaskError
from streed.exact import readable
from streed.reference import Evaluation, best_trees, optimum
from streed.task import Limit, Task, Totals
from streed.tasks import (
    Accuracy,
    CostSensitive,
    Gini,
    InstanceCosts,
    LinearLeaves,
    MinSupport,
    MinSupportOf,
    MisclassificationCosts,
    Misclassifications,
    PoissonDeviance,
    PolicyValue,
    QuantileError,
    RelativeRisk,
    Splits,
    TreatmentCosts,
    WorstLeaf,
)
from streed.tasks.cost_tables import CostTable, TestCost
from tests.searches import TOTAL_ONLY

Draw = random.Random
Family = Callable[[Draw, Any, dict[str, Any]], Task]
"""From a source of randomness, X (n, p) and the arguments of `Dataset.make` so far, which it adds to."""

TINY = 1e-9


def instance_costs(draw: Draw, X: Any, given: dict[str, Any]) -> Task:
    given["costs"] = [[_cost(draw) - 3 for _ in range(given["K"])] for _ in X]
    return InstanceCosts()


def instance_costs_and_splits(draw: Draw, X: Any, given: dict[str, Any]) -> Task:
    return instance_costs(draw, X, given) + 0.25 * Splits()


def misclassification_costs(draw: Draw, X: Any, given: dict[str, Any]) -> Task:
    classes = sorted(set(_classes(draw, X, given)))
    return MisclassificationCosts(CostTable.of(_matrix(draw, len(classes)), classes=classes))


def cost_sensitive(draw: Draw, X: Any, given: dict[str, Any]) -> Task:
    given["sample_weight"] = None
    return CostSensitive(_cost_table(draw, X, given))


def cost_sensitive_limited(draw: Draw, X: Any, given: dict[str, Any]) -> Task:
    return cost_sensitive(draw, X, given).subject_to(MinSupport(2))


def cost_sensitive_and_splits(draw: Draw, X: Any, given: dict[str, Any]) -> Task:
    return cost_sensitive(draw, X, given) + 0.5 * Splits()


def direct_method(draw: Draw, X: Any, given: dict[str, Any]) -> Task:
    _past(draw, X, given)
    return PolicyValue("dm")


def inverse_propensity(draw: Draw, X: Any, given: dict[str, Any]) -> Task:
    _past(draw, X, given)
    return PolicyValue("ipw")


def doubly_robust(draw: Draw, X: Any, given: dict[str, Any]) -> Task:
    _past(draw, X, given)
    return PolicyValue("dr")


def capacity(draw: Draw, X: Any, given: dict[str, Any]) -> Task:
    _past(draw, X, given)
    # of exact numbers: a limit on values that real scores may tell apart by rounding is none to compare
    given["predicted"] = [[draw.randint(0, 9) / 4 for _ in row] for row in given["predicted"]]
    given["sample_weight"] = None
    most = draw.randint(0, len(X))
    used: Any = TreatmentCosts({0: 1, 1: draw.choice((0, 1, 2.5))})
    return PolicyValue("dm").subject_to(used <= most)


def relative_risk(draw: Draw, X: Any, given: dict[str, Any]) -> Task:
    given["y"] = [draw.choice((draw.randint(0, 6), round(draw.uniform(0, 9), 2))) for _ in X]
    given["event"] = [int(draw.random() < 0.6) for _ in X]
    given["event"][draw.randrange(len(X))] = 1
    if given.get("sample_weight") and not any(
        w * e for w, e in zip(given["sample_weight"], given["event"], strict=True)
    ):
        given["sample_weight"] = None
    return RelativeRisk()


def relative_risk_and_splits(draw: Draw, X: Any, given: dict[str, Any]) -> Task:
    return relative_risk(draw, X, given) + 0.01 * Splits()


def poisson(draw: Draw, X: Any, given: dict[str, Any]) -> Task:
    given["y"] = [draw.choice((0, 0, draw.randint(0, 5), 1.5)) for _ in X]
    if draw.random() < 0.6:
        given["exposure"] = [draw.choice((1, 2, draw.uniform(0.1, 3))) for _ in X]
    return PoissonDeviance()


def quantile(draw: Draw, X: Any, given: dict[str, Any]) -> Task:
    given["y"] = [_cost(draw) - 3 for _ in X]
    return QuantileError(draw.choice((0.5, 0.9, 0.25, 1 / 3)))


def linear(draw: Draw, X: Any, given: dict[str, Any]) -> Task:
    given["y"] = [_cost(draw) for _ in X]
    given["features"] = [[draw.gauss(0, 1) for _ in range(2)] for _ in X]
    return LinearLeaves(draw.choice((0, 0.1, 2)))


LIMITED: tuple[Callable[[], Task], ...] = (
    Accuracy,
    lambda: Misclassifications() + 0.25 * Splits(),
    Gini,
    lambda: 0.5 * Gini() + 0.25 * Splits(),
    WorstLeaf,
)


def support(draw: Draw, X: Any, given: dict[str, Any]) -> Task:
    """Limits of rows per class and per group, on tasks of every route."""
    _classes(draw, X, given)
    given["group"] = [draw.choice("ab") for _ in X]
    limits: list[Limit] = [MinSupportOf("class", 1), MinSupportOf("group", draw.choice((1, 2))), MinSupport(2)]
    return draw.choice(LIMITED)().subject_to(*draw.sample(limits, draw.randint(1, 2)))


def supported_treatments(draw: Draw, X: Any, given: dict[str, Any]) -> Task:
    _past(draw, X, given)
    return PolicyValue("dr").subject_to(MinSupportOf("treatment", 1, values=[0]))


def supported_costs(draw: Draw, X: Any, given: dict[str, Any]) -> Task:
    return cost_sensitive(draw, X, given).subject_to(MinSupportOf("class", 1))


FAMILIES: dict[str, Family] = {
    "instance costs": instance_costs,
    "instance costs and splits": instance_costs_and_splits,
    "misclassification costs": misclassification_costs,
    "cost-sensitive": cost_sensitive,
    "cost-sensitive, limited": cost_sensitive_limited,
    "cost-sensitive and splits": cost_sensitive_and_splits,
    "direct method": direct_method,
    "inverse propensity": inverse_propensity,
    "doubly robust": doubly_robust,
    "capacity": capacity,
    "relative risk": relative_risk,
    "relative risk and splits": relative_risk_and_splits,
    "Poisson deviance": poisson,
    "quantile": quantile,
    "linear leaves": linear,
    "support": support,
    "support of treatments": supported_treatments,
    "support of costs": supported_costs,
}


def _cost(draw: Draw) -> float:
    return draw.choice((draw.randint(0, 9), round(draw.uniform(0, 9), draw.randint(1, 5))))


def _classes(draw: Draw, X: Any, given: dict[str, Any]) -> list[int]:
    """Labels of which at least one row has each."""
    K = min(given["K"], len(X))
    labels = [draw.randrange(K) if row >= K else row for row in range(len(X))]
    given["y"] = labels
    return labels


def _matrix(draw: Draw, K: int) -> list[list[float]]:
    whole = draw.random() < 0.3
    costs = [[draw.randint(0, 9) if whole else _cost(draw) for _ in range(K)] for _ in range(K)]
    return [
        [0 if j == k and draw.random() < 0.9 else cost for k, cost in enumerate(row)] for j, row in enumerate(costs)
    ]


def _cost_table(draw: Draw, X: Any, given: dict[str, Any]) -> CostTable:
    classes = sorted(set(_classes(draw, X, given)))
    features: dict[int, list[int]] = collections.defaultdict(list)
    for column in range(X.shape[1]):
        features[draw.randrange(X.shape[1])].append(column)
    tests = []
    for name, columns in features.items():
        cost = draw.choice((0, _cost(draw) / 4, _cost(draw) / 4))
        group = draw.choice((None, "a", "a", "b"))
        share = Fraction(draw.choice((0, 1, 2, 4)), 4)
        if draw.random() < 0.8:  # the columns of others cost nothing
            tests.append(TestCost(f"f{name}", cost, Fraction(cost).limit_denominator(10**6) * share, group, columns))
    return CostTable.of(_matrix(draw, len(classes)), tests, classes)


def _past(draw: Draw, X: Any, given: dict[str, Any]) -> None:
    """Treatments of which each was given, outcomes, propensities and predictions."""
    n, K = len(X), max(2, min(given["K"], len(X)))
    given["treatment"] = [row % K if row < K else draw.randrange(K) for row in range(n)]
    given["outcome"] = [_cost(draw) - 3 for _ in range(n)]
    given["propensity"] = [draw.choice((0.25, 0.5, 1, draw.uniform(0.05, 1))) for _ in range(n)]
    given["predicted"] = [[_cost(draw) - 3 for _ in range(K)] for _ in range(n)]


# -- instances -----------------------------------------------------------------------------------------------------


def make_instance(family: str, seed: int, number: int, most_rows: int = 16) -> tuple[Task, Dataset, dict[str, Any]]:
    """The task, data and limits that belong to a family, a seed and a number."""
    draw = random.Random(f"{family}/{seed}/{number}")
    n, p = draw.randint(2, most_rows), draw.randint(1, 5)
    X = np.array([[draw.randint(0, 1) for _ in range(p)] for _ in range(n)], dtype=np.uint8)
    categorical = None
    if draw.random() < 0.25:
        X[:, 0] = [draw.randrange(3) for _ in range(n)]
        categorical = [0]
    weights = None
    if draw.random() < 0.3:
        weights = [draw.choice((1, 2, 3, 0.5)) for _ in range(n)]
    given: dict[str, Any] = {"K": draw.randint(2, 4), "sample_weight": weights}
    task = FAMILIES[family](draw, X, given)
    del given["K"]
    data = Dataset.make(X, given.pop("y", None), categorical=categorical, **given)
    limits = {
        "max_depth": draw.choice((None, 0, 1, 2, 2, 3, 3)),
        "max_nodes": draw.choice((None, None, None, 1, 2, 4)),
        "min_leaf": draw.choice((1, 1, 1, 2)),
    }
    return task, data, limits


def differences(family: str, seed: int, number: int, search: str = "depth-first", *, every: bool = False) -> list[str]:
    """What is wrong with what the engine finds for an instance; `every`: compared with all trees, of few rows."""
    task, data, limits = make_instance(family, seed, number, 6 if every else 16)
    totals = Totals(task, data)
    result = streed.solve(task, data, search=search, **limits)
    if every:
        limits |= {"max_nodes": min(limits["max_nodes"] or 3, 3)}
        result = streed.solve(task, data, search=search, **limits)
        shown = [_first(task.score(value, totals)) for value, _ in best_trees(task, data, **limits)]
        expected = (max if task.larger_is_better else min)(shown) if shown else None
    else:
        found = optimum(task, data, **limits) if task.order == "total" else _best_of_front(task, data, limits)
        expected = None if found is None else _first(task.score(found[0], totals))
    if expected is None or result.value is None:
        return [] if expected is None and result.status == "infeasible" else [f"{result.status}, not {expected}"]
    wrong = []
    value = result.value[0] if isinstance(result.value, tuple) else result.value
    if result.status != "optimal":
        wrong.append(f"status {result.status}")
    if not math.isclose(value, expected, rel_tol=TINY, abs_tol=TINY):
        wrong.append(f"value {value}, not {expected}")
    assert result.tree is not None
    worth = readable(_first(task.score(Evaluation(task, data).cost(result.tree.root), totals)))
    if not math.isclose(worth, value, rel_tol=TINY, abs_tol=TINY):
        wrong.append(f"the tree is worth {worth}, not {value}")
    return wrong


def _first(value: Any) -> float:
    return float(value[0] if isinstance(value, tuple) else value)


def _best_of_front(task: Task, data: Dataset, limits: dict[str, Any]) -> Any:
    from streed.reference import optimal_front

    front = optimal_front(task, data, **limits)
    return min(front, key=lambda found: found[0][0]) if front else None


def main(arguments: list[str] | None = None) -> int:
    """1 if an instance was solved wrongly, else 0."""
    parser = argparse.ArgumentParser(prog="python -m tests.differential.applications", description=__doc__)
    parser.add_argument("--instances", type=int, default=3000, help="of all families together")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--search", default="depth-first")
    parser.add_argument("--families", nargs="+", choices=FAMILIES, default=list(FAMILIES), metavar="FAMILY")
    parser.add_argument("--every", type=int, default=5, help="every so many-th is compared with all trees, of few rows")
    options = parser.parse_args(arguments)
    began, wrong = time.perf_counter(), 0
    for number in range(options.instances):
        family = options.families[number % len(options.families)]
        by_all = number // len(options.families) % options.every == 0
        try:
            found = differences(family, options.seed, number, options.search, every=by_all)
        except TaskError as refused:
            found = [] if options.search in TOTAL_ONLY and "partial order" in str(refused) else [str(refused)]
        except Exception:  # noqa: BLE001 - reported as a mismatch, with its traceback
            found = [traceback.format_exc()]
        if found:
            wrong += 1
            print(f"{family}, seed {options.seed}, number {number}, every={by_all}: {'; '.join(found)}", flush=True)
    seconds = time.perf_counter() - began
    print(f"{options.instances} instances of {len(options.families)} families in {seconds:.0f} s: {wrong} mismatches")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
