"""Cost tables, what trees cost by them, and instance costs: values by hand, and what is refused."""

from __future__ import annotations

import functools
from fractions import Fraction
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.model_selection import GridSearchCV

import streed
from streed.estimators import CostSensitiveTreeClassifier
from streed.tasks import CostSensitive, InstanceCosts, MisclassificationCosts, Splits
from streed.tasks.cost_tables import CostTable, TestCost
from streed.tasks.expected_costs import cost_report, costs_by_frequency
from tests.unit.refusal import refused

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


@pytest.mark.parametrize("price", [Fraction(1, 3), 0.5, Fraction(1, 7)], ids=str)
def test_a_price_of_splits_beside_prices_of_tests_is_exact(price: Any) -> None:
    rng = np.random.default_rng(5)
    rows = rng.integers(0, 2, (32, 4))
    labels = (rows[:, 0] ^ (rows[:, 1] & rows[:, 2])) ^ (rng.random(32) < 0.1)
    task = CostSensitive(CostTable.of([[0, 9], [7, 0]], PRICES)) + price * Splits()
    found = streed.solve(task, rows, labels, max_depth=3)
    exact = streed.solve(task, rows, labels, max_depth=3, search="general")
    assert (found.status, found.stats["exact"]) == ("optimal", True)
    assert found.lower_bound == found.value == found.upper_bound == exact.value


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
    table = CostTable.of(
        [[0]], [TestCost("a", 5, 2, "g", [0, 1]), TestCost("b", 7, 3, "g", 2), TestCost("c", 4, columns=3)]
    )
    owner = table.feature_of({}, 5)
    assert owner == [0, 0, 1, 2, -1]
    assert table.price((), 0, owner) == 5
    assert table.price((0,), 1, owner) == 0
    assert table.price((0,), 2, owner) == 3
    assert table.price((2, 3), 1, owner) == 2
    assert table.price((2,), 3, owner) == 4
    assert table.price((0, 1, 2, 3), 4, owner) == 0


def test_the_second_test_of_a_group_is_cheaper() -> None:
    """XOR of the columns: 4 rows pay 3 and the discounted 1, or 2 and 3 without the group."""
    two = [row[:2] for row in X]
    grouped = streed.solve(CostSensitive(CostTable.of([[0, 99], [99, 0]], PRICES)), two, XOR, max_depth=2)
    assert grouped.value == 4 * (3 + 1)
    alone = [TestCost(test.name, test.cost, columns=test.columns) for test in PRICES]
    assert streed.solve(CostSensitive(CostTable.of([[0, 99], [99, 0]], alone)), two, XOR, max_depth=2).value == 20


def test_decimals_stay_decimals() -> None:
    table = CostTable.of([[0, 0.1], [0.2, 0]], [TestCost("a", 0.01, columns=0)])
    assert streed.solve(CostSensitive(table), [[0], [0], [0], [1]], [1, 1, 1, 0], max_depth=0).value == 0.1
    assert streed.solve(CostSensitive(table), [[0], [0], [0], [1]], [1, 1, 1, 0], max_depth=1).value == 0.04


def test_columns_are_found_by_the_features_name() -> None:
    table = CostTable.of([[0, 9], [9, 0]], [TestCost("age", 1), TestCost("colour", 2)])
    names = {0: "age", 1: "colour=red", 2: "colour = green", 3: "ages", 4: "colour[2]"}
    assert table.feature_of(names, 5) == [0, 1, 1, -1, 1]


def test_a_matrix_alone_is_a_cost_per_row() -> None:
    matrix = [[0, 1], [5, 0]]
    result = streed.solve(CostSensitive(matrix), [[0]] * 4, [0, 0, 0, 1], max_depth=0)
    assert (result.value, result.stats["route"], result.tree.predict([[0]])[0]) == (3, "row costs", 1)  # type: ignore[union-attr]
    weighted = streed.solve(MisclassificationCosts(matrix), [[0]] * 4, [0, 0, 0, 1], sample_weight=[1, 1, 4, 1])
    assert weighted.value == 5


def test_labels_that_are_not_in_the_data_are_labels_too() -> None:
    table = CostTable.of([[0, 4, 1], [4, 0, 1], [1, 1, 0]], classes=["no", "yes", "ask"])
    result = streed.solve(CostSensitive(table), [[0], [0]], ["no", "yes"], max_depth=0)
    assert result.value == 2
    assert result.tree is not None
    assert result.tree.predict([[0]]).tolist() == ["ask"]


def test_what_predictions_cost() -> None:
    table = CostTable.of([[0, 10], [20, 0]], PRICES)
    two = [row[:2] for row in X]
    tree = streed.solve(CostSensitive(table), two, XOR, max_depth=2).tree
    assert tree is not None
    report = cost_report(tree, table, [*two, [0, 0]], [*XOR, 1])
    assert report.rows == 5
    assert report.labels == pytest.approx(20 / 5)
    assert report.tests == pytest.approx(4)
    assert report.average_tests == pytest.approx(2)
    assert report.total == pytest.approx(20 + 5 * 4)
    assert report.standard == pytest.approx(5 + 0.4 * 20)
    assert report.normalized == pytest.approx((4 + 4) / 13)
    refused("y", "'b'", call=lambda: cost_report(tree, table, two, ["b"] * 4))
    refused("y", "3 entries", call=lambda: cost_report(tree, table, two, XOR[:3]))


