"""Near-optimal trees against all trees, one by one: random problems over every task and option that is counted.

Compared are the optimum, the histogram, the set of trees and their order.
"""

from __future__ import annotations

import collections
import random
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import attrs
import numpy as np

import streed
from streed import tasks
from streed.data import Dataset
from streed.exact import exact_number, readable
from streed.reference import Evaluation, Split, Visit, children, every_split, every_tree
from streed.task import Task, Totals
from streed.task.algebra import at_most
from streed.tree import Branch, Leaf, Node

MOST_TREES = 5_000
"""Of a problem, in all: the shape of larger ones is made smaller."""


@attrs.frozen(eq=False)
class Posed:
    """One call of `streed.rashomon`."""

    kind: str
    task: Task
    X: np.ndarray[Any, Any]
    y: list[Any] | None
    shape: dict[str, Any]
    """max_depth and min_leaf."""
    options: dict[str, Any]
    nearness: dict[str, Any]
    max_nodes: int | None
    extras: dict[str, Any]
    """Weights, frequencies, kinds of columns, row data."""

    def data(self) -> Dataset:
        """The data set that the reference judges by."""
        return Dataset.make(self.X, self.y, **self.extras)

    def asked(self, **more: Any) -> streed.RashomonSet:
        """The set."""
        extras, options = {**self.extras}, {**self.options, **self.nearness, **self.shape, **more}
        options["max_nodes"] = self.max_nodes
        options["threads"] = 1 + len(self.X) % 2
        return streed.rashomon(self.task, self.X, self.y, **extras, **options)


def _priced(price: Fraction) -> Task:
    return tasks.Misclassifications() + price * tasks.Splits()


def _sparse(draw: random.Random, n: int) -> tuple[Task, dict[str, Any], int]:
    return tasks.SparseAccuracy(draw.choice((0, 0.01, 0.05, 0.1, 0.125))), {}, draw.choice((2, 2, 3))


def _weighted(draw: random.Random, n: int) -> tuple[Task, dict[str, Any], int]:
    kind = draw.choice(("whole", "decimal", "frequency", "both"))
    extras: dict[str, Any] = {}
    if kind in ("whole", "both"):
        extras["sample_weight"] = [draw.randint(1, 4) for _ in range(n)]
    if kind == "decimal":
        extras["sample_weight"] = [draw.randint(1, 21) / 10 for _ in range(n)]
    if kind in ("frequency", "both"):
        extras["frequency"] = [draw.randint(1, 3) for _ in range(n)]
    return _priced(Fraction(draw.choice(("0", "1", "2.5")))), extras, 2


def _matrix(draw: random.Random, n: int) -> tuple[Task, dict[str, Any], int]:
    k = draw.choice((2, 3))
    costs = [[0 if i == j else draw.choice((1, 2, 3, 0.5)) for j in range(k)] for i in range(k)]
    return tasks.CostSensitive(costs), {}, -k


def _instance(draw: random.Random, n: int) -> tuple[Task, dict[str, Any], int]:
    costs = [[draw.choice((-1, 0, 1, 2, 0.5)) for _ in range(2)] for _ in range(n)]
    return tasks.InstanceCosts(), {"costs": costs}, 0


def _policy(draw: random.Random, n: int) -> tuple[Task, dict[str, Any], int]:
    rows = {
        "treatment": [row % 2 for row in range(n)],
        "outcome": [draw.randint(0, 4) for _ in range(n)],
        "propensity": [draw.choice((0.25, 0.5, 1)) for _ in range(n)],
        "predicted": [[draw.randint(-2, 4), draw.randint(-2, 4)] for _ in range(n)],
    }
    return tasks.PolicyValue(draw.choice(("dm", "ipw", "dr"))), rows, 0


def _score(draw: random.Random, n: int) -> tuple[Task, dict[str, Any], int]:
    made: list[Task] = [tasks.F1(), tasks.FBeta(2), tasks.Jaccard(), tasks.CohenKappa()]
    return draw.choice(made), {}, -2


def _limited(draw: random.Random, n: int) -> tuple[Task, dict[str, Any], int]:
    kind = draw.choice(("parity", "parity", "errors", "splits", "support", "score"))
    groups = [row % 2 for row in range(n)]
    draw.shuffle(groups)
    base: Task = _priced(Fraction(draw.choice(("0", "1"))))
    if kind == "parity":
        base = base.subject_to(tasks.DemographicParity() <= draw.choice((0.1, 0.3, 0.5)))
    elif kind == "errors":
        base = base.subject_to(tasks.ErrorRateParity() <= draw.choice((0.1, 0.3)))
    elif kind == "splits":
        return base.subject_to(at_most(tasks.Splits(), draw.choice((1, 2)))), {}, -2
    elif kind == "support":
        return base.subject_to(tasks.MinSupport(2)), {}, 2
    else:
        base = tasks.F1().subject_to(tasks.DemographicParity() <= 0.4)
    return base, {"sensitive_features": groups}, -2


