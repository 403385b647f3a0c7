"""Small random instances of tasks of several sums: scores of errors, fairness limits, both together, prices of splits.

As a program, it judges as many as one likes against the reference, by any driver:

    python -m tests.differential.reduced --first 0 --count 5000 --search branches --kinds penalized

With `--entries 24` no more entries may be kept at once than that, so that most come in pieces. With `--weights` other
than "drawn" rows are many, and of so many weights that a solve for each cost is prepared anew.
"""

from __future__ import annotations

import argparse
import itertools
import random
import sys
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import attrs
import numpy as np

import streed
from streed.data import Dataset
from streed.enumerate import near_optimal
from streed.errors import InputError
from streed.reference import optimal_front
from streed.task import Task, Totals
from streed.tasks import (
    F1,
    Accuracy,
    BalancedAccuracy,
    CohenKappa,
    DemographicParity,
    EqualizedOdds,
    EqualOpportunity,
    FBeta,
    GMean,
    Jaccard,
    MatthewsCorrelation,
    MinSupport,
    MonotoneMetric,
    PredictiveEquality,
    SparseAccuracy,
    Splits,
    WeightedAccuracy,
)
from streed.tree.evaluation import inspect
from tests.searches import NATIVE

KINDS = ("score", "limit", "both", "penalized")
WEIGHTS: dict[str, Callable[[random.Random], Any]] = {
    "many": lambda draw: draw.randint(1, 199),
    "zeros": lambda draw: draw.choice([0, 0, 1, 2]),
    "decimals": lambda draw: round(draw.random() + 0.001, 3),
    "tiny": lambda draw: draw.choice([1e-9, 3e-9, 5e-9]),
    "huge": lambda draw: draw.choice([2**40, 3 * 2**40]),
    "apart": lambda draw: draw.choice([1, 2**40]),
    "beyond": lambda draw: draw.choice([1e-9, 1e9]),
}
"""Row weights, by name."""

REFUSED = ("apart", "beyond")
"""Weights whose exact sums may not fit."""


def _worse_rate(fn: Any, fp: Any, positives: Any, negatives: Any) -> Fraction:
    return -Fraction(max(Fraction(fn) / positives, Fraction(fp) / negatives))


def _squares(fn: Any, fp: Any, positives: Any, negatives: Any) -> Any:
    return -(3 * fn * fn + fp * fp)


SCORES: tuple[Callable[[random.Random], Task], ...] = (
    lambda _: F1(),
    lambda _: F1(positive=0),
    lambda draw: FBeta(draw.choice([0.5, 1.5, 2])),
    lambda _: Jaccard(),
    lambda _: CohenKappa(),
    lambda _: MatthewsCorrelation(),
    lambda _: GMean(),
    lambda _: MonotoneMetric(_worse_rate),
    lambda _: MonotoneMetric(_squares, positive=0),
)
COSTS: tuple[Callable[[random.Random], Task], ...] = (
    lambda _: Accuracy(),
    lambda _: Accuracy(),
    lambda draw: SparseAccuracy(draw.choice([0.01, 0.05, 0.1])),
    lambda _: WeightedAccuracy({1: 2}),
    lambda _: BalancedAccuracy(),
)
PRICED = tuple(score for score in SCORES if type(score(random.Random(0))) not in (MatthewsCorrelation, GMean))
"""Those whose trees are compared by the score itself."""
PRICES = (0, 0.005, 0.01, 0.02, 0.05, 0.1, 0.3)
NOTIONS = (DemographicParity, EqualOpportunity, PredictiveEquality, EqualizedOdds)


@attrs.frozen(eq=False)
class Reduced:
    """A task on data, and the trees that are allowed."""

    task: Task
    data: Dataset
    limits: dict[str, Any]


def make_weighted(seed: int, kind: str, weights: str) -> Reduced:
    """The instance that belongs to the seed, its rows drawn again to 60 of them with weights of a kind."""
    instance = make_reduced(seed, kind)
    draw = random.Random(f"{seed} {weights}")
    data = instance.data
    chosen = [0, 1, *(draw.randrange(data.n_rows) for _ in range(58))]
    # some labels change, so that equal rows have different ones
    y = [int(data.class_numbers[i]) ^ (at > 1 and draw.random() < 0.1) for at, i in enumerate(chosen)]
    again = Dataset.make(
        data.X[chosen],
        y,
        categorical=data.categorical or None,
        sample_weight=[WEIGHTS[weights](draw) for _ in chosen],
        sensitive_features=data.row_data["sensitive_features"][chosen],
    )
    depth = instance.limits["max_depth"]
    return Reduced(instance.task, again, {**instance.limits, "max_depth": 2 if depth is None else min(depth, 2)})


def make_reduced(seed: int, kind: str) -> Reduced:
    """The instance that belongs to the seed."""
    draw = random.Random(seed)
    n_rows, n_columns = draw.randint(4, 24), draw.randint(1, 5)
    X = [[draw.randint(0, 1) for _ in range(n_columns)] for _ in range(n_rows)]
    extras: dict[str, Any] = {}
    if draw.random() < 0.15:
        column = draw.randrange(n_columns)
        for i, row in enumerate(X):
            row[column] = i if i < 3 else draw.randint(0, 2)
        extras["categorical"] = [column]
    guide, noise = draw.randrange(n_columns), draw.choice([0.1, 0.3, 0.5])
    y = [int((row[guide] > 0) ^ (draw.random() < noise)) for row in X]
    y[0] = 1 - y[1]
    groups = [draw.choice("ab") if draw.random() < 0.8 else "ab"[row[0] > 0] for row in X]
    if draw.random() < 0.15:
        groups = [draw.choice("abc") for _ in X]
    extras["sensitive_features"] = groups
    if draw.random() < 0.25:
        extras["sample_weight"] = [draw.choice([1, 1, 2, 3]) for _ in X]
    elif draw.random() < 0.1:
        extras["sample_weight"] = [draw.choice([0.5, 1.25, 2.0]) for _ in X]
    limits = {
        "max_depth": draw.choice([0, 1, 2, 2, 3, 3, 4, None]),
        "max_nodes": draw.choice([None, None, None, 1, 2, 3]),
        "min_leaf": draw.choice([1, 1, 1, 2, 3]),
    }
    if limits["max_depth"] is None and limits["max_nodes"] is None:
        limits["max_depth"] = 3
    return Reduced(_make_task(draw, kind), Dataset.make(np.array(X), y, **extras), limits)


