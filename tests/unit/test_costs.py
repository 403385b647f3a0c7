"""Costs and policies by hand: tables, tests, scores, capacities, rows held out, and what is refused."""

from __future__ import annotations

import itertools
from fractions import Fraction
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import streed
from streed import solve
from streed.data import Dataset
from streed.encoding.row_costs import costs_with_tests
from streed.errors import TaskError
from streed.estimators import CostSensitiveTreeClassifier, PolicyTree, cross_validate_policy
from streed.exact import readable_bound
from streed.problem import Problem
from streed.reference import optimum
from streed.tasks import CostSensitive, InstanceCosts, MisclassificationCosts, PolicyValue, Splits, TreatmentParity
from streed.tasks.cost_sensitive import cost_report
from streed.tasks.cost_tables import CostTable, TestCost
from streed.tasks.outcome_scores import policy_value, scores
from streed.whole_costs import IntegerCosts, integer_costs
from tests.unit.outcomes import refused

X = [[0, 0, 0], [0, 1, 0], [1, 0, 1], [1, 1, 1]]
XOR = [0, 1, 1, 0]
PRICES = (TestCost("first", 2, 1, "blood", 0), TestCost("second", 3, 2.5, "blood", 1))

TABLE = """0 10
20 0
Attribute-name test-cost discount group binarize-begin binarize-end
first 2 1.5 a 0 0
second 3 2.5 a 1 1
third 0.25 0.25 x 2 2
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    written = tmp_path / "costs.csv"
    written.write_text(TABLE)
    return written


def test_a_file_is_read_exactly(path: Path) -> None:
    table = CostTable.read(path)
    assert table.matrix == ((0, 10), (20, 0))
    assert table.classes == (0, 1)
    assert table.tests[1] == TestCost("second", 3, Fraction(5, 2), "a", (1,))
    assert table.tests[2].group is None
    assert table.all_tests() == Fraction(21, 4)


def test_prices_along_a_path(path: Path) -> None:
    """Full price, discount after another test of the group, nothing for what is known."""
    alone = [TestCost("c", 4, 1, columns=3), TestCost("d", 6, 2, columns=5)]
    table = CostTable.of([[0]], [TestCost("a", 5, 2, "g", [0, 1]), TestCost("b", 7, 3, "g", 2), *alone])
    owner = table.feature_of({}, 6)
    assert owner == [0, 0, 1, 2, -1, 3]
    full, given, unit = table.prices(owner)
    asked = (((), 0), ((0,), 1), ((0,), 2), ((2, 3), 1), ((2,), 3), ((3,), 5), ((0, 1, 2, 3), 4))
    prices = [min([full[split], *(given[above, split] for above in path)]) * unit for path, split in asked]
    assert prices == [5, 0, 3, 2, 4, 6, 0]


def test_bounds_of_rounded_costs_hold() -> None:
    assert IntegerCosts(np.zeros((1, 2), np.int64), 0, Fraction(2)).above(3) == 2  # the sum 1 is worth 2 < 3
    draw = np.random.default_rng(0)
    fine = [[int(x) * 10**17 + int(y) for x, y in row] for row in draw.integers(0, 10**6, (5, 2, 2))]
    found = integer_costs([(Fraction(1), np.array(fine, object))], 0, None)
    assert found.wide is not None
    for chosen in itertools.product((0, 1), repeat=5):
        rounded, exact = (sum(int(costs[row][k]) for row, k in enumerate(chosen)) for costs in (found.costs, fine))
        assert found.lower(rounded) <= exact <= found.lower(rounded) + found.wide.rounding(0)
    for third in (Fraction(1, 3), Fraction(2, 3)):
        assert readable_bound(third, None, upper=False) <= third <= readable_bound(third, None, upper=True)


def test_what_predictions_cost() -> None:
    table = CostTable.of([[0, 10], [20, 0]], PRICES)
    two = [row[:2] for row in X]
    tree = streed.solve(CostSensitive(table), two, XOR, max_depth=2, search="general").tree
    assert tree is not None
    report = cost_report(tree, table, [*two, [0, 0]], [*XOR, 1])
    assert report.rows == 5
    assert report.labels == pytest.approx(20 / 5)
    assert report.tests == pytest.approx(4)
    assert report.average_tests == pytest.approx(2)
    assert report.total == pytest.approx(20 + 5 * 4)
    assert report.standard == pytest.approx(5 + 0.4 * 20)
    assert report.normalized == pytest.approx((4 + 4) / 13)
    data = Dataset.make(two, XOR)
    costs, _ = costs_with_tests(Problem(data, (CostSensitive(table) + Splits()).bind(data), 2, None, 1))  # type: ignore[misc]
    assert costs.split * costs.unit == 1  # in the unit of the tests, which is a half
    refused("y", "'b'", call=lambda: cost_report(tree, table, two, ["b"] * 4))
    refused("y", "3 entries", call=lambda: cost_report(tree, table, two, XOR[:3]))


def file_of(text: str, folder: Path) -> CostTable:
    (folder / "costs.csv").write_text(text)
    return CostTable.read(folder / "costs.csv")


def asking(*tests: TestCost) -> Any:
    """Asks for tests that the columns do not have."""
    return lambda _: streed.solve(CostSensitive(CostTable.of([[0, 1], [1, 0]], tests)), X, XOR)


def of_rows(costs: Any = None, *labels: Any) -> Any:
    return lambda _: streed.solve(InstanceCosts(labels or None), X, costs=costs)


REFUSED: list[tuple[Any, str, list[str]]] = [
    (lambda _: CostTable.of([[0, 1], [1, 0], [1, 1]]), "costs", ["3 rows of 2 entries"]),
    (lambda _: CostTable.of([[0, float("nan")], [1, 0]]), "costs", ["nan", "row 0"]),
    (lambda _: CostTable.of([[0, -1], [1, 0]]), "costs", ["row 0", "-1"]),
    (lambda _: CostTable.of([]), "costs", ["0 rows"]),
    (lambda _: CostTable.of([[0]], [TestCost("a", 1), TestCost("a", 2)]), "costs", ["two tests are named 'a'"]),
    (lambda _: CostTable.of([[0, 1], [1, 0]], classes=["a"]), "costs", ["2 rows for the classes"]),
    (lambda _: CostSensitive([[0, 1, 2], [1, 0, 2]]), "costs", ["2 rows of 3 entries"]),
    (lambda _: TestCost("a", -1), "costs", ["'a'", "it is -1"]),
    (lambda _: TestCost("a", float("inf")), "costs", ["inf"]),
    (lambda _: TestCost("a", 1, 2), "costs", ["2 with its discount"]),
    (asking(TestCost("weight", 1)), "costs", ["no column of the feature 'weight'"]),
    (asking(TestCost("a", 1, columns="weight")), "costs", ["'weight', which is not there"]),
    (asking(TestCost("a", 1, columns=3)), "costs", ["column 3", "0 to 2"]),
    (asking(TestCost("a", 1, columns=[0, 1]), TestCost("b", 1, columns=[1, 2])), "costs", ["'x1'", "'a' and 'b'"]),
    (partial(file_of, TABLE + "fourth 1 1 x 2\n"), "costs", ["line 7", "fourth 1 1 x 2"]),
    (partial(file_of, TABLE + "fourth 1 1 x 5 4\n"), "costs", ["line 7", "columns 5 to 4"]),
    (partial(file_of, TABLE + "fourth one 1 x 3 3\n"), "costs", ["line 7"]),
    (partial(file_of, TABLE.replace("0 10", "0 10 3")), "costs", ["2 rows of 2, 3 entries"]),
    (partial(file_of, TABLE.replace("0 10", "0 nan")), "costs", ["nan"]),
    (of_rows(), "costs", ["InstanceCosts needs it"]),
    (of_rows([1, 2, 3, 4]), "costs", ["shape (4,)"]),
    (of_rows([[1, 2], [1, float("nan")], [1, 1], [1, 1]]), "costs", ["row 1", "finite"]),
    (of_rows([["a", 1]] * 4), "costs", ["not all entries are numbers"]),
    (of_rows([[1, 2]] * 4, 1, 2, 3), "labels", ["3 for 2"]),
    (of_rows([[1, 2]] * 4, "a", "a"), "labels", ["label of its own"]),
]


@pytest.mark.parametrize(("make", "argument", "said"), REFUSED)
def test_costs_that_are_refused(make: Any, argument: str, said: list[str], tmp_path: Path) -> None:
    refused(argument, *said, call=partial(make, tmp_path))


def test_instance_costs_by_hand() -> None:
    costs = np.array([[1, 3], [1, 3], [9, 3], [9, 3]])
    for given in (costs, {"steady": costs[:, 1], "quick": costs[:, 0]}):
        result = streed.solve(InstanceCosts(labels=["quick", "steady"]), X, costs=given, max_depth=1)
        assert (result.value, result.tree.predict(X).tolist()) == (8, ["quick", "quick", "steady", "steady"])
    assert streed.solve(InstanceCosts(), X, costs=costs, max_depth=0).value == 12
    assert streed.solve(InstanceCosts(), X, costs=-costs, max_depth=0).value == -20


LABELS = ["ill", "sick", "well"]
MATRIX = np.array([[0, 1, 7], [2, 0, 3], [9, 4, 0]])
NAMED = pd.DataFrame(MATRIX, LABELS, LABELS)
SHUFFLED = NAMED.iloc[[2, 0, 1], [1, 2, 0]]
ROWS = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 9)
SICK = [LABELS[k] for k in [0, 1, 2, 2, 1, 1, 0, 0, 1, 0, 2, 1] * 3]
BY_NAME = {
    "pandas": SHUFFLED,
    "polars": pl.DataFrame({"class": SHUFFLED.index.tolist(), **{k: SHUFFLED[k].tolist() for k in SHUFFLED}}),
    "columns in order": {k: NAMED[k].tolist() for k in LABELS},
    "dict of dicts": {j: {k: int(SHUFFLED.loc[j, k]) for k in SHUFFLED} for j in SHUFFLED.index},
    "without names": pd.DataFrame(MATRIX),
}
if find_spec("pyarrow"):
    BY_NAME["pyarrow columns"] = SHUFFLED.convert_dtypes(dtype_backend="pyarrow")


@pytest.mark.parametrize("costs", BY_NAME.values(), ids=list(BY_NAME))
def test_costs_are_taken_by_the_names_of_labels(costs: Any) -> None:
    right = CostSensitiveTreeClassifier(MATRIX, max_depth=1).fit(ROWS, SICK)
    model = CostSensitiveTreeClassifier(costs, max_depth=1).fit(ROWS, SICK)
    assert (model.value_, model.score(ROWS, SICK)) == (right.value_, right.score(ROWS, SICK))
    assert model.predict(ROWS).tolist() == right.predict(ROWS).tolist()
    for task in (CostSensitive(costs), MisclassificationCosts(costs)):
        assert streed.solve(task, ROWS, SICK, max_depth=1).value == right.value_


@pytest.mark.compiles
@pytest.mark.parametrize("search", ["depth-first", "branches", "general"])
@pytest.mark.parametrize("depth", [2, 3, 4])
def test_a_test_that_parts_no_rows_cheapens_no_other(depth: int, search: str) -> None:
    """Below x0, either x1 or x2 is the same in all rows; x1 would make x2 free of charge there, but is no node."""
    X = [[0, 0, v] for v in (0, 1) for _ in range(3)] + [[1, v, 1] for v in (0, 1) for _ in range(3)]
    y = [0, 0, 0, 1, 1, 1] * 2
    tests = [TestCost("x0", 0), TestCost("x1", 1, 1, "g"), TestCost("x2", 10, 0, "g")]
    task = CostSensitive(CostTable.of([[0, 1000], [1000, 0]], tests=tests, classes=[0, 1]))
    result = streed.solve(task, X, y, max_depth=depth, search=search)
    best = optimum(task, Dataset.make(X, y), max_depth=depth)
    assert (result.status, result.value) == ("optimal", best[0])


PAIRS = [[0], [0], [1], [1]]
PAST: dict[str, Any] = {
    "treatment": ["a", "b", "a", "b"],
    "outcome": [2, 1, 0, 3],
    "propensity": [0.5, 0.25, 1, 0.5],
    "predicted": {"a": [1, 2, 1, 1], "b": [2, 0, 0, 2]},
}


def value(method: str, **changes: Any) -> Any:
    return streed.solve(PolicyValue(method), PAIRS, max_depth=1, **{**PAST, **changes}).value


def test_scores_by_hand() -> None:
    """Eq. 62 to 64."""
    data = Dataset.make(PAIRS, **PAST)
    assert scores("dm", data).tolist() == [[1, 2], [2, 0], [1, 0], [1, 2]]
    assert scores("ipw", data).tolist() == [[4, 0], [0, 4], [0, 0], [0, 6]]
    assert scores("dr", data).tolist() == [[1 + 2, 2], [2, 0 + 4], [1 - 1, 0], [1, 2 + 2]]


def test_values_are_means_of_the_best_scores_of_leaves() -> None:
    """Left the better of the columns' sums over the first two rows, right over the others."""
    assert value("dm") == (3 + 2) / 4
    assert value("ipw") == (4 + 6) / 4
    assert value("dr") == (6 + 4) / 4
    assert value("dm", sample_weight=[3, 1, 1, 1]) == (6 + 2) / 6


