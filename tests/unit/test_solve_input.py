"""What a solve is given: what is refused by its name, what looks odd and is fine, and values and trees to beat."""

from __future__ import annotations

import dataclasses
from decimal import Decimal
from functools import partial
from typing import Any

import attrs
import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import streed
from streed import reference
from streed.data import Dataset
from streed.errors import InputError, TaskError
from streed.estimators import (
    CostSensitiveTreeClassifier,
    FairTreeClassifier,
    OptimalTreeClassifier,
    OptimalTreeRegressor,
    PolicyTree,
    SurvivalTree,
)
from streed.problem.process_memory import resident
from streed.reference import every_split
from streed.result import Result
from streed.solve import solve
from streed.task import Totals
from streed.tasks import (
    F1,
    Accuracy,
    BalancedAccuracy,
    DemographicParity,
    InstanceCosts,
    LinearLeaves,
    MinSupport,
    Misclassifications,
    SparseAccuracy,
    SquaredError,
    WeightedAccuracy,
)
from streed.tree import question
from streed.tree.evaluation import inspect
from tests.unit.outcomes import refused
from tests.unit.specimens import XOR

Y = [0, 1, 1, 0]
NAN, INF = float("nan"), float("inf")


def attempt(X: Any = XOR, y: Any = Y, task: Any = None, **arguments: Any) -> Result:
    return solve(Accuracy() if task is None else task, X, y, **{"max_depth": 2, **arguments})


GROUPS = ["a", "b", "a", "b"]
FRONTS: dict[str, Any] = {
    "solve": attempt,
    "rashomon": lambda X=XOR, y=Y, **more: streed.rashomon(Accuracy(), X, y, **{"max_depth": 1, "slack": 0, **more}),
}
ESTIMATORS: dict[str, tuple[Any, dict[str, Any]]] = {
    "classifier": (OptimalTreeClassifier, {}),
    "regressor": (OptimalTreeRegressor, {}),
    "fair": (FairTreeClassifier, {"sensitive_features": GROUPS}),
    "costs": (partial(CostSensitiveTreeClassifier, [[0, 1], [2, 0]]), {}),
    "survival": (SurvivalTree, {"event": [1, 1, 0, 1]}),
    "policy": (PolicyTree, {"treatment": GROUPS, "propensity": [0.5] * 4}),
}


def fitted(name: str, X: Any = XOR, y: Any = Y, sample_weight: Any = None, **parameters: Any) -> Any:
    make, row_data = ESTIMATORS[name]
    rows = {**row_data, **{key: parameters.pop(key) for key in row_data.keys() & parameters.keys()}}
    model = make(**{"max_depth": 1, **parameters})
    return model.fit(X, [1, 2, 2, 1] if name == "survival" and y is Y else y, sample_weight=sample_weight, **rows)


