"""What scikit-learn's users expect of an estimator beside its predictions: class weights, routing, jobs, notebooks."""

from __future__ import annotations

import inspect
import itertools
import math
import signal
import sys
import time
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.utils.estimator_checks import check_estimator
from sklearn.utils.validation import _num_samples

from streed.estimators import (
    Binarizer,
    CostSensitiveTreeClassifier,
    FairTreeClassifier,
    OptimalTreeClassifier,
    OptimalTreeRegressor,
    PolicyTree,
    SurvivalTree,
    cross_validate_fair,
    fairness_margin,
)
from streed.tasks.cost_tables import CostTable, TestCost
from tests.differential.estimators import SEX, TABLE, TRUTH, N
from tests.unit.outcomes import refused

pytest.importorskip("sklearn")


from streed import estimators
from streed.errors import InputError
from tests.processes import started

RNG = np.random.default_rng(9)
X = RNG.integers(0, 2, (90, 4))
Y = np.where(X[:, 0] & (RNG.random(90) < 0.4), "rare", "usual")


def test_class_weights_multiply_row_weights() -> None:
    plain = OptimalTreeClassifier(max_depth=1).fit(X, Y)
    assert set(plain.predict(X)) == {"usual"}
    with pytest.warns(UserWarning, match="without feature names"):  # but columns are in their places
        assert OptimalTreeClassifier().fit(X, Y).score(pd.DataFrame(X, columns=list("dcba")), Y) > 0.5
    for given in ({"rare": 5}, "balanced"):
        model = OptimalTreeClassifier(max_depth=1, class_weight=given).fit(X, Y)
        rare = Y == "rare"
        weight = 5.0 if given != "balanced" else (~rare).sum() / rare.sum()
        same = OptimalTreeClassifier(max_depth=1).fit(X, Y, np.where(rare, weight, 1.0))
        assert (model.predict(X) == same.predict(X)).all()
        assert (model.predict(X)[X[:, 0] == 1] == "rare").all()
    copied = (np.repeat(each, np.arange(90) % 4 + 1, axis=0) for each in (X, Y))
    twice = OptimalTreeClassifier(max_depth=1, class_weight="balanced").fit(X, Y, frequency=np.arange(90) % 4 + 1)
    assert twice.value_ == OptimalTreeClassifier(max_depth=1, class_weight="balanced").fit(*copied).value_
    for weight in (1j, [1j] * 90, 10**400):
        refused("sample_weight", "number", call=lambda: OptimalTreeClassifier().fit(X, Y, weight))  # noqa: B023


NUMBERS = (
    "max_depth", "max_nodes", "min_leaf", "cost_complexity", "time_limit", "memory_limit", "threads", "cuts", "limit",
    "ratio", "confidence", "capacity", "samples", "epsilon", "class_weight", "max_depths", "n_thresholds",
)  # fmt: skip


@pytest.mark.parametrize("name", estimators.__all__)
def test_every_number_is_checked_and_errors_name_the_argument(name: str) -> None:
    kind: Any = getattr(estimators, name)
    taken = [n for n in NUMBERS if isinstance(kind, type) and n in inspect.signature(kind).parameters]
    beside: dict[str, Any] = {"costs": [[0, 1], [1, 0]]} if "CostSensitive" in name else {}
    row_data = {
        "FairTreeClassifier": {"sensitive_features": X[:, 0]},
        "SurvivalTree": {"event": X[:, 0]},
        "PolicyTree": {"treatment": X[:, 0], "propensity": np.full(90, 0.5)},
    }.get(name, {})
    y = np.arange(90) % 7 if "Regressor" in name or name == "SurvivalTree" else Y == "rare"
    for argument, value in itertools.product(taken, (-1, math.nan, math.inf, "x", True, object())):
        given = {"class_weight": {True: value, False: 1}, "max_depths": [value]}.get(argument, value)
        with pytest.raises(InputError) as caught:
            kind(**beside, **{argument: given}).fit(X, y, **row_data)
        assert caught.value.argument == argument
        assert "0x" not in str(caught.value)


