"""Poisson deviance, quantiles and linear leaves, by hand and by what refuses them; no answer depends on a unit."""

from __future__ import annotations

import math

import numpy as np
import pytest

import streed
from streed.tasks import LinearLeaves, PoissonDeviance, QuantileError, predict_linear
from tests.unit.refusal import refused

X = [[0], [0], [0], [1], [1]]
NEVER = [1, 1, 1, 1, 0]


def test_poisson_deviance_by_hand() -> None:
    """Rates (0 + 2) / 4 and 6 / 2; deviances 2 (2 log(2 / (1/2 * 3)) and twice the terms of 1 and 5 at exposures 1."""
    result = streed.solve(PoissonDeviance(), [[0], [0], [1], [1]], [0, 2, 1, 5], exposure=[1, 3, 1, 1], max_depth=1)
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
