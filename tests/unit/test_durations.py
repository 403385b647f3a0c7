"""Durations as columns: read from every kind of table, cut anywhere, written in days and hours, exported."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import pytest

import streed
from streed.data import Dataset, Kind
from streed.errors import InputError
from streed.tasks import Accuracy
from streed.tree import Tree

MINUTES = [-90, 0, 5, 29, 31, 45, 600, 10_000]
LATE = ["no" if minutes < 30 else "yes" for minutes in MINUTES]
WAITS = [dt.timedelta(minutes=minutes) for minutes in MINUTES]


def _tree(*given: Any) -> Tree:
    found = streed.solve(Accuracy(), *given, max_depth=1).tree
    assert found is not None
    return found


def tables() -> list[Any]:
    """The same durations in every kind of table."""
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    return [
        {"wait": WAITS},
        {"wait": np.array(WAITS, "timedelta64[s]")},
        {"wait": list(np.array(WAITS, "timedelta64[m]"))},
        pandas.DataFrame({"wait": WAITS}),
        polars.DataFrame({"wait": WAITS}),
    ]


def test_every_table_gives_the_same_tree() -> None:
    for table in tables():
        tree = _tree(table, LATE)
        assert tree.columns[0].scale is Kind.DURATION
        assert "wait <= 0:30:00" in tree.to_text()
        assert tree.predict(table).tolist() == LATE
        assert tree.predict(
            {"wait": [dt.timedelta(minutes=30), dt.timedelta(minutes=30, microseconds=1)]}
        ).tolist() == [
            "no",
            "yes",
        ]


def test_what_is_refused() -> None:
    with pytest.raises(InputError, match="give it as a number, such as days"):
        Dataset.make({"wait": [dt.timedelta(days=999_999_999), dt.timedelta(0), dt.timedelta(1)]}, [0, 1, 1])
    with pytest.raises(InputError, match="no whole microsecond"):
        Dataset.make({"wait": np.array([1, 2, 3], "timedelta64[ns]")}, [0, 1, 1])
    with pytest.raises(InputError, match=r"the type timedelta64\[M\]"):
        Dataset.make({"wait": np.array([1, 2, 3], "timedelta64[M]")}, [0, 1, 1])
    tree = _tree({"wait": WAITS}, LATE)
    with pytest.raises(InputError, match="held durations before"):
        tree.predict({"wait": [1.5, 2.5, 3.5]})