def _regression(draw: random.Random, n: int) -> tuple[Task, dict[str, Any], int]:
    return draw.choice((tasks.AbsoluteError(), tasks.AbsoluteError() + tasks.Splits())), {}, 4


def _real(draw: random.Random, n: int) -> tuple[Task, dict[str, Any], int]:
    kind = draw.choice(("entropy", "priced entropy", "squared", "priced squares", "absolute", "costs", "weights"))
    if kind == "costs":
        return tasks.InstanceCosts(), {"costs": [[draw.random() for _ in range(2)] for _ in range(n)]}, 0
    if kind == "weights":
        return tasks.SparseAccuracy(0.05), {"sample_weight": [draw.random() for _ in range(n)]}, 2
    if "entropy" in kind:
        return tasks.Entropy() if kind == "entropy" else tasks.Entropy() + Fraction("0.3") * tasks.Splits(), {}, 2
    made: dict[str, Task] = {"squared": tasks.SquaredError(), "priced squares": tasks.SquaredError(0.05)}
    return made.get(kind, tasks.AbsoluteError()), {}, REAL


KINDS: dict[str, Callable[[random.Random, int], tuple[Task, dict[str, Any], int]]] = {
    "errors and splits": lambda draw, n: (_priced(Fraction(draw.choice(("0", "0.5", "1", "1.5", "2")))), {}, 2),
    "sparse accuracy": _sparse,
    "weights": _weighted,
    "cost matrix": _matrix,
    "instance costs": _instance,
    "policy": _policy,
    "balanced": lambda draw, n: (tasks.BalancedAccuracy(), {}, -2),
    "scores": _score,
    "limits": _limited,
    "regression": _regression,
    "real": _real,
}
"""By name: a task, what it needs beside, and how many classes y has (0: there is no y; below 0: all of them occur)."""

REAL = 1000
"""Instead of a number of classes: y are real numbers."""

SEVERAL = ("scores", "limits")
"""Kinds for which labels="best" has no meaning."""

COUNTING_NODES = ("errors and splits", "sparse accuracy", "weights", "cost matrix", "balanced", "scores")
"""Kinds of which some problems limit the number of nodes."""


def make_posed(kind: str, seed: int | str) -> Posed:
    """The problem of a kind and a seed."""
    draw = random.Random(f"{kind}/{seed}")
    depth = draw.choice((1, 2, 2, 3))
    n = draw.randint(4, 9)
    task, extras, classes = KINDS[kind](draw, n)
    labels = {0: 2, REAL: n}.get(classes, abs(classes))  # leaves show any of the real numbers
    p = draw.randint(1, 4)
    while p > 1 and _trees(p, depth, labels) > MOST_TREES:
        p -= 1
    while _trees(p, depth, labels) > MOST_TREES:
        depth -= 1
    columns = [[int(draw.random() < draw.choice((0.3, 0.5, 0.7))) for _ in range(n)] for _ in range(p)]
    if p > 1 and draw.random() < 0.4:
        source = draw.choice(columns[:-1])
        columns[-1] = draw.choice(([1 - x for x in source], list(source)))
    shape = draw.random()
    if shape < 0.15:
        columns[0] = [draw.randrange(3) for _ in range(n)]
        extras["categorical"] = [0]
    elif shape < 0.3 and p > 1:
        columns[0] = [draw.randrange(3) for _ in range(n)]
    y: list[Any] | None = None
    if classes:
        y = [draw.randrange(labels) if classes != REAL else draw.random() for _ in range(n)]
        if classes < 0:
            y[:labels] = range(labels)
    limits: dict[str, Any] = {"max_depth": depth}
    if draw.random() < 0.3:
        limits["min_leaf"] = draw.randint(1, 2)
    options = {
        "columns": draw.choice(("distinct", "all")),
        "labels": "all" if kind in SEVERAL else draw.choice(("all", "all", "best")),
        "trivial": draw.choice((True, False)) or classes == REAL or task.overrides("leaf_label"),
    }
    nearness = draw.choice(({"epsilon": 0.1}, {"epsilon": 0.5}, {"epsilon": 0}, {"slack": 1}, {"slack": 0.25}, {}))
    if draw.random() < 0.15:
        nearness = {"n_best": draw.choice((1, 5, 40))}
    max_nodes = draw.choice((None, None, 0, 1, 2, 3)) if kind in COUNTING_NODES else None
    return Posed(kind, task, np.array(columns).T, y, limits, options, nearness, max_nodes, extras)


def _trees(p: int, depth: int, labels: int) -> int:
    """About how many trees there are."""
    return labels if depth == 0 or p == 0 else labels + p * _trees(p - 1, depth - 1, labels) ** 2


