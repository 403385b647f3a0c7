"""What scikit-learn's users expect of an estimator beside its predictions: class weights, routing, jobs, notebooks."""

from __future__ import annotations

import inspect
import itertools
import math
import signal
import sys
import time
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sklearn")


from streed import estimators
from streed.errors import InputError
from streed.estimators import OptimalTreeClassifier
from tests.processes import started

RNG = np.random.default_rng(9)
X = RNG.integers(0, 2, (90, 4))
Y = np.where(X[:, 0] & (RNG.random(90) < 0.4), "rare", "usual")


def test_class_weights_multiply_row_weights() -> None:
    plain = OptimalTreeClassifier(max_depth=1).fit(X, Y)
    assert set(plain.predict(X)) == {"usual"}
    for given in ({"rare": 5}, "balanced"):
        model = OptimalTreeClassifier(max_depth=1, class_weight=given).fit(X, Y)
        rare = Y == "rare"
        weight = 5.0 if given != "balanced" else (~rare).sum() / rare.sum()
        same = OptimalTreeClassifier(max_depth=1).fit(X, Y, np.where(rare, weight, 1.0))
        assert (model.predict(X) == same.predict(X)).all()
        assert (model.predict(X)[X[:, 0] == 1] == "rare").all()
    twice = OptimalTreeClassifier(max_depth=1, class_weight="balanced").fit(X, Y, frequency=np.full(90, 2))
    assert (twice.predict(X) == model.predict(X)).all()
    with pytest.raises(ValueError, match="class_weight"):
        OptimalTreeClassifier(class_weight="fair").fit(X, Y)


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


@pytest.mark.parametrize(("called", "said"), [("fit", "False True"), ("grid", "None True")])
def test_an_interrupt_ends_what_calls_fit_and_keeps_the_best_tree(called: str, said: str) -> None:
    with started([sys.executable, "-c", INTERRUPTED, called], stderr=None) as child:
        assert child.stdout.readline() == "searching\n"
        time.sleep(0.5)
        child.send_signal(signal.SIGINT)
        assert child.stdout.read().split("\n")[-2:] == [said, ""]
    assert child.returncode == 0
