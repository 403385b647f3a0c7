"""Poisson deviance, quantiles and linear leaves, by hand and by what refuses them; no answer depends on a unit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, final

import attrs
import numpy as np
import pytest

import streed
from streed.data import Dataset
from streed.exact import Array
from streed.task import State, Task
from streed.tasks import (
    AbsoluteError,
    Accuracy,
    BalancedAccuracy,
    BrierScore,
    Entropy,
    Gini,
    InstanceCosts,
    LinearLeaves,
    PoissonDeviance,
    PolicyValue,
    QuantileError,
    RelativeRisk,
    SquaredError,
    predict_linear,
)
from tests.unit.refusal import refused

X = [[0], [0], [0], [1], [1]]
NEVER = [1, 1, 1, 1, 0]


def test_poisson_deviance_by_hand() -> None:
    """Rates (0 + 2) / 4 and 6 / 2; deviances 2 (2 log(2 / (1/2 * 3)) and twice the terms of 1 and 5 at exposures 1."""
    result = streed.solve(PoissonDeviance(), [[0], [0], [1], [1]], [0, 2, 1, 5], exposure=[1, 3, 1, 1], max_depth=1)
    assert result.tree is not None
    assert result.tree.predict([[0], [1]]).tolist() == [0.5, 3]
    left = 2 * (0.5 + 2 * math.log(2 / 1.5) - 0.5)
    right = 2 * (1 * math.log(1 / 3) + 2 + 5 * math.log(5 / 3) - 2)
    assert result.value == pytest.approx(left + right)


def test_poisson_refuses() -> None:
    refused("y", "row 1", "-2", call=lambda: streed.solve(PoissonDeviance(), X, [0, -2, 1, 1, 1]))
    refused("exposure", "row 4", "0", call=lambda: streed.solve(PoissonDeviance(), X, [1] * 5, exposure=NEVER))


@pytest.mark.parametrize(
    ("quantile", "shown", "value"), [(0.5, [2, 10], 4.5), (0.9, [6, 14], 1.3), (0.01, [1, 10], 0.1)]
)
def test_quantiles_by_hand(quantile: float, shown: list[int], value: float) -> None:
    """Targets 1, 2, 6 and 10, 14: the leaf predicts the least target that reaches the quantile."""
    result = streed.solve(QuantileError(quantile), X, [1, 2, 6, 10, 14], max_depth=1)
    assert result.tree is not None
    assert result.tree.predict([[0], [1]]).tolist() == shown
    assert result.value == pytest.approx(value)


def test_quantiles_that_are_refused() -> None:
    for quantile in (0, 1, 1.5):
        refused("quantile", str(quantile), call=lambda quantile=quantile: QuantileError(quantile))  # type: ignore[misc]


def test_linear_leaves_by_hand() -> None:
    """y = 1 + 2 z left; right two points, hence their line, or with a ridge one that is less steep."""
    z, y = [0, 1, 2, 0, 2], [1, 3, 5, 4, 0]
    exact = streed.solve(LinearLeaves(), X, y, features=z, max_depth=1)
    assert exact.value == pytest.approx(0, abs=1e-12)
    assert exact.tree is not None
    assert np.array(exact.tree.shows()) == pytest.approx(np.array([[1, 2], [4, -2]]))
    assert predict_linear(exact.tree, [[0], [1]], [3, 1]) == pytest.approx([7, 2])
    flat = streed.solve(LinearLeaves(1), X, y, features=z, max_depth=1)
    # slope S_zy / (S_zz + n), cost S_yy - S_zy^2 / (S_zz + n): left 8 - 16 / 5, right 8 - 16 / 4
    assert flat.value == pytest.approx(8 - 16 / 5 + 8 - 16 / 4)


def test_linear_leaves_refuse() -> None:
    refused("ridge", "-1", call=lambda: LinearLeaves(-1))
    refused("features", "LinearLeaves needs it", call=lambda: streed.solve(LinearLeaves(), X, [1, 2, 3, 4, 5]))
    tree = streed.solve(LinearLeaves(), X, [1, 2, 3, 4, 5], features=[0, 1, 2, 3, 4], max_depth=1).tree
    assert tree is not None
    refused("features", "2 columns", call=lambda: predict_linear(tree, [[0]], [[1, 2]]))


_RNG = np.random.default_rng(7)
_CODES, _POINTS = _RNG.integers(0, 2, (40, 5)), _RNG.normal(size=(40, 2)).round(2)
_TARGETS, _COUNTS = _RNG.normal(0, 3, 40).round(2), _RNG.integers(0, 5, 40)
_KINDS, _EVENTS = _RNG.integers(0, 3, 40), (_RNG.random(40) < 0.6).astype(int)
_EACH, _GIVEN = _RNG.normal(0, 3, (40, 3)).round(2), np.array([0.25, 0.5, 0.25])
_WEIGHTS = _RNG.uniform(0.1, 2, 40).round(3)
_PAST = {"treatment": _KINDS, "propensity": _GIVEN[_KINDS]}


def _priced(a: Fraction, c: Fraction) -> Task:
    return SquaredError(3 * a * a * c)


@final
@attrs.frozen
class _Own(Task):
    """A user's squared errors, with nothing said of them."""

    def statistics(self, data: Dataset) -> dict[str, Array]:
        return {"n": np.ones(data.n_rows), "sum": data.targets, "square": data.targets**2}

    def labels(self, data: Dataset) -> Sequence[Any]:
        return ("mean",)

    def leaf_cost(self, s: State, k: int) -> Any:
        return s.square - s.sum * (s.sum / s.n) if s.n else 0.0


_SCALED: dict[str, tuple[Any, str, dict[str, Any]]] = {
    "squared": (SquaredError(), "y+", {}),
    "squared, a price": (_priced, "y+", {}),
    "squared, normalized": (SquaredError(0.02, normalized=True), "y+", {}),
    "squared, a user's": (_Own(), "y", {}),
    "absolute": (AbsoluteError(), "y+", {}),
    "quantile": (QuantileError(0.3), "y+", {}),
    "linear": (LinearLeaves(), "y+", {"features": _EACH[:, :2]}),
    "linear, ridge": (LinearLeaves(0.5), "y+", {"features": _EACH[:, :2]}),
    "Poisson": (PoissonDeviance(), "counts", {}),
    "survival": (RelativeRisk(), "times", {"event": _EVENTS}),
    "costs of rows": (InstanceCosts(), "", {"costs": _EACH}),
    "policy, direct": (PolicyValue("dm"), "", {**_PAST, "predicted": _EACH}),
    "policy, robust": (PolicyValue("dr"), "", {**_PAST, "predicted": _EACH, "outcome": _TARGETS}),
    "policy, inverse": (PolicyValue("ipw"), "", {**_PAST, "outcome": _TARGETS}),
    "Gini": (Gini(), "classes", {}),
    "entropy": (Entropy(), "classes", {}),
    "Brier": (BrierScore(), "classes", {}),
    "accuracy": (Accuracy(), "classes", {}),
    "balanced": (BalancedAccuracy(), "classes", {}),
}
"""Tasks with what their y is, "y+" where it may be shifted, and their row data."""

_UNITS = [
    (1, 0, 1),
    (1e-150, 0, 1),
    (1e150, 0, 1),
    (1, 0, 1e-200),
    (1, 0, 1e200),
    (1e-9, 1e3, 1),
    (1e100, 1e104, 1e-90),
]


@pytest.mark.parametrize("X", [_CODES, _POINTS], ids=["columns", "thresholds"])
@pytest.mark.parametrize("name", _SCALED)
def test_the_tree_does_not_depend_on_units(name: str, X: Array) -> None:
    """y -> a y + b, costs times a, and weights times c."""
    task, kind, rows = _SCALED[name]
    first: list[int] = []
    for a, b, c in _UNITS:
        given = {k: v * a if k in ("costs", "predicted", "outcome") else v for k, v in rows.items()}
        y = {"": None, "classes": _KINDS, "counts": _COUNTS * a, "times": (_POINTS[:, 0] ** 2).round(2) * a}
        asked = task(*map(Fraction, (a, c))) if callable(task) else task
        targets = y.get(kind, a * _TARGETS + (b if kind == "y+" else 0))
        weighed = None if isinstance(task, _Own) else _WEIGHTS * c
        result = streed.solve(asked, X, targets, max_depth=2, max_cuts="all", sample_weight=weighed, **given)
        assert result.tree is not None
        first = first or result.tree.apply(X).tolist()
        assert result.tree.apply(X).tolist() == first
        assert len(set(first)) > 2
        assert result.status == "optimal"
        assert 0 <= result.gap <= 1e-9 * abs(result.value)
