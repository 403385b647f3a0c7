"""Of all trees that are equally good, any driver and any number of threads gives the same one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import streed
from streed.bnb import native_search, oracle
from streed.exact import Array
from streed.tasks import F1, Accuracy, DemographicParity, Misclassifications, SparseAccuracy
from tests.searches import NATIVE

ROUTES: dict[str, tuple[Callable[[], Any], dict[str, Any]]] = {
    "depth 4": (Accuracy, {"max_depth": 4}),
    "depth 5": (Accuracy, {"max_depth": 5}),
    "few branching nodes": (Misclassifications, {"max_depth": 4, "max_nodes": 5}),
    "large leaves": (Misclassifications, {"max_depth": 4, "min_leaf": 5}),
    "a price per split": (lambda: SparseAccuracy(0.01), {}),
    "a low price per split": (lambda: SparseAccuracy(0.004), {}),
    "a price and a depth": (lambda: SparseAccuracy(0.01), {"max_depth": 5}),
    "a score": (F1, {"max_depth": 4}),
    "a limit": (lambda: Accuracy().subject_to(DemographicParity() <= 0.1), {"max_depth": 4}),
}
THREADS = (1, 2, 3, 4)
BLOCK = 3


@pytest.fixture(autouse=True)
def _nothing_is_short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Short searches, which these are, run in one thread whatever is asked for."""
    for module in (native_search, oracle):
        monkeypatch.setattr(module, "is_short", lambda *_: False)


def _problem(seed: int) -> tuple[Array, Array, Array]:
    """(X, y, a group) with many equally good trees: columns that repeat each other, and labels of two of them."""
    rng = np.random.default_rng([seed, 91])
    rows, columns = int(rng.integers(30, 120)), int(rng.integers(4, 8))
    X = rng.integers(0, 2, (rows, columns))
    X = np.column_stack([X, X[:, :2] ^ (rng.random((rows, 2)) < 0.1)])
    y = (X[:, 0] & X[:, 1]) ^ (rng.random(rows) < 0.3)
    return X, y.astype(np.int64), rng.integers(0, 2, rows)


@pytest.mark.parametrize("search", NATIVE)
@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("first", [0, pytest.param(BLOCK, marks=pytest.mark.slow)])
def test_trees_do_not_depend_on_the_number_of_threads(first: int, route: str, search: str) -> None:
    make, limits = ROUTES[route]
    for seed in range(first, first + BLOCK if first == 0 else 20 * BLOCK):
        X, y, groups = _problem(seed)
        given: dict[str, Any] = {"sensitive_features": groups} if route == "a limit" else {}
        found = [streed.solve(make(), X, y, search=search, threads=n, **limits, **given) for n in THREADS]
        assert [each.status for each in found] == ["optimal"] * len(THREADS)
        assert [each.stats["threads"] for each in found] == list(THREADS)
        assert len({str(each.tree) for each in found}) == 1


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("first", [0, pytest.param(BLOCK, marks=pytest.mark.slow)])
def test_trees_do_not_depend_on_the_driver(first: int, route: str) -> None:
    make, limits = ROUTES[route]
    for seed in range(100 + first, 100 + (first + BLOCK if first == 0 else 20 * BLOCK)):
        X, y, groups = _problem(seed)
        given: dict[str, Any] = {"sensitive_features": groups} if route == "a limit" else {}
        found = [streed.solve(make(), X, y, search=search, **limits, **given) for search in NATIVE]
        assert [each.status for each in found] == ["optimal"] * len(found)
        assert len({str(each.tree) for each in found}) == 1
