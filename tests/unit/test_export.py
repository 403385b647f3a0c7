"""What is exported predicts what the tree does, on rows drawn at random."""

from __future__ import annotations

import datetime as dt
import re
import sqlite3
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import streed
from streed import InputError, Tree
from streed.data import Column, Dataset
from streed.export import codes, feature_names, from_json, to_dot, to_json, to_onnx, to_python, to_sklearn, to_sql
from streed.tasks import Accuracy
from streed.tree import Branch, Leaf
from tests.unit.grown import make_chain, make_data, make_table, make_tree

Table = dict[str, list[Any]]


def rows_of(table: Table) -> list[dict[str, Any]]:
    return [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]


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


def follow(dot: str, row: dict[str, Any], tree: Tree) -> str:
    """Where a row comes out when it follows Graphviz's edges."""
    unquoted = {n: re.sub(r"\\(.)", r"\1", said) for n, said in re.findall(r'n(\d+) \[shape=\w+, label="(.*)"\];', dot)}
    edges: dict[str, list[tuple[str, str]]] = {}
    for parent, child, said in re.findall(r'n(\d+) -> n(\d+) \[label="(.*)"\];', dot):
        edges.setdefault(parent, []).append((re.sub(r"\\(.)", r"\1", said), child))
    asked = {}
    for column in tree.columns.values():
        value = row[column.name]
        asked[column.name] = str(value) if column.multiway else "yes" if value == column.categories[-1] else "no"
    at = "0"
    while at in edges:
        name = max((n for n in asked if unquoted[at].startswith(n)), key=len)
        at = dict(edges[at])[asked[name]]
    return unquoted[at]


@pytest.mark.parametrize("seed", range(6))
def test_every_form_predicts_what_the_tree_does(seed: int) -> None:
    tree = make_tree(make_data(seed=seed), seed=seed)
    table = make_table(200, seed + 100)
    expected = tree.predict(table).tolist()
    rows = rows_of(table)
    assert list(map(call(to_python(tree)), rows)) == expected
    by_position = call(to_python(tree, "f", by_position=True), "f")
    assert [by_position(list(row.values())) for row in rows] == expected
    assert query(table, to_sql(tree, "people")) == expected
    assert query(table, f"SELECT {to_sql(tree)} FROM people") == expected
    assert from_json(to_json(tree)).predict(table).tolist() == expected
    assert from_json(to_json(tree)) == tree
    dot = to_dot(tree)
    assert [follow(dot, row, tree).rpartition(" (")[0] for row in rows] == expected


@pytest.mark.parametrize("seed", range(4))
def test_scikit_learn_predicts_what_the_tree_does(seed: int) -> None:
    pytest.importorskip("sklearn")
    data = make_data(seed=seed)
    tree = make_tree(data, depth=4, seed=seed)
    table = make_table(200, seed + 100)
    estimator = to_sklearn(tree)
    assert estimator.predict(table).tolist() == tree.predict(table).tolist()
    assert estimator.predict_proba(table).max(axis=1).tolist() == [1.0] * 200
    assert estimator[-1].get_n_leaves() == tree.n_leaves
    assert estimator[-1].tree_.n_node_samples[0] == data.n_rows
    assert set(np.unique(codes(tree, table))) <= {0, 1}
    assert (codes(tree, data) == codes(tree, make_table(60, seed))).all()


@pytest.mark.parametrize("labels", [(0, 1), (-1, 1), (False, True), (0.5, 2.5), (3, 10**6)])
def test_labels_of_any_kind(labels: tuple[Any, ...]) -> None:
    pytest.importorskip("sklearn")
    tree = make_tree(make_data(seed=3, labels=labels), seed=3)
    table = make_table(100, 9)
    expected = tree.predict(table).tolist()
    assert to_sklearn(tree).predict(table).tolist() == expected
    assert list(map(call(to_python(tree)), rows_of(table))) == expected
    assert query(table, to_sql(tree, "people")) == expected


def test_numbers_that_leaves_show() -> None:
    pytest.importorskip("sklearn")
    tree = make_tree(make_data(seed=5), seed=5, shown=(0.1, 2.5, -1e-9, 3.0))
    table = make_table(100, 9)
    expected = tree.predict(table).tolist()
    estimator = to_sklearn(tree)
    assert type(estimator[-1]).__name__ == "DecisionTreeRegressor"
    assert estimator.predict(table).tolist() == expected
    assert list(map(call(to_python(tree)), rows_of(table))) == expected
    assert query(table, to_sql(tree, "people")) == expected
    exact = make_tree(make_data(seed=5), seed=5, shown=(Fraction(1, 3), Fraction(5)))
    assert list(map(call(to_python(exact)), rows_of(table))) == exact.predict(table).tolist()


