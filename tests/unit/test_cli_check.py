"""`streed check`: a task of one's own, from a file or a module, by name."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.unit.shell import run, run_json

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.compiles

FEW = ("--no-engine", "--examples", "15")

SOURCE = """
import attrs
import numpy as np
from hypothesis import strategies as st
from streed import Task
from streed.testing import datasets
import beside_my_tasks

two_labels = datasets(y=st.booleans())

@attrs.frozen
class Counts(Task):
    weight: float = 1

    def statistics(self, data):
        return {"n": (data.class_numbers[:, None] == np.arange(data.n_classes)).astype(int)}

    def leaf_cost(self, s, k):
        return self.weight * (sum(s.n) - s.n[k]) + beside_my_tasks.NOTHING

class Mean(Counts):
    def combine(self, a, b):
        return (a + b) / 2

class Wrong(Counts):
    def leaf_cost(self, s, k):
        return s.m[k]

twice = Counts(2)
number = 3
"""


@pytest.fixture
def file(tmp_path: Path) -> Iterator[str]:
    path, before = tmp_path / "my_tasks.py", list(sys.path)
    path.write_text(SOURCE, encoding="utf-8")
    (tmp_path / "beside_my_tasks.py").write_text("NOTHING = 0\n", encoding="utf-8")
    yield str(path)
    sys.path[:] = before
    for name in ("my_tasks", "my_tasks_checked", "beside_my_tasks"):
        sys.modules.pop(name, None)


@pytest.mark.parametrize("name", ["Counts", "Counts(0.5)", "Counts(weight=2)", "twice"])
def test_a_separable_task(file: str, name: str) -> None:
    assert run("check", f"{file}:{name}", *FEW).stdout.startswith("Counts: no law violated\n  holds ")


def test_a_shipped_task_and_the_engine() -> None:
    findings = run_json("check", "sparse-accuracy(0.1)", "--examples", "3")["findings"]
    found = {each["law"]: each for each in findings}
    assert found["drivers equal recursion"]["verdict"] == "holds"
    assert "depth-first" in found["drivers equal recursion"]["note"]


def test_a_task_that_breaks_the_contract(file: str) -> None:
    result = run("check", f"{file}:Wrong", *FEW, code=2)
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert line.startswith("error: Wrong.leaf_cost(State(rows=1, n=(1,)), 0) raised this state has no statistic 'm'")
    assert line.endswith("my_tasks.py:27: return s.m[k]")