def counted_trees(task: Task, posed: Posed, data: Dataset) -> Iterator[tuple[Any, Node]]:
    """(score, tree) of every feasible tree that the options count, in no order."""
    evaluation, totals, options = Evaluation(task, data), Totals(task, data), posed.options
    seen: dict[frozenset[frozenset[int]], Split] = {}
    for split in every_split(data):  # of those that part the rows alike, the first
        child_of = children(data, split)
        sides = ({row for row, at in enumerate(child_of) if at == child} for child in set(child_of))
        seen.setdefault(frozenset(map(frozenset, sides)), split)
    first = set(seen.values())

    def counts(visit: Visit) -> bool:
        if isinstance(visit.node, Branch):
            nodes = [each.node for each in evaluation.visits(visit.node, visit.rows, visit.path) if each.rows]
            shown = {node.label if isinstance(node, Leaf) else None for node in nodes[1:]}
            counted = options["columns"] == "all" or Split(visit.node.column, visit.node.cut) in first
            return counted and (options["trivial"] or None in shown or len(shown) > 1)
        if options["labels"] != "best" or not visit.rows:
            return True
        costs = [evaluation.task.leaf_cost(evaluation.state(visit.rows), k) for k in range(len(evaluation.labels))]
        return visit.node.label == costs.index(min(costs))

    for tree in every_tree(task, data, max_depth=posed.shape["max_depth"]):
        if not all(map(counts, evaluation.visits(tree))):
            continue
        if not evaluation.broken_limits(tree, min_leaf=posed.shape.get("min_leaf", 1)):
            yield task.score(evaluation.cost(tree), totals), tree


def differences(posed: Posed) -> list[str]:
    """What is wrong with the set of a problem."""
    found = posed.asked()
    task, data = posed.task, posed.data()
    trees = [
        (exact_number(score) if isinstance(score, (int, Fraction)) else score, _written(root))
        for score, root in counted_trees(task, posed, data)
        if posed.max_nodes is None or _nodes(root) <= posed.max_nodes
    ]
    expected = sorted(trees, key=lambda each: each[0], reverse=task.larger_is_better)
    if not expected:
        return [] if found.count == 0 and found.optimum is None else [f"{found} where there are no trees"]
    best = expected[0][0]
    ((name, size),) = posed.nearness.items() if posed.nearness else (("epsilon", 0.05),)
    if name == "n_best":
        name, size = "slack", abs(Fraction(expected[min(int(size), len(expected)) - 1][0]) - Fraction(best))
    beyond = Fraction(exact_number(size)) * (abs(Fraction(best)) if name == "epsilon" else 1)
    # a score that is shown as a float is that of a fraction: no two of so few rows are so close
    close = Fraction(1, 10**9) if isinstance(best, float) else Fraction(0)
    if task.larger_is_better:
        kept = [each for each in expected if Fraction(each[0]) >= Fraction(best) - beyond - close]
    else:
        kept = [each for each in expected if Fraction(each[0]) <= Fraction(best) + beyond + close]
    wrong = []
    # floats of the reference are added in another order; values of real costs that are different are further apart
    is_real = posed.kind == "real"
    histogram = collections.Counter(_shown(score, is_real) for score, _ in kept)
    given: collections.Counter[Any] = collections.Counter()
    for value, count in found.histogram.items():
        given[_shown(value, is_real)] += count
    if histogram != given or found.count != len(kept):
        wrong.append(f"histogram {found.histogram}, not {dict(histogram)}")
        return wrong
    if list(found.histogram) != sorted(found.histogram, reverse=task.larger_is_better):
        wrong.append("the histogram is out of order")
    if _shown(found.optimum, is_real) != _shown(best, is_real):
        wrong.append(f"optimum {found.optimum}, not {best}")
    listed = list(found)
    if sorted(map(repr, (_written(tree.root) for tree in listed))) != sorted(repr(each) for _, each in kept):
        wrong.append("other trees")
    values = [_shown(tree.claims.value, is_real) for tree in listed if tree.claims is not None]
    if values != [_shown(score, is_real) for score, _ in kept]:
        wrong.append("trees out of order of value")
    apart = [number for number in (0, len(kept) // 2, -1) if found[number] != listed[number]]
    return [*wrong, *(f"tree {number} is another one when asked for alone" for number in apart)]


def _shown(value: Any, is_real: bool) -> Any:
    return round(float(value), 7) if is_real else readable(value)


def _nodes(node: Node) -> int:
    return 1 + sum(map(_nodes, node.children)) if isinstance(node, Branch) else 0


def _written(node: Node) -> Any:
    """The tree as tuples; a leaf without rows is nothing."""
    if isinstance(node, Leaf):
        return node.label if node.rows else None
    assert isinstance(node, Branch)
    cut = None if node.cut is None else (node.cut.threshold, node.cut.gaps)
    return (node.column, cut, tuple(map(_written, node.children)))


def wrong(seed: int, number: int) -> list[str]:
    """What is wrong with the set of the problem of these numbers."""
    kinds = list(KINDS)
    return differences(make_posed(kinds[number % len(kinds)], f"{seed}/{number}"))
