"""Trees: their text, what they predict, their value, and every form they are exported to, which predicts the same."""

from __future__ import annotations

import contextlib
import datetime as dt
import json
import pickle
import re
import sqlite3
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import attrs
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import streed
from streed.data import Column, Cut, Dataset
from streed.data.database import Roles
from streed.data.strict_json import describe
from streed.errors import InputError
from streed.estimators import OptimalTreeClassifier
from streed.export import codes, feature_names, onnx_inputs, to_dot, to_json, to_onnx, to_python, to_sklearn, to_sql
from streed.plot import tree_svg
from streed.tasks import Accuracy, BalancedAccuracy, MinSupport, SparseAccuracy, Splits
from streed.tree import Branch, Claims, Leaf, Tree, flatten, nest, walk
from streed.tree.evaluation import inspect
from streed.tree.storage import schema
from tests.unit.outcomes import refused
from tests.unit.specimens import (
    AGE,
    DAY,
    SIZE,
    XOR,
    chain,
    colour_tree,
    make_data,
    make_table,
    make_tree,
    stump,
    trees,
    xor_tree,
)


def test_predict_by_name_from_every_kind_of_table() -> None:
    tree, data = xor_tree()
    expected = ["no", "yes", "yes", "no"]
    table = {"extra": [7, 8, 9, 10], "b": [0, 1, 0, 1], "a": [0, 0, 1, 1]}
    for X in (table, pd.DataFrame(table), pl.DataFrame(table), np.array(XOR), XOR, data):
        assert tree.predict(X).tolist() == expected
    assert tree.apply(np.array(XOR)).tolist() == [0, 1, 2, 3]


def test_predict_multiway_needs_only_the_columns_it_asks_about() -> None:
    tree, data = colour_tree()
    assert tree.predict({"size": ["large", "small"], "colour": ["green", "green"]}).tolist() == [2, 1]
    assert tree.predict(data).tolist() == [1, 2, 2, 1, 1]
    assert tree.predict(data).dtype == np.int64
    refused("X", "size", call=lambda: tree.predict({"colour": ["red"]}))
    refused("X", "3", call=lambda: tree.predict([[0, 1]]))


@pytest.mark.parametrize(
    ("labels", "kind"),
    [([False, True], "b"), ([-1, 1], "i"), ([0, 10**6], "i"), ([0.5, 1.5], "f"), (["a", "bb"], "U"), ([1, 2**70], "O")],
)
def test_predictions_keep_the_labels_type(labels: list[Any], kind: str) -> None:
    data = Dataset.make([[0], [1]], [0, 1])
    tree = Tree.grown(Branch(0, (Leaf(0, 1, 0), Leaf(1, 1, 0)), 2), data, (labels[0], np.array(labels)[1]))
    found = tree.predict([[0], [1], [1]])
    assert found.tolist() == [labels[0], labels[1], labels[1]]
    assert found.dtype.kind == kind


def test_text() -> None:
    assert Tree.grown(Leaf(1, 8, Fraction(1, 4)), xor_tree()[1]).to_text() == "yes (8 rows, cost 0.25)"
    assert str(colour_tree()[0]).splitlines() == [
        "colour?",
        "├── blue: 2 (1 row, cost 0)",
        "├── green: size = small?",
        "│   ├── no: 2 (1 row, cost 0)",
        "│   └── yes: 1 (1 row, cost 0)",
        "└── red: 1 (2 rows, cost 0)",
    ]


def test_text_draws_equal_children_together() -> None:
    """Leaves and subtrees that are equal but for their rows; a split that asks nothing goes."""
    data = Dataset.make([[0, 0], [1, 1], [2, 0], [3, 1], [0, 1]], ["a", "b", "a", "b", "a"], categorical=[0])
    below = [Branch(1, (Leaf(0, 1, 0), Leaf(1, rows, 1)), rows + 1) for rows in (1, 2)]
    pointless = Branch(1, (Leaf(1, 2, 0), Leaf(1, 3, 1)), 5)
    tree = Tree.grown(Branch(0, (below[0], Leaf(1, 1, 0), below[1], pointless), 11), data)
    assert tree.to_text(collapse=True).splitlines() == [
        "x0?",
        "├── 0 or 2: x1 = 1?",
        "│   ├── no: a (2 rows, cost 0)",
        "│   └── yes: b (3 rows, cost 2)",
        "└── 1 or 3: b (6 rows, cost 1)",
    ]
    assert Tree.grown(pointless, data).to_text(collapse=True) == "b (5 rows, cost 1)"


def test_dot_escapes_what_graphviz_reads_as_syntax() -> None:
    data = Dataset.make({'say "hi"\\n\nthere': [0, 1]}, ['"', "\\"])
    tree = Tree.grown(Branch(0, (Leaf(0, 1, 0), Leaf(1, 1, 0)), 2), data)
    assert tree.to_dot().splitlines()[3:] == [
        r'  n0 [shape=ellipse, label="say \"hi\"\\n\nthere = 1?"];',
        '  n0 -> n1 [label="no"];',
        '  n0 -> n2 [label="yes"];',
        r'  n1 [shape=box, label="\" (1 row, cost 0)"];',
        r'  n2 [shape=box, label="\\ (1 row, cost 0)"];',
        "}",
    ]


