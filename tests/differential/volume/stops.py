"""Solves that are stopped early, at whatever moment: no bound is beyond the optimum, and no value better than it.

The optimum is that of the same solve left alone, which other families compare with the reference.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np

import streed
from streed.task import Task
from streed.tasks import (
    F1,
    AbsoluteError,
    Accuracy,
    BalancedAccuracy,
    ClassErrors,
    DemographicParity,
    EqualizedOdds,
    Gini,
    InstanceCosts,
    MatthewsCorrelation,
    QuantileError,
    Recall,
    SparseAccuracy,
    Splits,
    SquaredError,
)

_NEAR = 1e-9
"""How far apart sums of real numbers in another order may be, as a part of the value."""

ROUTES: dict[str, tuple[Callable[[], Task], dict[str, Any]]] = {
    "accuracy": (Accuracy, {"max_depth": 4}),
    "accuracy, branches": (Accuracy, {"max_depth": 4, "search": "branches"}),
    "accuracy, two threads": (Accuracy, {"max_depth": 4, "threads": 2}),
    "few nodes": (Accuracy, {"max_depth": 4, "max_nodes": 5}),
    "a price": (lambda: SparseAccuracy(0.02), {}),
    "a price, branches": (lambda: SparseAccuracy(0.02), {"search": "branches"}),
    "balanced": (BalancedAccuracy, {"max_depth": 3}),
    "costs of rows": (InstanceCosts, {"max_depth": 4}),
    "squares": (SquaredError, {"max_depth": 4}),
    "squares, from none": (SquaredError, {"max_depth": 7}),
    "impurity": (Gini, {"max_depth": 4}),
    "general": (Accuracy, {"max_depth": 3, "search": "general"}),
    "absolute error": (AbsoluteError, {"max_depth": 2}),
    "quantile": (lambda: QuantileError(0.3), {"max_depth": 2}),
    "F1": (F1, {"max_depth": 3}),
    "F1, branches": (F1, {"max_depth": 2, "search": "branches"}),
    "correlation": (MatthewsCorrelation, {"max_depth": 2}),
    "parity": (lambda: Accuracy().subject_to(DemographicParity() <= 0.05), {"max_depth": 3}),
    "odds and F1": (lambda: F1().subject_to(EqualizedOdds() <= 0.3), {"max_depth": 2}),
    "recall": (lambda: Accuracy().subject_to(Recall() >= 0.9), {"max_depth": 3}),
    "front": (ClassErrors, {"max_depth": 3}),
    "front of splits": (lambda: Accuracy() & Splits(), {"max_depth": 3}),
    "trade-off": (lambda: Accuracy() & DemographicParity(), {"max_depth": 2}),
}
"""By name, a task and how it is solved."""

_BOUND_AT_THE_END = ("F1", "F1, branches", "correlation", "parity", "odds and F1", "recall")
"""Those that refuse a gap: their searches have no bound before the end."""


def wrong(seed: int, number: int) -> list[str]:
    """What a stopped solve says wrongly, in words."""
    draw = random.Random(f"{seed}/{number}")
    name = list(ROUTES)[number % len(ROUTES)]
    make, arguments = ROUTES[name]
    rng = np.random.default_rng([seed, number])
    n, p = draw.randint(40, 120), draw.randint(4, 9)
    if name in ("general", "absolute error", "quantile", "trade-off", "odds and F1"):
        n, p = draw.randint(20, 50), draw.randint(3, 5)
    X = rng.integers(0, 2, (n, p))
    X[: n // 3] = X[n // 3 : 2 * (n // 3)]
    y: Any = (X[:, 0] & X[:, 1]) ^ (rng.random(n) < 0.25)
    y[:2] = 0, 1
    if name == "squares, from none":
        n = 40 + n // 4
        X, y = rng.integers(0, 36, (n, 7)).astype(float), rng.integers(0, 4, n)
    given: dict[str, Any] = {"sensitive_features": rng.permutation(np.arange(len(y)) % 2)}
    if name in ("squares", "absolute error", "quantile"):
        y = y + rng.choice([0, 0.5, 1, 2.25], n)
    elif draw.random() < 0.3:
        given["sample_weight"] = rng.integers(1, 99, n)
    if name == "costs of rows":
        given["costs"] = rng.integers(0, 30, (n, 3))
    stop: dict[str, Any] = draw.choice(
        [
            *({"time_limit": seconds} for seconds in (1e-6, 1e-4, 1e-3, 3e-3, 1e-2)),
            {"memory_limit": draw.choice((1 << 14, 1 << 17, 1 << 20))},
            {"gap": draw.choice((0.5, 2, 10))},
        ]
    )
    task = make()
    y = y.astype(int) if y.dtype == bool else y
    whole = streed.solve(task, X, y, **arguments, **given)
    if "gap" in stop and (isinstance(whole.value, tuple) or name in _BOUND_AT_THE_END):
        stop = {"time_limit": 1e-3}
    try:
        result = streed.solve(task, X, y, **arguments, **given, **stop)
    except streed.InputError as error:  # less memory than the problem itself takes
        return [] if "memory_limit" in stop and error.argument == "memory_limit" else [f"refused: {error}"]
    if whole.status == "infeasible":
        return [] if result.status in ("infeasible", "unknown") else [f"a tree where there is none: {result!r}"]
    told = _front_wrong if isinstance(whole.value, tuple) else _value_wrong
    return [f"{name}, {stop}: {each}" for each in told(task.larger_is_better, result, whole)]


def _value_wrong(larger: bool, result: streed.Result, whole: streed.Result) -> list[str]:
    sign = -1 if larger else 1
    bound = result.upper_bound if larger else result.lower_bound
    told = []
    if result.status == "infeasible":
        told.append("infeasible, and there is a tree")
    if result.status == "optimal" and not _at_most(sign * result.value, sign * whole.value):
        told.append(f"optimal with {result.value}, the optimum is {whole.value}")
    if result.tree is not None and not _at_most(sign * whole.value, sign * result.value):
        told.append(f"the value {result.value} is better than the optimum {whole.value}")
    if bound is not None and not _at_most(sign * bound, sign * whole.value):
        told.append(f"the bound {bound} is beyond the optimum {whole.value}")
    return told


def _front_wrong(larger: bool, result: streed.Result, whole: streed.Result) -> list[str]:
    """Components are smaller-is-better, but for the first one of a maximised task."""

    def turned(value: tuple[Any, ...]) -> tuple[Any, ...]:
        return (-value[0], *value[1:]) if larger else value

    front, known = ([turned(value) for value, _ in each.front] for each in (whole, result))
    told = [
        f"{value} is on the better side of the front"
        for value in known
        if not any(all(map(_at_most, point, value)) for point in front)
    ]
    if result.status == "optimal" and len(known) != len(front):
        told.append(f"complete with {len(known)} points of {len(front)}")
    bound = result.upper_bound if larger else result.lower_bound
    if result.status != "optimal" and bound is not None:
        ideal = turned(bound)
        told += [
            f"the ideal point {ideal} is beyond {point}" for point in front if not all(map(_at_most, ideal, point))
        ]
    return told


def _at_most(a: Any, b: Any) -> bool:
    """Whether a <= b, but for the order in which real numbers were added."""
    return bool(a <= b) or abs(a - b) <= _NEAR * max(1.0, abs(a), abs(b))
