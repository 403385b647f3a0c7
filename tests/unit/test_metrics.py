"""Scores of the errors in two classes: values by hand, and the input that they refuse."""

from __future__ import annotations

import math
import re
import warnings
from typing import Any

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