INTERRUPTED = """
import sys
import numpy as np
from sklearn.model_selection import GridSearchCV
from streed.estimators import OptimalTreeClassifier

rng = np.random.default_rng(0)
X, y = rng.random((4000, 20)), rng.integers(0, 2, 4000)  # of which no tree of depth six is right
OptimalTreeClassifier(max_depth=6, cuts="all", time_limit=1).fit(X, y)  # compiles
model = OptimalTreeClassifier(max_depth=6, cuts="all")
search = GridSearchCV(model, {"min_leaf": [1, 2]}, cv=2, refit=False) if sys.argv[1] == "grid" else model
print("searching", flush=True)
try:
    search.fit(X, y)
except KeyboardInterrupt:
    print(getattr(model, "optimal_", None), getattr(model, "value_", 0) < 0.5)
"""


@pytest.mark.compiles
@pytest.mark.parametrize(("called", "said"), [("fit", "False True"), ("grid", "None True")])
def test_an_interrupt_ends_what_calls_fit_and_keeps_the_best_tree(called: str, said: str) -> None:
    with started([sys.executable, "-c", INTERRUPTED, called], stderr=None) as child:
        assert child.stdout.readline() == "searching\n"
        time.sleep(0.5)
        child.send_signal(signal.SIGINT)
        assert child.stdout.read().split("\n")[-2:] == [said, ""]
    assert child.returncode == 0


DRAW = np.random.default_rng(5)
GENDER = DRAW.choice(["f", "m"], 160)
ROWS = np.column_stack([(GENDER == "m") ^ (DRAW.random(160) < 0.1), DRAW.integers(0, 2, 160)]).astype(int)
SAID = np.where((ROWS[:, 0] == 1) & (DRAW.random(160) < 0.8), "yes", "no")


@pytest.mark.parametrize("groups", ["text", "three", "table", "columns"])
def test_fair_trees_keep_their_limit_on_the_raw_groups(groups: str) -> None:
    three = np.where(TABLE["member"], SEX, "x")
    given = {"text": SEX, "three": three, "table": pd.DataFrame({"sex": SEX, "member": TABLE["member"]})}.get(groups)
    ROWS, more = TABLE, {"sensitive_features": given}
    model = FairTreeClassifier(limit=0.1, max_depth=2)
    if groups == "columns":
        ROWS, more = TABLE.assign(sex=SEX), {}
        model.set_params(sensitive="sex")
    model.fit(ROWS, TRUTH, **more)
    predicted = model.predict(ROWS)
    member = {"three": three, "table": SEX + TABLE["member"].astype(str)}.get(groups, SEX)
    rates = [predicted[member == group].mean() for group in np.unique(member)]
    assert max(rates) - min(rates) == pytest.approx(model.gap_between_groups_)
    assert model.gap_between_groups_ <= 0.1
    assert model.value_ > OptimalTreeClassifier(max_depth=2).fit(TABLE, TRUTH).value_
    assert sorted(model.group_rates(ROWS, **more)["all"].values()) == pytest.approx(sorted(rates))
    assert model.n_features_in_ == 4
    assert "sex" not in model.to_text()
    refused("y", "none of 0, 1", call=lambda: model.score(ROWS, TRUTH.astype(str)))
    refused("y", "no class 7", call=lambda: model.group_rates(ROWS, [7] * N, **more))


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
    return FairTreeClassifier(**{"max_depth": 1, **given}).fit(ROWS, SAID, sensitive_features=GENDER)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        *((name, name.replace("-", "_")) for name in ("demographic-parity", "equalized-odds", "error-rate-parity")),
        ("equal-opportunity", "true_positive_rate_parity"),
        ("predictive-equality", "false_positive_rate_parity"),
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
    assert "under no limit\n" in fit(limit=None).verdict()
    table = pd.DataFrame(ROWS).assign(g=GENDER).rename(columns=str)
    named = cross_validate_fair(FairTreeClassifier(max_depth=1, sensitive="g"), table, SAID, cv=2)
    given = cross_validate_fair(FairTreeClassifier(max_depth=1), ROWS, SAID, sensitive_features=GENDER, cv=2)
    assert named.gaps.tolist() == given.gaps.tolist()
    refused("y", "the same label", call=lambda: FairTreeClassifier().fit(ROWS, [1] * 160, sensitive_features=GENDER))
    refused("confidence", call=lambda: fit(confidence=90))