@pytest.mark.parametrize(
    ("argument", "changes", "fragments"),
    [
        ("propensity", {"propensity": [0.5, 0, 1, 1]}, ["row 1 has 0", "> 0"]),
        ("propensity", {"propensity": [0.5, 1.5, 1, 1]}, ["row 1 has 1.5"]),
        ("propensity", {"propensity": None}, ["needs it"]),
        ("propensity", {"propensity": [[0.5]] * 4}, ["1 columns for 2 treatments"]),
        ("treatment", {"treatment": ["a"] * 4}, ["'b' was never given", '"dm"']),
        ("predicted", {"treatment": ["a", "b", "c", "a"]}, ["('a', 'b')", "'c'"]),
        ("outcome", {"outcome": [1, 2, 3, float("inf")]}, ["row 3"]),
        ("treatment", {"treatment": None}, ["needs it"]),
    ],
)
def test_what_is_refused(argument: str, changes: dict[str, Any], fragments: list[str]) -> None:
    refused(argument, *fragments, call=lambda: value("dr", **changes))


def test_an_estimate_is_a_mean_with_its_error() -> None:
    """Left a, right b: scores 4, 0, 0, 6."""
    tree = streed.solve(PolicyValue("ipw"), PAIRS, max_depth=1, **{**PAST, "propensity": [0.5] * 4}).tree
    assert tree is not None
    past = {name: PAST[name] for name in ("treatment", "outcome")} | {"propensity": [0.5] * 4}
    estimate = policy_value(tree, PAIRS, "ipw", **past)
    assert estimate.value == 2.5
    assert estimate.standard_error == pytest.approx(np.std([4, 0, 0, 6], ddof=1) / 2)
    assert estimate.interval(1) == (2.5 - estimate.standard_error, 2.5 + estimate.standard_error)
    past["treatment"] = ["c", "d", "c", "d"]
    refused("treatment", "prescribes", call=lambda: policy_value(tree, PAIRS, "ipw", **past))


