"""Recorded optima of F1 and of fairness on real data, which another solver proved (STreeD's Tables 7 to 9).

The data are no part of the project; without them these tests are skipped.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import streed
from streed.tasks import F1, Accuracy
from tests.benchmarks.f1 import f1
from tests.benchmarks.fairness import LIMIT, NOTIONS, gap, read_data
from tests.benchmarks.harness import DATA

TABLES = ("f1_d3", "f1_d4", "dp_d2", "dp_d3", "eo_d2", "eo_d3")


def recorded() -> list[dict[str, Any]]:
    path = DATA / "known_optima.json"
    if not path.is_file():
        return []
    return [row for row in json.loads(path.read_text(encoding="utf-8")) if row["table"] in TABLES]


ROWS = recorded()

pytestmark = pytest.mark.skipif(not ROWS, reason=f"there are no data in {DATA}")


@pytest.mark.parametrize("row", ROWS, ids=[f"{row['table']}-{row['dataset']}" for row in ROWS])
def test_recorded_optimum(row: dict[str, Any]) -> None:
    if row["objective"] == "f1":
        values = np.loadtxt(DATA / "classification" / f"{row['dataset']}.csv", dtype=np.int32)
        X, y = values[:, 1:], values[:, 0]
        result = streed.solve(F1(), X, y, max_depth=row["max_depth"])
        assert result.tree is not None
        assert f1(y, result.tree.predict(X)) == pytest.approx(row["value"], abs=1e-12)
    else:
        X, y, groups = read_data(DATA, row["dataset"])
        notion = row["table"][:2]
        task = Accuracy().subject_to(NOTIONS[notion][0] <= LIMIT)
        result = streed.solve(task, X, y, max_depth=row["max_depth"], sensitive_features=groups)
        assert result.tree is not None
        predicted = result.tree.predict(X)
        assert gap(predicted, y, groups, notion) <= LIMIT + 1e-12
        assert np.count_nonzero(predicted != y) == row["value"]
    assert result.status == "optimal"
    assert result.value == pytest.approx(row["value"], abs=1e-12)


def test_all_tables_are_there() -> None:
    assert {row["table"] for row in ROWS} == set(TABLES)
