"""Scores, fairness and limits on rates by a search for each cost: threads, drivers, weights, and the positive class."""

from __future__ import annotations

import itertools
import math
import re
import warnings
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import streed
from streed.data import Dataset
from streed.reference import every_tree
from streed.report import make_report
from streed.result import Progress
from streed.task import Task
from streed.task.algebra import at_most
from streed.tasks import (
    F1,
    Accuracy,
    BalancedAccuracy,
    DemographicParity,
    EqualizedOdds,
    EqualOpportunity,
    ErrorRateParity,
    FBeta,
    GMean,
    Jaccard,
    MatthewsCorrelation,
    Precision,
    Recall,
    Splits,
    TreatmentEquality,
    WeightedAccuracy,
)
from streed.tree.nodes import predict_data
from tests.shipped import CHOSEN
from tests.unit.outcomes import BOTH, CUBE, refused

TASKS: dict[str, Callable[[], Task]] = {
    "F1": F1,
    "FBeta": lambda: FBeta(2),
    "MCC": MatthewsCorrelation,
    "GMean": GMean,
    "F1 and a price": lambda: F1() - 0.01 * Splits(),
    "F1 and parity": lambda: F1().subject_to(DemographicParity() <= 0.2),
    "balanced and parity": lambda: BalancedAccuracy().subject_to(DemographicParity() <= 0.2),
    "accuracy and odds": lambda: Accuracy().subject_to(EqualizedOdds() <= 0.3),
    "accuracy and recall": lambda: Accuracy().subject_to(Recall() >= 0.7),
    "accuracy and precision": lambda: Accuracy().subject_to(Precision() >= 0.7),
    "accuracy against parity": lambda: Accuracy() & DemographicParity(),
}
RNG = np.random.default_rng(12)
X = RNG.integers(0, 2, (70, 4))
Y = ((X[:, 0] | X[:, 1]) ^ (RNG.random(70) < 0.2)).astype(int)
GROUPS = RNG.integers(0, 2, 70)
MANY = RNG.integers(1, 200, 70)


def solved(task: Task, weights: Any, **more: Any) -> streed.Result:
    return streed.solve(task, X, Y, max_depth=2, sample_weight=weights, sensitive_features=GROUPS, **more)


@pytest.mark.parametrize("name", TASKS)
def test_one_optimum_whatever_searches_for_it(name: str) -> None:
    told: list[Progress] = []
    task = TASKS[name]()
    for weights in (None, MANY):
        values, trees = set(), set()
        for search, threads in itertools.product(CHOSEN, (1, 2)):
            result = solved(task, weights, search=search, threads=threads, progress=told.append)
            assert result.status == "optimal"
            assert "trace" not in result.stats
            assert told[-1].phase == "done"
            assert told[-1].incumbent == result.front[0][0]
            values.add(result.value)
            trees.add(str(result.tree))
        assert len(values) == len(trees) == 1


@pytest.mark.compiles
@pytest.mark.parametrize("name", TASKS)
@pytest.mark.parametrize("search", ["depth-first", "auto"])
def test_sums_beyond_the_range_are_refused_with_a_remedy(name: str, search: str) -> None:
    further = np.where(np.arange(70) % 2, 1e9, 1e-9)
    refused("sample_weight", "too many digits", "18 digits", call=lambda: solved(TASKS[name](), further, search=search))
    apart = np.where(np.arange(70) % 2, 2**40, 1)
    if name in ("FBeta", "accuracy and recall", "accuracy and precision"):
        # all that it comes to here fits
        values = {solved(TASKS[name](), apart, search=each).value for each in (search, "general")}
        assert len(values) == 1
    else:
        refused("sample_weight", "2**60", "round them", call=lambda: solved(TASKS[name](), apart, search=search))


def test_the_best_point_may_be_one_that_no_weighted_sum_finds() -> None:
    rng = np.random.default_rng(127)
    rows, columns = int(rng.integers(20, 60)), int(rng.integers(3, 6))
    X = rng.integers(0, 2, (rows, columns))
    y = ((X[:, 0] & X[:, 1]) ^ (rng.random(rows) < 0.35)).astype(int)
    y[:2] = 0, 1
    found, every = (streed.solve(GMean(), X, y, max_depth=2, search=search).value for search in (CHOSEN[0], "general"))
    assert found == every == pytest.approx(0.639693, abs=1e-6)