@pytest.mark.compiles
def test_teachers_predict_rows_that_they_have_not_seen() -> None:
    linear_model = pytest.importorskip("sklearn.linear_model")
    from streed.estimators.policy import teach

    draw = np.random.default_rng(1)
    features, given = draw.normal(size=(300, 2)), draw.integers(0, 2, 300)
    outcomes = np.stack([features[:, 0], features[:, 1]], axis=1)
    models = {"regressor": linear_model.LinearRegression(), "classifier": linear_model.LogisticRegression()}
    lesson = teach(features, given, outcomes[np.arange(300), given], folds=3, **models)
    assert lesson["propensity"].sum(axis=1) == pytest.approx(np.ones(300))
    assert lesson["predicted"] == pytest.approx(outcomes)
    policy = streed.solve(PolicyValue("dr"), features[:, :1] > features[:, 1:], max_depth=1, **lesson).tree
    assert policy.predict([[0], [1]]).tolist() == [1, 0]
    refused("treatment", "1 was given to 1 rows", call=lambda: teach([[0]] * 4, [0, 0, 0, 1], [1, 2, 3, 4], folds=2))
    refused("folds", "1", call=lambda: teach([[0]] * 4, [0, 0, 1, 1], [1, 2, 3, 4], folds=1))
    refused("treatment", "4, 3, 4", call=lambda: teach([[0]] * 4, [0, 0, 1], [1, 2, 3, 4]))


