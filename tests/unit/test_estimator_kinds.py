"""Estimators of more than labels: groups, costs, policies and survival."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from streed.datasets.trials import make_trial
from streed.estimators import (
    CostSensitiveTreeClassifier,
    FairTreeClassifier,
    OptimalTreeClassifier,
    PolicyTree,
    SurvivalTree,
)
from streed.tasks.cost_tables import CostTable, TestCost
from tests.unit.estimator_table import SEX, TABLE, TRUTH, N
from tests.unit.refusal import refused


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


def test_policies_from_past_treatments() -> None:
    trial = make_trial(400, 2, seed=3)
    past = {"treatment": trial.treatment, "propensity": trial.propensity}
    model = PolicyTree(max_depth=1, cuts=15).fit(trial.features, trial.outcome, **past)
    assert trial.worth(model.predict(trial.features)) > max(trial.outcomes.mean(axis=0)) + 0.05
    assert model.score(trial.features, trial.outcome, **past) == pytest.approx(model.value_)
    assert model.feature_importances_.argmax() == 0
    refused("treatment", "none", call=lambda: PolicyTree().fit(trial.features, trial.outcome))
    refused("method", "'best'", call=lambda: PolicyTree("best").fit(trial.features, trial.outcomes))


def test_survival_times() -> None:
    rng = np.random.default_rng(5)
    x = rng.random(150)
    times, event = rng.exponential(np.where(x > 0.5, 1.0, 4.0)), rng.random(150) < 0.8
    model = SurvivalTree(max_depth=1).fit(x[:, None], times, event=event)
    risks = model.predict([[0.1], [0.9]])
    assert risks[0] < 1 < risks[1]
    assert model.score(x[:, None], times, event=event) > 0.6
    both = np.array(list(zip(event, times, strict=True)), dtype=[("event", bool), ("time", float)])
    assert (SurvivalTree(max_depth=1).fit(x[:, None], both).predict(x[:, None]) == model.predict(x[:, None])).all()
    survival = model.predict_survival_function([[0.1], [0.9]], [0.0, 1.0, 2.0])
    assert survival[:, 0].tolist() == [1, 1]
    assert (survival[0, 1:] > survival[1, 1:]).all()
    hazard = model.predict_cumulative_hazard_function([[0.1], [0.9]], [0.0, 1.0, 2.0])
    assert np.exp(-hazard) == pytest.approx(survival)
