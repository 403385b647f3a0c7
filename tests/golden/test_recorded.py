"""Recorded optima on real data: of STreeD's tables (costs, policies, regression, F1, fairness), and of Branches'.

The data are no part of the project: they stand in a folder 'shared' beside the repository, or these tests are skipped.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

import streed
from streed.tasks import F1, Accuracy, DemographicParity, EqualOpportunity, SquaredError
from tests.benchmarks import duel, harness, versions
from tests.benchmarks.harness import DATA

Row = dict[str, Any]

PROBLEMS: dict[str, Callable[[str, Row], versions.Posed]] = {
    "cost_d4": lambda name, given: versions.with_tests(DATA, name, given["costs"]),
    "icsc": lambda name, given: versions.of_rows(DATA, name),
    "ppg": lambda name, given: versions.of_treatments(DATA, name, given["teacher_method"].lower()),
    "regression": lambda name, given: versions.of_numbers(
        DATA, name, SquaredError(given.get("cost_complexity", 0), normalized=True)
    ),
    "survival": lambda name, given: versions.of_times(DATA, name),
    "sparse": lambda name, given: versions.of_any_depth(DATA, name, given["lambda"]),
}
"""By table."""

_PATH = DATA / "known_optima.json"
RECORDED: list[Row] = json.loads(_PATH.read_text(encoding="utf-8")) if _PATH.is_file() else []
ABSENT: list[Row] = [{"table": table, "dataset": "", "max_depth": 0, "params": {}} for table in PROBLEMS]
ROWS = [row for row in RECORDED if row["table"] in PROBLEMS] or ABSENT
TABLES = ("acc_d4", "acc_d5", "f1_d3", "f1_d4", "dp_d2", "dp_d3", "eo_d2", "eo_d3")
OTHERS = [
    pytest.param(
        row, marks=pytest.mark.slow if row["table"].startswith("acc") else (), id=f"{row['table']}-{row['dataset']}"
    )
    for row in RECORDED
    if row["table"] in TABLES
]

needs_shared = pytest.mark.skipif(not RECORDED, reason=f"there are no data in {DATA}")


BETTER = {"regression-airfoil-5-0.001": 0.6277307468531158}
"""Recorded values that a tree is better than. pystreed 1.4.0 finds it too with `use_lower_bound=False`."""


def _name(row: dict[str, Any]) -> str:
    parameters = [str(value) for value in row["params"].values()]
    return "-".join([row["table"], row["dataset"], str(row["max_depth"]), *parameters])


def _marks(row: dict[str, Any]) -> Any:
    """A few rows of every table; costs of instances have hundreds of different values each, which takes a minute."""
    same = [each for each in ROWS if each["table"] == row["table"]]
    return pytest.mark.slow if row["table"] in ("icsc", "sparse") or same.index(row) % 5 else ()


@needs_shared
@pytest.mark.parametrize("row", [pytest.param(row, marks=_marks(row), id=_name(row)) for row in ROWS])
def test_recorded_optimum(row: dict[str, Any]) -> None:
    task, X, y, given = PROBLEMS[row["table"]](row["dataset"], row["params"])
    result = streed.solve(task, X, y, max_depth=row["max_depth"], **given)
    if row["table"] == "sparse":  # by both drivers, and recorded as an accuracy
        assert 1 - result.value == pytest.approx(row["value"], rel=0, abs=1e-12)
        row = {**row, "value": streed.solve(task, X, y, search="branches", **given).value}
    # real costs of ten thousand rows are rounded, and what that leaves open is told
    assert result.status == "optimal" or result.stats["stopped"] == "rounding"
    assert result.gap == pytest.approx(0, abs=1e-9)
    if row["table"] == "cost_d4":
        assert result.stats["exact"]
        assert result.value == row["value"]
    assert result.value == pytest.approx(BETTER.get(_name(row), row["value"]), rel=1e-9)


@needs_shared
def test_a_tree_that_is_better_than_recorded() -> None:
    """Measured by nothing but its predictions."""
    row = next(row for row in ROWS if _name(row) in BETTER)
    task, X, y, _ = PROBLEMS[row["table"]](row["dataset"], row["params"])
    result = streed.solve(task, X, y, max_depth=row["max_depth"])
    errors = ((y - result.tree.predict(X)) ** 2).sum() / ((y - y.mean()) ** 2).sum()
    assert errors + row["params"]["cost_complexity"] * result.tree.n_branches == pytest.approx(BETTER[_name(row)])
    assert result.value < row["value"] - 0.001


@needs_shared
def test_every_table_has_recorded_rows() -> None:
    assert {row["table"] for row in ROWS} == set(PROBLEMS)


@needs_shared
@pytest.mark.parametrize("row", OTHERS)
def test_recorded_optimum_of_errors_scores_and_fairness(row: Row) -> None:
    """It is proved, equals the recorded one, and the tree is worth as much on the raw data."""
    name, kind, given = row["dataset"], row["table"][:2], dict[str, Any]()
    task: Any = F1() if kind == "f1" else Accuracy()
    if kind in ("dp", "eo"):
        X, y, groups = duel.read_groups(DATA, name)
        given = {"sensitive_features": groups}
        task = task.subject_to((DemographicParity() if kind == "dp" else EqualOpportunity()) <= duel.LIMIT)
    else:
        X, y = harness.read_data(DATA, "classification", name)
    result = streed.solve(task, X, y, max_depth=row["max_depth"], **given)
    predicted = result.tree.predict(X)
    assert result.status == "optimal"
    assert result.value == pytest.approx(row["value"], rel=0, abs=1e-12)
    worth = duel.f1(y, predicted) if kind == "f1" else duel.errors(y, predicted)
    assert worth == pytest.approx(row["value"], rel=0, abs=1e-12)
    assert not given or duel.gap(predicted, y, given["sensitive_features"], kind == "dp") <= duel.LIMIT + 1e-12
