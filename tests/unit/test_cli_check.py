"""`streed check`: a task of one's own, from a file or a module, by name."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner, Result

from streed.cli.app import app
from streed.cli.loading import load_task
from streed.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.compiles

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


def run(*arguments: str, code: int = 0) -> Result:
    result = CliRunner().invoke(app, ["check", *arguments, "--no-engine", "--examples", "15"], prog_name="streed")
    assert result.exit_code == code, (result.output, result.exception)
    return result


@pytest.mark.parametrize("name", ["Counts", "Counts(0.5)", "Counts(weight=2)", "twice"])
def test_a_separable_task(file: str, name: str) -> None:
    assert run(f"{file}:{name}").stdout.startswith("Counts: no law violated\n  holds ")


def test_a_shipped_task_and_the_engine() -> None:
    arguments = ["check", "sparse-accuracy(0.1)", "--examples", "3", "--json"]
    result = CliRunner().invoke(app, arguments, prog_name="streed")
    assert result.exit_code == 0, result.output
    found = {each["law"]: each for each in json.loads(result.stdout)["findings"]}
    assert found["drivers equal recursion"]["verdict"] == "holds"
    assert "depth-first" in found["drivers equal recursion"]["note"]


def test_a_task_that_breaks_the_contract(file: str) -> None:
    result = run(f"{file}:Wrong", code=2)
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert line.startswith("error: Wrong.leaf_cost(State(rows=1, n=(1,)), 0) raised this state has no statistic 'm'")
    assert line.endswith("my_tasks.py:27: return s.m[k]")


REFUSED = {
    "no such name": (":Nothing", "its tasks: Counts, Mean, Wrong, twice"),
    "no task": (":number", "'number' in .* is no Task"),
    "makes no task": (":datasets()", "makes .*; name a task"),
    "too many arguments": (":Counts(1, 2)", "give the arguments that it takes"),
    "no literals": (":Counts(x)", "with literals"),
}


@pytest.mark.parametrize(("name", "said"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_task(file: str, name: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        load_task(file + name)