def test_the_shares_of_the_classes() -> None:
    pytest.importorskip("sklearn")
    X, y = {"a": [0, 0, 0, 1, 1], "b": [0, 1, 0, 1, 0]}, ["n", "y", "n", "y", "y"]
    tree = Tree.grown(Branch(0, (Leaf(0, 3, 1), Leaf(1, 2, 0)), 5), Dataset.make(X, y))
    estimator = to_sklearn(tree, X, y)
    assert estimator.predict_proba({"a": [0, 1]}).tolist() == [[2 / 3, 1 / 3], [0, 1]]
    assert estimator[-1].tree_.value[0, 0] == pytest.approx([0.4, 0.6])
    assert estimator[-1].tree_.impurity[0] == pytest.approx(0.48)
    assert to_sklearn(tree, Dataset.make(X, y)).predict_proba({"a": [0]}).tolist() == [[2 / 3, 1 / 3]]
    with pytest.raises(InputError, match="'z' is no label of the tree"):
        to_sklearn(tree, X, [*y[:4], "z"])
    with pytest.raises(InputError, match="leaf 0 predicts 'n', which most of its rows are not"):
        to_sklearn(tree, X, y, sample_weight=[1, 9, 1, 1, 1])


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


def test_shap_values_add_up_to_the_prediction() -> None:
    pytest.importorskip("sklearn")
    shap = pytest.importorskip("shap", reason="shap is not installed")
    tree = make_tree(make_data(seed=5), seed=5, shown=(0.1, 2.5, -1.0, 3.0))
    table = make_table(30, 9)
    explainer = shap.TreeExplainer(to_sklearn(tree)[-1])
    values = explainer.shap_values(codes(tree, table), check_additivity=False)
    total = values.sum(axis=1) + np.ravel(explainer.expected_value)[0]
    assert total == pytest.approx(tree.predict(table), abs=1e-6)


def test_onnx_predicts_what_the_tree_does() -> None:
    pytest.importorskip("onnx", reason="onnx is not installed")
    runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    table = make_table(100, 9)
    types = {"flag": float, "truth": float, "grade": float}
    columns = {
        name: np.array(values, dtype=types.get(name, object))[:, None]  # texts stay objects
        for name, values in table.items()
    }
    for labels, shown in (
        (("no", "yes"), None),
        ((0, 1, 2), None),
        ((False, True), None),
        (("no", "yes"), (0.1, 2.5, -1.0)),
    ):
        tree = make_tree(make_data(seed=2, labels=labels), seed=2, shown=shown)
        session = runtime.InferenceSession(to_onnx(tree).SerializeToString(), providers=["CPUExecutionProvider"])
        given = {node.name: columns[node.name] for node in session.get_inputs()}
        predicted, leaves = session.run(None, given)
        assert predicted.tolist() == tree.predict(table).tolist()
        assert leaves.tolist() == tree.apply(table).tolist()
    with pytest.raises(InputError, match="labels are of the types int, str"):
        to_onnx(make_tree(make_data(seed=1), seed=1, shown=(1, "one")))


def test_onnx_of_a_table_without_names_has_one_input() -> None:
    pytest.importorskip("onnx", reason="onnx is not installed")
    runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (50, 6))
    data = Dataset.make(X, rng.permutation([0, 1] * 25))
    for tree in (make_chain(data, 5), Tree.grown(Leaf(1, 50, 0), data)):
        session = runtime.InferenceSession(to_onnx(tree).SerializeToString(), providers=["CPUExecutionProvider"])
        assert session.run(None, {"X": X.astype(float)})[0].tolist() == tree.predict(X).tolist()


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


def test_gaps_and_other_values_are_categories() -> None:
    column = Column("a", ("x", "other", "missing"), True, has_gaps=True, other=True, usual=1)
    tree = Tree(Branch(0, (Leaf(0, 1, 0), Leaf(1, 1, 0), Leaf(2, 1, 0)), 3), {0: column}, 1, (0, 1, 2))
    values, expected = ["x", "other", "missing", None, "z"], [0, 1, 1, 2, 1]
    assert tree.predict({"a": values}).tolist() == expected
    assert query({"a": values}, to_sql(tree, "people")) == expected
    assert [call(to_python(tree))({"a": value}) for value in values] == expected


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


def test_a_leaf_alone() -> None:
    pytest.importorskip("sklearn")
    tree = Tree.grown(Leaf(1, 3, 0), make_data())
    assert call(to_python(tree))({}) == "perhaps"
    assert to_sql(tree) == "'perhaps'"
    assert to_sklearn(tree).predict(make_table(60, 1)).tolist() == ["perhaps"] * 60


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


def test_rows_of_texts() -> None:
    """Python source reads what csv.DictReader gives, and says what it cannot read."""
    X: Table = {
        "age": [20, 30.5, None, 40],
        "sex": ["f", "m", "m", "f"],
        "flag": [0, 1, 1, 0],
        "day": ["2020-01-01"] * 4,
    }
    tree = streed.solve(Accuracy(), X, ["a", "b", "c", "d"], max_depth=2).tree
    assert tree is not None
    predict = call(to_python(tree))
    rows = [{name: "" if value is None else str(value) for name, value in row.items()} for row in rows_of(X)]
    assert list(map(predict, rows)) == list(map(predict, rows_of(X))) == tree.predict(X).tolist()
    wait = streed.solve(Accuracy(), {"wait": [dt.timedelta(1), dt.timedelta(2)]}, ["a", "b"], max_depth=1).tree
    assert wait is not None
    with pytest.raises(ValueError, match=r"give a datetime\.timedelta, not the text '1 day'"):
        call(to_python(wait))({"wait": "1 day"})
    with pytest.raises(ValueError, match="could not convert string to float: 'old'"):
        call(to_python(streed.solve(Accuracy(), {"age": [1.5, 2]}, [0, 1], max_depth=1).tree))({"age": "old"})
