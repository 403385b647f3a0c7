"""Teachers, honest estimates and made-up trials."""

from __future__ import annotations

import numpy as np
import pytest

import streed
from streed.datasets.trials import bins, make_trial
from streed.estimators.teachers import teach
from streed.tasks import PolicyValue
from streed.tasks.outcome_scores import policy_value
from tests.unit.refusal import refused

X = [[0], [0], [1], [1]]
PAST = {"treatment": [0, 1, 0, 1], "outcome": [2.0, 1.0, 0.0, 3.0], "propensity": [0.5] * 4}


def test_an_estimate_is_a_mean_with_its_error() -> None:
    """Left treatment 0, right 1: scores 4, 0, 0, 6."""
    tree = streed.solve(PolicyValue("ipw"), X, max_depth=1, **PAST).tree  # type: ignore[arg-type]
    assert tree is not None
    assert tree.predict(X).tolist() == [0, 0, 1, 1]
    estimate = policy_value(tree, X, "ipw", **PAST)
    assert estimate.value == 2.5
    assert estimate.standard_error == pytest.approx(np.std([4, 0, 0, 6], ddof=1) / 2)
    assert estimate.interval(1) == (2.5 - estimate.standard_error, 2.5 + estimate.standard_error)
    unknown = {**PAST, "treatment": [2, 3, 2, 3]}
    refused("treatment", "prescribes", call=lambda: policy_value(tree, X, "ipw", **unknown))


@pytest.mark.parametrize("n_features", [2, 10, 20])
def test_trials_follow_their_equation(n_features: int) -> None:
    trial = make_trial(4000, n_features, 0.75, seed=3)
    x = trial.features
    effect = trial.outcomes[:, 1] - trial.outcomes[:, 0]
    kappa = x[:, 0] / 2 if n_features == 2 else np.maximum(x[:, : n_features // 5], 0).sum(axis=1)
    assert effect == pytest.approx(kappa)
    unlucky = trial.propensity == 0.25
    assert trial.outcome[unlucky].tolist() == trial.outcomes[unlucky].min(axis=1).tolist()
    assert (trial.propensity == 0.75).mean() == pytest.approx(0.75, abs=0.05)
    assert trial.worth(trial.outcomes.argmax(axis=1)) == pytest.approx(trial.outcomes.max(axis=1).mean())


def test_teachers_predict_rows_that_they_have_not_seen() -> None:
    linear_model = pytest.importorskip("sklearn.linear_model")
    trial = make_trial(300, 2, 0.7, seed=1)
    lesson = teach(
        trial.features,
        trial.treatment,
        trial.outcome,
        regressor=linear_model.LinearRegression(),
        classifier=linear_model.LogisticRegression(),
        folds=3,
    )
    assert lesson["predicted"].shape == lesson["propensity"].shape == (300, 2)
    assert lesson["propensity"].sum(axis=1) == pytest.approx(np.ones(300))
    assert np.abs(lesson["predicted"] - trial.outcomes).mean() < 0.3
    columns, edges = bins(trial.features, n_bins=4)
    result = streed.solve(PolicyValue("dr"), columns, max_depth=2, **lesson)
    assert result.tree is not None
    fresh = make_trial(3000, 2, seed=2)
    prescribed = result.tree.predict(bins(fresh.features, edges)[0])
    assert fresh.worth(prescribed) > fresh.worth(np.zeros(3000, int)) + 0.1
    assert fresh.worth(prescribed) > fresh.worth(np.ones(3000, int)) + 0.1


def test_lessons_that_are_refused() -> None:
    pytest.importorskip("sklearn")
    refused("treatment", "1 was given to 1 rows", call=lambda: teach([[0]] * 4, [0, 0, 0, 1], [1, 2, 3, 4], folds=2))
    refused("folds", "1", call=lambda: teach([[0]] * 4, [0, 0, 1, 1], [1, 2, 3, 4], folds=1))
    refused("treatment", "4, 3 and 4", call=lambda: teach([[0]] * 4, [0, 0, 1], [1, 2, 3, 4]))