def claims() -> Claims:
    roles = Roles((), {"target": "class", "frequency": "n", "sensitive_features": ("sex",)}, ("a",))
    task = (0.01 * Splits() + Accuracy()).subject_to(MinSupport(1))
    return Claims(task, Fraction(1, 3), 0, float("inf"), "feasible", 4, 3, None, 1, roles)


@pytest.mark.parametrize("make", [xor_tree, colour_tree, lambda: chain(3)])
def test_json_round_trip(make: Any) -> None:
    tree, data = make()
    flat = [attrs.evolve(x, cost=x.cost / Fraction(7)) if isinstance(x, Leaf) else x for x in flatten(tree.root)]
    tree = attrs.evolve(tree, root=nest(flat), claims=claims())
    again = Tree.from_json(tree.to_json(indent=2))
    assert again == tree
    assert again.predict(data).tolist() == tree.predict(data).tolist()
    assert again.claims is not None
    assert attrs.evolve(again.claims, task=None) == attrs.evolve(tree.claims, task=None)
    assert again.claims.task == describe(tree.claims.task)
    assert again.to_json() == tree.to_json()
    assert Tree.from_json(tree.to_json().replace(', "positive": null', "")) == again


labels = st.one_of(st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text())


@given(st.lists(labels, min_size=2, max_size=2, unique=True), st.lists(labels, min_size=3, max_size=3, unique=True))
def test_json_keeps_types(leaf_labels: list[Any], categories: list[Any]) -> None:
    tree, _ = colour_tree()
    columns = {0: attrs.evolve(tree.columns[0], categories=tuple(categories)), 1: tree.columns[1]}
    tree = attrs.evolve(tree, labels=tuple(leaf_labels), columns=columns)
    again = Tree.from_json(tree.to_json())
    assert again == tree
    assert [type(x) for x in again.labels] == [type(x) for x in leaf_labels]
    assert [type(x) for x in again.columns[0].categories] == [type(x) for x in categories]


def test_the_published_schema_is_itself_valid() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.Draft202012Validator.check_schema(schema())
    jsonschema.validate(json.loads(colour_tree()[0].to_json()), schema())


def test_deep_trees_need_no_recursion() -> None:
    tree, data = chain(600)
    assert (tree.depth, tree.n_branches, tree.n_leaves) == (600, 600, 601)
    assert tree.predict(data).tolist() == data.y.tolist()
    assert Tree.from_json(tree.to_json()) == tree
    assert pickle.loads(pickle.dumps((tree, streed))) == (tree, streed)  # workers are sent functions with the package
    assert hash(tree) == hash(nest_again(tree))
    assert len(tree.to_text().splitlines()) == 1201
    assert len(tree.to_dot().splitlines()) == 1201 + 1200 + 4
    assert inspect(tree, SparseAccuracy(0.001), data).value == Fraction(600, 1000)
    assert repr(tree) == "<Tree: 600 branches, 601 leaves, depth 600>"
    assert repr(tree.root) == "Branch(column=0, children=<2>, rows=601)"


def nest_again(tree: Tree) -> Tree:
    return attrs.evolve(tree, root=nest(flatten(tree.root)))


@given(trees())
def test_predict_is_routing_by_hand_and_every_form_holds_the_same_tree(drawn: tuple[Tree, Dataset]) -> None:
    tree, data = drawn
    expected, errors, weights = [], Fraction(0), data.weights
    for i in range(data.n_rows):
        node = tree.root
        while isinstance(node, Branch):
            node = node.children[data.X[i, node.column]]
        expected.append(tree.labels[node.label])
        errors += (node.label != data.class_numbers[i]) * (1 if weights is None else Fraction(float(weights[i])))
    assert tree.predict(data).tolist() == expected
    assert inspect(tree, Accuracy(), data).value == errors
    found = inspect(tree, Accuracy(), data)
    assert found.rows == tuple(node.rows for node in walk(tree.root))
    assert Tree.from_json(tree.to_json()) == pickle.loads(pickle.dumps(tree)) == nest_again(tree) == tree
    nodes = tree.n_branches + tree.n_leaves
    assert len(tree.to_text().splitlines()) == nodes
    assert len(re.findall(r"^  n\d+ \[", tree.to_dot(), re.MULTILINE)) == nodes


def test_values_by_hand() -> None:
    """Rows 0..4 with labels 1, 2, 2, 1, 1; the root leaf says 1 and errs twice."""
    tree, data = colour_tree()
    leaf = Tree.grown(Leaf(0, 5, 2), data)
    assert inspect(leaf, Accuracy(), data).value == 2
    assert inspect(leaf, BalancedAccuracy(), data).value == Fraction(1, 2)
    assert inspect(leaf, SparseAccuracy(0.1), data).value == Fraction(2, 5)
    assert inspect(tree, SparseAccuracy(0.1), data).value == Fraction(1, 5)
    assert inspect(tree, Splits(), data).value == 2
    found = inspect(tree, Accuracy().subject_to(MinSupport(2)), data)
    assert found.value == 0
    assert found.rows == (5, 1, 2, 1, 1, 2)
    assert found.leaf_rows == (1, 1, 1, 2)
    assert found.broken == tuple((leaf, MinSupport(2)) for leaf in (0, 1, 2))


