"""Dataset from tables of pandas, polars and plain lists; the caller's objects unchanged."""

from __future__ import annotations

import datetime as dt
import pickle
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sparse
from hypothesis import given
from hypothesis import strategies as st

from streed.data import Column, Cut, Dataset, Kind

XOR = [[0, 0], [0, 1], [1, 0], [1, 1]]


COLUMNS: dict[str, list[Any]] = {
    "flag": [True, False, True, True],
    "bit": [0, 1, 1, 0],
    "real": [0.0, 1.0, 1.0, 0.0],
    "pair": ["3", "3", "9", "3"],
    "text": ["b", "a", "b", "a"],
    "three": ["z", "x", "y", "x"],
    "same": ["q", "q", "q", "q"],
    "ones": [1, 1, 1, 1],
}
CODED = (
    Column("flag", (False, True), False),
    Column("bit", (0, 1), False),
    Column("real", (0, 1), False),
    Column("pair", ("3", "9"), False),
    Column("text", ("a", "b"), False),
    Column("three", ("x", "y", "z"), True),
    Column("same", ("q",), False),
    Column("ones", (0, 1), False),
)
CODES = [[1, 0, 0, 0, 1, 2, 0, 1], [0, 1, 1, 0, 0, 0, 0, 1], [1, 1, 1, 1, 1, 1, 0, 1], [1, 0, 0, 0, 0, 0, 0, 1]]


@pytest.mark.parametrize("kind", [dict, pd.DataFrame, pl.DataFrame])
def test_table_columns(kind: Any) -> None:
    data = Dataset.make(kind(COLUMNS), None)
    assert data.columns == CODED
    assert data.X.tolist() == CODES
    assert data.X.flags.c_contiguous
    assert data.categorical == (5,)
    assert data.names == tuple(COLUMNS)
    assert repr(data.columns) == repr(CODED)  # True is not 1


def test_declared_order_of_categories_is_kept() -> None:
    values = ["low", "high", "mid", "low"]
    order = ["low", "never", "mid", "high"]
    wanted = Column("c", ("low", "mid", "high"), True)
    tables = [
        pd.DataFrame({"c": pd.Categorical(values, categories=order)}),
        pl.DataFrame({"c": pl.Series(values, dtype=pl.Enum(order))}),
    ]
    for table in tables:
        data = Dataset.make(table, None)
        assert data.column(0) == wanted
        assert data.X[:, 0].tolist() == [0, 2, 1, 0]


ORDERED: dict[str, tuple[Kind, list[Any], tuple[Any, ...]]] = {
    "dates": (Kind.DATE, [dt.date(2020, 1, day) for day in (1, 3, 2)], ("2020-01-01", "2020-01-02", "2020-01-03")),
    "dates as texts": (
        Kind.DATE,
        ["2020-01-01", "2020-01-03T12:00", "2020-01-02"],
        ("2020-01-01", "2020-01-02", "2020-01-03T12:00:00"),
    ),
    "times": (Kind.TIME, [dt.time(hour) for hour in (1, 20, 3)], ("01:00:00", "03:00:00", "20:00:00")),
    "times as texts": (Kind.TIME, ["01:00:00", "20:00:00", "03:00:00.5"], ("01:00:00", "03:00:00.500000", "20:00:00")),
    "durations": (Kind.DURATION, [dt.timedelta(day) for day in (0, 2, 1)], ("0:00:00", "1 day", "2 days")),
    "decimals": (Kind.NUMBER, [Decimal("0.1"), Decimal("0.3"), Decimal("0.2")], (0.1, 0.2, 0.3)),
    "fractions": (Kind.NUMBER, [Fraction(0), Fraction(3, 2), Fraction(1)], (0, 1, 1.5)),
    "truth and numbers": (Kind.NUMBER, [False, 2.5, True], (0, 1, 2.5)),
}


@pytest.mark.parametrize(("scale", "values", "categories"), ORDERED.values(), ids=ORDERED)
@pytest.mark.parametrize("make", [list, pd.Series, lambda x: np.array(x, dtype=object)])
def test_what_stands_in_an_order_is_ordered_unless_listed(
    scale: Kind, values: list[Any], categories: tuple[Any, ...], make: Any
) -> None:
    for gap in ([], [None]):
        data = Dataset.make({"c": make([*values, *gap])})
        assert data.columns == (Column("c", (), False, scale, bool(gap)),)
        assert data.X[:, 0].tolist() == [0, 2, 1, *([3] if gap else [])]
        listed = Dataset.make({"c": make([*values, *gap])}, None, categorical=True)
        assert listed.column(0).categories == (*categories, *(["missing"] if gap else []))
        assert listed.X[:, 0].tolist() == [0, 2, 1, *([3] if gap else [])]


