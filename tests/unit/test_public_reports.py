"""What public reports and new users ran into stays mended: the right values, and the errors that name what to do."""

from __future__ import annotations

import datetime as dt
import functools
import math
from decimal import Decimal
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import coo_matrix

import streed
from streed.data import Dataset
from streed.estimators import (
    CostSensitiveTreeClassifier,
    FairTreeClassifier,
    OptimalTreeClassifier,
    OptimalTreeRegressor,
    PolicyTree,
    SurvivalTree,
)
from streed.export import to_sql
from streed.task.analysis.extent import affordable
from streed.tasks import F1, Accuracy, CostSensitive, DemographicParity, InstanceCosts, MonotoneErrors
from tests.unit.conftest import run as shell
from tests.unit.outcomes import refused

ROWS = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 9)
LABELS = ["ill", "sick", "well"]
SICK = [LABELS[k] for k in [0, 1, 2, 2, 1, 1, 0, 0, 1, 0, 2, 1] * 3]
MATRIX = np.array([[0, 1, 7], [2, 0, 3], [9, 4, 0]])
NAMED = pd.DataFrame(MATRIX, LABELS, LABELS)
SHUFFLED = NAMED.iloc[[2, 0, 1], [1, 2, 0]]


@pytest.mark.parametrize(
    ("costs", "said"),
    [
        (SHUFFLED.rename(columns={"ill": "Ill"}), "'Ill'"),
        (SHUFFLED.rename(columns={"ill": "Ill"}, index={"ill": "Ill"}), "'ill' is not among"),
        (pd.DataFrame(1, [*LABELS, "x"], [*LABELS, "x"]), "'x', which is no label"),
        (pl.DataFrame({k: SHUFFLED[k].tolist() for k in SHUFFLED}), "its rows have no names"),
        (NAMED.set_axis([0, 1, 2], axis=1), "rows are of"),
        (NAMED.where(NAMED > 0), "missing"),
        ({"ill": {"ill": 0}}, "'sick' is not among"),
        ({k: SHUFFLED.loc[k] for k in LABELS}, "rows or columns"),
        (SHUFFLED.assign(x=1), "'x'; name the same labels"),
    ],
)
def test_names_that_are_no_labels_are_refused(costs: Any, said: str) -> None:
    refused("costs", said, call=lambda: CostSensitiveTreeClassifier(costs).fit(ROWS, SICK))
    refused("costs", said, call=lambda: streed.solve(CostSensitive(costs), ROWS, SICK))


def test_a_death_and_a_censoring_at_one_time_are_compared() -> None:
    """The censored one lived longer, so that there are eight pairs instead of six."""
    x, times, events = np.array([[0, 1, 0, 1, 1, 0]]).T, [1, 1, 2, 2, 3, 3], [1, 0, 1, 0, 1, 1]
    assert SurvivalTree(max_depth=1).fit(x, times, event=events).score(x, times, event=events) == 0.8125


PATIENTS = [[0], [0], [1], [1]]
TIMES = [9, 8, 2, 1]
EVENTS = [0, 1, 1, 1]


@pytest.mark.compiles
def test_times_asked_for_are_numbers() -> None:
    model = SurvivalTree(max_depth=1).fit(PATIENTS, TIMES, event=EVENTS)
    for ask in (model.predict_survival_function, model.predict_cumulative_hazard_function):
        assert ask(PATIENTS, 2.5).tolist() == ask(PATIENTS, [2.5]).tolist() == ask(PATIENTS, np.array(2.5)).tolist()
        assert ask(PATIENTS, pd.Series([0, 1])).shape == (4, 2)
        for wrong in (math.nan, [1, math.nan], [-1, 2], math.inf, "3", ["a"], None, [[1, 2]], [True]):
            refused("times", call=functools.partial(ask, PATIENTS, wrong))


def fields(first: str, second: str, kind: Any = int) -> Any:
    """Events and times as a structured array, in the order of the two names; that of times has "t" as its first."""
    columns = {first: EVENTS, second: TIMES} if not first.startswith("t") else {first: TIMES, second: EVENTS}
    types = [(name, kind if column is EVENTS else float) for name, column in columns.items()]
    return np.array(list(zip(*columns.values(), strict=True)), dtype=types)