RNG = np.random.default_rng(4)
PEOPLE = RNG.integers(0, 2, (80, 3))
GAIN = np.where(PEOPLE[:, 0] == 1, 2.0, -1.0) + PEOPLE[:, 1]
SCORES = np.column_stack([np.zeros(80), np.round(GAIN + RNG.normal(0, 0.1, 80), 2)])


def best(values: Any, costs: Any, most: float) -> float:
    """The best mean outcome of any tree of depth one whose treatments cost so much at most."""
    choices = itertools.product(range(3), *[range(len(costs))] * 2)
    given = [np.where(PEOPLE[:, j] == 1, one, zero) for j, zero, one in choices]
    return float(max(values[np.arange(80), each].mean() for each in given if costs[each].sum() <= most))


@pytest.mark.compiles
@pytest.mark.parametrize(("capacity", "rows"), [(None, 80), (80, 80), (0.25, 20), (45, 45), (0.6, 48), (0, 0)])
def test_no_more_rows_are_treated_than_there_is_room_for(capacity: Any, rows: int) -> None:
    model = PolicyTree(max_depth=1, capacity=capacity).fit(PEOPLE, SCORES)
    assert int((model.predict(PEOPLE) == 1).sum()) <= rows
    assert model.value_ == pytest.approx(best(SCORES, np.arange(2), rows))
    assert model.optimal_


