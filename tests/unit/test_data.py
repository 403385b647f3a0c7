"""Dataset from 0/1 arrays, labels, weights and further data by row: what is read, and what is refused."""

from __future__ import annotations

import pickle
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streed.data import Column, Dataset
from tests.unit.outcomes import refused
from tests.unit.test_data_tables import LABELS

XOR = [[0, 0], [0, 1], [1, 0], [1, 1]]


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int16", "int32", "uint32", "int64", "float32", "float64"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_array_of_any_type_and_layout(dtype: Any, order: Any) -> None:
    X = np.array([[0, 1, 1], [1, 0, 1]], dtype=dtype, order=order)
    data = Dataset.make(X, [0, 1])
    assert data.X.tolist() == [[0, 1, 1], [1, 0, 1]]
    assert data.X.dtype == np.uint8
    assert data.X.flags.c_contiguous
    assert not np.shares_memory(data.X, X)
    assert data.names == ("x0", "x1", "x2")
    assert data.categorical == ()
    assert repr(data.columns[1].categories) == ("(False, True)" if dtype == "bool" else "(0, 1)")


def test_array_with_listed_columns() -> None:
    X = np.array([[0, 5, 3], [1, 9, 3], [1, -2, 4]])
    data = Dataset.make(X, None, categorical=[1, "x2"])
    assert data.X.tolist() == [[0, 1, 0], [1, 2, 0], [1, 0, 1]]
    assert data.columns == (Column("x0", (0, 1), False), Column("x1", (-2, 5, 9), True), Column("x2", (3, 4), False))


def test_most_categories() -> None:
    column = np.arange(256)[:, None]
    data = Dataset.make(column, None, categorical=True)
    assert data.X[:, 0].tolist() == list(range(256))
    texts = [f"t{i:03}" for i in range(300)]
    for values in (list(range(300)), texts):
        data = Dataset.make({"c": [*values, *values[40:], *values[45:]]}, None, categorical=True)
        found = data.column(0)
        assert found.known == tuple(values[45:])  # of 300 the 255 most frequent, ...
        assert found.other
        assert found.categories[data.X[0, 0]] == "other"
        some = Dataset.make({"c": [*values, *values[:200], *values[:100], None]}, None, categorical=True).column(0)
        assert some.categories == (*values[:200], "other", "missing")  # ... if more than one row has them
        assert len(Dataset.make({"c": [*values, *values, None]}, None, categorical=True).column(0).categories) == 256
    assert Dataset.make({"id": texts}).column(0) == Column("id", ("other",), False, other=True)


def test_subset() -> None:
    table = {"bit": [0, 1, 1, 0], "three": ["z", "x", "y", "x"]}
    data = Dataset.make(table, ["a", "b", "c", "a"], sample_weight=[1, 2, 3, 4], costs=[5, 6, 7, 8])
    for rows in ([1, 3], np.array([False, True, False, True])):
        part = data.subset(rows)
        assert part.X.tolist() == [[1, 0], [0, 0]]
        assert part.X.flags.c_contiguous
        assert part.class_numbers.tolist() == [1, 0]
        assert part.classes == ("a", "b", "c")
        assert part.weights.tolist() == [2, 4]
        assert part.row_data["costs"].tolist() == [6, 8]
        assert part.columns == data.columns
        assert part.class_totals() == [4, 2, 0]
    assert data.n_rows == 4


def test_repr_and_pickle() -> None:
    data = Dataset.make({"bit": [0, 1], "text": ["b", "a"]}, [0, 1])
    assert repr(data) == "Dataset(2 rows, 2 columns, 2 classes)"
    again = pickle.loads(pickle.dumps(data))
    assert again.X.tolist() == data.X.tolist()
    assert again.columns == data.columns


@given(st.lists(st.lists(st.integers(-1, 2), min_size=3, max_size=3), min_size=1, max_size=6), st.booleans())
def test_array_is_binary_exactly_where_it_is_zeros_and_ones(rows: Any, real: Any) -> None:
    X = np.array(rows, dtype=float if real else int)
    data = Dataset.make(X, None)
    assert sorted(data.ordered) == np.flatnonzero(~np.isin(X, (0, 1)).all(axis=0)).tolist()
    for j in range(3):
        values = data.ordered[j].values if j in data.ordered else np.array([0, 1])
        assert values[data.X[:, j]].tolist() == X[:, j].tolist()


