"""How problems of each kind are drawn: a task as source, columns, what stands beside them, limits, and a search."""

from __future__ import annotations

import functools
import linecache
import random
from fractions import Fraction
from typing import Any

import attrs
import numpy as np

import streed.tasks
from streed.task import Task
from streed.tasks.cost_tables import CostTable, TestCost
from tests.differential.volume.problem import (
    EDGES,
    MODERATE,
    WEIGHTS,
    Draw,
    Problem,
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

SHAPES = 80
"""How many different classes are drawn."""

_HEAD = """
import math
import attrs
import numpy as np
from typing import Any, ClassVar
from streed.task import Task

@attrs.frozen
class {name}(Task):
    {facts}
    a: Any
    b: Any

    def statistics(self, data):
        z = data.row_data["z"]
        return {{{statistics}}}

    def labels(self, data):
        return {labels}

    def leaf_cost(self, s, k):
        {leaf}
"""


@attrs.frozen
class Shape:
    """A class of tasks, and the data that it is for."""

    source: str
    n_classes: int
    whole: bool
    """Whether all numbers are whole, so that values are exact."""
    multiway: bool
    weighted: bool


def make_shape(number: int) -> Shape:
    """The shape of a number below SHAPES."""
    draw = random.Random(f"shape {number}")
    whole = draw.random() < 0.6
    n_classes = draw.choice((2, 2, 3, 4))
    statistics = ['"of": (data.class_numbers[:, None] == np.arange(data.n_classes)).astype(np.int64)']
    if draw.random() < 0.6:
        statistics.append('"z": z')
        if draw.random() < 0.5:
            statistics.append('"square": z * z')
    if draw.random() < 0.4:
        statistics.append('"pair": np.stack([z, np.abs(z)], axis=1)')
    has = {name: any(entry.startswith(f'"{name}"') for entry in statistics) for name in ("z", "square", "pair")}
    combine, better = _operator(draw, whole)
    lines = ["n = sum(s.of)", f"v = {_base(draw, whole, has)}"]
    if draw.random() < 0.4:
        lines += [f"if {draw.choice(('s.rows > 2', 's.of[0] > s.of[1]', 's.rows % 2 == 0'))}:",
                  f"    v += {draw.choice(('self.a', '1', 's.of[0]'))}"]  # fmt: skip
    if draw.random() < 0.2:
        lines.append(f"v = {draw.choice(('max(v, self.b)', 'min(v, 3 * self.b)', 'abs(v)'))}")
    if combine in ("product", "length"):
        lines.append("v = 1 + abs(v)" if whole or combine == "length" else "v = 1 + abs(v) / 16")
    lines.append("return v")
    source = _HEAD.format(
        name=f"Shape{number}",
        facts=f"maximize: ClassVar[bool] = {better}",
        statistics=", ".join(statistics),
        labels=draw.choice(("list(range(data.n_classes))", "list(range(data.n_classes))", '("one",)')),
        leaf="\n        ".join(lines),
    )
    source += _methods(draw, combine, better, whole)
    return Shape(source, n_classes, whole, draw.random() < 0.25, draw.random() < 0.25)


def _base(draw: Draw, whole: bool, has: dict[str, bool]) -> str:
    """The first part of a leaf cost."""
    choices = ["2 * (n - s.of[k])", "n - s.of[k] + self.a", "self.a * n - self.b * s.of[k]"]
    if has["z"]:
        choices += ["abs(s.z - self.a * k)", "max(s.z, self.b * k)", "s.z * (k - 1) + n"]
    if has["pair"]:
        choices += ["s.pair[0] * k + s.pair[1]", "max(s.pair[0], s.pair[1] - self.a * k)"]
    if whole:
        choices += ["(n - s.of[k]) // 2 + k", "(s.of[k] + self.a) % 3 + n - s.of[k]"]
    else:
        choices += ["math.sqrt(n - s.of[k] + 0.25)", "s.of[k] * (n - s.of[k]) / n"]
        if has["square"] and has["z"]:
            choices += ["max(s.square - s.z * s.z / n, 0.0)"] * 4
        if has["z"]:
            choices += ["math.log(1 + abs(s.z)) + n - s.of[k]", "math.exp(-abs(s.z) / n) * self.a"]
    return draw.choice(choices)


def _operator(draw: Draw, whole: bool) -> tuple[str, bool]:
    """The name of the operator, and whether larger values are better."""
    combine = draw.choice(("sum", "sum", "sum", "max", "min", "length" if not whole else "sum", "product"))
    return combine, draw.random() < 0.25


def _methods(draw: Draw, combine: str, better: bool, whole: bool) -> str:
    """The source of the other methods."""
    bodies = {"max": "max(a, b)", "min": "min(a, b)", "product": "a * b", "length": "math.sqrt(a * a + b * b)"}
    text = ""
    if combine in bodies:
        text += f"\n    def combine(self, a, b):\n        return {bodies[combine]}\n"
    if better:
        text += "\n    def better(self, a, b):\n        return a > b\n"
        text += "\n    def score(self, value, totals):\n        return value\n"
    priced = draw.random()
    if priced < 0.5 and combine in ("sum", "max", "min"):
        number = "self.b" if whole else "self.b / 4"
        price = draw.choice((number, "rows // 4", "1 + len(path)", f"split * {number}", "rows % 3 + split"))
        text += f"\n    def branching_cost(self, rows, path, split):\n        return {'-' if better else ''}({price})\n"
    return text


@functools.cache
def task_class(number: int) -> type[Task]:
    """The class of a shape, made once; its source can be read back, as that of a file."""
    name, source = f"<shape {number}>", make_shape(number).source
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    scope: dict[str, Any] = {"__name__": "shapes"}
    exec(compile(source, name, "exec"), scope)
    made = scope[f"Shape{number}"]
    assert isinstance(made, type)
    return made


def draw_user_task(draw: Draw, rng: np.random.Generator) -> Problem:
    """A problem of some shape, small enough for the reference."""
    number = draw.randrange(SHAPES)
    shape = make_shape(number)
    p = draw.randint(1, 4)
    size = Size("small", draw.randint(shape.n_classes + 1, 14), p, draw.choice((None, 0, 1, 2, 2, 2, 3)))
    if p > 2 and size.depth is None:
        size = size.no_deeper(2)
    if draw.random() < 0.06:
        size = Size("edge", draw.choice(EDGES), min(p, 3), draw.choice((1, 2)))
    X = np.minimum(draw_columns(draw, rng, size)[0], 1)
    if shape.multiway:
        X[:, 0] = rng.integers(0, 3, size.rows)
        X[:3, 0] = range(3)
    z = rng.integers(-4, 5, size.rows).tolist() if shape.whole else rng.normal(0, 2, size.rows).tolist()
    a, b = draw.randint(0, 5), draw.randint(0, 3)
    return Problem(
        task=f"task_class({number})({a if shape.whole else a / 2}, {b if shape.whole else b / 2})",
        X=X,
        y=draw_labels(draw, rng, X, shape.n_classes),
        sample_weight=rng.integers(1, 4, size.rows).tolist() if shape.weighted else None,
        frequency=draw_frequency(draw, rng, size._replace(kind="large" if size.rows > 20 else size.kind)),
        categorical=(0,) if shape.multiway else (),
        row_data={"z": z},
        limits=draw_limits(draw, size),
        options=draw_options(draw),
    )


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
    size = size.no_deeper(3 - len(limits)) if size.kind == "wide" else size  # the judge's fronts take minutes else
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
