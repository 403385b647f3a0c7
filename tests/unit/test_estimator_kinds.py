"""Estimators of more than labels: groups and costs; what a fair one says beyond its tree."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from streed.estimators import CostSensitiveTreeClassifier, FairTreeClassifier, OptimalTreeClassifier, fairness_margin
from streed.tasks.cost_tables import CostTable, TestCost
from tests.unit.estimator_table import SEX, TABLE, TRUTH, N
from tests.unit.refusal import refused

RNG = np.random.default_rng(5)
GENDER = RNG.choice(["f", "m"], 160)
X = np.column_stack([(GENDER == "m") ^ (RNG.random(160) < 0.1), RNG.integers(0, 2, 160)]).astype(int)
Y = np.where((X[:, 0] == 1) & (RNG.random(160) < 0.8), "yes", "no")


@pytest.mark.parametrize("groups", ["text", "three", "table", "columns"])
def test_fair_trees_keep_their_limit_on_the_raw_groups(groups: str) -> None:
    three = np.where(TABLE["member"], SEX, "x")
    given = {"text": SEX, "three": three, "table": pd.DataFrame({"sex": SEX, "member": TABLE["member"]})}.get(groups)
    X, more = TABLE, {"sensitive_features": given}
    model = FairTreeClassifier(limit=0.1, max_depth=2)
    if groups == "columns":
        X, more = TABLE.assign(sex=SEX), {}
        model.set_params(sensitive="sex")
    model.fit(X, TRUTH, **more)
    predicted = model.predict(X)
    member = (
        SEX if given is None or groups == "text" else three if groups == "three" else SEX + TABLE["member"].astype(str)
    )
    rates = [predicted[member == group].mean() for group in np.unique(member)]
    assert max(rates) - min(rates) == pytest.approx(model.gap_between_groups_)
    assert model.gap_between_groups_ <= 0.1
    assert model.value_ > OptimalTreeClassifier(max_depth=2).fit(TABLE, TRUTH).value_
    assert sorted(model.group_rates(X, **more)["all"].values()) == pytest.approx(sorted(rates))
    assert model.n_features_in_ == 4
    assert "sex" not in model.to_text()


@pytest.mark.compiles
def test_costs_of_labels_and_tests() -> None:
    prices = CostTable.of([[0, 10], [30, 0]], [TestCost("age", 2), TestCost("city", 100), TestCost("member", 0.5)])
    model = CostSensitiveTreeClassifier(prices, max_depth=2).fit(TABLE[["age", "city", "member"]], TRUTH)
    assert "city" not in model.to_text()
    assert model.score(TABLE[["age", "city", "member"]], TRUTH) == pytest.approx(-float(model.value_) / N)
    doubled = model.score(TABLE[["age", "city", "member"]], TRUTH, sample_weight=np.full(N, 2.0))
    assert doubled == pytest.approx(-float(model.value_) / N)
    dear = CostSensitiveTreeClassifier([[0, 1], [50, 0]], max_depth=1).fit(TABLE, np.array(["no", "yes"])[TRUTH])
    assert np.mean(dear.predict(TABLE)[TRUTH == 1] == "yes") == 1


def fit(**given: Any) -> FairTreeClassifier:
    return FairTreeClassifier(**{"max_depth": 1, **given}).fit(X, Y, sensitive_features=GENDER)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("demographic-parity", "demographic_parity"),
        ("equalized-odds", "equalized_odds"),
        ("equal-opportunity", "true_positive_rate_parity"),
        ("predictive-equality", "false_positive_rate_parity"),
        ("error-rate-parity", "error_rate_parity"),
    ],
)
def test_the_names_of_fairlearn(ours: str, theirs: str) -> None:
    assert fit(notion=ours, limit=0.3).tree_ == fit(notion=theirs, limit=0.3).tree_


def test_a_margin_for_the_sample_tightens_the_limit() -> None:
    sizes = [GENDER.tolist().count(group) for group in ("f", "m")]
    # The one-sided quantile of 0.9 is 1.2816.
    margin = 1.2815515655 * np.sqrt(1 / (4 * sizes[0]) + 1 / (4 * sizes[1]))
    assert fairness_margin(sizes, 0.9) == pytest.approx(margin)
    model = fit(limit=0.5, confidence=0.9)
    assert model.limit_ == pytest.approx(0.5 - margin)
    assert "tightened from 0.5" in model.verdict()
    refused("confidence", call=lambda: fit(confidence=90))