@pytest.mark.parametrize(
    ("y", "classes", "numbers"),
    [
        (["no", "yes", "maybe", "no"], ("maybe", "no", "yes"), [1, 2, 0, 1]),
        ([-1, 1, 1, -1], (-1, 1), [0, 1, 1, 0]),
        ([2, 1, 2, 2], (1, 2), [1, 0, 1, 1]),
        ([0, 10**6, 0, 10**6], (0, 10**6), [0, 1, 0, 1]),
        ([2**63, 0, 2**63, 0], (0, 2**63), [1, 0, 1, 0]),
        ([-(2**63), 2**63 - 1, 0, 0], (-(2**63), 0, 2**63 - 1), [0, 2, 1, 1]),
        ([10**30, 0, 0, 0], (0, 10**30), [1, 0, 0, 0]),
        ([True, False, True, True], (False, True), [1, 0, 1, 1]),
        ([True, True, True, True], (True,), [0, 0, 0, 0]),
        ([0.0, 2.0, 2.0, 0.0], (0.0, 2.0), [0, 1, 1, 0]),
        ([5, 3, 9, 3], (3, 5, 9), [1, 0, 2, 0]),
        ([Fraction(1, 2), 1, 1, 1], (Fraction(1, 2), 1), [0, 1, 1, 1]),
    ],
)
def test_labels(y: Any, classes: Any, numbers: Any) -> None:
    given_as = [y, tuple(y), np.array(y, dtype=object), pd.Series(y, dtype=object)]
    if not any(isinstance(label, Fraction) for label in y) and max(map(abs, y) if y[0] != "no" else [0]) < 2**63:
        given_as += [np.array(y), pd.Series(y), pl.Series(y)]
    for labels in given_as:
        data = Dataset.make(XOR, labels)
        assert data.classes == classes
        assert [type(label) for label in data.classes] == [type(label) for label in classes]
        assert data.class_numbers.tolist() == numbers
        assert data.class_numbers.dtype == np.int64


@pytest.mark.parametrize(
    ("y", "kind"),
    [
        ([2.5, -3, 4, -3], "f"),
        ([7, 3, 9, 3], "i"),
        ([-1, 1, 1, -1], "f"),
        ([0, 1, 2, 0], "i"),
        (["b", "a", "b", "a"], "O"),
    ],
)
def test_y_holds_the_callers_values(y: Any, kind: str) -> None:
    data = Dataset.make(XOR, y)
    assert (data.y.tolist(), data.y.dtype.kind) == (y, kind)
    assert (data.y[:, None] == data.classes).tolist() == (data.class_numbers[:, None] == range(data.n_classes)).tolist()
    assert data.subset([2, 0]).y.tolist() == [y[2], y[0]]
    if kind != "O":
        assert (data.y - 1.5).tolist() == [each - 1.5 for each in y]
        assert type(data.y[1:] * 2) is np.ndarray
    with pytest.raises(ValueError, match="read-only"):
        data.y[0] = 0


REFUSED: dict[str, list[tuple[Any, str]]] = {
    "X": [
        (np.zeros(4), "1 dimensions"),
        (np.zeros((0, 3)), "no rows"),
        (np.zeros((2, 2), dtype=complex), "complex"),
        ([0, 1], "flat"),
        ([], "empty"),
        ([[0, 1], [1]], "row 1 has 1 values"),
        ([[[0], [1]]], "3 or more dimensions"),
        ("abc", "str is no table"),
        (None, "NoneType is no table"),
        ({}, "no rows"),
        ({"a": [0, 1], "b": [1]}, "different lengths"),
        ({"a": 3}, "'a' is 3"),
        (pd.Series([0, 1]), "series"),
        (pd.DataFrame([[0, 1]], columns=["a", "a"]), "'a'"),
        (pd.DataFrame([[0, 1]], columns=["1", 1]), "'1'"),
    ],
    "categorical": [
        (["c"], "'c'"),
        ([2], "2"),
        ([-1], "-1"),
        ("a", "'a'"),
        (np.array(3), "is no list"),
        ([True], "True"),
    ],
    "names": [(["a"], "1 names for 2"), (["a", "a"], "'a'"), ("ab", "'ab'"), (["a", 1], "1")],
    "y": [
        ([0, 1, 1], "3 labels, but X has 4 rows"),
        (["a", None, "b", "b"], "missing value in row 1"),
        (np.array([0.0, np.inf, 1, 1]), "infinite value in row 1"),
        (["a", 1, "b", 2], "types: int, str"),
        ([[0], [1], [1], [0]], "sorted"),
        (np.zeros((4, 1)), "2 dimensions"),
        (pd.DataFrame({"y": [0, 1, 1, 0]}), "a table"),
        ("abcd", "str"),
    ],
    "sample_weight": [
        ([1, 2, 3], "3 weights, but X has 4 rows"),
        ([1, -1, 1, 1], "row 1 has -1"),
        ([1.0, float("inf"), 1.0, 1.0], "row 1"),
        ([1, None, 1, 1], "row 1"),
        ([0, 0, 0, 0], "all weights are zero"),
        ([2**59, 2**59, 1, 1], "2**60"),
        (np.array([2**63, 1, 1, 1], dtype=np.uint64), "2**60"),
        ([2**70, 1.5, 1, 1], "row 0 has the weight"),
        (["1", "2", "3", "4"], "no number"),
    ],
    "frequency": [
        ([1, -1, 1, 1], "row 1 has -1"),
        ([1, 0.5, 1, 1], "row 1 has 0.5"),
        ([True, False, True, True], "row 0 has True"),
        ([1, float("nan"), 1, 1], "missing value in row 1"),
        ([1, 1], "2 numbers, but X has 4 rows"),
        (["a", "b", "c", "d"], "row 0 has 'a'"),
        ([2**59, 2**59, 1, 1], "the total is 2**60 or more"),
        ([0, 0, 0, 0], "every row stands for 0 rows"),
    ],
    "sensitive_features": [
        ([1, 2, 3], "3 rows"),
        (np.array(1), "single"),
        (["f", None, "m", "f"], "row 1"),
        ([[1], [1, 2], [1], [1]], "different lengths"),
        (pd.DataFrame({"sex": ["f", None, "m", "f"]}), "'sex'"),
        (pd.DataFrame([[0, 1]] * 4, columns=["a", "a"]), "'a'"),
    ],
}
"""By argument: what it cannot be, and what is said."""


