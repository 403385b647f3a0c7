"""Every estimator on every kind of labels, groups, arms, numbers and tables: fit, predict, and every export.

`python -m tests.differential.estimators` tries every cell, and prints those that differ; words choose among them, such
as `python -m tests.differential.estimators policy polars`. Each must predict what the plain kind does, in its labels,
and its pickle, JSON, SQL, Python and picture must say the same. The default tests try a fixed part."""

from __future__ import annotations

import pickle
import sys
import warnings
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import scipy.sparse

from streed.estimators import (
    CostSensitiveTreeClassifier,
    FairTreeClassifier,
    OptimalTreeClassifier,
    OptimalTreeRegressor,
    PolicyTree,
    SurvivalTree,
)
from streed.export import from_json, to_dot, to_json, to_python, to_sql

RNG = np.random.default_rng(7)
N = 90

TABLE = pd.DataFrame(
    {
        "age": np.where(RNG.random(N) < 0.15, np.nan, RNG.uniform(18, 80, N).round(1)),
        "city": RNG.choice(["Oslo", "Rome", "Lima"], N),
        "member": RNG.random(N) < 0.5,
        "since": pd.to_datetime("2020-01-01") + pd.to_timedelta(RNG.integers(0, 1000, N), unit="D"),
    }
)

TRUTH = ((TABLE["age"].fillna(0) > 40) ^ ((TABLE["city"] == "Rome") & (RNG.random(N) < 0.9))).to_numpy().astype(int)
TARGET = TRUTH * 3.0 + TABLE["member"].to_numpy() + RNG.normal(0, 0.1, N)
SEX = np.where(TABLE["age"].fillna(50) + RNG.normal(0, 15, N) > 50, "f", "m")
"""A table of every kind of column with labels, targets and groups, on which estimators are tried."""


Column = Callable[[list[Any]], Any]

SERIES: dict[str, Column] = {
    "list": list,
    "tuple": tuple,
    "array": np.array,
    "objects": lambda values: np.array(values, dtype=object),
    "column vector": lambda values: np.array(values)[:, None],
    "pandas": pd.Series,
    "pandas, other index": lambda values: pd.Series(values, index=range(5, 5 + len(values))),
    "pandas objects": lambda values: pd.Series(values, dtype=object),
    "pandas category": lambda values: pd.Series(values).astype("category"),
    "pandas nullable": lambda values: pd.Series(values).convert_dtypes(),
    "pandas pyarrow": lambda values: pd.Series(values).convert_dtypes(dtype_backend="pyarrow"),
    "pandas table": lambda values: pd.DataFrame({"y": values}),
    "polars": pl.Series,
    "polars table": lambda values: pl.DataFrame({"y": values}),
    "polars category": lambda values: pl.Series(values).cast(pl.String).cast(pl.Categorical),
    "pyarrow": lambda values: pl.Series(values).to_arrow(),
}
"""Ways to hand over labels, groups, arms and numbers; those of pyarrow's only where it is installed."""

PAIRS: dict[str, tuple[Any, Any]] = {
    "text": ("no", "yes"),
    "numpy text": (np.str_("no"), np.str_("yes")),
    "bool": (False, True),
    "int": (3, 10),
    "numpy int": (np.int8(3), np.int8(10)),
    "float": (0.0, 2.0),
}
"""Kinds of two labels, in order."""

FRAMES: dict[str, Callable[[pd.DataFrame], Any]] = {
    "pandas": lambda table: table,
    "pandas, other index": lambda table: table.set_index(np.arange(len(table)) + 7),
    "pandas nullable": lambda table: table.convert_dtypes(),
    "pandas pyarrow": lambda table: table.convert_dtypes(dtype_backend="pyarrow"),
    "pandas objects": lambda table: table.astype(object),
    "pandas category": lambda table: table.assign(city=table["city"].astype("category")),
    "pandas seconds": lambda table: table.assign(since=table["since"].astype("datetime64[s]")),
    "polars": lambda table: pl.from_pandas(table, nan_to_null=True),
    "polars lazy": lambda table: pl.from_pandas(table, nan_to_null=True).lazy(),
    "pyarrow": lambda table: pl.from_pandas(table, nan_to_null=True).to_arrow(),
    "dict of lists": lambda table: {name: list(table[name].astype(object)) for name in table},
    "dict of arrays": lambda table: {name: table[name].to_numpy() for name in table},
    "structured": lambda table: table.assign(city=table["city"].astype(object)).to_records(index=False),
}
"""Ways to hand over the table of every kind of column."""

