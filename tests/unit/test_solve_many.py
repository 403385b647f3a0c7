"""Independent solves: of one task on many data in this process, and of any problems by joblib."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

import streed
from streed.errors import StreedError
from streed.tasks import F1, Accuracy, BalancedAccuracy, Gini, MinSupport, SparseAccuracy
from tests.unit.refusal import refused

needs_joblib = pytest.mark.skipif(find_spec("joblib") is None, reason="needs joblib (the extra `cluster`)")

RNG = np.random.default_rng(5)
X = RNG.integers(0, 2, (120, 6))
Y = X[:, 0] ^ (RNG.random(120) < 0.2)


@needs_joblib
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_the_results_are_those_of_single_solves_in_their_order(n_jobs: int) -> None:
    problems: list[dict[str, Any]] = [{"task": SparseAccuracy(lam)} for lam in (0.1, 0.02, 0.005)]
    problems.append({"task": Accuracy(), "X": X[:60], "y": Y[:60], "max_depth": 1})
    found = streed.solve_many(problems, X=X, y=Y, max_depth=3, n_jobs=n_jobs)
    alone = [streed.solve(**{"X": X, "y": Y, "max_depth": 3, **problem}) for problem in problems]
    assert [(each.status, each.value) for each in found] == [(each.status, each.value) for each in alone]
    assert [each.tree for each in found] == [each.tree for each in alone]


@needs_joblib
def test_what_is_no_problem_is_refused() -> None:
    mixed: list[Any] = [{"task": Accuracy()}, Accuracy()]
    refused("problems", "problem 0", call=lambda: streed.solve_many([{"task": Accuracy()}]))
    refused("problems", "problem 1", call=lambda: streed.solve_many(mixed, X=X))
    refused("y", "labels", call=lambda: streed.solve_many([{"task": Accuracy(), "y": Y[:3]}], X=X, n_jobs=1))


TIMES = {"seconds_setup", "seconds_search", "seconds_compile", "seconds_total", "peak_bytes", "trace"}
"""What is never the same twice; of the trace, the times."""


def told(result: streed.Result) -> Any:
    """All that a result says but times."""
    stats = {name: what for name, what in result.stats.items() if name not in TIMES}
    trace = [entry[1:] for entry in result.stats.get("trace", ())]
    bounds = result.lower_bound, result.upper_bound
    return result.value, result.status, bounds, result.tree, result.tree and result.tree.claims, stats, trace


def some_data(seed: int) -> list[Any]:
    """Pairs, datasets and dicts, of two labels or more, of 0/1 columns, categories and numbers, some with weights."""
    draw = np.random.default_rng(seed)
    found: list[Any] = []
    for kind in range(24):
        n, p, labels = int(draw.integers(2, 90)), int(draw.integers(1, 8)), int(draw.integers(1, 4))
        X, y = draw.integers(0, 2, (n, p)), draw.integers(0, labels, n)
        if kind % 4 == 0:
            found.append((X, y))
        elif kind % 4 == 1:
            found.append(streed.Dataset.make(X.astype(bool), y))
        elif kind % 4 == 2:
            found.append({"X": X, "y": y, "sample_weight": draw.integers(1, 60, n)})
        else:
            columns = {"number": draw.integers(0, 6, n), "text": list("abc" * n)[:n]}
            found.append(({**columns, "flag": X[:, 0]} if kind % 8 == 3 else X, [f"label {k}" for k in y]))
    return found


@pytest.mark.parametrize(
    ("task", "limits"),
    [
        (Accuracy(), {"max_depth": 3}),
        (SparseAccuracy(0.03), {"max_depth": 2, "min_leaf": 2}),
        (BalancedAccuracy(), {"max_depth": 3, "max_nodes": 7}),
        (Accuracy().subject_to(MinSupport(3)), {"max_depth": 2}),
        pytest.param(Gini(), {"max_depth": 1}, marks=pytest.mark.compiles),
        (Accuracy(), {"max_depth": 2, "max_nodes": 2}),
        (Accuracy(), {"max_depth": 2, "search": "branches"}),
    ],
    ids=["accuracy", "sparse", "balanced", "support", "gini", "nodes", "best first"],
)
def test_many_data_give_what_single_solves_do(task: streed.Task, limits: dict[str, Any]) -> None:
    data = some_data(3)
    alone = []
    for each in data:
        given = each if isinstance(each, dict) else {"X": each} if isinstance(each, streed.Dataset) else None
        alone.append(streed.solve(task, **(given or {"X": each[0], "y": each[1]}), **limits))
    assert list(map(told, streed.solve_many(task, data, **limits))) == list(map(told, alone))


def test_f1_of_many_data() -> None:
    data = [(X[i : i + 40], Y[i : i + 40]) for i in (0, 40, 80)]
    alone = [streed.solve(F1(), *each, max_depth=2) for each in data]
    assert [told(each)[:4] for each in streed.solve_many(F1(), data, max_depth=2)] == [told(each)[:4] for each in alone]


def test_errors_are_those_of_the_first_solve_that_fails() -> None:
    bad = [(X, Y), (X, Y[:5]), (X[:0], Y[:0])]
    with pytest.raises(StreedError) as alone:
        streed.solve(Accuracy(), X, Y[:5], max_depth=2)
    with pytest.raises(StreedError) as many:
        streed.solve_many(Accuracy(), bad, max_depth=2)
    assert str(many.value) == str(alone.value)
    refused("max_depth", "-1", call=lambda: streed.solve_many(Accuracy(), [(X, Y)], max_depth=-1))
    refused("data", "None", call=lambda: streed.solve_many(Accuracy()))
    refused("data", "number 1", call=lambda: streed.solve_many(Accuracy(), [(X, Y), X]))
    refused("data", "beside", call=lambda: streed.solve_many([{"task": Accuracy(), "X": X}], [(X, Y)]))


@needs_joblib
def test_many_data_by_processes() -> None:
    found = streed.solve_many(Accuracy(), [(X, Y), (X[:50], Y[:50])], max_depth=2, n_jobs=2)
    assert [each.value for each in found] == [
        streed.solve(Accuracy(), X[:n], Y[:n], max_depth=2).value for n in (120, 50)
    ]
