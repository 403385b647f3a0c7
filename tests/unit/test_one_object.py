"""From a fit to production with one object: estimator, result and tree are taken alike, and name raw columns."""

from __future__ import annotations

import sqlite3
from typing import Any

import numpy as np
import pytest

from streed import InputError, Tree, solve
from streed.binarize import Settings, make_recipe
from streed.export import (
    codes,
    feature_names,
    from_json,
    onnx_inputs,
    to_dot,
    to_json,
    to_onnx,
    to_python,
    to_sklearn,
    to_sql,
)
from streed.plot import survey, tree_svg
from streed.report import make_report
from streed.tasks import Accuracy
from streed.tree import Leaf
from tests.differential.export_forms import FORMS, Case, available

pytest.importorskip("sklearn")
pd: Any = pytest.importorskip("pandas")

from streed.estimators import FairTreeClassifier, OptimalTreeClassifier  # noqa: E402


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


def test_the_tree_reads_raw_rows(fitted: Any) -> None:
    X, _ = ages()
    expected = fitted.predict(X).tolist()
    assert fitted.tree_.predict(X).tolist() == expected
    again = from_json(fitted.tree_.to_json())
    assert again.recipe == fitted.tree_.recipe
    assert again.predict(X).tolist() == expected
    assert again.predict(X[["plan", "age"]]).tolist() == expected  # what it does not ask about need not be there
    assert to_sklearn(fitted).predict(X).tolist() == expected


def test_only_columns_that_the_table_has_are_named(fitted: Any) -> None:
    X, _ = ages()
    base = sqlite3.connect(":memory:")
    X.to_sql("people", base, index=False)
    found = [row[-1] for row in base.execute(to_sql(fitted, "people"))]
    base.close()
    assert found == fitted.predict(X).tolist()
    assert "age<=" not in to_sql(fitted)


@pytest.mark.parametrize("form", ["scikit-learn, pickled", "ONNX", "Python", "SQL", "JSON"])
def test_a_table_without_a_question(form: str) -> None:
    """Every column is constant: a leaf, in forms that want a column all the same."""
    if form not in available():
        pytest.skip(f"{form}: not installed")
    table = {"a": [5.0, 5.0, 5.0], "b": ["x", "x", "x"]}
    recipe = make_recipe(table)
    data = recipe.dataset(recipe.encode(table), ["no", "yes", "yes"])
    tree = Tree.grown(Leaf(1, 3, 1), data)
    assert tree.n_columns == 0
    case = Case(tree, {"a": [5.0, 6.0], "b": ["x", "y"]}, ["yes", "yes"], {"a": "DOUBLE", "b": "VARCHAR"})
    assert FORMS[form].answers(case) == case.expected


def test_a_report_of_a_fitted_estimator_has_the_proof_and_the_rows(fitted: Any) -> None:
    X, y = ages()
    page = make_report(fitted, X, y)
    assert "proven optimal" in page
    assert "of the rows are predicted as they are labelled" in page
    assert "What the search counted" in page
    assert sum(seen.rows for seen in survey(fitted, X) if seen.is_leaf) == len(X)


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


def test_an_array_is_asked_by_position() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 3))
    y = (X[:, 1] > 0.2).astype(int)
    model = OptimalTreeClassifier(max_depth=1).fit(X, y)
    namespace: dict[str, Any] = {}
    exec(to_python(model, by_position=True), namespace)
    assert [namespace["predict"](row) for row in X.tolist()] == model.predict(X).tolist()
    assert from_json(to_json(model)).predict(X).tolist() == model.predict(X).tolist()
    with pytest.raises(InputError, match="it has 2 columns, not 3"):
        from_json(to_json(model)).predict(X[:, :2])


def test_a_fair_tree_does_not_need_the_groups() -> None:
    X, y = ages()
    model = FairTreeClassifier(limit=0.2, sensitive="sex", max_depth=1).fit(X, y)
    assert model.tree_.predict(X).tolist() == model.predict(X).tolist()
    assert '"sex"' not in to_sql(model)


def test_values_that_were_not_seen_take_a_stated_branch(fitted: Any) -> None:
    new = {"age": [30.0, None], "sex": ["f", "m"], "plan": ["z", "b"]}
    with pytest.warns(UserWarning, match="column 'plan' has the value 'z'"):
        answers = fitted.tree_.predict(new).tolist()
    with pytest.warns(UserWarning, match="column 'plan' has the value 'z'"):
        assert answers == fitted.predict(pd.DataFrame(new)).tolist()


def test_a_saved_recipe_must_make_the_columns_that_are_asked_about() -> None:
    X, y = ages()
    recipe = make_recipe(X, Settings(categories="multiway"))
    tree = solve(Accuracy(), recipe.dataset(recipe.encode(X), y), max_depth=2).tree
    assert tree is not None
    text = tree.to_json()
    assert Tree.from_json(text).recipe is not None
    with pytest.raises(InputError, match="do not make the columns"):
        Tree.from_json(text.replace('"name": "plan", "kind"', '"name": "plam", "kind"'))
    with pytest.raises(InputError, match="recipe"):
        Tree.from_json(text.replace('"unseen": "error"', '"unseen": "guess"'))
