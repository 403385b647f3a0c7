"""How problems of each kind are drawn: a task as source, columns, what stands beside them, limits, and a search."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

import streed.tasks
from streed.tasks.cost_tables import CostTable, TestCost
from tests.differential.volume.draws import (
    MODERATE,
    WEIGHTS,
    Draw,
    Size,
    draw_columns,
    draw_frequency,
    draw_labels,
    draw_limits,
    draw_number,
    draw_options,
    draw_size,
    draw_weights,
)
from tests.differential.volume.problem import Problem
from tests.differential.volume.user_tasks import draw_user_task, task_class


def worse_rate(fn: Any, fp: Any, positives: Any, negatives: Any) -> Fraction:
    """A monotone score of a user's own."""
    worse: Fraction = max(Fraction(fn) / positives, Fraction(fp) / negatives)
    return -worse


def squares(fn: Any, fp: Any, positives: Any, negatives: Any) -> Any:
    """Another one."""
    return -(3 * fn * fn + fp * fp)


NAMES = {
    **vars(streed.tasks),
    **{each.__name__: each for each in (CostTable, TestCost, Fraction, worse_rate, squares, task_class)},
}
"""In which the sources of tasks are read."""

PRICES = ("0", "0.005", "0.01", "0.25", "0.5", "1", "1.5")

SCORES = ("F1()", "F1(positive=0)", "FBeta(0.5)", "FBeta(1.5)", "FBeta(2)", "Jaccard()", "CohenKappa()",
          "BalancedAccuracy()", "MonotoneMetric(worse_rate)", "MonotoneMetric(squares, positive=0)",
          "MatthewsCorrelation()", "GMean()")  # fmt: skip

ROOTS = ("MatthewsCorrelation()", "GMean()")
"""Those of which the square is ranked, so that no price can be taken from them."""


def _problem(
    draw: Draw, rng: np.random.Generator, size: Size, columns: Any, source: str, y: Any, weights: Any, **row_data: Any
) -> Problem:
    """The problem with limits, a search, and at times a minimum support, copies of rows, and weights of these kinds."""
    if draw.random() < 0.1:
        source = f"({source}).subject_to(MinSupport({draw.randint(1, 4)}))"
    return Problem(
        task=source,
        X=columns[0],
        y=y,
        sample_weight=draw_weights(draw, rng, size, weights) if weights else None,
        frequency=draw_frequency(draw, rng, size),
        categorical=columns[1],
        row_data=row_data,
        limits=draw_limits(draw, size),
        options=draw_options(draw),
    )


COSTS = ("Accuracy", "Misclassifications", "SparseAccuracy", "WeightedAccuracy", "BalancedAccuracy", "InstanceCosts",
         "MisclassificationCosts")  # fmt: skip


def draw_costs(draw: Draw, rng: np.random.Generator, size: Size | None = None) -> Problem:
    """Errors, weighted errors, cost matrices, costs of rows; nodes may cost something too."""
    size = size or draw_size(draw)
    columns = draw_columns(draw, rng, size)
    y = draw_labels(draw, rng, columns[0], draw.choice((2,) * 12 + (3, 3, 4, 5, draw.randint(6, 30))))
    classes, kind, row_data = sorted(set(y)), draw.choice(COSTS), dict[str, Any]()
    source = f"{kind}()"
    if kind == "Misclassifications":
        source = f"Misclassifications() + {draw.choice(PRICES)} * Splits()"
    elif kind == "SparseAccuracy":
        source = f"SparseAccuracy({draw.choice(PRICES[:3])})"
    elif kind == "WeightedAccuracy":
        source = f"WeightedAccuracy({ {k: draw.choice((0, 1, 2, 5, 0.5, 0.25, 1.2)) for k in classes[:3]}!r})"
    elif kind == "InstanceCosts":
        shape, source = (min(size.rows, 64), draw.randint(1, 4)), draw.choice((source, f"{source} + 0.5 * Splits()"))
        whole = rng.integers(-3, 10, shape)
        costs = draw.choice(
            (whole, whole / 8, rng.integers(-30, 50, shape) / 10, whole * rng.choice([1, 10**9], shape))
        )
        row_data["costs"] = costs[np.arange(size.rows) % len(costs)].tolist()
    elif kind == "MisclassificationCosts":
        matrix = [[0 if j == k and draw.random() < 0.9 else draw_number(draw) for k in classes] for j in classes]
        source = f"MisclassificationCosts(CostTable.of({matrix!r}, classes={classes!r}))"
    return _problem(draw, rng, size, columns, source, y, WEIGHTS, **row_data)