GRIDS: dict[str, Callable[[Any], Any]] = {
    "array": lambda rows: rows,
    "list": lambda rows: rows.tolist(),
    "floats": lambda rows: rows.astype(np.float32),
    "bytes": lambda rows: rows.astype(np.uint8),
    "fortran": np.asfortranarray,
    "objects": lambda rows: rows.astype(object),
    "masked": np.ma.array,
    "csr": scipy.sparse.csr_matrix,
    "csc array": scipy.sparse.csc_array,
    "coo": scipy.sparse.coo_matrix,
}
"""Ways to hand over rows of whole numbers."""

if find_spec("pyarrow") is None:
    for ways in (SERIES, FRAMES):
        for name in [name for name in ways if "pyarrow" in name]:
            del ways[name]

GRID = np.random.default_rng(3).integers(0, 4, (N, 3))


def cases(column: Column, pair: tuple[Any, Any]) -> Iterator[tuple[str, Any, dict[str, Any]]]:
    """(name, estimator, what its `fit` takes beside X) of every estimator whose rows have labels, groups or arms."""
    labels = column([pair[place] for place in TRUTH])
    groups = column([pair[place] for place in (SEX == "f").astype(int)])
    arms = column([pair[place] for place in TABLE["member"].astype(int)])
    costs = [[0, 1], [5, 0]]
    plain = [value.item() if isinstance(value, np.generic) else value for value in pair]
    yield "classifier", OptimalTreeClassifier(max_depth=2), {"y": labels}
    yield "classifier, f1", OptimalTreeClassifier("f1", max_depth=1), {"y": labels}
    weighed = OptimalTreeClassifier(max_depth=1, class_weight={plain[0]: 2})
    yield "classifier, class weights", weighed, {"y": labels}
    yield "costs", CostSensitiveTreeClassifier(costs, max_depth=1), {"y": labels}
    named = pd.DataFrame(costs, plain, plain).iloc[::-1]
    yield "costs by name", CostSensitiveTreeClassifier(named, max_depth=1), {"y": labels}
    rows = np.array(costs)[TRUTH]
    yield "costs of rows", CostSensitiveTreeClassifier(max_depth=1), {"y": labels, "costs": rows}
    by_name = pd.DataFrame(rows[:, ::-1], columns=plain[::-1])
    yield "costs of rows by name", CostSensitiveTreeClassifier(max_depth=1), {"y": labels, "costs": by_name}
    yield "fair", FairTreeClassifier(limit=0.2, max_depth=1), {"y": labels, "sensitive_features": groups}
    notion = FairTreeClassifier("equalized-odds", 0.3, max_depth=1)
    if not hasattr(groups, "shape") or len(groups.shape) == 1:
        table = {"sex": groups, "member": TABLE["member"]}
        yield "fair, of a table", notion, {"y": labels, "sensitive_features": table}
    yield "policy", PolicyTree("dm", max_depth=1), {"y": TARGET, "treatment": arms, "predicted": _predicted(plain)}
    past = {"y": TARGET, "treatment": arms, "propensity": np.full(N, 0.5)}
    yield "policy of one arm's room", PolicyTree(max_depth=1, capacity=0.4, control=plain[1]), past
    if set(pair) == {False, True}:
        times = np.round(np.abs(TARGET) + 0.1, 1)
        yield "survival", SurvivalTree(max_depth=1), {"y": times, "event": labels}


def _predicted(arms: list[Any]) -> pd.DataFrame:
    """Outcomes under both arms, named by them in the other order."""
    return pd.DataFrame({arms[1]: TARGET, arms[0]: 1.0 - TRUTH})


