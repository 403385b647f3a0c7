"""Fronts, trade-offs, limits and their combinations on small random instances, judged by the reference's recursion.

`python -m tests.differential.fuzz_fronts 0 400` judges so many seeds of every kind.
"""

from __future__ import annotations

import argparse
import collections
import random
import sys
import time
from collections.abc import Sequence
from typing import Any, ClassVar

import attrs
import numpy as np

import streed
from streed.data import Dataset
from streed.dp.dominance import nondominated_at_root
from streed.errors import InputError, StreedError
from streed.reference import optimal_front
from streed.task import State, Task
from streed.task.algebra import at_most
from streed.tasks import (
    F1,
    Accuracy,
    BalancedAccuracy,
    ClassErrors,
    CostSensitive,
    DemographicParity,
    EqualOpportunity,
    InstanceCosts,
    MinSupport,
    Misclassifications,
    MonotoneMetric,
    Precision,
    Recall,
    SparseAccuracy,
    Specificity,
    Splits,
    WeightedAccuracy,
)
from streed.tasks.cost_tables import CostTable, TestCost
from streed.tree.evaluation import evaluate
from tests.differential.reduced import COSTS, NOTIONS, SCORES

KINDS = (
    "errors", "score front", "trade", "trade under limits", "two notions", "rates", "thresholds", "combined",
    "nodes", "costs", "classes", "crossed", "vectors",
)  # fmt: skip
SMALL = ("trade", "trade under limits", "two notions", "costs", "classes", "crossed", "vectors")
"""Where the reference's fronts are long."""


@attrs.frozen(eq=False)
class Posed:
    """A task on data, the trees that are allowed, and the driver to ask."""

    task: Task
    data: Dataset
    limits: dict[str, Any]
    search: str


def make_posed(seed: int, kind: str) -> Posed:
    """The instance that belongs to the seed."""
    draw = random.Random(f"{seed}/{kind}")
    small = kind in SMALL
    # four groups need their rows, and the tests that cost something their two columns
    least, most = (16, 22) if kind == "crossed" else (6, 14) if small else (4, 24)
    n_rows, n_columns = draw.randint(least, most), draw.randint(2 if kind == "costs" else 1, 4)
    X = [[draw.randint(0, 1) for _ in range(n_columns)] for _ in range(n_rows)]
    guide, noise = draw.randrange(n_columns), draw.choice([0.1, 0.3, 0.5])
    y = [int((row[guide] > 0) ^ (draw.random() < noise)) for row in X]
    if kind == "errors" and draw.random() < 0.5:
        y = [draw.randrange(4) for _ in X]
    if kind in ("classes", "vectors"):
        y = [k + (k == 1 and draw.random() < 0.4) for k in y]
    y[0] = 1 if y[1] == 0 else 0
    extras: dict[str, Any] = {"sensitive_features": [draw.choice("ab" if draw.random() < 0.9 else "abc") for _ in X]}
    if kind == "crossed":
        extras["sensitive_features"] = {"sex": [draw.choice("fm") for _ in X], "old": [draw.randint(0, 1) for _ in X]}
    if kind == "costs":
        extras["costs"] = [[draw.randint(0, 9), draw.choice([0, 2, 7])] for _ in X]
    elif draw.random() < 0.25:
        extras["sample_weight"] = [draw.choice([1, 1, 2, 3]) for _ in X]
    limits = {
        "max_depth": draw.choice([0, 1, 2, 2, 2] if small else [0, 1, 2, 3, 3, 4, None]),
        "max_nodes": draw.choice([None, None, None, 1, 2, 3]),
        "min_leaf": draw.choice([1, 1, 1, 2, 3]),
    }
    task, search = _make_task(draw, kind, len(set(y)))
    return Posed(task, Dataset.make(np.array(X), y, **extras), limits, search)