Table = dict[str, list[Any]]


def call(source: str, name: str = "predict") -> Callable[[Any], Any]:
    namespace: dict[str, Any] = {}
    exec(compile(source, "exported.py", "exec"), namespace)
    return namespace[name]  # type: ignore[no-any-return]


def query(table: Table, sql: str) -> list[Any]:
    quoted = [name.replace('"', '""') for name in table]
    columns = ", ".join(f'"{name}"' for name in quoted)
    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(f"CREATE TABLE people ({columns})")
        places = ", ".join("?" * len(table))
        connection.executemany(f"INSERT INTO people VALUES ({places})", list(zip(*table.values(), strict=True)))
        return [row[-1] for row in connection.execute(sql)]


def test_tools_of_scikit_learn() -> None:
    sklearn_tree = pytest.importorskip("sklearn.tree")
    data = make_data(seed=1)
    tree, weights = make_tree(data, seed=1), np.arange(data.n_rows) + 1
    found = to_sklearn(tree, make_table(data.n_rows, seed=1), sample_weight=weights)[-1].tree_
    assert (found.n_node_samples[0], found.weighted_n_node_samples[0]) == (data.n_rows, weights.sum())
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
    refused("conditions", "'height' is no column of the tree", call=lambda: to_sql(tree, conditions={"height": "1"}))
    other, given = make_tree(make_data(seed=1), seed=1), {"depart'ment": "True", "grade": "True"}
    refused("conditions", "has categories", call=lambda: to_python(other, conditions=given))


def test_trees_of_hundreds_of_levels() -> None:
    pytest.importorskip("sklearn")
    tree, data = chain(300)
    X = data.X
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
    assert "0.25" in to_sql(make_tree(make_data(seed=1), seed=1, shown=(Fraction(1, 4),)))
    refused("name", "name", call=lambda: to_python(tree, "no name"))
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
    refused("X", "no column named", call=lambda: onnx_inputs(fitted, X[["sex"]]))
    refused("X", "held numbers before", call=lambda: onnx_inputs(fitted, X.assign(age="old")))
    array = np.random.default_rng(1).normal(size=(60, 3))
    model = OptimalTreeClassifier(max_depth=1).fit(array, (array[:, 1] > 0.2).astype(int))
    session = runtime.InferenceSession(to_onnx(model).SerializeToString(), providers=["CPUExecutionProvider"])
    for rows in (array, array.tolist()):
        assert session.run(None, onnx_inputs(model, rows))[0].tolist() == model.predict(array).tolist()
    named = to_onnx(streed.solve(Accuracy(), {"leaf": ["f", "m", "m"]}, [0, 1, 1], max_depth=1))
    assert [each.name for each in named.graph.output] == ["prediction", "leaf_"]


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
    predict = call(to_python(tree))
    assert [predict(dict(zip(TABLE, row, strict=True))) for row in zip(*TABLE.values(), strict=True)] == expected
    written = {**TABLE, "day": [day.isoformat() for day in TABLE["day"]]}
    assert query(written, f"SELECT {to_sql(tree)} FROM people ORDER BY rowid") == expected
    assert to_sklearn(tree).predict(FRAME).tolist() == expected
    session = onnxruntime.InferenceSession(to_onnx(tree).SerializeToString())
    assert session.run(["prediction"], onnx_inputs(tree, TABLE))[0].tolist() == expected
    assert Tree.from_json(tree.to_json()) == tree


def test_a_tree_reads_data_sets_that_were_made_of_other_rows() -> None:
    tree = stump(AGE, Cut(30.5, 0))
    assert tree.predict(Dataset.make({"age": [1.0, 99.0, 50.0]})).tolist() == ["low", "high", "high"]
    assert tree.predict(Dataset.make({"age": [1, 0, 1]})).tolist() == ["low"] * 3
    assert tree.predict(Dataset.make({"age": [31, 30]})).tolist() == ["high", "low"]
    assert tree.predict(Dataset.make({"age": [31, 30]}, categorical=True)).tolist() == ["high", "low"]
    assert tree.predict(Dataset.make({"age": [30.0, 31.0, 99.0]}, max_cuts=1)).tolist() == ["low", "high", "high"]
    refused("X", "'age'", call=lambda: tree.predict(Dataset.make({"age": ["a", "b"]})))
    refused("X", "'age'", "numbers", call=lambda: tree.predict({"age": [dt.date(2020, 1, 1)]}))
    with pytest.warns(UserWarning, match="'size' has the value 'xl'"):
        assert stump(SIZE, Cut(0, 0), 2).predict({"size": ["s", "xl"]}).tolist() == ["low", "high"]