def _make_task(draw: random.Random, kind: str) -> Task:
    task = draw.choice(COSTS if kind == "limit" else PRICED if kind == "penalized" else SCORES)(draw)
    if kind == "penalized":
        task = task - draw.choice(PRICES) * Splits()
    if kind == "score" or (kind == "penalized" and draw.random() < 0.6):
        return task.subject_to(MinSupport(2)) if draw.random() < 0.1 else task
    chosen = [draw.choice(NOTIONS)() <= draw.choice([0, 0.01, 0.05, 0.1, 0.2, 0.3, 0.5])]
    if draw.random() < 0.15:
        chosen.append(draw.choice(NOTIONS)() <= draw.choice([0.1, 0.3]))
    return task.subject_to(*chosen, *([MinSupport(2)] if draw.random() < 0.1 else []))


def judge(instance: Reduced, search: str = "depth-first", threads: int = 1) -> tuple[str, list[str]]:
    """(what came of it, what is wrong with it in words) of `streed.solve`, by the reference's front."""
    task, data, limits = instance.task, instance.data, instance.limits
    try:
        result = streed.solve(task, data, search=search, threads=threads, **limits)
    except InputError as error:
        return f"refused: {error.argument}", [] if error.argument in ("sensitive_features", "sample_weight") else [
            str(error)
        ]
    totals = Totals(task, data)
    scores = [task.score(value, totals) for value, _ in optimal_front(task, data, **limits)]
    if not scores:
        return "infeasible", [] if result.status == "infeasible" else [f"no tree is feasible, but {result!r}"]
    best = (max if task.larger_is_better else min)(scores)
    if result.tree is None or result.status != "optimal":
        return "unsolved", [f"status {result.status}, the optimum is {best}"]
    wrong = []
    for name, value in (("value", result.value), ("lower", result.lower_bound), ("upper", result.upper_bound)):
        if abs(float(value) - float(best)) > 1e-12:
            wrong.append(f"{name} {value!r}, the optimum is {best!r}")
    found = inspect(result.tree, task, data)
    if abs(float(task.score(found.value, totals)) - float(best)) > 1e-12:
        wrong.append(f"the tree's score is {task.score(found.value, totals)!r}, the optimum is {best!r}")
    if not task.bind(data).feasible(found.value) or found.broken:
        wrong.append("the tree breaks a limit")
    if max(limits["min_leaf"], 1) > min(rows for rows in found.leaf_rows if rows):
        wrong.append("a leaf is too small")
    for leaf, rows, cost in zip(result.tree.leaves(), found.leaf_rows, found.leaf_costs, strict=True):
        if rows and (leaf.rows, leaf.cost) != (rows, cost):
            wrong.append(f"a leaf claims {leaf.rows} rows of cost {leaf.cost}, and has {rows} of {cost}")
    return "enumerated" if result.stats["enumerations"] else "bounded", wrong


def main(arguments: list[str] | None = None) -> int:
    """1 if an instance of the range is answered wrongly, else 0; prints how many there were of each kind."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.differential.reduced",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--first", type=int, default=0, metavar="N", help="the first seed (default: 0)")
    parser.add_argument("--count", type=int, default=1000, metavar="N", help="how many seeds (default: 1000)")
    parser.add_argument("--search", nargs="+", default=list(NATIVE), help="drivers (default: all native ones)")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS), help="(default: all)")
    parser.add_argument(
        "--entries", type=int, metavar="N", help="how many may be kept at once (default: what memory allows)"
    )
    parser.add_argument("--weights", nargs="+", choices=["drawn", *WEIGHTS], default=["drawn"], help="(default: drawn)")
    parser.add_argument("--threads", nargs="+", type=int, default=[1], metavar="N", help="(default: 1)")
    options = parser.parse_args(arguments)
    if options.entries is not None:
        near_optimal._space = lambda search_limits, width: options.entries
    seen: Counter[tuple[str, str, str, str]] = Counter()
    failed = 0
    for seed in range(options.first, options.first + options.count):
        for kind, weights in itertools.product(options.kinds, options.weights):
            for search, threads in itertools.product(options.search, options.threads):
                drawn = weights == "drawn"
                instance = make_reduced(seed, kind) if drawn else make_weighted(seed, kind, weights)
                outcome, wrong = judge(instance, search, threads)
                # weights may be too large for exact sums only where they are drawn to be
                if outcome == "refused: sample_weight" and weights not in REFUSED:
                    wrong = [outcome]
                seen[kind, weights, f"{search} {threads}", outcome] += 1
                if wrong:
                    failed += 1
                    print(f"{seed}, {kind!r}, {weights!r}, {search!r}, {threads}: {'; '.join(wrong)}", flush=True)
    for (kind, weights, search, outcome), count in sorted(seen.items()):
        print(f"{kind:10} {weights:10} {search:14} {outcome:10} {count}")
    print(f"{failed} wrong")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
