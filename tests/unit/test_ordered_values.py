"""Ordered columns: exact ranks, where thresholds lie, gaps, and reading back what was printed."""

from __future__ import annotations

import datetime as dt
import itertools
import math
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import streed
from streed.data import Column, Cut, Dataset, Kind
from streed.data.ordered import between, between_moments, threshold_text
from streed.data.single_values import date_text, microseconds
from streed.tasks import Accuracy
from tests.unit.refusal import refused

NAN, INF = math.nan, math.inf
TINY = 5e-324


def cuts_of(data: Dataset, j: int = 0) -> list[Cut]:
    values = data.ordered[j]
    return [values.cut(*each) for each in values.questions().tolist()]


# -- thresholds --------------------------------------------------------------------------------------------------------


FLOATS = st.floats(allow_nan=False, width=64)


@given(FLOATS, FLOATS)
def test_a_threshold_separates_and_reads_back(a: float, b: float) -> None:
    low, high = sorted((a, b))
    if low == high:
        return
    t = between(low, high)
    assert low <= t < high
    assert float(repr(t)) == t
    assert float(threshold_text(t, Kind.NUMBER, ())) == t
    with np.errstate(over="ignore"):
        near, far = np.float32(low), np.float32(high)
    if near < far and math.isfinite(near) and math.isfinite(far):
        assert float(near) <= t < float(far)
        assert near <= np.float32(t) < far


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        ((2020, 1, 1), (2020, 1, 4), "2020-01-02"),
        ((2020, 1, 1, 9), (2020, 1, 1, 17), "2020-01-01T13:00:00"),
        ((2020, 1, 1, 0, 0, 0, 1), (2020, 1, 1, 0, 0, 0, 4), "2020-01-01T00:00:00.000002"),
        ((1960, 1, 1), (1960, 1, 2), "1960-01-01"),
    ],
)
def test_a_threshold_between_moments(low: Any, high: Any, expected: str) -> None:
    first, last = microseconds(dt.datetime(*low)), microseconds(dt.datetime(*high))  # noqa: DTZ001 - without a zone
    found = between_moments(first, last)
    assert first <= found < last
    assert date_text(found) == expected


# -- columns -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("column", "values"),
    [
        ([3.5, -0.0, 0.0, -1.0], [-1.0, 0.0, 3.5]),
        ([INF, -INF, 0.0, 1.0], [-INF, 0.0, 1.0, INF]),
        ([TINY, 0.0, 2 * TINY, -TINY], [-TINY, 0.0, TINY, 2 * TINY]),
        ([1.0, math.nextafter(1.0, 2.0), 1.0, math.nextafter(1.0, 0.0)], [1 - 2**-53, 1.0, 1 + 2**-52]),
        ([2**53 + 1, 2**53, 2**53 + 2, 0], [0, 2**53, 2**53 + 1, 2**53 + 2]),
        ([2**70, 3, 2**70 + 1, 3], [3, 2**70, 2**70 + 1]),
        ([2**70, 0.5, 2.0**70, 3], [0.5, 3, 2**70]),
    ],
)
def test_values_are_ranked_exactly(column: list[Any], values: list[Any]) -> None:
    data = Dataset.make({"a": column, "b": [0, 1, 0, 1]})
    assert data.ordered[0].values.tolist() == values
    assert [values[code] for code in data.X[:, 0].tolist()] == column
    thresholds = [cut.threshold for cut in cuts_of(data)]
    assert len(thresholds) == len(values) - 1
    for threshold, (low, high) in zip(thresholds, itertools.pairwise(values), strict=True):
        assert threshold is not None
        assert low <= threshold < high


@pytest.mark.skipif(np.finfo(np.longdouble).nmant <= 52, reason="long doubles are doubles here")
def test_more_than_double_precision_is_refused_where_it_matters() -> None:
    fine = np.array([[1], [2], [3]], np.longdouble)
    assert Dataset.make(fine).ordered[0].values.tolist() == [1, 2, 3]
    fine[1] += np.finfo(np.longdouble).eps
    fine[1] = np.nextafter(np.longdouble(2), np.longdouble(3))
    refused("X", "row 1", "double precision", call=lambda: Dataset.make(fine))


