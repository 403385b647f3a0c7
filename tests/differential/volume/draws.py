"""What all families draw alike: sizes, columns, weights, limits, and how to search."""

from __future__ import annotations

import random
from typing import Any, NamedTuple

import numpy as np

from streed.exact import Array
from tests.differential.volume.problem import Problem, Scaling
from tests.searches import CHOSEN

Draw = random.Random

EDGES = (31, 32, 33, 63, 64, 65, 127, 128, 129)
"""Numbers of rows around the widths of words and lanes."""
LARGE = (32_766, 32_767, 32_768, 32_769, 65_535, 65_536, 65_537, 70_001)
"""Numbers of rows around the ranges of 16 bits."""

SEARCHES = CHOSEN


class Size(NamedTuple):
    """How large a problem is, and the depth that it is solved and judged to."""

    kind: str
    rows: int
    columns: int
    depth: int | None

    def no_deeper(self, depth: int) -> Size:
        """The same within a depth."""
        return self._replace(depth=depth if self.depth is None else min(self.depth, depth))


def draw_size(draw: Draw, least_rows: int = 1, most_columns: int = 6, large: bool = True) -> Size:
    """Mostly small; at the edges of words, with many columns, and rarely with many rows."""
    chosen = draw.random()
    if chosen < 0.006 and large:
        return Size("large", draw.choice(LARGE), draw.randint(1, 4), draw.choice((1, 2, 2)))
    if chosen < 0.04:
        wide = draw.choice((20, 40, 100, 299, 300))
        return Size("wide", max(draw.choice((8, 20, 33, 64)), least_rows), wide, 2 if wide <= 20 else 1)
    if chosen < 0.2:
        columns = draw.randint(1, most_columns)
        return Size("edge", draw.choice(EDGES), columns, draw.choice((1, 2, 2, 3 if columns <= 4 else 2)))
    columns = draw.randint(1, most_columns)
    depth = draw.choice((None if columns <= 3 else 2, 0, 1, 2, 2, 3 if columns <= 4 else 2))
    return Size("small", draw.randint(least_rows, 20), columns, depth)


