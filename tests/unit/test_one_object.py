"""From a fit to production with one object: estimator, result and tree are taken alike, and name raw columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from streed import InputError
from streed.export import codes, feature_names, onnx_inputs, to_dot, to_json, to_onnx, to_python, to_sql
from streed.plot import tree_svg

pytest.importorskip("sklearn")
pd: Any = pytest.importorskip("pandas")

from streed.estimators import OptimalTreeClassifier  # noqa: E402


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
