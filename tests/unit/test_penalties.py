"""Scores minus a price of splits: what may be written, what is refused, and that every way of proving it is right."""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np
import pytest

import streed
from streed.data import Dataset
from streed.errors import NotSeparableError, TaskError
from streed.reductions import penalised
from streed.reference import optimal_front
from streed.task import Task, Totals
from streed.tasks import (
    F1,
    Accuracy,
    CohenKappa,
    FBeta,
    MatthewsCorrelation,
    MinSupport,
    MonotoneMetric,
    SparseAccuracy,
    Splits,
)
from tests.searches import NATIVE


def sample(seed: int, rows: int = 40) -> tuple[Any, Any]:
    draw = np.random.default_rng(seed)
    X = draw.integers(0, 2, (rows, 4))
    return X, ((X[:, 0] & X[:, 1]) ^ X[:, 2] ^ (draw.random(rows) < 0.1)).astype(int)


def best_score(task: Task, X: Any, y: Any, **limits: Any) -> Any:
    data = Dataset.make(X, y)
    totals = Totals(task, data)
    return max(task.score(value, totals) for value, _ in optimal_front(task, data, **limits))


@pytest.mark.parametrize("search", NATIVE)
@pytest.mark.parametrize("price", [0, 0.01, 0.05])
def test_value_is_the_score_minus_the_price_of_the_nodes(search: str, price: float) -> None:
    X, y = sample(1)
    result = streed.solve(F1() - price * Splits(), X, y, search=search, max_depth=3)
    assert result.tree is not None
    predicted = np.asarray(result.tree.predict(X))
    hits = int((predicted & y).sum())
    score = 2 * hits / (2 * hits + int((predicted != y).sum()))
    assert result.value == pytest.approx(score - price * (result.tree.n_leaves - 1))
    assert result.status == "optimal"
    assert result.value == result.upper_bound == best_score(F1() - price * Splits(), X, y, max_depth=3)
    assert result.stats["reduction"] == "penalized"


def test_prices_add_up() -> None:
    X, y = sample(2)
    twice = streed.solve(F1() - 0.01 * Splits() - 0.02 * Splits(), X, y, max_depth=2)
    assert twice.value == streed.solve(F1() - 0.03 * Splits(), X, y, max_depth=2).value


@pytest.mark.parametrize("cuts", [0, 4])
@pytest.mark.parametrize("seed", range(4))
def test_a_single_number_of_nodes_is_settled_by_budgets_too(seed: int, cuts: int, monkeypatch: Any) -> None:
    monkeypatch.setattr(penalised, "_CUTS", cuts)
    monkeypatch.setattr(penalised.Search, "_improve", lambda self, a, b, form: self.incumbent.found)
    X, y = sample(seed, 16)
    task = FBeta(2) - 0.04 * Splits()
    assert streed.solve(task, X, y, max_depth=3).value == best_score(task, X, y, max_depth=3)


def test_a_time_limit_leaves_a_tree_and_a_bound() -> None:
    draw = np.random.default_rng(3)
    X = draw.integers(0, 2, (400, 60))
    y = draw.integers(0, 2, 400)
    result = streed.solve(F1() - 0.001 * Splits(), X, y, search="branches", time_limit=0.3)
    assert result.status == "feasible"
    assert result.tree is not None
    assert result.value <= result.upper_bound <= 1


def test_refusals_say_what_to_do() -> None:
    X, y = sample(4)
    with pytest.raises(TaskError, match="max_nodes"):
        MatthewsCorrelation() - 0.01 * Splits()
    with pytest.raises(TaskError, match=r"\+"):
        Accuracy() - 0.01 * Splits()
    with pytest.raises(TaskError, match="price of splits"):
        F1() - SparseAccuracy(0.1)
    with pytest.raises(TaskError, match="subject_to last"):
        F1().subject_to(MinSupport(2)) - 0.01 * Splits()
    with pytest.raises(TaskError, match="price such as"):
        F1() - 0.01  # type: ignore[operator]
    with pytest.raises(NotSeparableError):
        F1() + 0.01 * Splits()
    many = np.arange(len(y)) % 3
    with pytest.raises(TaskError, match="has more here"):
        streed.solve(MonotoneMetric(lambda *errors: -sum(errors[:3])) - Splits(), X, many, max_depth=1)


def test_a_price_of_rows_is_refused() -> None:
    @attrs.frozen
    class Rows(type(Splits())):  # type: ignore[misc]
        def row_costs(self, data: Dataset) -> Any:
            return np.ones((data.n_rows, data.n_classes), np.int64)

    X, y = sample(5)
    with pytest.raises(TaskError, match="costs rows"):
        streed.solve(F1() - Rows(), X, y, max_depth=1)


def squares(missed: Any, wrong: Any, positives: Any, negatives: Any) -> Any:
    return -(3 * missed * missed + wrong * wrong)


@pytest.mark.parametrize("max_depth", [2, None])
def test_budgets_end_where_every_distinct_row_has_a_leaf(max_depth: int | None) -> None:
    # the score is so large beside the price that more nodes would pay at any number of them
    draw = np.random.default_rng(3)
    X = np.stack([draw.integers(0, 4, 3000), draw.integers(0, 2, 3000)], axis=1)
    y = ((X[:, 0] == 2) ^ (draw.random(3000) < 0.3)).astype(int)
    task = MonotoneMetric(squares, positive=1) - 0.05 * Splits()
    result = streed.solve(task, X, y, categorical=[0], max_depth=max_depth)
    assert result.status == "optimal"
    data = Dataset.make(X, y, categorical=[0])
    totals = Totals(task, data)
    best = max(task.score(value, totals) for value, _ in optimal_front(task, data, max_depth=2))
    assert result.value == float(best)
    assert result.stats["scalar_solves"] < 200


@pytest.mark.parametrize("price", [0.05, 0.02, 0.001])
def test_products_of_totals_beyond_64_bits_are_bounded_by_rounded_questions(price: float) -> None:
    # kappa's fractions are of squares of 40,007 rows, and the price's of one more factor
    X, y = sample(6)
    frequency = np.full(len(y), 1000)
    frequency[:7] += 1
    task = CohenKappa() - price * Splits()
    result = streed.solve(task, X, y, max_depth=3, frequency=frequency)
    scores = [streed.solve(CohenKappa(), X, y, max_depth=3, max_nodes=k, frequency=frequency).value for k in range(8)]
    assert result.status == "optimal"
    assert result.value == pytest.approx(max(score - k * price for k, score in enumerate(scores)), rel=1e-12)
    assert result.lower_bound == result.value == result.upper_bound
