"""Durations as columns: read from every kind of table, cut anywhere, written in days and hours, exported."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import pytest

import streed
from streed.binarize import make_recipe
from streed.data import Dataset, Kind
from streed.data.moments import duration, duration_text
from streed.data.thresholds import between_durations
from streed.errors import InputError
from streed.export import from_json, onnx_inputs, to_json, to_onnx, to_python, to_sklearn, to_sql
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


def test_gaps_go_their_own_way() -> None:
    waits: list[Any] = [None, *WAITS[1:]]
    tree = _tree({"wait": waits}, ["yes", *LATE[1:]])
    assert tree.predict({"wait": [None, dt.timedelta(0)]}).tolist() == ["yes", "no"]
    frame = pytest.importorskip("pandas").DataFrame({"wait": waits})
    assert tree.predict(frame).tolist() == ["yes", *LATE[1:]]


def test_questions_made_of_durations() -> None:
    recipe = make_recipe({"wait": WAITS})
    assert [output.name for output in recipe.outputs][:3] == ["wait<=-1:00:00", "wait<=0:03:00", "wait<=0:17:00"]
    assert recipe.columns[0].note == "8 durations"
    assert recipe.encode({"wait": [dt.timedelta(minutes=1)]}).tolist()[0][:3] == [0, 1, 1]


def test_exports_ask_about_durations() -> None:
    for tree in (
        _tree({"wait": WAITS}, LATE),
        _tree(_binarized()),
    ):
        again = from_json(to_json(tree))
        assert again == tree
        assert " INTERVAL '1800000000 microseconds' THEN " in to_sql(tree)
        namespace: dict[str, Any] = {}
        exec(to_python(tree), namespace)
        assert [namespace["predict"]({"wait": wait}) for wait in WAITS] == LATE
        assert to_sklearn(tree).predict({"wait": WAITS}).tolist() == LATE
        inputs = onnx_inputs(tree, {"wait": WAITS})
        assert inputs["wait"].dtype == np.int64
        session = pytest.importorskip("onnxruntime").InferenceSession(to_onnx(tree).SerializeToString())
        assert session.run(["prediction"], inputs)[0].tolist() == LATE


def _binarized() -> Dataset:
    recipe = make_recipe({"wait": WAITS})
    return recipe.dataset(recipe.encode({"wait": WAITS}), LATE)


@pytest.mark.parametrize(
    ("microseconds", "written"),
    [(0, "0:00:00"), (86_400_000_000, "1 day"), (-5_400_000_000, "-1:30:00"), (1, "0:00:00.000001")],
)
def test_durations_as_text(microseconds: int, written: str) -> None:
    assert duration_text(microseconds) == written
    assert duration(dt.timedelta(microseconds=microseconds)) == microseconds


@pytest.mark.parametrize(("low", "high"), [(0, 1), (-7, 90 * 10**6), (10**12, 3 * 10**12), (-(10**9), -1)])
def test_a_threshold_lies_between(low: int, high: int) -> None:
    found = between_durations(low, high)
    assert low <= found < high
    assert 4 * abs(found - (low + high) // 2) <= high - low


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