SKIPPED = {
    "check_array_api_input": "other array libraries are tried only where SCIPY_ARRAY_API is set before Python starts"
}
"""Checks that scikit-learn leaves out itself, with the reason."""

EXPECTED = {
    "check_class_weight_classifiers": "it wants nearly all test rows in the heavy class (min_weight_fraction_leaf); "
    "the optimal tree also has leaves where no training row is of that class",
    **dict.fromkeys(
        ("check_estimator_sparse_array", "check_estimator_sparse_matrix"),
        "a policy is refused, as for any table, where y is one column of outcomes without their treatments",
    ),
}
"""What an exact optimum under weights of 1000 to 0.0001 does not do, with the reason."""


class Grouped(FairTreeClassifier):
    """Finds groups where the checks give none: even and odd rows, whose rates may differ by any amount."""

    def __init__(self, limit: float = 1.0, *, max_depth: int = 3) -> None:
        super().__init__(limit=limit, max_depth=max_depth)

    def _groups(self, X: Any, sensitive_features: Any) -> Any:
        return np.arange(_num_samples(X)) % 2


ESTIMATORS: dict[str, Any] = {
    "Binarizer()": Binarizer(),
    "Binarizer('tree')": Binarizer("tree"),
    "Binarizer('mdlp')": Binarizer("mdlp"),
    "Binarizer('midpoints', categories='multiway')": Binarizer("midpoints", categories="multiway"),
    "OptimalTreeClassifier()": OptimalTreeClassifier(),
    "OptimalTreeRegressor()": OptimalTreeRegressor(),
    "CostSensitiveTreeClassifier()": CostSensitiveTreeClassifier(),
    "FairTreeClassifier(limit=1), even and odd rows as groups": Grouped(),
    "PolicyTree()": PolicyTree(),
    "SurvivalTree()": SurvivalTree(),
}
"""Every estimator, as it is checked."""


def check(estimator: Any) -> list[Any]:
    """What every check says of the estimator: its name and its status."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the checks give data that deserve warnings
        found: list[Any] = check_estimator(estimator, on_skip=None, on_fail=None, expected_failed_checks=EXPECTED)
    return found


QUICK = ("Binarizer()", "OptimalTreeClassifier()", "PolicyTree()")


def _marks(name: str) -> Any:
    if name in QUICK:
        return ()
    return pytest.mark.compiles if name == "OptimalTreeRegressor()" else pytest.mark.slow


@pytest.mark.parametrize("name", [pytest.param(name, marks=_marks(name)) for name in ESTIMATORS])
def test_check_estimator(name: str) -> None:
    results = check(ESTIMATORS[name])
    assert {result["check_name"] for result in results if result["status"] == "skipped"} <= set(SKIPPED)
    assert {result["status"] for result in results} <= {"passed", "skipped", "xfail"}
    assert {result["check_name"] for result in results if result["status"] == "xfail"} <= set(EXPECTED)
    assert len(results) > 40


def test_every_estimator_is_checked() -> None:
    known = map(estimators.__dict__.get, estimators.__all__)
    fitted = {made for made in known if isinstance(made, type) and hasattr(made, "fit")}
    checked = {each for estimator in ESTIMATORS.values() for each in type(estimator).__mro__}
    assert {made.__name__ for made in fitted - checked} == set()