@pytest.mark.parametrize(
    ("y", "said"),
    [
        (fields("a", "b"), "nothing tells"),
        (np.column_stack([EVENTS, TIMES]), "nothing tells"),
        ((EVENTS, TIMES), "nothing tells"),
        (fields("time", "event").astype([("time", bool), ("event", float)]), "nothing tells"),
        (fields("censored", "time", bool), "censored may mean"),
        (fields("alive", "time"), "alive may mean"),
        (pd.DataFrame({"event": EVENTS, "time": TIMES, "age": TIMES}), "'age'"),
        ({"event": EVENTS, "time": TIMES[:3]}, "different lengths"),
        ((np.array(EVENTS, bool), TIMES[:3]), "4 and 3"),
    ],
)
def test_what_nothing_tells_apart_is_refused(y: Any, said: str) -> None:
    refused("y", said, call=lambda: SurvivalTree().fit(PATIENTS, y))
    both = {"time": TIMES, "event": EVENTS}
    refused("event", "y holds", call=lambda: SurvivalTree().fit(PATIENTS, both, event=EVENTS))


def test_columns_that_cannot_be_in_order() -> None:
    X, y = {"a": [0.5, None, 2.0], "b": ["u", "v", "w"], "c": [1, 2, 3]}, [0, 1, 1]
    refused("increasing", "gaps", call=lambda: streed.solve(MonotoneErrors("a"), X, y, max_depth=1))
    refused("decreasing", "multiway", call=lambda: streed.solve(MonotoneErrors(decreasing="b"), X, y, max_depth=1))
    refused("decreasing", "fall as well", call=lambda: streed.solve(MonotoneErrors("c", "c"), X, y, max_depth=1))
    refused("increasing", "no column 'd'", call=lambda: streed.solve(MonotoneErrors(["d"]), X, y, max_depth=1))
    refused("decreasing", "names no columns", call=lambda: MonotoneErrors(decreasing={"a": 1}))
    refused("cost_complexity", ">= 0", call=lambda: MonotoneErrors(cost_complexity=-1))


def test_regression_trees_in_order_are_not_searched() -> None:
    X, y = [[1.0], [2.0], [3.0]], [1.0, 2.0, 4.0]
    free, zeros = (OptimalTreeRegressor(max_depth=1, monotonic_cst=cst).fit(X, y) for cst in (None, [0]))
    assert free.value_ == zeros.value_
    refused("monotonic_cst", "not searched", call=lambda: OptimalTreeRegressor(monotonic_cst=[1]).fit(X, y))


@pytest.mark.compiles
def test_wide_numbers_of_scores_and_of_tasks_without_kernels_fit_into_memory() -> None:
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(16, 8_000)), rng.random(16) < 0.4
    best = 0.0
    for below in (X[:, :, None] <= np.sort(X, 0).T[None, :, :-1], X[:, :, None] > np.sort(X, 0).T[None, :, :-1]):
        hits = (below & y[:, None, None]).sum(0)
        best = max(best, float((2 * hits / (below.sum(0) + y.sum())).max()))
    found = streed.solve(F1(), X, y, max_depth=1, max_cuts="all")
    assert (found.status, found.value) == ("optimal", pytest.approx(best))


@pytest.mark.compiles
def test_a_limit_of_time_holds_for_all_that_a_call_does() -> None:
    rng = np.random.default_rng(1)
    rows, groups = rng.integers(0, 2, (1500, 14)), rng.integers(0, 40, 1500)
    labels = (rows[:, 0] + rng.normal(size=1500) > 0.5).astype(int)
    fair = FairTreeClassifier("equalized-odds", 0.1, time_limit=0.5)
    stats = fair.fit(rows, labels, sensitive_features=groups).result_.stats
    assert stats["seconds_total"] - stats["seconds_compile"] < 8  # of machines that are busy, too
    taught = PolicyTree(max_depth=1, time_limit=0.05).fit(rows, rows[:, 0] * 1.0, treatment=labels)
    assert len(taught.predict(rows)) == 1500  # what outcomes may be was learned in time, by few trees
    raw = rng.random((600, 20))
    sizes = OptimalTreeClassifier(max_depth=6, cuts="all", time_limit=0.5)
    refused("time_limit", "path", call=lambda: sizes.size_path(raw, labels[:600]))


