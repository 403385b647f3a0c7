from __future__ import annotations

import json
import pickle
import re
from fractions import Fraction
from typing import Any

import attrs
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streed.data import Dataset
from streed.data.database import Roles
from streed.data.strict_json import describe
from streed.errors import InputError
from streed.tasks import Accuracy, BalancedAccuracy, MinSupport, SparseAccuracy, Splits
from streed.tree import Branch, Claims, Leaf, Tree, flatten, nest, walk
from streed.tree.evaluation import evaluate, inspect
from streed.tree.storage import schema
from tests.unit.specimens import XOR, chain, colour_tree, trees, xor_tree


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


def test_predict_refuses_missing_columns() -> None:
    tree, _ = colour_tree()
    with pytest.raises(InputError, match="size"):
        tree.predict({"colour": ["red"]})
    with pytest.raises(InputError, match="3"):
        tree.predict([[0, 1]])


@pytest.mark.parametrize(
    ("labels", "kind"),
    [([False, True], "b"), ([-1, 1], "i"), ([0, 10**6], "i"), ([0.5, 1.5], "f"), (["a", "bb"], "U"), ([1, 2**70], "O")],
)
def test_predictions_keep_the_labels_type(labels: list[Any], kind: str) -> None:
    data = Dataset.make([[0], [1]], [0, 1])
    tree = Tree.grown(Branch(0, (Leaf(0, 1, 0), Leaf(1, 1, 0)), 2), data, tuple(labels))
    found = tree.predict([[0], [1], [1]])
    assert found.tolist() == [labels[0], labels[1], labels[1]]
    assert found.dtype.kind == kind


def test_text() -> None:
    assert str(xor_tree()[0]).splitlines() == [
        "a = 1?",
        "├── no: b = 1?",
        "│   ├── no: no (1 row, cost 0)",
        "│   └── yes: yes (1 row, cost 0)",
        "└── yes: b = 1?",
        "    ├── no: yes (1 row, cost 0)",
        "    └── yes: no (1 row, cost 0)",
    ]
    assert colour_tree()[0].to_text().splitlines() == [
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
        "├── 1: b (1 row, cost 0)",
        "└── 3: b (5 rows, cost 1)",
    ]
    assert Tree.grown(pointless, data).to_text(collapse=True) == "b (5 rows, cost 1)"


def test_text_shows_costs_in_the_tasks_unit() -> None:
    tree = Tree.grown(Leaf(1, 8, 2), xor_tree()[1], unit=Fraction(1, 8))
    assert tree.to_text() == "yes (8 rows, cost 0.25)"


def test_dot_escapes_what_graphviz_reads_as_syntax() -> None:
    data = Dataset.make({'say "hi"\\n\nthere': [0, 1]}, ['"', "\\"])
    tree = Tree.grown(Branch(0, (Leaf(0, 1, 0), Leaf(1, 1, 0)), 2), data)
    assert tree.to_dot().splitlines()[3:] == [
        r'  n0 [shape=ellipse, label="say \"hi\"\\n\nthere = 1?"];',
        r'  n1 [shape=box, label="\" (1 row, cost 0)"];',
        '  n0 -> n1 [label="no"];',
        r'  n2 [shape=box, label="\\ (1 row, cost 0)"];',
        '  n0 -> n2 [label="yes"];',
        "}",
    ]


def claims() -> Claims:
    roles = Roles((), "class", None, "n", {"sensitive_features": ("sex",)}, ("a",))
    return Claims(
        (0.01 * Splits() + Accuracy()).subject_to(MinSupport(1)),
        Fraction(1, 3),
        0,
        float("inf"),
        "feasible",
        4,
        3,
        None,
        1,
        roles,
    )


@pytest.mark.parametrize("make", [xor_tree, colour_tree, lambda: chain(3)])
def test_json_round_trip(make: Any) -> None:
    tree, data = make()
    tree = attrs.evolve(tree, unit=Fraction(1, 7), claims=claims())
    again = Tree.from_json(tree.to_json(indent=2))
    assert again == tree
    assert again.predict(data).tolist() == tree.predict(data).tolist()
    assert again.claims is not None
    assert attrs.evolve(again.claims, task=None) == attrs.evolve(tree.claims, task=None)
    assert again.claims.task == describe(tree.claims.task)
    assert again.to_json() == tree.to_json()


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
    import jsonschema

    jsonschema.Draft202012Validator.check_schema(schema())
    jsonschema.validate(json.loads(colour_tree()[0].to_json()), schema())


def test_deep_trees_need_no_recursion() -> None:
    tree, data = chain(600)
    assert (tree.depth, tree.n_branches, tree.n_leaves) == (600, 600, 601)
    assert tree.predict(data).tolist() == data.y.tolist()
    assert Tree.from_json(tree.to_json()) == tree
    assert pickle.loads(pickle.dumps(tree)) == tree
    assert hash(tree) == hash(nest_again(tree))
    assert len(tree.to_text().splitlines()) == 1201
    assert len(tree.to_dot().splitlines()) == 1201 + 1200 + 4
    assert evaluate(tree, SparseAccuracy(0.001), data) == Fraction(600, 1000)
    assert repr(tree) == "<Tree: 600 branches, 601 leaves, depth 600>"
    assert repr(tree.root) == "Branch(column=0, children=<2>, rows=601)"


def nest_again(tree: Tree) -> Tree:
    return attrs.evolve(tree, root=nest(flatten(tree.root)))


@given(trees())
def test_predict_is_routing_by_hand(drawn: tuple[Tree, Dataset]) -> None:
    tree, data = drawn
    expected, errors, weights = [], Fraction(0), data.weights
    for i in range(data.n_rows):
        node = tree.root
        while isinstance(node, Branch):
            node = node.children[data.X[i, node.column]]
        expected.append(tree.labels[node.label])
        errors += (node.label != data.class_numbers[i]) * (1 if weights is None else Fraction(float(weights[i])))
    assert tree.predict(data).tolist() == expected
    assert evaluate(tree, Accuracy(), data) == errors
    found = inspect(tree, Accuracy(), data)
    assert found.rows == tuple(node.rows for node in walk(tree.root))


@given(trees())
def test_every_form_holds_the_same_tree(drawn: tuple[Tree, Dataset]) -> None:
    tree, _ = drawn
    assert Tree.from_json(tree.to_json()) == tree
    assert pickle.loads(pickle.dumps(tree)) == tree
    assert nest_again(tree) == tree
    nodes = tree.n_branches + tree.n_leaves
    assert len(tree.to_text().splitlines()) == nodes
    assert len(re.findall(r"^  n\d+ \[", tree.to_dot(), re.MULTILINE)) == nodes


def test_values_by_hand() -> None:
    """Rows 0..4 with labels 1, 2, 2, 1, 1; the root leaf says 1 and errs twice."""
    tree, data = colour_tree()
    leaf = Tree.grown(Leaf(0, 5, 2), data)
    assert evaluate(leaf, Accuracy(), data) == 2
    assert evaluate(leaf, BalancedAccuracy(), data) == Fraction(1, 2)
    assert evaluate(leaf, SparseAccuracy(0.1), data) == Fraction(2, 5)
    assert evaluate(tree, SparseAccuracy(0.1), data) == Fraction(1, 5)
    assert evaluate(tree, Splits(), data) == 2
    found = inspect(tree, Accuracy().subject_to(MinSupport(2)), data)
    assert found.value == 0
    assert found.rows == (5, 1, 2, 1, 1, 2)
    assert found.leaf_rows == (1, 1, 1, 2)
    assert found.broken == tuple((leaf, MinSupport(2)) for leaf in (0, 1, 2))