@pytest.mark.parametrize(
    "table",
    [
        {"ok": [0, 1], "bad": ["a", None]},
        {"ok": [0, 1], "bad": [1, float("nan")]},
        {"ok": [0, 1], "bad": [True, None]},
        {"ok": [0, 1], "bad": np.array(["2020-01-01", "NaT"], dtype="datetime64[D]")},
        pd.DataFrame({"ok": [0, 1], "bad": ["a", None]}),
        pd.DataFrame({"ok": [0, 1], "bad": [0.0, np.nan]}),
        pd.DataFrame({"ok": [0, 1], "bad": pd.array([1, None], dtype="Int64")}),
        pd.DataFrame({"ok": [0, 1], "bad": pd.array([True, None], dtype="boolean")}),
        pd.DataFrame({"ok": [0, 1], "bad": pd.Categorical(["a", None])}),
        pd.DataFrame({"ok": [0, 1], "bad": pd.Series([1, pd.NA], dtype=object)}),
        pd.DataFrame({"ok": [0, 1], "bad": pd.to_datetime(["2020-01-01", None])}),
        pl.DataFrame({"ok": [0, 1], "bad": ["a", None]}),
        pl.DataFrame({"ok": [0, 1], "bad": [0.0, float("nan")]}),
        pl.DataFrame({"ok": [0, 1], "bad": [0, None]}),
        pl.DataFrame({"ok": [0, 1], "bad": pl.Series(["a", None], dtype=pl.Categorical)}),
    ],
)
def test_missing_values_are_gaps_of_ordered_columns_and_a_category_in_others(table: Any) -> None:
    for listed in (None, True):
        data = Dataset.make(table, None, categorical=listed)
        assert data.columns[1].has_gaps
        assert data.X.tolist() == [[0, 0], [1, 1]]
        if listed or table["bad"][0] == "a":
            assert data.columns[1].categories[1:] == ("missing",)
        else:
            assert [data.ordered[1].cut(*each) for each in data.ordered[1].questions().tolist()] == [Cut(None, 1)]


# -- masks and sparse matrices -----------------------------------------------------------------------------------------


def test_a_mask_means_missing() -> None:
    numbers = np.ma.masked_array([[0, 5], [1, 7], [1, 9]], mask=np.array([[0, 0], [0, 1], [0, 0]], bool))
    for X in (numbers, numbers.astype(float), numbers.tolist(), list(numbers), {"x0": [0, 1, 1], "x1": numbers[:, 1]}):
        data = Dataset.make(X)
        assert data.X.tolist() == [[0, 0], [1, 2], [1, 1]]
        assert data.columns[1].has_gaps
    texts = np.ma.masked_array(np.array([["a"], ["b"], ["a"]]), mask=np.array([[0], [0], [1]], bool))
    assert Dataset.make(texts).column(0).categories == ("a", "b", "missing")
    hidden = Dataset.make(
        {"a": np.ma.masked_array([0.5, 1, 2], mask=True), "b": np.ma.masked_array(["x"] * 3, mask=True)}
    )
    assert hidden.n_questions == 0
    assert Dataset.make(np.ma.masked_array([[0, 1], [1, 0]], mask=False)).X.tolist() == [[0, 1], [1, 0]]


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"])
def test_sparse_matrices_are_read_as_dense_ones(form: str) -> None:
    rng = np.random.default_rng(0)
    bits = (rng.random((30, 5)) < 0.2).astype(int)
    reals = np.where(rng.random((30, 5)) < 0.3, rng.normal(size=(30, 5)).round(1), 0)
    for dense in (bits, bits.astype(bool), bits.astype(float), bits * 3, reals, np.where(bits, np.nan, reals)):
        expected = Dataset.make(dense)
        for made in (sparse.csr_matrix, sparse.csr_array):
            found = Dataset.make(made(dense).asformat(form))
            assert found.columns == expected.columns
            assert repr(found.columns) == repr(expected.columns)
            assert (found.X == expected.X).all()
    twice = sparse.coo_matrix(([1, 1, 1], ([0, 0, 1], [0, 0, 1])), shape=(3, 2))
    assert Dataset.make(twice).ordered[0].values.tolist() == [0, 2]
    assert twice.nnz == 3
    part = Dataset.make(sparse.csr_matrix(reals), frequency=[0, 2] * 15)
    assert (part.X == Dataset.make(reals, frequency=[0, 2] * 15).X).all()


# -- the caller's objects ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "X",
    [
        np.array(XOR, dtype=np.uint8),
        np.array(XOR, dtype=np.int64),
        np.asfortranarray(XOR, dtype=np.float64),
        np.array(XOR, dtype=bool),
        np.array([["a", 1], ["b", 2], ["c", 1], ["a", 2]], dtype=object),
        XOR,
        COLUMNS,
        pd.DataFrame(COLUMNS, index=[7, 7, 1, 0]),
        pd.DataFrame(COLUMNS).astype({"three": "category"}),
        pl.DataFrame(COLUMNS),
    ],
)
def test_the_callers_objects_stay_as_they_were(X: Any) -> None:
    y, weights, costs = np.array([5, 3, 5, 3]), np.array([1.0, 2.0, 0.0, 1.0]), np.arange(8.0).reshape(4, 2)
    before = [pickle.dumps(thing) for thing in (X, y, weights, costs)]
    data = Dataset.make(X, y, sample_weight=weights, categorical=True, costs=costs)
    assert data.weights is not None
    for ours in (data.X, data.class_numbers, data.weights, data.row_data["costs"]):
        ours[...] = 1
    assert [pickle.dumps(thing) for thing in (X, y, weights, costs)] == before


# -- properties --------------------------------------------------------------------------------------------------------

LABELS = st.one_of(
    st.lists(st.integers(), min_size=1, max_size=30),
    st.lists(st.integers(-3, 3), min_size=1, max_size=30),
    st.lists(st.integers(-(2**40), 2**40).map(float), min_size=1, max_size=30),
    st.lists(st.booleans(), min_size=1, max_size=30),
    st.lists(st.text(max_size=3), min_size=1, max_size=30),
)


@given(LABELS)
def test_categories_round_trip(values: Any) -> None:
    table = {"c": values}
    data = Dataset.make(table, None, categorical=True)
    column = data.column(0)
    assert [column.categories[code] for code in data.X[:, 0].tolist()] == values
    assert list(column.categories) == sorted(column.categories)
    assert column.multiway == (len(set(values)) > 2)
