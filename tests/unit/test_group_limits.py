"""Limits on rates, of all rows or by group, and on the balance of errors, against all small trees counted by hand."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import streed
from streed.data import Dataset
from streed.errors import TaskError
from streed.reference import best_trees
from streed.task import Totals
from streed.task.algebra import at_most
from streed.tasks import (
    F1,
    Accuracy,
    DemographicParity,
    EqualizedOdds,
    EqualOpportunity,
    ErrorRateParity,
    Recall,
    SparseAccuracy,
    TreatmentEquality,
)
from tests.unit.outcomes import tree_of
from tests.unit.refusal import refused

RNG = np.random.default_rng(11)
GROUPS = RNG.integers(0, 3, 90)
X = np.column_stack([RNG.integers(0, 2, (90, 3)), (GROUPS == 0) ^ (RNG.random(90) < 0.1)]).astype(int)
Y = ((X[:, 0] + X[:, 3] + RNG.integers(0, 2, 90)) >= 2).astype(int)
NAMES = np.array(["a", "b", "c"])[GROUPS]


def stumps() -> list[Any]:
    """The predictions of all trees of depth one."""
    found = [np.full(90, k) for k in (0, 1)]
    for j, (a, b) in itertools.product(range(4), itertools.product((0, 1), repeat=2)):
        found.append(np.where(X[:, j] == 1, a, b))
    return found


def rates(predicted: Any, event: str) -> list[tuple[int, int]]:
    """(how often, of how many) by group."""
    counted = {"all": np.ones(90, bool), "positive": Y == 1, "negative": Y == 0, "errors": np.ones(90, bool)}[event]
    happens = predicted != Y if event == "errors" else predicted == 1
    return [(int((happens & counted & (g == GROUPS)).sum()), int((counted & (g == GROUPS)).sum())) for g in range(3)]


def ratio_holds(predicted: Any, event: str) -> bool:
    """Whether five times every group's rate is at least three times any other's, in whole numbers."""
    return all(5 * p * m >= 3 * q * n for (p, n), (q, m) in itertools.permutations(rates(predicted, event), 2))


def balance(predicted: Any) -> bool:
    """Whether every group has at least half, and at most twice as many false negatives as false positives."""
    for g in range(3):
        fn = int(((predicted == 0) & (Y == 1) & (g == GROUPS)).sum())
        fp = int(((predicted == 1) & (Y == 0) & (g == GROUPS)).sum())
        if not fp <= 4 * fn <= 16 * fp:
            return False
    return True


LIMITS: list[tuple[str, Any, Callable[[Any], bool]]] = [
    ("selection ratio", DemographicParity().ratio >= 0.6, lambda p: ratio_holds(p, "all")),
    ("true positive ratio", EqualOpportunity().ratio >= 0.6, lambda p: ratio_holds(p, "positive")),
    ("odds ratio", EqualizedOdds().ratio >= 0.6, lambda p: ratio_holds(p, "positive") and ratio_holds(p, "negative")),
    ("lowest recall", EqualOpportunity().lowest >= 0.5, lambda p: all(2 * k >= n for k, n in rates(p, "positive"))),
    ("lowest selection", DemographicParity().lowest >= 0.2, lambda p: all(5 * k >= n for k, n in rates(p, "all"))),
    ("highest errors", ErrorRateParity().highest <= 0.3, lambda p: all(10 * k <= 3 * n for k, n in rates(p, "errors"))),
    (
        "error gap",
        ErrorRateParity() <= 0.1,
        lambda p: all(
            10 * abs(k * m - i * n) <= n * m for (k, n), (i, m) in itertools.combinations(rates(p, "errors"), 2)
        ),
    ),
    ("balance of errors", TreatmentEquality(0.25, 4), balance),
]


@pytest.mark.parametrize(("limit", "keeps"), [each[1:] for each in LIMITS], ids=[each[0] for each in LIMITS])
def test_the_best_tree_that_keeps_the_limit(limit: Any, keeps: Callable[[Any], bool]) -> None:
    result = streed.solve(Accuracy().subject_to(limit), X, Y, max_depth=1, sensitive_features=NAMES)
    allowed = [int((predicted != Y).sum()) for predicted in stumps() if keeps(predicted)]
    assert 0 < len(allowed) < len(stumps())  # the limit forbids something
    assert result.value == min(allowed)
    assert keeps(tree_of(result).predict(X))
    (told,) = result.stats["limits"]
    assert told["holds"]
    assert told["favourable"] == (None if isinstance(getattr(limit, "notion", None), ErrorRateParity) else 1)
    assert all(set(of) == {"a", "b", "c"} for of in told["counts"].values())


def test_what_is_refused() -> None:
    with pytest.raises(TaskError, match=r">= 0\.8"):
        _ = DemographicParity().ratio <= 0.8
    with pytest.raises(TaskError, match="equality too"):
        _ = DemographicParity().lowest > 0.8
    refused("limit", call=lambda: DemographicParity().ratio >= 80)
    refused("low", call=lambda: TreatmentEquality(2, 1))
    refused("high", call=lambda: TreatmentEquality(0, -1))


def test_what_is_refused_of_rates_of_all_rows() -> None:
    refused("y", "3 classes", call=lambda: streed.solve(Accuracy().subject_to(Recall() >= 0.5), X, np.arange(90) % 3))
    for limit in (-0.1, 1.1, True, "0.5"):
        refused("limit", call=functools.partial(Recall().__ge__, limit))
    refused("positive", "7", call=lambda: streed.solve(Accuracy().subject_to(Recall(positive=7) >= 0.5), X, Y))
    with pytest.raises(TaskError, match="from below"):
        _ = Recall() <= 0.5
    with pytest.raises(TaskError, match=r">= 0\.5"):
        _ = Recall() > 0.5


def test_a_limit_on_errors_and_splits_together_is_kept_exactly() -> None:
    task = F1().subject_to(at_most(SparseAccuracy(0.05), 0.4))
    result = streed.solve(task, X, Y, max_depth=2)
    values = [value for value, _ in best_trees(task, Dataset.make(X, Y), max_depth=2)]
    assert result.value == max(task.score(value, Totals(task, Dataset.make(X, Y))) for value in values)
    predicted = tree_of(result).predict(X)
    assert (predicted != Y).mean() + 0.05 * tree_of(result).n_branches <= 0.4 + 1e-12