def draw_scores(draw: Draw, rng: np.random.Generator) -> Problem:
    """Scores of the errors in two classes; nodes may cost some."""
    size = draw_size(draw, least_rows=2, most_columns=4)
    columns = draw_columns(draw, rng, size)
    source = draw.choice([*SCORES, "F1()", "F1()"])
    if draw.random() < 0.2 and source not in ROOTS:
        source = f"({source} - {draw.choice(('0.005', '0.01', '0.05', '0.1', '0.3'))} * Splits())"
    return _problem(draw, rng, size, columns, source, draw_labels(draw, rng, columns[0], 2), MODERATE)


NOTIONS = ("DemographicParity()", "EqualOpportunity()", "PredictiveEquality()", "EqualizedOdds()", "ErrorRateParity()")
GAPS = ("0", "0.01", "0.05", "0.1", "0.2", "0.3", "0.5")


def draw_fairness(draw: Draw, rng: np.random.Generator) -> Problem:
    """Errors and scores under limits on the rates of two to four groups, and of all rows."""
    size = draw_size(draw, least_rows=4, most_columns=3).no_deeper(2)
    X, categorical = draw_columns(draw, rng, size)
    y = draw_labels(draw, rng, X, 2)
    n_groups = min(draw.choice((2, 2, 2, 3, 4)), size.rows // 2)
    groups = rng.integers(0, n_groups, size.rows)
    if draw.random() < 0.3:
        groups = np.where(rng.random(size.rows) < 0.3, groups, X[:, 0] % n_groups)
    if draw.random() < 0.95:  # every group has rows of both classes
        for place, row in enumerate(rng.permutation(size.rows)[: 2 * n_groups].tolist()):
            groups[row], y[row] = place // 2, place % 2
    limits = [f"{draw.choice(NOTIONS)} <= {draw.choice(GAPS)}" for _ in range(draw.choice((1, 1, 1, 2)))]
    if draw.random() < 0.25:
        limits[-1] = f"{draw.choice(('Recall()', 'Precision()', 'Specificity()'))} >= {draw.choice(GAPS)}"
    elif draw.random() < 0.3:
        side = draw.choice(("ratio >= 0.5", "ratio >= 0.8", "lowest >= 0.3", "highest <= 0.7"))
        limits[-1] = f"{draw.choice(NOTIONS[:3])}.{side}"
    score = draw.choice(("Accuracy()",) * 4 + ("SparseAccuracy(0.02)", *SCORES))
    source = f"{score}.subject_to({', '.join(limits)})"
    return _problem(draw, rng, size, (X, categorical), source, y, MODERATE, sensitive_features=groups.tolist())


def draw_discounts(draw: Draw, rng: np.random.Generator) -> Problem:
    """Cost matrices with tests that cost something: features of several columns, groups of cheaper later tests."""
    size = draw_size(draw, most_columns=5)
    columns = draw_columns(draw, rng, size)
    y = draw_labels(draw, rng, columns[0], draw.choice((2, 2, 2, 2, 3, 3, 12)))
    classes = sorted(set(y))
    matrix = [[0 if j == k and draw.random() < 0.9 else draw_number(draw) for k in classes] for j in classes]
    features: dict[int, list[int]] = {}
    for column in range(size.columns):
        features.setdefault(draw.randrange(size.columns), []).append(column)
    tests = []
    for name, of in features.items():
        full = Fraction(repr(draw.choice((0, draw_number(draw), draw_number(draw))))) / 4
        share = draw.choice((0, Fraction(1, 4), Fraction(1, 2), 1))
        group = draw.choice((None, "a", "a", "b"))
        if draw.random() > 0.15:
            tests.append(f"TestCost('t{name}', {full!r}, {full * share!r}, {group!r}, {tuple(of)!r})")
    source = f"CostSensitive(CostTable.of({matrix!r}, [{', '.join(tests)}], classes={classes!r}))"
    if draw.random() < 0.2:
        source = f"{source} + {draw.choice(('0.5', '0.25', '2'))} * Splits()"
    return _problem(draw, rng, size, columns, source, y, ())


def draw_policies(draw: Draw, rng: np.random.Generator) -> Problem:
    """Treatments, all of which are given to some row: three methods, and one of them under a capacity."""
    capacity, K = draw.random() < 0.3, draw.choice((2, 2, 2, 3, 4))
    size = draw_size(draw, least_rows=K, most_columns=3 if capacity else 5, large=False)
    size, n = size.no_deeper(2) if capacity else size, size.rows
    treatment = rng.integers(0, K, n)
    treatment[rng.permutation(n)[:K]] = np.arange(K)
    predicted = rng.integers(0, 10, (n, K)) / 4 if capacity else rng.normal(0, 2, (n, K)).round(draw.randint(1, 12))
    row_data: dict[str, Any] = {"treatment": treatment.tolist(), "predicted": predicted.tolist()}
    source = f"PolicyValue({draw.choice(('dm', 'ipw', 'dr'))!r})"
    weights = ("small", "zero") if capacity else ("many", "decimal", "zero", "real")
    if capacity:
        costs = {k: draw.choice((0, 1, 1, 2.5)) for k in range(1, K)}
        source = f"PolicyValue('dm').subject_to(TreatmentCosts({costs!r}) <= {draw.randint(0, n)})"
    else:
        row_data["outcome"] = rng.normal(0, 2, n).round(draw.randint(0, 12)).tolist()
        row_data["propensity"] = rng.choice([0.25, 0.5, 1.0, 0.1, 0.3], n).tolist()
    return _problem(draw, rng, size, draw_columns(draw, rng, size), source, None, weights, **row_data)


REGRESSION = ("SquaredError", "AbsoluteError", "QuantileError", "PoissonDeviance", "RelativeRisk")


def draw_regression(draw: Draw, rng: np.random.Generator) -> Problem:
    """Numbers to predict and survival times."""
    kind, row_data = draw.choice(REGRESSION), dict[str, Any]()
    size = draw_size(draw, most_columns=5, large=False)
    n, source = size.rows, f"{kind}()"
    y = draw.choice(
        [
            rng.integers(-9, 10, n),
            rng.normal(0, 3, n).round(2),
            rng.normal(0, 3, n),
            rng.choice([0, 0, 0, 1, 10], n),
            rng.normal(1e6, 2, n).round(1),
        ]
    ).tolist()
    if kind == "SquaredError":
        source = f"SquaredError({draw.choice((0, 0, 0.01, 0.5, 3))}{draw.choice(('', '', ', normalized=True'))})"
    elif kind == "QuantileError":
        source = f"QuantileError({draw.choice((0.5, 0.9, 0.25, 0.1))})"
    elif kind == "PoissonDeviance":
        y = rng.choice([0, 0, 1, 2, 5], n).tolist() if draw.random() < 0.7 else (rng.random(n) * 4).round(2).tolist()
        if draw.random() < 0.5:
            row_data["exposure"] = rng.choice([0.1, 0.5, 1.0, 2.0, 3.7], n).tolist()
    elif kind == "RelativeRisk":
        y = rng.integers(0, 9, n).tolist() if draw.random() < 0.5 else (rng.random(n) * 9).round(2).tolist()
        row_data["event"] = (rng.random(n) < draw.choice((0.2, 0.6, 1))).astype(int).tolist()
        row_data["event"][0] = 1
    if kind != "SquaredError" and draw.random() < 0.2:
        source = f"{source} + {draw.choice(('0.01', '0.5'))} * Splits()"
    return _problem(draw, rng, size, draw_columns(draw, rng, size), source, y, WEIGHTS, **row_data)


KINDS = {
    "costs": draw_costs,
    "scores": draw_scores,
    "fairness": draw_fairness,
    "discounts": draw_discounts,
    "policies": draw_policies,
    "regression": draw_regression,
    "user-tasks": draw_user_task,
}
"""By the name of the family, what draws a problem of it."""
