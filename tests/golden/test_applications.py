"""The recorded optima of costs, policies, regression and survival, where the data stand beside the repository."""

from __future__ import annotations

from typing import Any

import pytest

from tests.golden.applications import PROBLEMS, SHARED, numbers, recorded, whole

ROWS = recorded() or [{"table": table, "dataset": "", "max_depth": 0, "params": {}} for table in PROBLEMS]

needs_shared = pytest.mark.skipif(
    not SHARED.is_dir(), reason="the real data stand in a folder 'shared' beside the repository, which is not here"
)


BETTER = {"regression-airfoil-5-0.001": 0.6277307468531158}
"""Recorded values that a tree is better than. pystreed 1.4.0 finds it too with `use_lower_bound=False`."""


def _name(row: dict[str, Any]) -> str:
    parameters = [str(value) for value in row["params"].values()]
    return "-".join([row["table"], row["dataset"], str(row["max_depth"]), *parameters])


def _marks(row: dict[str, Any]) -> Any:
    """A few rows of every table; costs of instances have hundreds of different values each, which takes a minute."""
    same = [each for each in ROWS if each["table"] == row["table"]]
    return pytest.mark.slow if row["table"] == "icsc" or same.index(row) % 5 else ()


@needs_shared
@pytest.mark.parametrize("row", [pytest.param(row, marks=_marks(row), id=_name(row)) for row in ROWS])
def test_recorded_optimum(row: dict[str, Any]) -> None:
    result = PROBLEMS[row["table"]](SHARED, row)()
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
    result = PROBLEMS[row["table"]](SHARED, row)()
    values = numbers(SHARED / "regression" / "airfoil.csv")
    y = values[:, 0]
    errors = ((y - result.tree.predict(whole(values[:, 1:]))) ** 2).sum() / ((y - y.mean()) ** 2).sum()
    assert errors + row["params"]["cost_complexity"] * result.tree.n_branches == pytest.approx(BETTER[_name(row)])
    assert result.value < row["value"] - 0.001


@needs_shared
def test_every_table_has_recorded_rows() -> None:
    assert {row["table"] for row in ROWS} == set(PROBLEMS)
