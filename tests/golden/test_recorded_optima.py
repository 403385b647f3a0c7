"""Recorded optima of F1 and of fairness on real data, which another solver proved (STreeD's Tables 7 to 9).

The data are no part of the project; without them these tests are skipped.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.benchmarks.harness import DATA
from tests.benchmarks.known_optima import TABLES, measure

_PATH = DATA / "known_optima.json"
ROWS = json.loads(_PATH.read_text(encoding="utf-8")) if _PATH.is_file() else []
ROWS = [row for row in ROWS if row["table"] in TABLES and not row["table"].startswith("acc")]

pytestmark = pytest.mark.skipif(not ROWS, reason=f"there are no data in {DATA}")


@pytest.mark.parametrize("row", ROWS, ids=[f"{row['table']}-{row['dataset']}" for row in ROWS])
def test_recorded_optimum(row: dict[str, Any]) -> None:
    found = measure(DATA, row)
    assert found["holds"], found