@pytest.mark.parametrize("limit", [Recall() >= 0.5, at_most(Splits(), 1)])
def test_costs_that_are_rounded_are_closed_exactly(limit: Any) -> None:
    task = WeightedAccuracy({0: 1 / 3, 1: math.pi}).subject_to(limit)
    found, every = (solved(task, None, search=search) for search in ("depth-first", "general"))
    assert (found.status, found.stats["closed"], found.value) == ("optimal", "near-optimal trees", every.value)


def test_products_of_weights_and_frequencies_are_exact() -> None:
    weights, frequency = [3.6414631266905526, 4.236717821102514], [1, 2]
    counted: Any = {"sample_weight": weights, "frequency": frequency}
    result = streed.solve(F1() - 0.3 * Splits(), [[0], [0]], [1, 0], max_depth=1, **counted)
    positive, negative = (Fraction(str(w)) * f for w, f in zip(weights, frequency, strict=True))
    assert result.value == float(2 * positive / (2 * positive + negative))


@pytest.mark.parametrize(("sizes", "forced"), [((9, 7), True), ((8, 6), False), ((9, 3), False)])
def test_no_gap_between_groups_of_coprime_sizes_leaves_one_label(sizes: tuple[int, int], forced: bool) -> None:
    draw = np.random.default_rng(sum(sizes))
    groups = np.repeat([0, 1], sizes)
    X = draw.integers(0, 2, (sum(sizes), 4))
    y = X[:, 0] ^ (draw.random(len(X)) < 0.1)
    task = Accuracy().subject_to(DemographicParity() <= 0)
    result = streed.solve(task, X, y, max_depth=2, sensitive_features=groups)
    data = Dataset.make(X, y)
    predictions = [predict_data(root, data) for root in every_tree(Accuracy(), data, max_depth=2)]
    fair = [p for p in predictions if p[groups == 0].sum() * sizes[1] == p[groups == 1].sum() * sizes[0]]
    assert result.value == min(int((p != y).sum()) for p in fair)
    assert (result.stats["scalar_solves"] == 0) == forced


# The tree that asks about the first column errs on (FN, FP) = (0, 2) or (2, 0); a leaf on (0, 6) or (2, 0).


def test_of_many_columns_no_pairs_are_held() -> None:
    draw = np.random.default_rng(3)
    X, (y, groups) = draw.integers(0, 2, (30, 3000)), draw.integers(0, 2, (2, 30))
    task = Accuracy().subject_to(DemographicParity() <= 0.3)
    found = streed.solve(task, X, y, max_depth=1, sensitive_features=groups)
    guesses = [X, 1 - X, np.zeros((30, 1), int), np.ones((30, 1), int)]
    fair = (p[:, abs(p[groups == 0].mean(axis=0) - p[groups == 1].mean(axis=0)) <= 0.3] for p in guesses)
    assert found.value == min((p != y[:, None]).sum(axis=0).min() for p in fair)


def test_refused_input() -> None:
    refused("y", "3 classes", call=lambda: streed.solve(F1(), CUBE, [0, 1, 2, 0, 1, 2, 0, 1]))
    refused("y", "same label", call=lambda: streed.solve(F1(), CUBE, [1] * 8))
    refused("positive", "'maybe'", call=lambda: streed.solve(F1(positive="maybe"), CUBE, BOTH))
    refused("beta", "> 0", call=lambda: FBeta(0))
    zero = [1, 1, 1, 1, 1, 1, 0, 0]
    refused("sample_weight", "class 1", call=lambda: streed.solve(F1(), CUBE, BOTH, sample_weight=zero))
    real = [math.pi * (i + 1) for i in range(8)]
    refused("sample_weight", "fewer digits", call=lambda: streed.solve(F1(), CUBE, BOTH, sample_weight=real))


ROWS, SAID = [[0, 0], [0, 1], [1, 0], [1, 1]] * 3, ["no", "yes", "yes", "yes"] * 3
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
        result = streed.solve(task, ROWS, SAID, max_depth=1, sensitive_features=groups)
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