@pytest.mark.compiles
def test_a_budget_over_several_treatments() -> None:
    scores = np.column_stack([np.zeros(80), GAIN, 1.5 * GAIN])
    model = PolicyTree(max_depth=1, treatment_costs={1: 1, 2: 2.5}, budget=100).fit(PEOPLE, scores)
    costs = np.array([0, 1, 2.5])
    assert model.value_ == pytest.approx(best(scores, costs, 100))
    assert costs[model.predict(PEOPLE)].sum() <= 100


@pytest.mark.compiles
def test_held_out_values_and_their_intervals() -> None:
    found = cross_validate_policy(PolicyTree(max_depth=1, capacity=0.5), PEOPLE, SCORES, cv=4)
    low, high = found.interval
    assert low < found.value < high
    assert found.fold_values.mean() == pytest.approx(found.value)
    assert found.treated <= 0.65
    gain, (least, _) = found.gains[0]
    assert gain == pytest.approx(found.value)  # the control is worth nothing
    assert least > 0


def test_propensities_are_found_by_name() -> None:
    past = {"treatment": ["a", "b"], "outcome": [1, 1], "propensity": pd.DataFrame({"b": [0.8, 0.8], "a": [0.2, 0.4]})}
    assert scores("ipw", Dataset.make([[0], [1]], **past)).tolist() == [[5.0, 0.0], [0.0, 1.25]]


def test_what_a_limit_on_treatment_parity_takes() -> None:
    task = PolicyValue("dm")
    given: dict[str, Any] = {"predicted": SCORES, "sensitive_features": PEOPLE[:, 1]}
    treated, rows = TreatmentParity().counts(Dataset.make(PEOPLE, **given), PEOPLE[:, 0])["all"]["1"]
    assert (treated, rows) == (PEOPLE[PEOPLE[:, 1] == 1, 0].sum(), PEOPLE[:, 1].sum())  # the first is no treatment
    for limit, argument, said in (
        (lambda: TreatmentParity() <= 1.5, "limit", "from 0 to 1"),
        (lambda: TreatmentParity(treated="c") <= 0.5, "treated", "no treatment 'c'"),
        (lambda: TreatmentParity("age") <= 0.5, "sensitive_features", "one column without a name"),
    ):
        refused(argument, said, call=lambda limit=limit: solve(task.subject_to(limit()), PEOPLE, **given))  # type: ignore[misc]
    with pytest.raises(TaskError, match="bounded from above only"):
        TreatmentParity() >= 0.1  # noqa: B015 - it raises
    assert str(TreatmentParity("sex", treated=[1]) <= 0.2) == "TreatmentParity('sex', treated=(1,)) <= 0.2"