def _make_task(draw: random.Random, kind: str, n_classes: int) -> tuple[Task, str]:
    score, cost, notion = draw.choice(SCORES), draw.choice(COSTS), draw.choice(NOTIONS)()
    support = [MinSupport(2)] if draw.random() < 0.2 else []
    rate: Any = draw.choice([Recall(), Precision(), Specificity()])
    rates = [rate >= draw.choice([0, 0.3, 0.5, 0.7, 0.9, 1])]
    parity = DemographicParity() <= draw.choice([0.05, 0.1, 0.3])
    if kind == "errors":
        if draw.random() < 0.3:
            return MonotoneMetric(_weighted) if n_classes > 2 else Misclassifications() & Splits(), "depth-first"
        return (ClassErrors().subject_to(*support) if support else ClassErrors()), "fronts"
    if kind == "score front":
        return score(draw), "fronts"
    if kind == "trade":
        return draw.choice([score, cost])(draw) & notion, "depth-first"
    if kind == "trade under limits":
        limit = draw.choice(NOTIONS)() <= draw.choice([0.1, 0.3, 0.5])
        return (cost(draw) & notion).subject_to(limit, *support), "depth-first"
    if kind == "two notions":
        if draw.random() < 0.5:
            return Accuracy() & DemographicParity() & EqualOpportunity(), "depth-first"
        return Accuracy().subject_to(parity, EqualOpportunity() <= draw.choice([0.05, 0.2, 0.4])), "depth-first"
    if kind == "rates":
        return draw.choice([score, cost])(draw).subject_to(*rates, *support), "depth-first"
    if kind in MORE:
        return MORE[kind](draw).subject_to(*support), "depth-first"
    if kind == "thresholds":
        chosen = draw.random()
        if chosen < 0.4:
            return Misclassifications().subject_to(at_most(Splits(), draw.randint(0, 3)), *support), "depth-first"
        if chosen < 0.7:
            return Splits().subject_to(at_most(Misclassifications(), draw.randint(0, 8))), "depth-first"
        return score(draw).subject_to(at_most(Misclassifications(), draw.randint(1, 12))), "depth-first"
    base = draw.choice([score(draw), SparseAccuracy(0.02), WeightedAccuracy({1: 3})])
    return base.subject_to(parity, *rates[: draw.randint(0, 1)], *support), "depth-first"


def _with_nodes(draw: random.Random) -> Task:
    base = draw.choice([draw.choice(SCORES), draw.choice(COSTS)])(draw)
    if draw.random() < 0.2:
        base = F1() - 0.02 * Splits()
    limit = draw.choice(
        [at_most(Splits(), draw.randint(-1, 3)), at_most(SparseAccuracy(0.05), draw.choice([0.1, 0.3, 0.4]))]
    )
    return base.subject_to(limit, *[draw.choice(NOTIONS)() <= 0.2][: draw.randint(0, 1)], Recall() >= 0.2)


def _of_costs(draw: random.Random) -> Task:
    matrix = [[0, draw.randint(1, 4)], [draw.randint(1, 9), draw.randint(0, 1)]]
    tests = CostTable.of(matrix, [TestCost("x0", 0.5), TestCost("x1", draw.choice([0, 1.5]))])
    base: Task = draw.choice([InstanceCosts(), CostSensitive(matrix), CostSensitive(tests)])
    notion = draw.choice(NOTIONS)()
    limited = base.subject_to(notion <= draw.choice([0.05, 0.2, 0.4]))
    return draw.choice([base & notion, limited, limited])


def _of_classes(draw: random.Random) -> Task:
    notion = draw.choice(NOTIONS)(positive=draw.choice([0, 1]))
    base = draw.choice([Accuracy(), WeightedAccuracy({1: 2}), BalancedAccuracy(), MonotoneMetric(_weighted)])
    return draw.choice([base & notion, base.subject_to(notion <= draw.choice([0, 0.1, 0.3]))])


def _of_crossed(draw: random.Random) -> Task:
    notions = [draw.choice(NOTIONS)(feature) for feature in (("sex", "old"), "sex", "old")]
    base: Task = draw.choice([Accuracy(), F1(), SparseAccuracy(0.02)])
    if draw.random() < 0.3:
        return base & draw.choice(notions)
    return base.subject_to(*[notion <= draw.choice([0.2, 0.5]) for notion in draw.sample(notions, draw.randint(1, 2))])


def _of_vectors(draw: random.Random) -> Task:
    width, split = draw.choice([2, 2, 3]), draw.choice([None, 0, 1])
    table = [[[draw.choice([0, 0, 1, 3]) for _ in range(3)] for _ in range(draw.choice([2, 3]))] for _ in range(width)]
    labels = min(map(len, table))
    entries = tuple(tuple(tuple(costs) for costs in component[:labels]) for component in table)
    return (Vectors if width > 2 or draw.random() < 0.7 else Skewed)(entries, split)


