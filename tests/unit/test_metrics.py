"""Scores of the errors in two classes: values by hand, and the input that they refuse."""

from __future__ import annotations

import math
import re
import warnings
from typing import Any

import numpy as np
import pytest

import streed
from streed.report import make_report
from streed.task import Task
from streed.tasks import (
    F1,
    Accuracy,
    CohenKappa,
    DemographicParity,
    EqualOpportunity,
    ErrorRateParity,
    FBeta,
    GMean,
    Jaccard,
    MatthewsCorrelation,
    MonotoneMetric,
    Recall,
    TreatmentEquality,
)
from tests.unit.outcomes import BOTH, CUBE, tree_of
from tests.unit.refusal import refused


def penalty(fn: Any, fp: Any, positives: Any, negatives: Any) -> Any:
    return -(10 * fn + fp)


# The tree that asks about the first column errs on (FN, FP) = (0, 2) or (2, 0); a leaf on (0, 6) or (2, 0).
BY_HAND: list[tuple[Task, float, float]] = [
    (F1(), 4 / 10, 4 / 6),
    (F1(positive=0), 12 / 14, 12 / 14),
    (FBeta(2), 10 / 16, 10 / 12),
    (FBeta(0.5), 2.5 / 8.5, 2.5 / 4.5),
    (Jaccard(), 2 / 8, 2 / 4),
    (CohenKappa(), 0.0, 0.5),
    (MatthewsCorrelation(), 0.0, 8 / math.sqrt(4 * 2 * 6 * 4)),
    (GMean(), 0.0, math.sqrt(4 / 6)),
    (MonotoneMetric(penalty), -6, -2),
]


@pytest.mark.parametrize(
    ("task", "leaf", "split"),
    BY_HAND,
    ids=[type(task).__name__ + str(number) for number, (task, *_) in enumerate(BY_HAND)],
)
def test_scores_by_hand(task: Task, leaf: float, split: float) -> None:
    for depth, expected in ((0, leaf), (1, split)):
        result = streed.solve(task, CUBE, BOTH, max_depth=depth)
        assert result.value == pytest.approx(expected, abs=1e-15)
        assert (result.status, result.lower_bound, result.upper_bound) == ("optimal", result.value, result.value)
        assert tree_of(result).depth <= depth
    whole = streed.solve(task, CUBE, BOTH, max_depth=2)
    assert whole.value == pytest.approx(0 if isinstance(task, MonotoneMetric) else 1)
    assert tree_of(whole).predict(CUBE).tolist() == BOTH


@pytest.mark.parametrize("task", [F1(), GMean(), CohenKappa()], ids=repr)
@pytest.mark.parametrize("unit", [1, 0.25])
def test_a_row_of_weight_two_is_two_rows(task: Task, unit: float) -> None:
    rng = np.random.default_rng(5)
    X, y = rng.integers(0, 2, (40, 6)), rng.integers(0, 2, 40)
    weights = rng.integers(0, 4, 40)
    once = streed.solve(task, X, y, max_depth=2, sample_weight=weights * unit)
    many = streed.solve(task, np.repeat(X, weights, axis=0), np.repeat(y, weights), max_depth=2)
    assert once.value == many.value
    assert once.status == many.status == "optimal"


def test_a_node_too_many_is_no_reason_to_drop_a_tree() -> None:
    # the tree of one split errs three times either way; a leaf errs less in one of them, and has no split
    category = [[0], [1], [2], [1], [2], [2], [1], [1], [0], [1], [1], [1], [1], [1]]
    y = [1, 0, 1, 1, 0, 1, 0, 1, 0, 1, 1, 0, 1, 1]
    result = streed.solve(GMean(), category, y, categorical=[0], max_depth=2, max_nodes=1)
    assert result.value == pytest.approx(math.sqrt(6 / 9 * 2 / 5))


@pytest.mark.parametrize("task", [F1(), GMean()], ids=repr)
def test_a_stopped_solve_has_a_tree_and_a_bound(task: Task) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (3000, 60)), rng.integers(0, 2, 3000)
    result = streed.solve(task, X, y, max_depth=7, time_limit=2)
    assert (result.status, result.stats["stopped"]) == ("feasible", "time")
    assert 0 < result.value == result.lower_bound < result.upper_bound <= 1


def test_refused_input() -> None:
    refused("y", "3 classes", call=lambda: streed.solve(F1(), CUBE, [0, 1, 2, 0, 1, 2, 0, 1]))
    refused("y", "same label", call=lambda: streed.solve(F1(), CUBE, [1] * 8))
    refused("positive", "'maybe'", call=lambda: streed.solve(F1(positive="maybe"), CUBE, BOTH))
    refused("beta", "> 0", call=lambda: FBeta(0))
    zero = [1, 1, 1, 1, 1, 1, 0, 0]
    refused("sample_weight", "class 1", call=lambda: streed.solve(F1(), CUBE, BOTH, sample_weight=zero))
    real = [math.pi * (i + 1) for i in range(8)]
    refused("sample_weight", "fewer digits", call=lambda: streed.solve(F1(), CUBE, BOTH, sample_weight=real))


X, Y = [[0, 0], [0, 1], [1, 0], [1, 1]] * 3, ["no", "yes", "yes", "yes"] * 3
NAMED: list[tuple[Task, str | None, bool]] = [
    (F1(), "yes", True),
    (F1(positive="no"), "no", False),
    (Jaccard(), "yes", True),
    (MatthewsCorrelation(), "yes", False),  # both classes are treated alike
    (streed.maximize(F1()).subject_to(Recall(positive="no") >= 0.5), "yes", True),
    (Accuracy(), None, False),
    (Accuracy().subject_to(Recall() >= 0.5), "yes", True),
    (Accuracy().subject_to(EqualOpportunity() <= 0.5), "yes", True),
    (Accuracy().subject_to(DemographicParity() <= 0.5), "yes", False),
    (Accuracy().subject_to(DemographicParity().ratio >= 0.1), "yes", True),
    (Accuracy().subject_to(TreatmentEquality(0, 9)), "yes", True),
    (Accuracy().subject_to(ErrorRateParity() <= 0.5), None, False),
]


@pytest.mark.parametrize(("task", "positive", "warns"), NAMED, ids=[str(number) for number in range(len(NAMED))])
def test_the_positive_class_is_named(task: Task, positive: str | None, warns: bool) -> None:
    groups = ["a", "b", "b", "a", "a"] + ["b"] * 7
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        result = streed.solve(task, X, Y, max_depth=1, sensitive_features=groups)
    assert [("'yes' as the positive class" in str(each.message), each.filename) for each in said] == [
        (True, __file__)
    ] * warns
    assert result.tree is not None
    assert result.positive_class == positive == streed.Tree.from_json(result.tree.to_json()).positive
    assert result.summary().get("positive_class") == positive
    named = f"positive class: {positive}"
    for told in (str(result), str(result.tree), result._repr_html_(), result.tree._repr_html_()):
        assert (named in told) == (positive is not None)
    page = re.sub(r"(\s|<[^>]+>)+", " ", make_report(result)).split("searched over")[0]
    assert (f"positive class {positive}" in page) == (positive is not None)
