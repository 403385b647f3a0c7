"""The recorded optima of costs, policies, regression and survival, each with the call that finds it again."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import streed
from streed.tasks import CostSensitive, InstanceCosts, PolicyValue, RelativeRisk, SquaredError
from streed.tasks.cost_tables import CostTable

SHARED = Path(__file__).resolve().parents[2].parent / "shared" / "data"

Row = dict[str, Any]


def recorded(folder: Path = SHARED) -> list[Row]:
    """The rows of the tables that stand here, as known_optima.json has them; none where the data are absent."""
    path = folder / "known_optima.json"
    if not path.is_file():
        return []
    return [row for row in json.loads(path.read_text(encoding="utf-8")) if row["table"] in PROBLEMS]


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
