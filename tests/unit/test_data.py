"""Dataset from 0/1 arrays: what is read, what it becomes, and what is refused."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streed.data import Column, Dataset
from tests.unit.refusal import refused

XOR = [[0, 0], [0, 1], [1, 0], [1, 1]]


# -- 0/1 arrays --------------------------------------------------------------------------------------------------------


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


@pytest.mark.parametrize(
    ("X", "found"),
    [
        (np.zeros(4), "1 dimensions"),
        (np.zeros((2, 2, 2)), "3 dimensions"),
        (np.zeros((0, 3)), "no rows"),
        (np.array(3), "0 dimensions"),
        (np.zeros((2, 2), dtype=complex), "complex"),
        ([0, 1], "flat"),
        ([], "empty"),
        ([[0, 1], [1]], "row 1 has 1 values"),
        ([[[0], [1]]], "3 or more dimensions"),
        (5, "int is no table"),
        ("abc", "str is no table"),
        (None, "NoneType is no table"),
        ({}, "no rows"),
        ({"a": [0, 1], "b": [1]}, "different lengths"),
        ({"a": 3}, "'a' is 3"),
        (pd.DataFrame(), "no rows"),
        (pl.DataFrame(), "no rows"),
        (pd.Series([0, 1]), "series"),
        (pl.Series([0, 1]), "series"),
        (pd.DataFrame([[0, 1]], columns=["a", "a"]), "'a'"),
        (pd.DataFrame([[0, 1]], columns=["1", 1]), "'1'"),
    ],
)
def test_refuses_what_has_no_rows_and_columns(X: Any, found: Any) -> None:
    refused("X", found, call=lambda: Dataset.make(X, None))


# -- categorical columns of arrays -------------------------------------------------------------------------------------


def test_array_with_listed_columns() -> None:
    X = np.array([[0, 5, 3], [1, 9, 3], [1, -2, 4]])
    data = Dataset.make(X, None, categorical=[1, "x2"])
    assert data.X.tolist() == [[0, 1, 0], [1, 2, 0], [1, 0, 1]]
    assert data.columns == (Column("x0", (0, 1), False), Column("x1", (-2, 5, 9), True), Column("x2", (3, 4), False))
    assert data.categorical == (1,)


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
    assert Dataset.make({"id": texts}).column(0) == Column("id", ("other",), False, other=True)


@pytest.mark.parametrize(
    ("categorical", "found"),
    [
        (["c"], "'c'"),
        ([2], "2"),
        ([2**70], f"no column {2**70}"),
        ([-1], "-1"),
        ("a", "'a'"),
        (3, "3"),
        ([True], "True"),
        ([1.0], "1.0"),
    ],
)
def test_refuses_unknown_columns_in_categorical(categorical: Any, found: Any) -> None:
    table = pd.DataFrame({"a": [0, 1], "b": [1, 1]})
    refused("categorical", found, call=lambda: Dataset.make(table, None, categorical=categorical))


# -- names -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("names", "found"), [(["a"], "1 names for 2"), (["a", "a"], "'a'"), ("ab", "'ab'"), (["a", 1], "1")]
)
def test_refuses_names(names: Any, found: Any) -> None:
    refused("names", found, call=lambda: Dataset.make(XOR, None, names=names))


# -- one dataset and another -------------------------------------------------------------------------------------------


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


# -- properties --------------------------------------------------------------------------------------------------------


@given(st.lists(st.lists(st.integers(-1, 2), min_size=3, max_size=3), min_size=1, max_size=6), st.booleans())
def test_array_is_binary_exactly_where_it_is_zeros_and_ones(rows: Any, real: Any) -> None:
    X = np.array(rows, dtype=float if real else int)
    data = Dataset.make(X, None)
    assert sorted(data.ordered) == np.flatnonzero(~np.isin(X, (0, 1)).all(axis=0)).tolist()
    for j in range(3):
        values = data.ordered[j].values if j in data.ordered else np.array([0, 1])
        assert values[data.X[:, j]].tolist() == X[:, j].tolist()
