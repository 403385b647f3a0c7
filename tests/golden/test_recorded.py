"""Recorded optima on real data: costs, policies, regression and survival, and F1 and fairness (STreeD's Tables 7 to 9).

The data are no part of the project: they stand in a folder 'shared' beside the repository, or these tests are skipped.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import streed
from streed.tasks import CostSensitive, InstanceCosts, PolicyValue, RelativeRisk, SquaredError
from streed.tasks.cost_tables import CostTable
from tests.benchmarks.harness import DATA
from tests.benchmarks.known_optima import TABLES, measure

Row = dict[str, Any]


def numbers(path: Path) -> Any:
    """(n, m) float64, of a file of numbers apart by blanks."""
    return np.loadtxt(path, dtype=np.float64, ndmin=2)


def whole(values: Any) -> Any:
    """The values as int64, C-contiguous."""
    return np.ascontiguousarray(values, dtype=np.int64)


def cost_sensitive(folder: Path, row: Row) -> Callable[[], Any]:
    name = row["dataset"]
    home = folder / "cost-sensitive" / name
    values = numbers(home / f"{name}-train-1.csv")
    task = CostSensitive(CostTable.read(home / f"{name}-{row['params']['costs']}-costs.csv"))
    X, y = whole(values[:, 1:]), whole(values[:, 0])
    return lambda: streed.solve(task, X, y, max_depth=row["max_depth"])


def instance_costs(folder: Path, row: Row) -> Callable[[], Any]:
    values = numbers(folder / "instance-cost" / f"{row['dataset']}.txt")
    X, costs = whole(values[:, 9:]), np.ascontiguousarray(values[:, 1:9])
    return lambda: streed.solve(InstanceCosts(), X, costs=costs, max_depth=row["max_depth"])


def policy_columns(values: Any) -> tuple[Any, Row]:
    """X and the row data of a Warfarin file."""
    past = {
        "treatment": whole(values[:, 1]),
        "outcome": values[:, 2],
        "propensity": values[:, 3],
        "predicted": np.ascontiguousarray(values[:, 4:7]),
    }
    return whole(values[:, 11:]), past


def policy(folder: Path, row: Row) -> Callable[[], Any]:
    X, past = policy_columns(numbers(folder / "policy" / f"{row['dataset']}.csv"))
    task = PolicyValue(row["params"]["teacher_method"].lower())
    return lambda: streed.solve(task, X, max_depth=row["max_depth"], **past)


def regression(folder: Path, row: Row) -> Callable[[], Any]:
    values = numbers(folder / "regression" / f"{row['dataset']}.csv")
    X, y = whole(values[:, 1:]), np.ascontiguousarray(values[:, 0])
    task = SquaredError(row["params"].get("cost_complexity", 0), normalized=True)
    return lambda: streed.solve(task, X, y, max_depth=row["max_depth"])


def survival(folder: Path, row: Row) -> Callable[[], Any]:
    values = numbers(folder / "survival" / f"{row['dataset']}_binary.txt")
    X, y, event = whole(values[:, 2:]), np.ascontiguousarray(values[:, 0]), whole(values[:, 1])
    return lambda: streed.solve(RelativeRisk(), X, y, event=event, max_depth=row["max_depth"])


PROBLEMS: dict[str, Callable[[Path, Row], Callable[[], Any]]] = {
    "cost_d4": cost_sensitive,
    "icsc": instance_costs,
    "ppg": policy,
    "regression": regression,
    "survival": survival,
}
"""By table."""


_PATH = DATA / "known_optima.json"
RECORDED: list[Row] = json.loads(_PATH.read_text(encoding="utf-8")) if _PATH.is_file() else []
ABSENT: list[Row] = [{"table": table, "dataset": "", "max_depth": 0, "params": {}} for table in PROBLEMS]
ROWS = [row for row in RECORDED if row["table"] in PROBLEMS] or ABSENT
OTHERS = [row for row in RECORDED if row["table"] in TABLES and not row["table"].startswith("acc")]

needs_shared = pytest.mark.skipif(not RECORDED, reason=f"there are no data in {DATA}")


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
    result = PROBLEMS[row["table"]](DATA, row)()
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
    result = PROBLEMS[row["table"]](DATA, row)()
    values = numbers(DATA / "regression" / "airfoil.csv")
    y = values[:, 0]
    errors = ((y - result.tree.predict(whole(values[:, 1:]))) ** 2).sum() / ((y - y.mean()) ** 2).sum()
    assert errors + row["params"]["cost_complexity"] * result.tree.n_branches == pytest.approx(BETTER[_name(row)])
    assert result.value < row["value"] - 0.001


@needs_shared
def test_every_table_has_recorded_rows() -> None:
    assert {row["table"] for row in ROWS} == set(PROBLEMS)


@needs_shared
@pytest.mark.parametrize("row", OTHERS, ids=[f"{row['table']}-{row['dataset']}" for row in OTHERS])
def test_recorded_optimum_of_scores_and_fairness(row: dict[str, Any]) -> None:
    found = measure(DATA, row)
    assert found["holds"], found