MORE = {
    "nodes": _with_nodes,
    "costs": _of_costs,
    "classes": _of_classes,
    "crossed": _of_crossed,
    "vectors": _of_vectors,
}
"""The tasks of the kinds that say no more than what the task is."""


@attrs.frozen
class Vectors(Task):
    """Sums over rows of any costs by class and label, several at once; no reduction knows of it."""

    order: ClassVar[str] = "componentwise"

    table: tuple[tuple[tuple[int, ...], ...], ...]
    """By component, label and class."""
    split: int | None

    def statistics(self, data: Dataset) -> dict[str, Any]:
        return {"of_class": (data.class_numbers[:, None] == np.arange(3)).astype(np.int64)}

    def labels(self, data: Dataset) -> Sequence[Any]:
        return range(len(self.table[0]))

    def leaf_cost(self, s: State, k: int) -> Any:
        return tuple(sum(cost * s.of_class[j] for j, cost in enumerate(labels[k])) for labels in self.table)

    def branching_cost(self, rows: int, path: tuple[int, ...], split: int) -> Any:
        return None if self.split is None else (self.split,) * len(self.table)


@attrs.frozen
class Skewed(Vectors):
    """The same of two components, by an order of its own: by the first one and by their sum."""

    order: ClassVar[str] = "partial"

    def dominates(self, a: Any, b: Any) -> bool:
        return bool(a != b and a[0] <= b[0] and sum(a) <= sum(b))


def _weighted(*errors_and_sizes: Any) -> Any:
    errors = errors_and_sizes[: len(errors_and_sizes) // 2]
    return -sum((k + 1) * x * x for k, x in enumerate(errors))


def judge(posed: Posed) -> tuple[str, list[str]]:
    """(what came of it, what is wrong in words) of `streed.solve`, by the reference's front."""
    task, data, limits = posed.task, posed.data, posed.limits
    try:
        result = streed.solve(task, data, search=posed.search, **limits)
    except InputError as error:
        expected = error.argument in ("sensitive_features", "y", "positive", "class_weight")
        return "refused", [] if expected else [str(error)]
    except StreedError as error:
        return "failed", [str(error)]
    bound = task.bind(data)
    values = [value for value, _ in optimal_front(task, data, **limits)]
    expected_front = sorted(_listed(bound.at_root(values[at])) for at in nondominated_at_root(bound, values))
    route = str(result.stats.get("route", "reduction"))
    if not expected_front:
        return "infeasible", [] if result.status == "infeasible" else [f"no tree is feasible, but {result!r}"]
    if result.tree is None or result.status != "optimal":
        return route, [f"status {result.status}, the front is {expected_front}"]
    found = [evaluate(tree, task, data) for _, tree in result.front]
    wrong = [f"a tree breaks a limit: {value}" for value in found if not bound.feasible(value)]
    front = sorted(_listed(bound.at_root(value)) for value in found)
    single = len(result.front) == 1 and "reduction" in result.stats and route != "trade-off"
    if single:
        scores = [task.score(value, _totals(task, data)) for value in values]
        best = (max if task.larger_is_better else min)(scores)
        if abs(float(result.value) - float(best)) > 1e-12:
            wrong.append(f"value {result.value!r}, the optimum is {best!r}")
    elif front != expected_front:
        wrong.append(f"the front is {front}, not {expected_front}")
    return route, wrong


def _listed(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def _totals(task: Task, data: Dataset) -> Any:
    from streed.task import Totals

    return Totals(task, data)


def main() -> int:
    """1 if an instance is answered wrongly, else 0; prints how many there were of each kind."""
    parser = argparse.ArgumentParser(prog="python -m tests.differential.fuzz_fronts", description=__doc__)
    parser.add_argument("first", type=int)
    parser.add_argument("last", type=int)
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    options = parser.parse_args()
    seen: collections.Counter[tuple[str, str]] = collections.Counter()
    failed, began = 0, time.perf_counter()
    for seed in range(options.first, options.last):
        for kind in options.kinds:
            outcome, wrong = judge(make_posed(seed, kind))
            seen[kind, outcome] += 1
            if wrong:
                failed += 1
                print(f"make_posed({seed}, {kind!r}): {'; '.join(wrong)}", flush=True)
    for (kind, outcome), count in sorted(seen.items()):
        print(f"{kind:20} {outcome:12} {count}")
    print(f"{seen.total()} instances in {time.perf_counter() - began:.0f} s: {failed} wrong")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
