"""What is derived of tasks and their compositions."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
from click.testing import CliRunner

import streed
from streed.cli.app import app
from streed.data import Dataset
from streed.task import Task
from streed.task.algebra import at_most
from streed.task.analysis.facts import explain, is_larger_better
from streed.tasks import Accuracy, BalancedAccuracy, MinSupport, Misclassifications, Splits, WorstLeaf


@attrs.frozen
class NeedsCosts(Task):
    def statistics(self, data: Dataset) -> dict[str, Any]:
        if "costs" not in data.row_data:
            raise streed.InputError("costs", "it is missing", "give costs=")
        return {"costs": data.row_data["costs"]}

    def leaf_cost(self, s: Any, k: int) -> Any:
        return s.costs


@pytest.mark.parametrize(
    ("task", "said"),
    [
        (Accuracy(), "kernel     signed"),
        (Misclassifications() + 0.01 * Splits(), "1/100 * Splits()"),
        (Accuracy().subject_to(MinSupport(5)), "with MinSupport(min_rows=5) in every leaf"),
        (Accuracy().subject_to(at_most(Splits(), 2)), "Splits() <= 2"),
        (BalancedAccuracy() & Splits(), "front of\n  BalancedAccuracy()\n  Splits()"),
        (streed.maximize(Accuracy()), "maximum of\n  Accuracy()"),
        (WorstLeaf(), "the task's own; never gives a better value"),
        (NeedsCosts(), "costs: it is missing; give costs="),
    ],
)
def test_explain_says_so(task: Task, said: str) -> None:
    assert said in explain(task)
    assert streed.explain is explain


def test_the_shell_explains() -> None:
    result = CliRunner().invoke(app, ["explain", "sparse-accuracy(0.01)", "--subject-to", "min-support(5)"])
    assert result.exit_code == 0, result.output
    assert "SparseAccuracy(lam=0.01)" in result.output
    assert "kernel     signed" in result.output


@pytest.mark.parametrize(
    ("better", "expected"),
    [
        (lambda _, a, b: a > b, True),
        (lambda _, a, b: b < a, True),
        (lambda _, a, b: bool(a > b), True),
        (lambda _, a, b: bool(a < b), False),
        (lambda _, a, b: True if a > b else False, True),  # noqa: SIM210 - as a user may write it
        (lambda _, a, b: not a > b, None),
        (lambda _, a, b: a > b and a < b, None),
        (lambda _, a, b: abs(a) < abs(b), None),
        (lambda _, a, b: True, None),
    ],
)
def test_which_values_are_better(better: Any, expected: bool | None) -> None:
    kind: Any = type("Compared", (Task,), {"statistics": None, "leaf_cost": None, "better": better})
    assert is_larger_better(kind()) is expected
