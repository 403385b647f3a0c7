"""Random problems whose rows stand for several equal ones each, by family of tasks, and the same of repeated rows."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import attrs
import numpy as np

import streed
from streed.exact import Array
from streed.tasks import (
    F1,
    AbsoluteError,
    Accuracy,
    BalancedAccuracy,
    BayesianTree,
    CostSensitive,
    DemographicParity,
    EqualOpportunity,
    Gini,
    Lexicographic,
    MatthewsCorrelation,
    MehtaMDL,
    MinSupport,
    Misclassifications,
    PolicyValue,
    QuantileError,
    QuinlanMDL,
    Recall,
    RelativeRisk,
    SparseAccuracy,
    Splits,
    SquaredError,
    WorstLeaf,
)
from streed.tasks.cost_tables import CostTable, TestCost
from tests.searches import NATIVE

Made = tuple[streed.Task, dict[str, Any]]
"""A task, and what it asks for by row; y among it."""


def _tests(rng: np.random.Generator, n: int, p: int) -> Made:
    prices = [TestCost(f"x{j}", 1 if j else 0.5) for j in range(p)]
    return CostSensitive(CostTable.of([[0, 3], [5, 0]], prices)), _classes(rng, n)


def _policy(rng: np.random.Generator, n: int, p: int) -> Made:
    treatment = rng.integers(0, 2, n)
    treatment[:2] = 0, 1
    past = {"treatment": treatment, "outcome": rng.integers(0, 5, n), "propensity": np.full(n, 0.5)}
    return PolicyValue("ipw"), {"y": None, **past}


def _survival(rng: np.random.Generator, n: int, p: int) -> Made:
    return RelativeRisk(), {"y": rng.integers(1, 9, n), "event": rng.integers(0, 2, n)}


def _grouped(task: streed.Task) -> Callable[[np.random.Generator, int, int], Made]:
    return lambda rng, n, p: (task, {**_classes(rng, n), "sensitive_features": rng.integers(0, 2, n)})


def _plain(task: streed.Task, most: int = 2) -> Callable[[np.random.Generator, int, int], Made]:
    return lambda rng, n, p: (task, _classes(rng, n, most))


def _numbers(task: streed.Task) -> Callable[[np.random.Generator, int, int], Made]:
    return lambda rng, n, p: (task, {"y": rng.integers(0, 9, n)})


def _classes(rng: np.random.Generator, n: int, most: int = 2) -> dict[str, Any]:
    return {"y": rng.integers(0, most, n)}


FAMILIES: dict[str, Callable[[np.random.Generator, int, int], Made]] = {
    "errors": _plain(Accuracy()),
    "classes": _plain(Misclassifications(), 4),
    "sparse": _plain(SparseAccuracy(0.05)),
    "balanced": _plain(BalancedAccuracy(), 3),
    "F1": _plain(F1()),
    "correlation": _plain(MatthewsCorrelation()),
    "recall": _plain(Accuracy().subject_to(Recall() >= 0.6)),
    "parity": _grouped(Accuracy().subject_to(DemographicParity() <= 0.1)),
    "opportunity": _grouped(Accuracy().subject_to(EqualOpportunity() <= 0.2)),
    "costs": _plain(CostSensitive([[0, 3], [5, 0]])),
    "tests": _tests,
    "front": _plain(Misclassifications() & Splits()),
    "lexicographic": _plain(Lexicographic()),
    "policy": _policy,
    "absolute": _numbers(AbsoluteError()),
    "quantile": _numbers(QuantileError(0.3)),
    "gini": _plain(Gini()),
    "worst leaf": _plain(WorstLeaf()),
    "squares": _numbers(SquaredError()),
    "survival": _survival,
    "bits": _plain(QuinlanMDL()),
    "complexity": _plain(MehtaMDL()),
    "posterior": _plain(BayesianTree()),
}

WEIGHTLESS = ("tests", "lexicographic")


@attrs.frozen
class Instance:
    """A problem with frequencies."""

    task: streed.Task
    X: Array
    frequency: Array
    by_row: dict[str, Any]
    limits: dict[str, Any]

    def solved(self) -> Any:
        """The result with frequencies, or the error's class and words."""
        return _outcome(self.task, self.X, frequency=self.frequency, **self.by_row, **self.limits)

    def solved_repeated(self) -> Any:
        """The same of rows that are repeated."""
        by_row = {name: None if v is None else np.repeat(v, self.frequency, axis=0) for name, v in self.by_row.items()}
        return _outcome(self.task, np.repeat(self.X, self.frequency, axis=0), **by_row, **self.limits)


def draw(family: str, seed: int, driver: str | None = None) -> Instance:
    """The problem of a family and a seed, for one of the drivers."""
    rng = np.random.default_rng([seed, *family.encode()])
    n, p = int(rng.integers(2, 13)), int(rng.integers(1, 5))
    task, by_row = FAMILIES[family](rng, n, p)
    frequency = rng.choice([0, 1, 2, 3, 7, 50], n)
    frequency[:2] = np.maximum(frequency[:2], 1)
    if family not in WEIGHTLESS and rng.random() < 0.3:
        by_row["sample_weight"] = rng.integers(1, 4, n) if rng.random() < 0.5 else rng.choice([1, 2, 3, 0.5], n)
    limits: dict[str, Any] = {"search": driver or str(rng.choice([*NATIVE, "general"]))}
    least = int(rng.choice([1, 2, 5, 20]))
    if rng.random() < 0.3:
        task = task.subject_to(MinSupport(least))
    elif rng.random() < 0.7:
        limits["min_leaf"] = min(least, int(frequency.sum()))
    limits["max_depth"] = int(rng.integers(1, 4)) if n > 8 or rng.random() < 0.8 else None
    if rng.random() < 0.3:
        limits["max_nodes"] = int(rng.integers(0, 4))
    limits["threads"] = int(rng.choice([1, 1, 2]))
    return Instance(task, rng.integers(0, 2, (n, p)), frequency, by_row, limits)


def _outcome(task: streed.Task, X: Array, **arguments: Any) -> Any:
    try:
        return streed.solve(task, X, **arguments)
    except streed.StreedError as error:
        return type(error), str(error)


def differences(instance: Instance) -> list[str]:
    """What differs between the result with frequencies and that of repeated rows; nothing, one hopes."""
    one, other = instance.solved(), instance.solved_repeated()
    if isinstance(one, tuple) or isinstance(other, tuple):
        return [] if one == other else [f"{one!r} against {other!r}"]
    found = [
        f"{what}: {getattr(one, what)!r} against {getattr(other, what)!r}"
        for what in ("status", "value", "lower_bound", "upper_bound")
        if not _alike(getattr(one, what), getattr(other, what))
    ]
    values = [value for value, _ in one.front], [value for value, _ in other.front]
    if not _alike(tuple(values[0]), tuple(values[1])):
        found.append(f"front: {values[0]} against {values[1]}")
    total = int(instance.frequency.sum())
    for _, tree in one.front:
        rows = [leaf.rows for leaf in tree.leaves()]
        if sum(rows) != total or tree.claims.n_rows != total:
            found.append(f"leaves of {rows} rows, of {total}")
        if min(row for row in rows if row) < instance.limits.get("min_leaf", 1):
            found.append(f"a leaf is too small: {rows}")
    return found


def _alike(a: Any, b: Any) -> bool:
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(_alike, a, b))
    if isinstance(a, float) and isinstance(b, (int, float)):
        return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9)
    return bool(a == b)
