"""Where there are few trees, all of them are enumerated at once, with the values that multipliers lead to."""

from __future__ import annotations

import numpy as np
import pytest

import streed
from streed.reductions import lagrangian
from streed.tasks import Accuracy, DemographicParity, EqualOpportunity


@pytest.mark.parametrize(("columns", "depth"), [(1, 1), (3, 2), (7, 2), (4, 3)])
def test_few_trees_are_enumerated_with_the_values_of_multipliers(
    columns: int, depth: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw = np.random.default_rng(columns)
    enumerated = 0
    for limit in (0, 0.01, 0.1, 0.3):
        X = draw.integers(0, 2, (60, columns))
        y = X[:, 0] ^ (draw.random(60) < 0.3)
        groups = X[:, -1] ^ (draw.random(60) < 0.2)
        for notion in (DemographicParity(), EqualOpportunity()):
            task = Accuracy().subject_to(notion <= limit)
            at_once = streed.solve(task, X, y, max_depth=depth, sensitive_features=groups)
            with monkeypatch.context() as patched:
                patched.setattr(lagrangian, "_FEW_COLUMNS", (0, 0, 0, 0))
                by_multipliers = streed.solve(task, X, y, max_depth=depth, sensitive_features=groups)
            assert (at_once.status, at_once.value) == (by_multipliers.status, by_multipliers.value)
            assert at_once.lower_bound == by_multipliers.lower_bound
            assert at_once.stats["scalar_solves"] <= by_multipliers.stats["scalar_solves"]
            enumerated += at_once.stats["enumerations"]
    assert enumerated or columns == 1