def test_a_test_is_counted_once() -> None:
    table = CostTable.of([[0, 10], [20, 0]], [TestCost("both", 1, columns=[0, 1])])
    tree = streed.solve(CostSensitive(table), X, XOR, max_depth=2).tree
    assert tree is not None
    report = cost_report(tree, table, X, XOR)
    assert (report.tests, report.average_tests) == (1, 1)


def test_costs_by_frequency() -> None:
    """Eq. 60: C = 1/3 of 6, f = 3/4 and 1/4, K = 2."""
    table = costs_by_frequency(["a", "a", "a", "b"], [TestCost("t", 6, columns=0)], Fraction(1, 3))
    assert table.matrix == ((0, Fraction(4, 3)), (4, 0))
    assert table.classes == ("a", "b")


@pytest.mark.parametrize(
    ("make", "fragments"),
    [
        (lambda: CostTable.of([[0, 1], [1, 0], [1, 1]]), ["3 rows of 2 entries"]),
        (lambda: CostTable.of([[0, float("nan")], [1, 0]]), ["nan", "row 0"]),
        (lambda: CostTable.of([[0, -1], [1, 0]]), ["row 0", "-1"]),
        (lambda: CostTable.of([]), ["0 rows"]),
        (lambda: CostTable.of([[0]], [TestCost("a", 1), TestCost("a", 2)]), ["two tests are named 'a'"]),
        (lambda: CostTable.of([[0, 1], [1, 0]], classes=["a"]), ["2 rows for the classes"]),
        (lambda: CostSensitive([[0, 1, 2], [1, 0, 2]]), ["2 rows of 3 entries"]),
        (lambda: TestCost("a", -1), ["'a'", "it is -1"]),
        (lambda: TestCost("a", float("inf")), ["inf"]),
        (lambda: TestCost("a", 1, 2), ["2 with its discount"]),
    ],
)
def test_costs_that_are_refused(make: Any, fragments: list[str]) -> None:
    refused("costs", *fragments, call=make)


@pytest.mark.parametrize(
    ("tests", "fragments"),
    [
        ([TestCost("weight", 1)], ["no column of the feature 'weight'"]),
        ([TestCost("a", 1, columns="weight")], ["'weight', which is not there"]),
        ([TestCost("a", 1, columns=3)], ["column 3", "0 to 2"]),
        ([TestCost("a", 1, columns=[0, 1]), TestCost("b", 1, columns=[1, 2])], ["'x1'", "'a' and 'b'"]),
    ],
)
def test_features_that_are_refused(tests: list[TestCost], fragments: list[str]) -> None:
    refused(
        "costs", *fragments, call=lambda: streed.solve(CostSensitive(CostTable.of([[0, 1], [1, 0]], tests)), X, XOR)
    )


def test_data_that_costs_do_not_fit() -> None:
    refused(
        "costs", "2 classes, and y has 3", call=lambda: streed.solve(CostSensitive([[0, 1], [1, 0]]), X, [0, 1, 2, 0])
    )
    named = CostTable.of([[0, 1], [1, 0]], classes=["a", "b"])
    refused("costs", "'c'", call=lambda: streed.solve(CostSensitive(named), X, ["a", "b", "c", "a"]))
    tested = CostSensitive(CostTable.of([[0, 1], [1, 0]], PRICES))
    refused("sample_weight", "per row", call=lambda: streed.solve(tested, X, XOR, sample_weight=[1, 2, 1, 1]))


@pytest.mark.parametrize(
    ("text", "fragments"),
    [
        (TABLE + "fourth 1 1 x 2\n", ["line 7", "fourth 1 1 x 2"]),
        (TABLE + "fourth 1 1 x 5 4\n", ["line 7", "columns 5 to 4"]),
        (TABLE + "fourth one 1 x 3 3\n", ["line 7"]),
        (TABLE.replace("0 10", "0 10 3"), ["2 rows of 2, 3 entries"]),
        (TABLE.replace("0 10", "0 nan"), ["nan"]),
    ],
)
def test_files_that_are_refused(tmp_path: Path, text: str, fragments: list[str]) -> None:
    written = tmp_path / "costs.csv"
    written.write_text(text)
    refused("costs", *fragments, call=lambda: CostTable.read(written))


# -- instance costs ------------------------------------------------------------------------------------------------


def test_instance_costs_by_hand() -> None:
    costs = np.array([[1, 3], [1, 3], [9, 3], [9, 3]])
    result = streed.solve(InstanceCosts(labels=["quick", "steady"]), X, costs=costs, max_depth=1)
    assert result.value == 8
    assert result.tree is not None
    assert result.tree.predict(X).tolist() == ["quick", "quick", "steady", "steady"]
    assert streed.solve(InstanceCosts(), X, costs=costs, max_depth=0).value == 12
    assert streed.solve(InstanceCosts(), X, costs=-costs, max_depth=0).value == -20


