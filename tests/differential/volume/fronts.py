"""Fronts, trade-offs, limits together, and tasks that only the general route takes, judged by the reference."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np

import streed
from streed.data import Dataset
from streed.errors import InputError
from streed.reference import best_trees
from streed.task import Task
from streed.task.algebra import at_most
from streed.tasks import (
    F1,
    AbsoluteError,
    Accuracy,
    BalancedAccuracy,
    ClassErrors,
    CohenKappa,
    CostSensitive,
    DemographicParity,
    EqualizedOdds,
    EqualOpportunity,
    FBeta,
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
from tests import unusual_tasks as unusual
from tests.differential.volume.judge import judge

Draw = random.Random

NOTIONS: tuple[Callable[..., Any], ...] = (DemographicParity, EqualOpportunity, EqualizedOdds)


def _score(draw: Draw) -> Task:
    made: list[Task] = [F1(), FBeta(2), CohenKappa(), BalancedAccuracy(), F1(positive=0)]
    return draw.choice(made)


def _cost(draw: Draw) -> Task:
    made: list[Task] = [Accuracy(), Misclassifications(), SparseAccuracy(0.02), WeightedAccuracy({1: 3})]
    return draw.choice(made)


def _parity(draw: Draw) -> Any:
    return draw.choice(NOTIONS)() <= draw.choice([0.05, 0.1, 0.3])


def _rate(draw: Draw) -> Any:
    made: list[Any] = [Recall(), Precision(), Specificity()]
    return draw.choice(made) >= draw.choice([0, 0.3, 0.5, 0.7, 0.9, 1])


def _tests(draw: Draw) -> Task:
    matrix = [[0, draw.randint(1, 4)], [draw.randint(1, 9), draw.randint(0, 1)]]
    return CostSensitive(CostTable.of(matrix, [TestCost("x0", 0.5), TestCost("x1", draw.choice([0, 1.5]))]))


def _squares(*errors_and_sizes: Any) -> Any:
    errors = errors_and_sizes[: len(errors_and_sizes) // 2]
    return -sum((k + 1) * x * x for k, x in enumerate(errors))


KINDS: dict[str, Callable[[Draw], Task]] = {
    "errors by class": lambda draw: ClassErrors(),
    "errors and splits": lambda draw: Misclassifications() & Splits(),
    "errors, support": lambda draw: ClassErrors().subject_to(MinSupport(2)),
    "trade": lambda draw: draw.choice((F1(), CohenKappa(), _cost(draw))) & draw.choice(NOTIONS)(),
    "trade under a limit": lambda draw: (_cost(draw) & draw.choice(NOTIONS)()).subject_to(_parity(draw)),
    "two notions": lambda draw: Accuracy().subject_to(_parity(draw), EqualOpportunity() <= 0.2),
    "rates": lambda draw: draw.choice((_score, _cost))(draw).subject_to(_rate(draw), _parity(draw)),
    "few splits": lambda draw: _score(draw).subject_to(at_most(Splits(), draw.randint(0, 3))),
    "few errors": lambda draw: Splits().subject_to(at_most(Misclassifications(), draw.randint(0, 8))),
    "splits, a rate, a gap": lambda draw: (F1() - 0.02 * Splits()).subject_to(_rate(draw), _parity(draw)),
    "tests and a gap": lambda draw: _tests(draw).subject_to(_parity(draw)),
    "tests and a trade": lambda draw: _tests(draw) & EqualOpportunity(),
    "costs and a gap": lambda draw: InstanceCosts() & DemographicParity(),
    "a score of one's own": lambda draw: MonotoneMetric(_squares).subject_to(_parity(draw)),
    "groups crossed": lambda draw: Accuracy().subject_to(DemographicParity(("sex", "old")) <= 0.3),
    "absolute error": lambda draw: AbsoluteError(),
    "tuples of three": lambda draw: unusual.ErrorsByClass(),
    "limit on a component": lambda draw: unusual.FewOfEach(draw.randint(0, 4)),
    "two operators": lambda draw: unusual.WorstOfEach(),
    "own dominance": lambda draw: unusual.ByOwnDominance(),
    "maximum": lambda draw: unusual.WorstLeaf(bounded=draw.random() < 0.5),
    "path": lambda draw: unusual.Discounted(),
    "path, a front": lambda draw: unusual.DiscountedFront(),
    "children in order": lambda draw: unusual.LeftCountsMore(),
    "column": lambda draw: unusual.Priced(draw.choice((1000, 9, 4))),
    "lexicographic": lambda draw: unusual.Lexicographic(),
    "fractions": lambda draw: unusual.Gini(),
    "rows, a front": lambda draw: unusual.Spread(),
    "limit on states": lambda draw: unusual.ErrorsByClass().subject_to(unusual.Mixed(), MinSupport(2)),
}
UNUSUAL = list(KINDS)[list(KINDS).index("absolute error") :]


def wrong(seed: int, number: int) -> list[str]:
    """What `streed.solve` answers wrongly, in words."""
    draw = random.Random(f"{seed}/{number}")
    kind = list(KINDS)[number % len(KINDS)]
    task = KINDS[kind](draw)
    data = _data(draw, kind)
    limits: dict[str, Any] = {
        "max_depth": draw.choice((0, 1, 2, 2, 3) if kind in UNUSUAL else (0, 1, 2, 2)),
        "max_nodes": draw.choice((None, None, None, 1, 2, 3)),
        "min_leaf": min(data.n_rows, draw.choice((1, 1, 1, 2, 3))),
    }
    every = kind in UNUSUAL and draw.random() < 0.4
    if every:
        limits["max_nodes"] = draw.choice((1, 2))
    try:
        result = streed.solve(task, data, search="general" if kind in UNUSUAL else "depth-first", **limits)
    except InputError as error:
        return [] if error.argument in ("sensitive_features", "y", "positive") else [f"{kind}: {error}"]
    values = [value for value, _ in best_trees(task, data, **limits)] if every and data.n_rows < 9 else None
    verdict = judge(result, task, data, limits, values=values)
    return [f"{kind}: {each}" for each in verdict.wrong]


def _data(draw: Draw, kind: str) -> Dataset:
    """A small data set; equal and contradictory rows are common among so few different ones."""
    n, p = draw.randint(6, 12), draw.randint(2, 4)
    if kind == "groups crossed":
        n = draw.randint(16, 20)
    widths = [draw.choice((2, 2, 3)) if kind in UNUSUAL else 2 for _ in range(p)]
    X = [[draw.randrange(width) for width in widths] for _ in range(n)]
    y = [draw.randrange(2) if draw.random() < 0.3 else sum(row) % 2 for row in X]
    if kind in UNUSUAL:
        y = [draw.randrange(3) if draw.random() < 0.3 else label for label in y]
    y[:2] = 0, 1
    more: dict[str, Any] = {"categorical": [column for column, width in enumerate(widths) if width > 2]}
    sex = [draw.choice("fm") for _ in X]
    more["sensitive_features"] = sex
    if kind == "groups crossed":
        more["sensitive_features"] = {"sex": sex, "old": [draw.randint(0, 1) for _ in X]}
    if kind == "costs and a gap":
        more["costs"] = [[draw.randint(0, 9), draw.choice([0, 2, 7])] for _ in X]
    elif draw.random() < 0.25 and "test" not in kind and "columns" not in kind:
        more["sample_weight"] = [draw.choice([1, 1, 2, 3]) for _ in X]
    return Dataset.make(np.array(X, np.uint8), y, **more)