@pytest.mark.parametrize(
    "table",
    [
        {"a": [2.5, None, 1.5, NAN]},
        {"a": np.array([2.5, NAN, 1.5, NAN])},
        pd.DataFrame({"a": [2.5, None, 1.5, None]}),
        pl.DataFrame({"a": pl.Series([2.5, None, 1.5, NAN])}),
        pd.DataFrame({"a": pd.array([2.5, None, 1.5, None], dtype="Float64")}),
    ],
)
def test_gaps_are_asked_on_either_side_and_for_themselves(table: Any) -> None:
    data = Dataset.make(table)
    assert data.X[:, 0].tolist() == [1, 2, 0, 2]
    assert cuts_of(data) == [Cut(2.0, 1), Cut(2.0, 0), Cut(None, 1)]
    assert data.columns == (Column("a", (), False, Kind.NUMBER, has_gaps=True),)


@pytest.mark.parametrize(
    "column",
    [
        [dt.date(2020, 1, 5), dt.date(2020, 1, 1), None],
        [dt.datetime(2020, 1, 5), dt.datetime(2020, 1, 1), None],  # noqa: DTZ001 - dates without a zone
        np.array(["2020-01-05", "2020-01-01", "NaT"], "datetime64[D]"),
        np.array(["2020-01-05", "2020-01-01", "NaT"], "datetime64[ns]"),
        pd.Series(pd.to_datetime(["2020-01-05", "2020-01-01", None])),
        pl.Series([dt.date(2020, 1, 5), dt.date(2020, 1, 1), None]),
    ],
)
def test_dates(column: Any) -> None:
    data = Dataset.make({"day": column})
    assert data.X[:, 0].tolist() == [1, 0, 2]
    (cut, other, missing) = cuts_of(data)
    assert data.columns[0].written(cut) == "2020-01-03"
    assert (cut.gaps, other.gaps, missing) == (1, 0, Cut(None, 1))


# -- at most so many cuts ----------------------------------------------------------------------------------------------


def test_max_cuts_are_quantiles_of_the_rows() -> None:
    column = np.arange(100)[:, None]
    assert [cut.threshold for cut in cuts_of(Dataset.make(column, max_cuts=3))] == [24, 49, 74]
    weights = np.where(np.arange(100) < 50, 99, 1)
    heavy = cuts_of(Dataset.make(column, max_cuts=1, sample_weight=weights))
    assert heavy == cuts_of(Dataset.make(column, max_cuts=1, frequency=weights))
    assert heavy[0].threshold is not None
    assert heavy[0].threshold < 30
    assert len(cuts_of(Dataset.make(column, max_cuts=1000))) == 99


MINUTES = [-90, 0, 5, 29, 31, 45, 600, 10_000]
LATE = ["no" if minutes < 30 else "yes" for minutes in MINUTES]
WAITS = [dt.timedelta(minutes=minutes) for minutes in MINUTES]


@pytest.mark.parametrize(
    "column", [WAITS, np.array(WAITS, "timedelta64[s]"), list(np.array(WAITS, "timedelta64[m]")), pl.Series(WAITS)]
)
def test_durations_in_every_table_give_the_same_tree(column: Any) -> None:
    tree = streed.solve(Accuracy(), {"wait": column}, LATE, max_depth=1).tree
    assert tree.columns[0].scale is Kind.DURATION
    assert "wait <= 0:30:00" in tree.to_text()
    new = {"wait": [dt.timedelta(minutes=30), dt.timedelta(minutes=30, microseconds=1)]}
    assert tree.predict(new).tolist() == ["no", "yes"]
    refused("X", "held durations before", call=lambda: tree.predict({"wait": [1.5, 2.5, 3.5]}))


@pytest.mark.parametrize(
    ("column", "found"),
    [
        ([dt.timedelta(days=999_999_999), dt.timedelta(0), dt.timedelta(1)], "give it as a number, such as days"),
        (np.array([1, 2, 3], "timedelta64[ns]"), "no whole microsecond"),
        (np.array([1, 2, 3], "timedelta64[M]"), "the type timedelta64[M]"),
    ],
)
def test_durations_that_are_refused(column: Any, found: str) -> None:
    refused("X", found, call=lambda: Dataset.make({"wait": column}, [0, 1, 1]))