FRONTS |= {name: partial(fitted, name) for name in ESTIMATORS}
GAPS = [["a", "b", None, "a"], pd.Series(["a", "b", None, "a"]), pd.Categorical(["a", "b", None, "a"])]
GAPS += [["a", "b", NAN, "a"], pd.array([0, 1, None, 0], dtype="Int64")]
GAPS += [np.ma.masked_array([0, 1, 0, 1], [False, False, True, False]), np.array([0, 1, NAN, 0])]
BAD: list[tuple[str, Any, str, list[str]]] = [
    *(("y", gaps, "missing value in row 2", [name for name in FRONTS if name != "policy"]) for gaps in GAPS),
    ("y", ["a", "b", 3, "a"], "sorted together", ["solve", "rashomon", "classifier", "fair", "costs"]),
    ("y", ["1", "b", "3", "a"], "no number", ["regressor", "survival"]),
    *(("treatment", gaps, "missing value in row 2", ["policy"]) for gaps in GAPS),
    ("treatment", ["a", "b", 3, "a"], "sorted", ["policy"]),
    *(
        ("X", X, "", list(FRONTS))
        for X in (np.array([["-4000-01-01"]] * 4, "datetime64[s]"), 7, object(), [object()] * 4)
    ),
    *(("cost_complexity", value, "it is", list(ESTIMATORS)) for value in (INF, NAN, -1, "a", None, object(), [1])),
    *(("cuts", value, "", list(ESTIMATORS)) for value in (0, -1, 2.5, True, "some", object(), [1])),
    *(("max_cuts", value, "", ["solve", "rashomon"]) for value in (0, -1, 2.5, True, "some", object(), [1])),
    *((limit, object(), "object>", list(FRONTS)) for limit in ("max_depth", "max_nodes", "min_leaf", "time_limit")),
    *(("limits", value, "", list(ESTIMATORS)) for value in ("none", object(), 3, print)),
    *(
        ("sample_weight", value, "", list(FRONTS))
        for value in ("abcd", [1, NAN, 1, 1], [1, -1, 1, 1], [object()] * 4, NAN)
    ),
    *(("notion", value, "", ["fair"]) for value in (3, None, object(), ["demographic-parity"])),
    *(("sensitive", value, "", ["fair"]) for value in (2.5, object(), print)),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.DataConversionWarning")
@pytest.mark.parametrize(("front", "number"), [(front, k) for k, row in enumerate(BAD) for front in row[3]])
def test_bad_input_is_refused_by_its_own_name(front: str, number: int) -> None:
    argument, value, found, _ = BAD[number]
    with pytest.raises(InputError) as caught:
        FRONTS[front](**{argument: value})
    lengths = {"event", "treatment", "sensitive_features"} if argument == "X" else set()
    assert caught.value.argument in {argument, *lengths}
    assert found in str(caught.value)
    assert " at 0x" not in str(caught.value)


class Own(streed.Task):
    """A task that is written as classes of Python usually are."""

    def __init__(self, price: float) -> None:
        self.price = price

    def statistics(self, data: Dataset) -> dict[str, Any]:
        return {}

    def leaf_cost(self, s: Any, k: int) -> Any:
        return self.price


class OwnLimit(streed.Limit):
    def __init__(self, rows: int) -> None:
        object.__setattr__(self, "rows", rows)

    def allows(self, s: Any) -> bool:
        return True


UNMADE = type("Unmade", (streed.Limit,), {"allows": OwnLimit.allows})
PLAIN: Any = dataclasses.dataclass(type("Plain", (UNMADE,), {}))


@pytest.mark.parametrize("make", [Own, OwnLimit, attrs.frozen(Own), attrs.define(OwnLimit), UNMADE, PLAIN])
def test_a_task_is_made_by_its_fields(make: Any) -> None:
    with pytest.raises(TaskError, match=r"(__init__ of its|no arg|not frozen).*@attrs\.frozen.*__attrs_post_init__"):
        make(2)


@pytest.mark.parametrize(
    ("X", "text"),
    [
        ([[0, 0], [0, 1], [1, NAN], [1, 1]], "x1 is missing?"),
        (np.array([[0, 0], [0, 1], [1, NAN], [1, 1]]), "x1 is missing?"),
        ([[0, 0], [0, 1], [1, None], [1, 1]], "x1 is missing?"),
        (pd.DataFrame({"a": [0, 1, 0, 1], "b": [0.0, NAN, 1, 1]}), "b is missing?"),
        (np.array([[0, 0], [0, INF], [1, 0], [1, 1]]), "x1 <= 3.4028234663852886e+38?"),
        ([[0, 0], [0, 2], [1, 0], [1, 1]], "x1 <= 1?"),
        (np.array([[0, 0], [0, -1], [1, 0], [1, 1]]), "x1 <= -1?"),
        (np.array([[0, 0], [0, 0.5], [1, 0], [1, 1]]), "x1 <= 0.2?"),
        (np.array([[2**31, 0], [0, 1], [1, 0], [1, 1]]), f"x0 <= {2**30}?"),
        ([[2**70, 0], [0, 1], [1, 0], [1, 1]], f"x0 <= {2**69}?"),
        (pd.DataFrame({"a": [1, 2, 3, 4]}), "a <= 3?"),
    ],
)
def test_numbers_as_they_are(X: Any, text: str) -> None:
    result = attempt(X, time_limit=Decimal(60))
    data = Dataset.make(X, Y)
    assert (result.status, result.value) == ("optimal", reference.optimum(Accuracy(), data, max_depth=2)[0])
    assert text in [question(data.column(split.column), split.cut) for split in every_split(data)]


@pytest.mark.parametrize("limit", ["max_depth", "max_nodes", "min_leaf", "time_limit", "memory_limit"])
def test_limits_of_trees_and_searches(limit: str) -> None:
    none = [-1, -0.5, NAN, INF, "5", True, [1], 1j]
    for value in none if limit.endswith("limit") else [*none, -(2**70), 1.0, 2.5, np.float64(2), False]:
        refused(limit, call=lambda value=value: attempt(**{limit: value}))  # type: ignore[misc]


def test_a_leaf_needs_a_row_and_has_at_most_all() -> None:
    for least in (0, None):
        refused("min_leaf", call=partial(attempt, min_leaf=least))
    for least in (5, 2**31, 2**70):
        refused("min_leaf", f"{least} rows", "4", call=partial(attempt, min_leaf=least))
    assert attempt(min_leaf=4).value == 2


@pytest.mark.parametrize("number", [0, -3, 65, 2**70, 2.0, True, "2", None, [print]])
def test_threads_supports_and_progress(number: Any) -> None:
    refused("threads", "1 to 64", call=lambda: attempt(threads=number))
    refused("progress", call=lambda: attempt(progress="yes" if number in (None, True) else number))
    if number not in (65, 2**70):
        refused("min_rows", call=lambda: MinSupport(number))


def test_a_search_by_name_by_class_or_by_hand() -> None:
    assert all(attempt(search=s).value == 0 for s in ("depth-first", streed.DepthFirst, streed.DepthFirst()))


def test_class_weights() -> None:
    refused("class_weight", "'b'", call=lambda: attempt(task=WeightedAccuracy({"b": 2})))
    for weight in (-1, NAN, INF, "x"):
        refused("class_weight", call=partial(attempt, task=WeightedAccuracy({0: weight})))


def test_one_row_one_class_and_constant_columns() -> None:
    for X, y, value in (
        ([[0, 1]], [5], 0),
        (XOR, [5] * 4, 0),
        (np.ones((4, 2)), Y, 2),
        (np.zeros((4, 0)), Y, 2),
        ({"a": ["same"] * 4}, Y, 2),
    ):
        for task in (Accuracy(), SparseAccuracy(0.5), BalancedAccuracy(), WeightedAccuracy()):
            result = attempt(X, y, task)
            assert (result.status, result.tree.n_branches) == ("optimal", 0)
        assert attempt(X, y).value == value


def test_ten_thousand_columns_in_too_little_memory() -> None:
    X = np.random.default_rng(0).integers(0, 2, (2_600, 10_000)).astype(np.uint8)
    y = X[:, 7_000]
    limit = resident() + 100_000_000
    refused("memory_limit", f"{limit:,} bytes", "fewer columns", call=lambda: attempt(X, y, memory_limit=float(limit)))
    refused("memory_limit", "already", call=lambda: attempt(task=Accuracy() & Accuracy(), memory_limit=1))
    assert attempt(X[:, 6_990:7_010], y, memory_limit=limit).value == 0


RNG = np.random.default_rng(17)
BITS = RNG.integers(0, 2, (240, 9))
TRUTH = (BITS[:, 0] ^ (BITS[:, 1] & BITS[:, 2])) ^ (RNG.random(240) < 0.1)
G = RNG.integers(0, 2, 240)
REAL = np.round(2.0 * TRUTH + RNG.normal(size=240), 2)
COSTS = np.round(RNG.random((240, 3)), 2)
RAW_WIDE = np.round(RNG.normal(size=(240, 9)), 1)

FAIR = Accuracy().subject_to(DemographicParity() <= 0.05)
CASES: dict[str, tuple[streed.Task, Any, dict[str, Any], float]] = {
    "accuracy": (Accuracy(), TRUTH, {}, 1),
    "even weights": (Accuracy(), TRUTH, {"sample_weight": [2] * 240}, 1),
    "sparse": (SparseAccuracy(0.01), TRUTH, {}, 1e-6),
    "balanced": (BalancedAccuracy(), TRUTH, {}, 1e-6),
    "squared error": (SquaredError(), REAL, {"frequency": np.arange(240) % 3 + 1}, 1e-3),
    "costs": (InstanceCosts(), None, {"costs": COSTS}, 1e-3),
    "f1": (F1(), TRUTH, {}, 1e-6),
    "parity": (FAIR, TRUTH, {"sensitive_features": G}, 1),
}


@pytest.mark.parametrize("name", CASES)
def test_a_value_that_none_beats_is_proved_and_one_just_above_the_optimum_gives_the_optimum(name: str) -> None:
    task, y, more, step = CASES[name]
    best = streed.solve(task, BITS, y, max_depth=2, **more)
    assert best.status == "optimal"
    proved = streed.solve(task, BITS, y, max_depth=2, upper_bound=best.value, **more)
    assert (proved.status, proved.tree, proved.value, proved.front) == ("no better", None, None, ())
    bound = proved.upper_bound if task.larger_is_better else proved.lower_bound
    assert bound == pytest.approx(best.value, rel=1e-9)
    worse = best.value - step if task.larger_is_better else best.value + step
    found = streed.solve(task, BITS, y, max_depth=2, upper_bound=worse, **more)
    assert (found.status, found.value) == ("optimal", best.value)
    assert found.tree is not None
    data = streed.Dataset.make(BITS, y, **more)
    again = task.score(inspect(found.tree, task, data).value, Totals(task, data))
    assert float(again) == pytest.approx(best.value, rel=1e-9)


@pytest.mark.parametrize("name", CASES)
def test_a_search_that_begins_with_a_tree_ends_with_it_or_with_a_better_one(name: str) -> None:
    task, y, more, _ = CASES[name]
    small = streed.solve(task, BITS, y, max_depth=1, **more)
    best = streed.solve(task, BITS, y, max_depth=3, **more)
    grown = streed.solve(task, BITS, y, max_depth=3, warm_start=small.tree, **more)
    for name in ("status", "value", "lower_bound", "upper_bound"):
        assert getattr(grown, name) == getattr(best, name)
    again = streed.solve(task, BITS, y, max_depth=3, warm_start=best.tree, **more)
    assert again.status == "optimal"
    assert again.value == pytest.approx(best.value, rel=1e-12)
    assert (again.tree.apply(BITS) == best.tree.apply(BITS)).all()
    assert again.tree.root.rows == best.tree.root.rows


def test_a_tree_whose_leaves_read_rows_is_made_better() -> None:
    asked: Any = {"X": BITS[:40, :4], "y": REAL[:40], "features": COSTS[:40, 0], "sample_weight": COSTS[:40, 1] + 1}
    best = streed.solve(LinearLeaves(1), max_depth=4, **asked)
    known = streed.solve(LinearLeaves(1), max_depth=2, **asked)
    assert streed.improve(known.tree, LinearLeaves(1), max_depth=4, **asked).value == pytest.approx(best.value)


def test_what_cannot_be_beaten_or_adopted_is_refused() -> None:
    deep = streed.solve(Accuracy(), BITS, TRUTH, max_depth=3).tree
    table = {f"c{j}": BITS[:, j] for j in range(9)}
    letters = np.where(TRUTH, "a", "b")

    def solve(X: Any = BITS, y: Any = TRUTH, **given: Any) -> streed.Result:
        return streed.solve(Accuracy(), X, y, **given)

    refused("upper_bound", "'low'", call=lambda: solve(upper_bound="low"))
    refused("upper_bound", "True", call=lambda: solve(upper_bound=True))
    refused("upper_bound", "nan", call=lambda: solve(upper_bound=float("nan")))
    refused("warm_start", "is no tree", call=lambda: solve(warm_start="tree"))
    refused("tree", "None is no tree", call=lambda: streed.improve(None, Accuracy(), BITS, TRUTH))
    refused("tree", "no column 'x", call=lambda: streed.improve(deep, Accuracy(), table, TRUTH))
    refused("warm_start", "depth 3", call=lambda: solve(max_depth=2, warm_start=deep))
    refused("warm_start", "branching nodes", call=lambda: solve(max_depth=3, max_nodes=1, warm_start=deep))
    refused("warm_start", "a leaf of", call=lambda: solve(min_leaf=120, warm_start=deep))
    refused("warm_start", "no column 'x", call=lambda: solve(table, warm_start=deep))
    refused("warm_start", "no label", call=lambda: solve(BITS, letters, warm_start=deep))
    refused("warm_start", "other values", call=lambda: solve(RAW_WIDE, warm_start=deep))
    both = Accuracy() & DemographicParity()
    asked: dict[str, Any] = {"max_depth": 1, "sensitive_features": G}
    refused("upper_bound", "tuples", call=lambda: streed.solve(both, BITS, TRUTH, upper_bound=3, **asked))


NUMBERS = RNG.normal(size=(300, 5))
NUMBERS[RNG.random((300, 5)) < 0.05] = np.nan
BENT = np.nan_to_num(np.sin(3 * NUMBERS[:, 0]) * NUMBERS[:, 1]) + (NUMBERS[:, 2] > 0)


@pytest.mark.parametrize("depth", [2, 5])
@pytest.mark.parametrize(
    "name",
    ["binary", *(pytest.param(x, marks=pytest.mark.compiles) for x in ("numbers", "frame", "regression", "nodes"))],
)
def test_a_greedy_tree_is_made_better_and_never_worse(name: str, depth: int) -> None:
    rows: Any = BITS if name == "binary" else NUMBERS
    target: Any = TRUTH if name == "binary" else BENT if name == "regression" else BENT > 0.5
    task: streed.Task = SquaredError() if name == "regression" else Misclassifications()
    greedy = DecisionTreeRegressor if name == "regression" else DecisionTreeClassifier
    model: Any = greedy(max_depth=depth, random_state=0)
    if name == "frame":
        model.fit(pd.DataFrame(rows, columns=list("abcde"))[list("edcba")], target)
        rows = pd.DataFrame(rows, columns=list("abcde"))
        worth = (model.predict(rows[list("edcba")]) != target).sum()
    else:
        model.fit(rows, target)
        wrong = (model.predict(rows) - target) ** 2 if name == "regression" else model.predict(rows) != target
        worth = wrong.sum()
    limits: dict[str, Any] = {"max_nodes": model.tree_.node_count // 2} if name == "nodes" else {}
    found = streed.improve(model, task, rows, target, time_limit=0.3, max_cuts="all", **limits)
    assert found.value <= worth + 1e-9
    assert found.lower_bound <= found.value
    assert found.tree.depth <= depth
    assert found.tree.n_branches <= limits.get("max_nodes", 2**depth)
    shown = found.tree.predict(rows)
    again = ((shown - target) ** 2).sum() if name == "regression" else (shown != target).sum()
    assert again == pytest.approx(found.value)
    if depth == 2:
        best = streed.solve(task, rows, target, max_depth=2, max_cuts="all", **limits)
        assert (found.status, found.value) == ("optimal", best.value)


@pytest.mark.compiles
def test_deep_trees_of_few_splits_cost_what_they_say() -> None:
    for seed in range(12):
        rng = np.random.default_rng(seed)
        rows = rng.normal(size=(int(rng.integers(150, 300)), 3)).round(2)
        wanted = np.sin(3 * rows[:, 0]) * rows[:, 1] + (rows[:, 2] > 0) > 0.5
        most = int(rng.integers(8, 25))
        found = solve(Misclassifications(), rows, wanted, max_depth=7, max_nodes=most, max_cuts="all", time_limit=0.1)
        assert found.value == (found.tree.predict(rows) != wanted).sum()
