"""Trees with thresholds in every form, each run on raw rows and compared with the tree row by row."""

from __future__ import annotations

import datetime as dt
import json
import math
import sqlite3
from typing import Any

import pandas as pd
import pytest

from streed.data import Column, Cut, Dataset, Kind
from streed.export import to_onnx, to_python, to_sklearn, to_sql
from streed.export.onnx import onnx_inputs
from streed.tree import Branch, Leaf, Tree
from tests.unit.refusal import refused

AGE = Column("age", (), False, Kind.NUMBER, True)
DAY = Column("day", (), False, Kind.DATE)
SIZE = Column("size", ("s", "m", "l"), False, Kind.CATEGORY, True)
TABLE: dict[str, Any] = {
    "age": [30.0, 30.5, None, 31.0],
    "day": [dt.date(2020, 1, 1), dt.date(2020, 1, 3), dt.date(2021, 1, 1), dt.date(2019, 1, 1)],
    "size": ["s", "m", None, "l"],
}
FRAME = pd.DataFrame(
    {
        "age": TABLE["age"],
        "day": pd.to_datetime(TABLE["day"]),
        "size": pd.Categorical(TABLE["size"], categories=["s", "m", "l"], ordered=True),
    }
)


def stump(column: Column, cut: Cut, place: int = 0) -> Tree:
    return Tree(Branch(place, (Leaf(0, 2, 0), Leaf(1, 2, 0)), 4, cut), {place: column}, 3, ("low", "high"))


CUTS = [
    (AGE, Cut(30.5, 0), 0, ["low", "low", "low", "high"]),
    (AGE, Cut(30.5, 1), 0, ["low", "low", "high", "high"]),
    (AGE, Cut(None, 1), 0, ["low", "low", "high", "low"]),
    (DAY, Cut(18263 * 86400 * 10**6, 0), 1, ["low", "high", "high", "low"]),
    (SIZE, Cut(0, 0), 2, ["low", "high", "low", "high"]),
    (SIZE, Cut(1, 1), 2, ["low", "low", "high", "high"]),
    (SIZE, Cut(None, 1), 2, ["low", "low", "high", "low"]),
]


@pytest.mark.parametrize(("column", "cut", "place", "expected"), CUTS)
def test_numbers_dates_and_steps(column: Column, cut: Cut, place: int, expected: list[str]) -> None:
    import onnxruntime

    tree = stump(column, cut, place)
    assert tree.predict(FRAME).tolist() == expected
    made: dict[str, Any] = {}
    exec(to_python(tree), made)
    assert [
        made["predict"](dict(zip(TABLE, row, strict=True))) for row in zip(*TABLE.values(), strict=True)
    ] == expected
    base = sqlite3.connect(":memory:")
    base.execute('CREATE TABLE t ("age", "day", "size")')
    base.executemany(
        "INSERT INTO t VALUES (?, ?, ?)",
        [(age, day.isoformat(), size) for age, day, size in zip(*TABLE.values(), strict=True)],
    )
    assert [found for (found,) in base.execute(f"SELECT {to_sql(tree)} FROM t ORDER BY rowid")] == expected
    base.close()
    assert to_sklearn(tree).predict(FRAME).tolist() == expected
    session = onnxruntime.InferenceSession(to_onnx(tree).SerializeToString())
    assert session.run(["prediction"], onnx_inputs(tree, TABLE))[0].tolist() == expected
    assert Tree.from_json(tree.to_json()) == tree


# -- files -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("threshold", [0.1, 1e300, -5e-324, 2**60 + 1, 3, 3.0, -math.inf])
def test_thresholds_come_back_exactly(threshold: Any) -> None:
    found = Tree.from_json(stump(AGE, Cut(threshold, 0)).to_json()).root
    assert isinstance(found, Branch)
    assert found.cut == Cut(threshold, 0)
    assert type(found.cut.threshold) is type(threshold)


@pytest.mark.parametrize(
    ("column", "change", "found"),
    [
        (AGE, lambda d: d["nodes"][0].pop("threshold"), "nodes[0]"),
        (AGE, lambda d: d["nodes"][0].pop("gaps"), "nodes[0]"),
        (AGE, lambda d: d["nodes"][0].update(gaps=2), "gaps"),
        (AGE, lambda d: d["nodes"][0].update(threshold=None, gaps=0), "nodes[0]"),
        (AGE, lambda d: d["nodes"][0].update(threshold="1/3"), "threshold"),
        (AGE, lambda d: d["nodes"][0].update(threshold=10**400), "threshold"),
        (AGE, lambda d: d["columns"][0].pop("scale"), "columns[0].categories"),
        (AGE, lambda d: d["columns"][0].update(zone="UTC"), "columns[0].scale: 'date'"),
        (SIZE, lambda d: d["columns"][0].update(other=True), "columns[0].other"),
        (AGE, lambda d: d["columns"][0].update(scale="text"), "scale"),
        (AGE, lambda d: d["columns"][0].update(multiway=True), "columns[0].multiway"),
        (AGE, lambda d: d["columns"][0].update(categories=[{"int": 1}]), "columns[0].categories"),
        (DAY, lambda d: d["nodes"][0].update(threshold=1.5), "no threshold of the date column"),
        (DAY, lambda d: d["nodes"][0].update(threshold=10**30), "no threshold of the date column"),
        (SIZE, lambda d: d["nodes"][0].update(threshold=3), "no threshold of the category column"),
        (SIZE, lambda d: d["nodes"][0].update(threshold=-1), "no threshold of the category column"),
        (SIZE, lambda d: d["columns"][0].update(categories=[]), "columns[0].categories"),
    ],
)
def test_files_that_contradict_themselves_are_refused(column: Column, change: Any, found: str) -> None:
    document = json.loads(stump(column, Cut(1, 0)).to_json())
    change(document)
    refused("tree", found, call=lambda: Tree.from_json(json.dumps(document)))


# -- data sets and trees of other tables -------------------------------------------------------------------------------


def test_a_tree_reads_data_sets_that_were_made_of_other_rows() -> None:
    tree = stump(AGE, Cut(30.5, 0))
    assert tree.predict(Dataset.make({"age": [1.0, 99.0, 50.0]})).tolist() == ["low", "high", "high"]
    assert tree.predict(Dataset.make({"age": [1, 0, 1]})).tolist() == ["low"] * 3
    assert tree.predict(Dataset.make({"age": [31, 30]})).tolist() == ["high", "low"]
    assert tree.predict(Dataset.make({"age": [30.0, 31.0, 99.0]}, max_cuts=1)).tolist() == ["low", "high", "high"]
    refused("X", "'age'", call=lambda: tree.predict(Dataset.make({"age": ["a", "b"]})))
    refused("X", "'age'", "numbers", call=lambda: tree.predict({"age": [dt.date(2020, 1, 1)]}))
    with pytest.warns(UserWarning, match="'size' has the value 'xl'"):
        assert stump(SIZE, Cut(0, 0), 2).predict({"size": ["s", "xl"]}).tolist() == ["low", "high"]