@pytest.mark.compiles
def test_all_are_tried_where_a_time_limit_ends_the_search() -> None:
    data, fair = Dataset.make(np.random.default_rng(0).random((600, 4)), np.arange(600) % 2), DemographicParity() <= 0.1
    given = [affordable(Accuracy().subject_to(fair), data, 5, None, time_limit=t).n_questions for t in (None, 1)]
    assert given == [12, 2396]
    assert affordable(Accuracy(), data, None, None, time_limit=True) is data
    assert affordable(MonotoneErrors([]), data, 5, None, time_limit=True).n_questions == 28
    large = Dataset.make(np.random.default_rng(0).random((30_000, 20)), np.arange(30_000) % 2)
    assert [affordable(Accuracy(), large, 6, None, time_limit=t).max_cuts for t in (None, 0.5, 2)] == [3, 6, "auto"]
    assert streed.solve(Accuracy(), data, max_depth=4, time_limit=0.1).stats["searched_over"] == "all 2,396 thresholds"


ONES = np.ma.masked_array([1, 2, 1], mask=np.array([0, 1, 0], bool))


@pytest.mark.parametrize(
    ("argument", "given"),
    [
        ("y", {"y": ONES}),
        ("sample_weight", {"sample_weight": ONES}),
        ("frequency", {"frequency": ONES}),
        ("costs", {"costs": ONES}),
        ("costs", {"costs": np.ma.stack([ONES, ONES], axis=1)}),
        ("costs", {"costs": {"a": ONES}}),
        ("costs", {"costs": [[1, 1], [np.ma.masked, 1], [1, 1]]}),
        ("y", {"y": [0, np.ma.masked, 1]}),
    ],
)
def test_a_mask_is_refused_where_gaps_are(argument: str, given: Any) -> None:
    refused(argument, "missing value in row 1", call=lambda: Dataset.make([[0], [1], [1]], **given))


def test_scores_and_policies_check_what_they_are_given() -> None:
    X, y = ROWS[:8], np.arange(8.0)
    hidden = np.ma.masked_array(y, y == 1)
    model, past = OptimalTreeRegressor(max_depth=1).fit(X, y), {"treatment": ROWS[:8, 0], "propensity": y * 0 + 0.5}
    policy = PolicyTree(max_depth=1).fit(X, y, **past)
    refused("sample_weight", call=lambda: model.score(X, y, -y))
    for call in (model.score, functools.partial(policy.score, **past), functools.partial(policy.fit, **past)):
        refused("y", "missing value in row 1", call=functools.partial(call, X, hidden))
    refused("costs", "not all entries", call=lambda: streed.solve(InstanceCosts(), X, costs=np.c_[y, y * 1j]))


def test_lazy_tables_and_sparse_columns() -> None:
    table = {"a": [0, 0, 5, 0], "b": ["x", "y", "x", None]}
    expected = Dataset.make(table)
    frame = pd.DataFrame(table)
    fields = np.array([tuple(row) for row in frame.to_numpy()], dtype=[("a", int), ("b", object)])
    for X in (fields, pl.LazyFrame(table), frame.assign(a=pd.arrays.SparseArray(frame["a"])), pl.DataFrame(table)):
        assert Dataset.make(X).columns == expected.columns
        assert Dataset.make(X).X.tolist() == expected.X.tolist()


@pytest.mark.compiles
def test_the_shell_and_estimators_name_the_positive_class(tmp_path: Path) -> None:
    rows, labels = [[0, 0], [0, 1], [1, 0], [1, 1]] * 3, ["no", "yes", "yes", "yes"] * 3
    table = tmp_path / "table.csv"
    table.write_text("\n".join(["a,b,y", *(f"{a},{b},{y}" for (a, b), y in zip(rows, labels, strict=True))]))
    asked = (str(table), "--target", "y", "--task", "f1", "--max-depth", "1")
    assert "warning: F1 takes 'yes' as the positive class" in shell("solve", *asked).stderr
    for told in (
        shell("solve", *asked),
        shell("front", *asked),
        shell("report", *asked, "--out", str(tmp_path / "a.html")),
    ):
        assert "positive class: yes" in told.stdout
    with pytest.warns(UserWarning, match="'yes' as the positive class"):
        model = OptimalTreeClassifier("f1", max_depth=1).fit(rows, labels)
    assert model.result_.positive_class == "yes"
    assert "positive class: yes" in model.to_text()