def draw_columns(draw: Draw, rng: np.random.Generator, size: Size) -> tuple[Array, tuple[int, ...]]:
    """(n, p) uint8 codes, and which columns are categorical; some columns are constant, equal or complementary."""
    n, p = size.rows, size.columns
    rate = draw.choice((0.5, 0.5, 0.5, 0.2, 0.8, 0.05))
    X: Array = (rng.random((n, p)) < rate).astype(np.uint8)
    for column in range(1, min(p, 4)):
        chosen = draw.random()
        if chosen < 0.05:
            X[:, column] = X[:, column - 1] ^ draw.randint(0, 1)
        elif chosen < 0.08:
            X[:, column] = draw.randint(0, 1)
    if draw.random() < 0.3 and n > 3:
        X[: n // 3] = X[n // 2 : n // 2 + n // 3]
    categorical: tuple[int, ...] = ()
    if draw.random() < 0.15:
        place = draw.randrange(p)
        X[:, place] = rng.integers(0, draw.randint(2, 4), n)
        categorical = (place,)
    return X, categorical


def draw_labels(draw: Draw, rng: np.random.Generator, X: Array, n_classes: int) -> list[int]:
    """(n,) class numbers: a rule of the first columns, with noise; every class occurs, of as many as there are rows."""
    n_classes = min(n_classes, len(X))
    rule = X[:, : draw.randint(1, 3)].astype(np.int64).sum(axis=1) % n_classes
    noise = rng.random(len(X)) < draw.choice((0.05, 0.25, 0.5, 1.0))
    labels = np.where(noise, rng.integers(0, n_classes, len(X)), rule)
    labels[rng.permutation(len(X))[:n_classes]] = np.arange(n_classes)
    return [int(k) for k in labels]


WEIGHTS = ("ones", "small", "many", "decimal", "zero", "huge", "spread", "real")

MODERATE = ("ones", "small", "small", "many", "many", "many", "decimal", "zero", "huge", "spread", "real")
"""For tasks that multiply weights by totals of weights, and refuse those that are too fine or too large for that."""


def draw_weights(draw: Draw, rng: np.random.Generator, size: Size, kinds: tuple[str, ...] = WEIGHTS) -> Any:
    """None in half of all cases; else (n,) weights of one of the kinds, of which the first row's is positive."""
    if draw.random() < 0.45:
        return None
    if size.kind == "large":  # few different rows, which the judge puts together
        return rng.integers(1, 30, size.rows).tolist()
    n, kind = size.rows, draw.choice(kinds)
    weights: Any
    if kind == "ones":
        weights = [1] * n
    elif kind == "small":
        weights = rng.integers(1, 4, n).tolist()
    elif kind == "many":
        weights = rng.integers(1, 200, n).tolist()
    elif kind == "decimal":
        weights = [round(weight / 10, 1) for weight in rng.integers(1, 100, n).tolist()]
    elif kind == "zero":
        weights = rng.choice([0, 0, 1, 2, 5], n).tolist()
    elif kind == "huge":
        factor = draw.choice((10_000, 2**31, 2**40))
        weights = [
            w * f for w, f in zip(rng.integers(1, 10, n).tolist(), rng.choice([1, factor], n).tolist(), strict=True)
        ]
    elif kind == "spread":
        weights = rng.choice([1e-9, 1e-4, 0.1, 0.3, 1.0, 1e9], n).tolist()
    else:
        weights = (rng.random(n) * 10 + 1e-3).tolist()
    weights[0] = weights[0] or 1
    return weights


def draw_frequency(draw: Draw, rng: np.random.Generator, size: Size) -> list[int] | None:
    """None mostly; else (n,) how many equal rows each stands for."""
    if size.kind == "large" or draw.random() < 0.8:
        return None
    most = draw.choice((2, 5, 40)) if size.rows < 40 else 3
    return [int(copies) for copies in rng.integers(1, most + 1, size.rows)]


def draw_limits(draw: Draw, size: Size, nodes: bool = True) -> dict[str, Any]:
    """The limits on the tree; `nodes`: whether their number may be limited."""
    few = size.kind in ("small", "edge") and nodes and size.columns <= 5
    return {
        "max_depth": size.depth,
        "max_nodes": draw.choice((None, None, None, None, 0, 1, 2, 3, 4)) if few else None,
        "min_leaf": min(size.rows, draw.choice((1, 1, 1, 1, 2, 3, 5))),
    }


def draw_options(draw: Draw) -> dict[str, Any]:
    """The driver and the number of threads."""
    return {"search": draw.choice(SEARCHES), "threads": draw.choice((1, 1, 1, 2))}


def draw_number(draw: Draw) -> int | float:
    """A whole number or a decimal from 0 to 9."""
    return draw.choice((draw.randint(0, 9), round(draw.uniform(0, 9), draw.randint(1, 3))))


_POWERS = (-140, -100, -30, -12, -3, 3, 12, 30, 100, 140)

_MOST_POWER = 285
"""Values stay within what floats hold to all their digits."""

_DEGREES: dict[str, tuple[int | None, int | None, int | None]] = {
    "SquaredError": (2, None, 1),
    "AbsoluteError": (1, None, 1),
    "QuantileError": (1, None, 1),
    "PoissonDeviance": (1, None, 1),
    "RelativeRisk": (0, None, 0),
    "InstanceCosts": (None, 1, 1),
    "PolicyValue": (None, 1, 0),
    **dict.fromkeys(("Accuracy", "Misclassifications", "WeightedAccuracy", "MisclassificationCosts"), (None, None, 1)),
    **dict.fromkeys(("SparseAccuracy", "BalancedAccuracy"), (None, None, 0)),
}
"""By which power of the unit of targets, of costs and of weights values grow; None where there is no such unit."""

_SHIFTED = ("SquaredError", "AbsoluteError", "QuantileError")


def draw_scaling(draw: Draw, problem: Problem) -> Scaling:
    """In a third of all cases, other units and another origin; the value of every tree changes by the same factor.

    A price of nodes or a limit would be one in other units, and numbers of all digits would become others.
    """
    name, _, given = problem.task.lstrip("(").partition("(")
    degrees = _DEGREES.get(name)
    fixed = "Splits" in given or "TreatmentCosts" in given or (name == "SquaredError" and not given.startswith("0)"))
    if "normalized" in given:
        degrees, fixed = (0, None, 0), False
    if degrees is None or fixed or draw.random() > 0.35:
        return Scaling()
    targets, costs, weights = (0 if degree is None else draw.choice((0, *_POWERS)) for degree in degrees)
    value = sum(power * (degree or 0) for power, degree in zip((targets, costs, weights), degrees, strict=True))
    found = Scaling(targets, draw.choice((0, 0, 7, -1_000, 10**6)) if name in _SHIFTED else 0, costs, weights, value)
    try:
        found.given(problem)
    except ArithmeticError:
        return Scaling()
    return found if abs(value) <= _MOST_POWER else Scaling()
