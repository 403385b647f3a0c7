"""What is exported predicts what the tree does; estimator, result and tree are taken alike."""

from __future__ import annotations

import datetime as dt
import sqlite3
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from streed import InputError, Tree
from streed.data import Column, Cut, Dataset
from streed.estimators import OptimalTreeClassifier
from streed.export import codes, feature_names, onnx_inputs, to_dot, to_json, to_onnx, to_python, to_sklearn, to_sql
from streed.plot import tree_svg
from streed.tree import Branch, Leaf
from tests.unit.outcomes import refused
from tests.unit.specimens import AGE, DAY, SIZE, make_chain, make_data, make_tree, stump

Table = dict[str, list[Any]]


def call(source: str, name: str = "predict") -> Callable[[Any], Any]:
    namespace: dict[str, Any] = {}
    exec(compile(source, "exported.py", "exec"), namespace)
    return namespace[name]  # type: ignore[no-any-return]


def query(table: Table, sql: str) -> list[Any]:
    quoted = [name.replace('"', '""') for name in table]
    columns = ", ".join(f'"{name}"' for name in quoted)
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute(f"CREATE TABLE people ({columns})")
        places = ", ".join("?" * len(table))
        connection.executemany(f"INSERT INTO people VALUES ({places})", list(zip(*table.values(), strict=True)))
        return [row[-1] for row in connection.execute(sql)]
    finally:
        connection.close()


def test_tools_of_scikit_learn() -> None:
    sklearn_tree = pytest.importorskip("sklearn.tree")
    tree = make_tree(make_data(seed=1), seed=1)
    estimator = to_sklearn(tree)[-1]
    said = sklearn_tree.export_text(estimator, feature_names=feature_names(tree))
    assert said.count("class:") == tree.n_leaves
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("Agg")
    drawn = sklearn_tree.plot_tree(estimator, feature_names=feature_names(tree))
    pyplot.close()
    # a box a node, and two words ("True", "False") at the root's edges
    assert len(drawn) == estimator.tree_.node_count + 2


def test_conditions_that_the_caller_gives() -> None:
    data = Dataset.make({"age<=30": [1, 0, 0]}, ["no", "yes", "yes"])
    tree = Tree.grown(Branch(0, (Leaf(1, 2, 0), Leaf(0, 1, 0)), 3), data)
    predict = call(to_python(tree, conditions={"age<=30": "row['age'] <= 30"}))
    assert [predict({"age": age}) for age in (20, 30, 31)] == ["no", "no", "yes"]
    assert query({"age": [20, 31]}, to_sql(tree, "people", conditions={"age<=30": "age <= 30"})) == ["no", "yes"]
    with pytest.raises(InputError, match="'height' is no column of the tree"):
        to_sql(tree, conditions={"height": "1"})
    with pytest.raises(InputError, match="has categories"):
        to_python(make_tree(make_data(seed=1), seed=1), conditions={"depart'ment": "True", "grade": "True"})


def test_trees_of_hundreds_of_levels() -> None:
    pytest.importorskip("sklearn")
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (50, 300))
    data = Dataset.make(X, rng.permutation([0, 1] * 25))
    tree = make_chain(data, 300)
    X[0] = 1  # the row that goes all the way
    expected = tree.predict(X).tolist()
    assert to_sklearn(tree).predict(X).tolist() == expected
    predict = call(to_python(tree, by_position=True))
    assert [predict(row) for row in X.tolist()] == expected
    assert to_sql(tree).count("CASE") == 300


def test_what_has_no_literal() -> None:
    tree = make_tree(make_data(seed=1), seed=1, shown=(b"bytes",))
    for export in (to_python, to_sql):
        with pytest.raises(InputError, match="literal"):
            export(tree)
    with pytest.raises(InputError, match="name"):
        to_python(tree, "no name")
    pytest.importorskip("sklearn")
    with pytest.raises(InputError, match="labels are of the types"):
        to_sklearn(make_tree(make_data(seed=1), seed=1, shown=(1, "one")))


def ages() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "age": rng.integers(18, 80, 80).astype(float),
            "sex": rng.choice(["f", "m"], 80),
            "plan": rng.choice(["a", "b", "c"], 80),
        }
    )
    table.loc[::9, "age"] = np.nan
    label = np.where((table["age"] < 40) | (table["plan"] == "b"), "no", "yes")
    return table, label


@pytest.fixture(scope="module")
def fitted() -> Any:
    X, y = ages()
    return OptimalTreeClassifier(max_depth=2).fit(X, y)


def test_all_of_them_have_one_tree(fitted: Any) -> None:
    X, _ = ages()
    for model in (fitted, fitted.result_, fitted.tree_):
        assert to_sql(model) == to_sql(fitted)
        assert to_python(model) == to_python(fitted)
        assert to_json(model) == fitted.tree_.to_json()
        assert to_dot(model) == fitted.tree_.to_dot()
        assert tree_svg(model) == tree_svg(fitted)
        assert np.array_equal(codes(model, X), codes(fitted, X), equal_nan=True)
        assert feature_names(model) == feature_names(fitted)
    for other in (OptimalTreeClassifier(), 3, None):
        with pytest.raises(InputError, match="has no tree"):
            to_sql(other)


def test_onnx_takes_the_raw_table(fitted: Any) -> None:
    pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    X, _ = ages()
    tables: list[Any] = [X, X.astype({"sex": object}), {name: X[name].tolist() for name in X}]
    session = runtime.InferenceSession(to_onnx(fitted).SerializeToString(), providers=["CPUExecutionProvider"])
    for table in tables:
        assert session.run(None, onnx_inputs(fitted, table))[0].tolist() == fitted.predict(X).tolist()
    with pytest.raises(InputError, match="no column named"):
        onnx_inputs(fitted, X[["sex"]])
    with pytest.raises(InputError, match="held numbers before"):
        onnx_inputs(fitted, X.assign(age="old"))
    array = np.random.default_rng(1).normal(size=(60, 3))
    model = OptimalTreeClassifier(max_depth=1).fit(array, (array[:, 1] > 0.2).astype(int))
    session = runtime.InferenceSession(to_onnx(model).SerializeToString(), providers=["CPUExecutionProvider"])
    for rows in (array, array.tolist()):
        assert session.run(None, onnx_inputs(model, rows))[0].tolist() == model.predict(array).tolist()


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