def test_dates_of_another_awareness_are_refused_by_estimators() -> None:
    moments = pd.date_range("2024-03-30", periods=40, freq="h", tz="Europe/Berlin")
    labels = (np.arange(40) > 20).astype(int)
    for known, other in ((moments, moments.tz_localize(None)), (moments.tz_localize(None), moments)):
        model = OptimalTreeClassifier(max_depth=1).fit(pd.DataFrame({"t": known}), labels)
        assert model.score(pd.DataFrame({"t": known}), labels) == 1
        refused(
            "X", "give dates as the data had them", call=functools.partial(model.predict, pd.DataFrame({"t": other}))
        )
        if known.tz is not None:
            there = pd.DataFrame({"t": known.tz_convert("America/New_York")})
            assert model.predict(there).tolist() == labels.tolist()
            assert "'2024-03-30 20:00:00.000000+01:00'" in to_sql(model)


@pytest.mark.compiles
def test_times_of_other_kinds_are_refused() -> None:
    model = SurvivalTree(max_depth=1).fit(PATIENTS, TIMES, event=EVENTS)
    for wrong in (1j, [10**400], ONES):
        refused("times", call=functools.partial(model.predict_survival_function, PATIENTS, wrong))
    refused("y", "row 0 has the time -9", call=lambda: model.score(PATIENTS, [-9, 8, 2, 1], event=EVENTS))


def test_the_row_of_a_frequency_that_is_none() -> None:
    for wrong in (True, "x", 1j, 0.5):
        make = functools.partial(Dataset.make, [[0], [1], [1]], frequency=np.array([1, 1, wrong], dtype=object))
        refused("frequency", "row 2 has", call=make)


@pytest.mark.parametrize(
    "labels",
    [
        pd.array([2**53, 2**53 + 1] * 6, dtype="Int64"),
        pd.array([True, False] * 6, dtype="boolean"),
        *([pd.Series([7, -7] * 6, dtype="int64[pyarrow]")] if find_spec("pyarrow") else []),
        [dt.date(2020, 1, 1), dt.date(2021, 1, 1)] * 6,
        [Decimal("0.1"), Decimal("0.2")] * 6,
        [b"no", b"yes"] * 6,
    ],
    ids=lambda labels: str(getattr(labels, "dtype", type(labels[0]).__name__)),
)
def test_labels_stay_what_they_are(labels: Any) -> None:
    X = np.arange(12)[:, None] % 2
    groups = np.arange(12) // 2 % 2
    fair = FairTreeClassifier(max_depth=1).fit(X, labels, sensitive_features=groups)
    for model in (fair, OptimalTreeClassifier(max_depth=1).fit(X, labels)):
        shown, plain = model.predict(X).tolist(), labels.tolist() if hasattr(labels, "tolist") else labels
        assert (shown, list(map(type, shown))) == (plain, list(map(type, plain)))
        assert model.score(X, labels) == 1


def test_sparse_matrices_of_every_format() -> None:
    dense = np.random.default_rng(7).integers(0, 2, (12, 3))
    plain = OptimalTreeClassifier(max_depth=2).fit(dense, LABELS * 4)
    assert streed.proof.prove(plain, dense, LABELS * 4).optimal
    expected = plain.predict(dense).tolist()
    for kind in ("csr", "csc", "coo", "dok", "lil", "bsr", "dia"):
        X = coo_matrix(dense).asformat(kind)
        assert OptimalTreeClassifier(max_depth=2).fit(X, LABELS * 4).predict(X).tolist() == expected


def test_weights_and_names_are_refused_alike_by_every_front_end() -> None:
    X, y = ROWS[:8], np.arange(8) % 2
    for wrong in (["1"] * 8, np.array(["1"] * 8, object), pd.to_timedelta(y, unit="s"), pd.to_datetime(y)):
        for call in (functools.partial(streed.solve, Accuracy()), OptimalTreeClassifier().fit):
            refused("sample_weight", "no number", call=functools.partial(call, X, y, sample_weight=wrong))
    exact = [Decimal("0.1"), Decimal("0.3")] * 4
    assert OptimalTreeClassifier(max_depth=1).fit(X, y, sample_weight=exact).value_ == 0
    twice = pd.DataFrame(X, columns=["a", "a"])
    for call in (functools.partial(streed.solve, Accuracy()), OptimalTreeClassifier().fit):
        refused("X", "two columns are named 'a'", call=functools.partial(call, twice, y))
