"""Independent solves by joblib."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import streed
from streed.tasks import Accuracy, SparseAccuracy
from tests.unit.refusal import refused

pytest.importorskip("joblib", reason="needs joblib (the extra `cluster`)")

RNG = np.random.default_rng(5)
X = RNG.integers(0, 2, (120, 6))
Y = X[:, 0] ^ (RNG.random(120) < 0.2)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_the_results_are_those_of_single_solves_in_their_order(n_jobs: int) -> None:
    problems: list[dict[str, Any]] = [{"task": SparseAccuracy(lam)} for lam in (0.1, 0.02, 0.005)]
    problems.append({"task": Accuracy(), "X": X[:60], "y": Y[:60], "max_depth": 1})
    found = streed.solve_many(problems, X=X, y=Y, max_depth=3, n_jobs=n_jobs)
    alone = [streed.solve(**{"X": X, "y": Y, "max_depth": 3, **problem}) for problem in problems]
    assert [(each.status, each.value) for each in found] == [(each.status, each.value) for each in alone]
    assert [each.tree for each in found] == [each.tree for each in alone]


def test_what_is_no_problem_is_refused() -> None:
    mixed: list[Any] = [{"task": Accuracy()}, Accuracy()]
    refused("problems", "problem 0", call=lambda: streed.solve_many([{"task": Accuracy()}]))
    refused("problems", "problem 1", call=lambda: streed.solve_many(mixed, X=X))
    refused("y", "labels", call=lambda: streed.solve_many([{"task": Accuracy(), "y": Y[:3]}], X=X, n_jobs=1))