def test_instance_costs_that_are_refused() -> None:
    refused("costs", "InstanceCosts needs it", call=lambda: streed.solve(InstanceCosts(), X))
    refused("costs", "shape (4,)", call=lambda: streed.solve(InstanceCosts(), X, costs=[1, 2, 3, 4]))
    bad: list[list[Any]] = [[1, 2], [1, float("nan")], [1, 1], [1, 1]]
    refused("costs", "row 1", "finite", call=lambda: streed.solve(InstanceCosts(), X, costs=bad))
    refused("costs", "not all entries are numbers", call=lambda: streed.solve(InstanceCosts(), X, costs=[["a", 1]] * 4))
    refused("labels", "3 for 2", call=lambda: streed.solve(InstanceCosts(labels=[1, 2, 3]), X, costs=[[1, 2]] * 4))
    refused("labels", "label of its own", call=lambda: InstanceCosts(labels=["a", "a"]))


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


def test_names_may_be_the_texts_of_labels() -> None:
    y = [LABELS.index(label) for label in SICK]
    right = CostSensitiveTreeClassifier(MATRIX, max_depth=1).fit(ROWS, y)
    for rename in (int, str, np.int8):
        costs = SHUFFLED.rename(index=LABELS.index, columns=LABELS.index).rename(index=rename, columns=rename)
        assert CostSensitiveTreeClassifier(costs, max_depth=1).fit(ROWS, y).value_ == right.value_
        each = pd.DataFrame(MATRIX[y])[[2, 0, 1]].rename(columns=rename)
        model = CostSensitiveTreeClassifier(max_depth=1).fit(ROWS, y, costs=each)
        assert (model.value_, model.predict(ROWS).tolist()) == (right.value_, right.predict(ROWS).tolist())
        tree = streed.solve(InstanceCosts(), ROWS, y, costs=each, max_depth=1).tree
        assert tree is not None
        assert tree.labels == (2, 0, 1)


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
    ],
)
def test_names_that_are_no_labels_are_refused(costs: Any, said: str) -> None:
    refused("costs", said, call=lambda: CostSensitiveTreeClassifier(costs).fit(ROWS, SICK))
    refused("costs", said, call=lambda: streed.solve(CostSensitive(costs), ROWS, SICK))


def test_costs_of_each_row() -> None:
    y = np.array([LABELS.index(label) for label in SICK])
    right = CostSensitiveTreeClassifier(MATRIX, max_depth=1).fit(ROWS, SICK)
    table = pd.DataFrame(MATRIX[y], columns=LABELS)[["sick", "well", "ill"]]
    for costs in (MATRIX[y], MATRIX[y].tolist(), table, pl.from_pandas(table), table.to_dict("list")):
        model = CostSensitiveTreeClassifier(max_depth=1).fit(ROWS, SICK, costs=costs)
        assert model.value_ == right.value_
        assert model.score(ROWS, SICK, costs=costs) == right.score(ROWS, SICK)
        weights = np.arange(36) % 3
        weighed = CostSensitiveTreeClassifier(max_depth=1).fit(ROWS, SICK, weights, costs)
        copied = CostSensitiveTreeClassifier(max_depth=1).fit(ROWS, SICK, costs=costs, frequency=weights)
        by_class = CostSensitiveTreeClassifier(MATRIX, max_depth=1).fit(ROWS, SICK, weights)
        assert weighed.value_ == copied.value_ == by_class.value_
    gains = CostSensitiveTreeClassifier(max_depth=1).fit(ROWS, SICK, costs=-1.0 * MATRIX[y])
    assert gains.value_ < 0
    with sklearn.config_context(enable_metadata_routing=True):
        asking = CostSensitiveTreeClassifier().set_fit_request(costs=True).set_score_request(costs=True)
        search = GridSearchCV(asking, {"max_depth": [1, 2]}, cv=3).fit(ROWS, SICK, costs=table)
    assert -9 <= search.best_score_ <= 0


def test_costs_of_each_row_that_are_refused() -> None:
    y = [LABELS.index(label) for label in SICK]
    table = pd.DataFrame(MATRIX[y], columns=LABELS)
    for costs, said in (
        (MATRIX[y][:, :2], "2 columns"),
        (table.rename(columns={"ill": "Ill"}), "'Ill'"),
        (table.assign(x=1), "'x'"),
        (MATRIX[y][:9], "9 rows"),
        (table.astype(str), "not all entries"),
        (table.where(table > 0), "missing"),
    ):
        for more in ({}, {"sample_weight": np.arange(36)}, {"frequency": np.arange(36)}):
            fit = functools.partial(CostSensitiveTreeClassifier().fit, ROWS, SICK, costs=costs, **more)
            refused("costs", said, call=fit)
    refused("costs", "of its own", call=lambda: CostSensitiveTreeClassifier(MATRIX).fit(ROWS, SICK, costs=table))
    fitted = CostSensitiveTreeClassifier(max_depth=1).fit(ROWS, SICK, costs=table)
    refused("costs", "costs of each row", call=lambda: fitted.score(ROWS, SICK))
