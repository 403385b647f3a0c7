"""Solves of every kind of compiled code, each named, as `python -m tests.unit.every_kind [part of a name]`.

Prints for each, as JSON, the functions that this process had to compile for it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import streed
from streed.tasks import (
    F1,
    Accuracy,
    ClassErrors,
    CostSensitive,
    DemographicParity,
    InstanceCosts,
    PolicyValue,
    RelativeRisk,
    SparseAccuracy,
    SquaredError,
)
from streed.tasks.cost_tables import CostTable, TestCost
from tests.benchmarks.versions import CompiledAccuracy


def solves() -> dict[str, Callable[[], Any]]:
    """What is solved, by name: small data, 0/1, over thresholds, and with a categorical column."""
    draw = np.random.default_rng(0)
    n = 80
    X = {
        "binary": draw.integers(0, 2, (n, 6)).astype(np.uint8),
        "thresholds": draw.normal(size=(n, 3)),
        "categorical": draw.integers(0, 3, (n, 4)).astype(np.uint8),
    }
    y, classes, target = draw.integers(0, 2, n), draw.integers(0, 3, n), draw.normal(size=n).round(2)
    times, costs = draw.integers(1, 20, n), draw.integers(0, 10**6, (n, 3))
    groups = draw.integers(0, 2, n)
    matrix = [[0, 9, 9], [9, 0, 9], [9, 9, 0]]
    tests = CostSensitive(CostTable(matrix, (TestCost("t", 3, 1, "g", (0, 1)),)))
    policy = {"treatment": groups, "outcome": target, "propensity": np.full(n, 0.5)}
    tasks: dict[str, tuple[Any, Any, int, dict[str, Any]]] = {
        "accuracy": (Accuracy(), y, 3, {}),
        "accuracy, depth 2": (Accuracy(), y, 2, {}),
        "accuracy, depth 4": (Accuracy(), y, 4, {}),
        "two threads": (Accuracy(), y, 4, {"threads": 2}),
        "a memory limit": (Accuracy(), y, 4, {"memory_limit": 2**31}),
        "three classes": (Accuracy(), classes, 3, {}),
        "any depth": (SparseAccuracy(0.02), y, 0, {}),
        "min_leaf": (Accuracy(), y, 3, {"min_leaf": 5}),
        "F1": (F1(), y, 3, {}),
        "front": (ClassErrors(), y, 2, {}),
        "parity": (Accuracy().subject_to(DemographicParity() <= 0.05), y, 2, {"sensitive_features": groups}),
        "regression": (SquaredError(), target, 3, {}),
        "survival": (RelativeRisk(), times, 2, {"event": y}),
        "costs with tests": (tests, classes, 3, {}),
        "costs per row": (InstanceCosts(), None, 3, {"costs": costs}),
        "policy": (PolicyValue(method="ipw"), None, 2, policy),
        "a task of one's own": (CompiledAccuracy(), y, 2, {}),
    }
    made: dict[str, Callable[[], Any]] = {}
    for columns, values in X.items():
        options: dict[str, Any] = {"categorical": [0, 1]} if columns == "categorical" else {}
        for name, (task, labels, depth, given) in tasks.items():
            if name == "costs with tests" and columns != "binary":
                continue  # its tests name the columns of the binary table
            if name == "any depth" and columns == "thresholds":
                depth = 3  # any depth takes long there
            limits: dict[str, Any] = {"max_depth": depth} if depth else {}
            made[f"{name}, {columns}"] = partial(streed.solve, task, values, labels, **limits, **given, **options)
        branches: dict[str, Any] = {"max_depth": 4, "search": "branches"}
        made[f"branches, {columns}"] = partial(streed.solve, Accuracy(), values, y, **branches, **options)
        cuts: dict[str, Any] = {"max_cuts": 3} if columns == "thresholds" else {}
        near = partial(streed.rashomon, Accuracy(), values, y, max_depth=3, epsilon=0.01, **cuts, **options)
        made[f"near-optimal, {columns}"] = near
    return made


def main(wanted: str = "") -> None:
    """Prints what is compiled for each solve whose name has these letters."""
    from streed.kernels.compiled import CodeCache

    compiled: list[str] = []
    save = CodeCache.save_overload

    def noted(cache: Any, sig: Any, data: Any) -> None:
        compiled.append(cache._function.__qualname__)
        save(cache, sig, data)

    CodeCache.save_overload = noted  # type: ignore[assignment, method-assign]
    for name, solve in solves().items():
        if wanted in name:
            compiled.clear()
            repr(solve())
            print(json.dumps([name, compiled]), flush=True)  # noqa: T201


if __name__ == "__main__":
    main(*sys.argv[1:])