@pytest.mark.parametrize(("argument", "value", "found"), [(k, *each) for k, rows in REFUSED.items() for each in rows])
def test_what_is_refused(argument: str, value: Any, found: str) -> None:
    X = pd.DataFrame({"a": [0, 1], "b": [1, 1]}) if argument == "categorical" else XOR
    given: dict[str, Any] = {"X": X, "y": None, argument: value}
    refused(argument, found, call=lambda: Dataset.make(given.pop("X"), given.pop("y"), **given))


@pytest.mark.parametrize("given_as", [list, np.array, lambda y: np.array(y, dtype=object), pd.Series, pl.Series])
def test_few_real_numbers_are_classes_and_many_are_measured(given_as: Any) -> None:
    data = Dataset.make(XOR, given_as([0.5, 1.25, 0.5, 2.0]))
    assert data.targets.tolist() == [0.5, 1.25, 0.5, 2.0]
    assert data.targets.dtype == np.float64
    assert data.class_labels == (0.5, 1.25, 2.0)
    measured = Dataset.make(XOR * 10, given_as([x / 4 for x in range(40)]))
    refused("y", "40 different labels that are not whole numbers: 0.25, 0.5", call=lambda: measured.class_labels)


@pytest.mark.parametrize("given_as", [list, tuple, np.array, pd.Series, pl.Series])
def test_weights(given_as: Any) -> None:
    whole = Dataset.make(XOR, [0, 1, 1, 0], sample_weight=given_as([0, 2, 3, 1]))
    assert whole.weights.tolist() == [0, 2, 3, 1]
    assert whole.weights.dtype == np.int64
    assert whole.class_totals() == [1, 5]
    real = Dataset.make(XOR, [0, 1, 1, 0], sample_weight=given_as([0.1, 0.5, 2.0, 0.2]))
    assert real.weights.tolist() == [0.1, 0.5, 2.0, 0.2]
    assert real.weights.dtype == np.float64
    assert real.class_totals() == [Fraction(3, 10), Fraction(5, 2)]


def test_class_totals_are_exact() -> None:
    data = Dataset.make([[0]] * 10, [0] * 10, sample_weight=[0.1] * 10)
    assert data.class_totals() == [1]
    assert isinstance(data.class_totals()[0], int)
    large = Dataset.make([[0]] * 3, [0, 0, 1], sample_weight=[2**58, 1, 2**58 + 1])
    assert large.class_totals() == [2**58 + 1, 2**58 + 1]
    assert Dataset.make(XOR, [0, 0, 0, 5]).class_totals() == [3, 1]
    assert Dataset.make(XOR, [0, 0, 0, 5], sample_weight=[1, 1, 1, 0]).class_totals() == [3, 0]


def test_row_data() -> None:
    costs = np.arange(8).reshape(4, 2)
    given: dict[str, Any] = {"more": [[1, 2.5]] * 4, "group": pl.Series([1, 2, 3, 4])}
    data = Dataset.make(XOR, None, sensitive_features=["f", "m", "f", "x"], costs=costs, **given)
    assert data.row_data["sensitive_features"].tolist() == ["f", "m", "f", "x"]
    assert data.row_data["costs"].tolist() == costs.tolist()
    assert not np.shares_memory(data.row_data["costs"], costs)
    assert data.row_data["more"].shape == (4, 2)
    assert data.row_data["group"].tolist() == [1, 2, 3, 4]
    assert Dataset.make(XOR, None, costs=None).row_data == {}


@given(LABELS | st.lists(st.fractions(), min_size=1, max_size=30))
def test_labels_round_trip(labels: Any) -> None:
    data = Dataset.make(np.zeros((len(labels), 1), dtype=int), labels)
    assert [data.classes[k] for k in data.class_numbers.tolist()] == labels
    assert list(data.classes) == sorted(set(labels))
    assert sum(data.class_totals()) == len(labels)
    assert min(data.class_totals()) > 0
