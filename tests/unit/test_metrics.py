"""Scores of the errors in two classes: values by hand, and the input that they refuse."""

from __future__ import annotations

import math
import re
import warnings

import pytest

import streed
from streed.report import make_report
from streed.task import Task
from streed.tasks import (
    F1,
    Accuracy,
    DemographicParity,
    EqualOpportunity,
    ErrorRateParity,
    FBeta,
    Jaccard,
    MatthewsCorrelation,
    Recall,
    TreatmentEquality,
)
from tests.unit.outcomes import BOTH, CUBE
from tests.unit.refusal import refused

# The tree that asks about the first column errs on (FN, FP) = (0, 2) or (2, 0); a leaf on (0, 6) or (2, 0).


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
    assert result.positive_class == positive == streed.Tree.from_json(result.tree.to_json()).positive
    assert result.summary().get("positive_class") == positive
    named = f"positive class: {positive}"
    for told in (str(result), str(result.tree), result._repr_html_(), result.tree._repr_html_()):
        assert (named in told) == (positive is not None)
    page = re.sub(r"(\s|<[^>]+>)+", " ", make_report(result)).split("searched over")[0]
    assert (f"positive class {positive}" in page) == (positive is not None)