def targets(column: Column) -> Iterator[tuple[str, Any, dict[str, Any]]]:
    """The same of every estimator whose rows have numbers."""
    yield "regressor", OptimalTreeRegressor(max_depth=1), {"y": column(TARGET.round(2).tolist())}
    times, events = (np.abs(TARGET) + 0.1).round(1).tolist(), column((TRUTH | (TARGET > 0.5)).astype(int).tolist())
    yield "survival", SurvivalTree(max_depth=1), {"y": column(times), "event": events}
    if len(getattr(column([1.0]), "shape", (1,))) > 1:
        return  # a table of weights or probabilities has a meaning of its own, or is refused
    outcome = {"y": column(TARGET.tolist()), "treatment": TRUTH, "propensity": column([0.5] * N)}
    yield "policy", PolicyTree(max_depth=1), outcome
    weights = {"y": TRUTH, "sample_weight": column([1.0, 2.0, 0.0] * (N // 3))}
    yield "weights", OptimalTreeClassifier(max_depth=1), weights
    yield "frequencies", OptimalTreeClassifier(max_depth=1), {"y": TRUTH, "frequency": column([1, 2, 0] * (N // 3))}


def answers(estimator: Any, X: Any, given: dict[str, Any], rows: list[dict[str, Any]] | None = None) -> list[Any]:
    """What the estimator predicts for X when fitted on it; raises AssertionError where one of its forms differs."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        y = given["y"]
        model = estimator.fit(X, y, **{name: values for name, values in given.items() if name != "y"})
        predicted: list[Any] = model.predict(X).tolist()
    assert pickle.loads(pickle.dumps(model)).predict(X).tolist() == predicted
    shown = model.tree_.shows()
    leaves = model.tree_.apply(model._encoded(X))
    assert from_json(to_json(model)) == model.tree_
    assert to_dot(model)
    assert to_sql(model)
    assert model.to_text()
    assert model._repr_html_()
    source = to_python(model)
    if rows is not None:
        namespace: dict[str, Any] = {}
        exec(source, namespace)
        assert [namespace["predict"](row) for row in rows] == [shown[leaf] for leaf in leaves.tolist()]
    if hasattr(model, "verdict"):
        assert "gap" in model.verdict()
    if "Policy" not in type(model).__name__ and "event" not in given:
        more = {name: given[name] for name in ("costs",) if name in given}
        assert np.isfinite(model.score(X, y, **more))
    return predicted


def plain_rows() -> list[dict[str, Any]]:
    """The rows of the table as Python's own values."""
    return [
        {"age": None if np.isnan(age) else age, "city": city, "member": member, "since": since.to_pydatetime()}
        for age, city, member, since in TABLE.itertuples(index=False)
    ]


def _same(found: list[Any], right: list[Any]) -> bool:
    """Whether predictions are equal, and of the same type but for texts of numbers' kinds."""
    return found == right or (isinstance(right[0], float) and np.allclose(found, right))


def cells() -> Iterator[tuple[str, Callable[[], bool]]]:
    """(what is tried, whether it is as it should be) of every cell; a cell raises what it raises."""
    for kind, pair in PAIRS.items():
        for name, column in SERIES.items():
            written = [str(value) for value in pair] if name == "polars category" else pair
            for case, estimator, given in cases(column, (written[0], written[1])):

                def cell(
                    estimator: Any = estimator, given: Any = given, case: str = case, of: Any = (written, pair)
                ) -> bool:
                    right = next(each for each in cases(list, (of[0][0], of[0][1])) if each[0] == case)
                    return _same(answers(estimator, TABLE, given, plain_rows()), answers(*right[1:2], TABLE, right[2]))

                yield f"{case}: {kind} as {name}", cell
    for name, column in SERIES.items():
        if "category" not in name:
            for case, estimator, given in targets(column):

                def number(estimator: Any = estimator, given: Any = given, case: str = case) -> bool:
                    right = next(each for each in targets(list) if each[0] == case)
                    return _same(answers(estimator, TABLE, given), answers(*right[1:2], TABLE, right[2]))

                yield f"{case}: numbers as {name}", number
    for frames, table in ((FRAMES, TABLE), (GRIDS, GRID)):
        for name, made in frames.items():
            for cuts in ("auto", 2):
                every = [*cases(list, ("no", "yes")), *targets(list)]
                for place, (case, estimator, given) in enumerate(every):

                    def frame(
                        place: int = place, estimator: Any = estimator, given: Any = given, made: Any = made,
                        table: Any = table, cuts: Any = cuts,
                    ) -> bool:  # fmt: skip
                        again = [*cases(list, ("no", "yes")), *targets(list)][place]
                        right = answers(again[1].set_params(cuts=cuts), table, again[2])
                        return _same(answers(estimator.set_params(cuts=cuts), made(table), given), right)

                    yield f"{case}: a table as {name}, cuts={cuts}", frame


def main(words: list[str]) -> int:
    """Prints every cell that is not as it should be, of those whose names have all words; how many there are."""
    tried, wrong = 0, 0
    for name, cell in cells():
        if not all(word in name for word in words):
            continue
        tried += 1
        try:
            said = "" if cell() else "predicts something else"
        except Exception as error:  # noqa: BLE001 - whatever it is, it is told
            said = f"{type(error).__name__}: {error}"
        if said:
            wrong += 1
            print(f"{name}: {said}"[:300], flush=True)
    print(f"{tried - wrong} of {tried} cells are as they should be")
    return min(wrong, 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
