"""What is derived of tasks and their compositions."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
from click.testing import CliRunner

import streed
from streed.cli.app import app
from streed.data import Dataset
from streed.task import State, Task
from streed.task.analysis.facts import Facts, explain, facts, is_larger_better
from streed.tasks import Accuracy, BalancedAccuracy, MinSupport, Misclassifications, SparseAccuracy, Splits
from tests.searches import NATIVE, TOTAL_ONLY
from tests.unit.algebra_tasks import Gain, Largest, Spread, WorstLeaf, most, some_data


def of(task: Task, data: Dataset | None = None) -> Facts:
    data = some_data() if data is None else data
    return facts(task.bind(data), data)


def names(known: Facts) -> list[str]:
    return [bound.partition(":")[0] for bound in known.bounds]


def test_costs_per_row_have_every_bound_and_need_no_compilation() -> None:
    known = of(SparseAccuracy(0.1).subject_to(MinSupport(2)))
    assert (known.order, known.additive, known.worsening, known.superadditive) == ("total", True, True, True)
    assert known.row_costs is not None
    assert known.context == "constant"
    assert known.supports
    assert not known.constrained
    assert names(known) == ["equivalent points", "similarity", "subtraction", "superadditivity", "purification"]
    assert known.kernel == "signed"
    assert known.drivers == (*NATIVE, "general")


def test_three_labels_have_the_kernel_of_labels() -> None:
    data = Dataset.make([[0], [1], [0]], ["a", "b", "c"])
    assert of(Accuracy(), data).kernel == "labels"


def test_costs_of_sums_are_compiled() -> None:
    known = of(Spread() + 0.5 * Splits())
    assert known.row_costs is None
    assert known.additive
    assert known.worsening
    assert known.superadditive
    assert known.kernel == "generated"
    assert names(known) == ["subtraction", "superadditivity", "the task's own lower bound", "purification"]
    alone = of(Spread())
    assert alone.superadditive
    assert names(alone) == ["similarity", "subtraction", "superadditivity", "the task's own lower bound"]


def test_another_combine_has_no_subtraction_unless_declared() -> None:
    known = of(WorstLeaf())
    assert not known.additive
    assert known.worsening
    assert names(known) == []
    assert known.kernel == "generated"
    assert not of(Largest()).worsening
    assert not of(Gain()).worsening


def test_negative_costs_are_not_worsening() -> None:
    assert of(Misclassifications()).worsening
    assert not of(streed.maximize(Misclassifications())).worsening
    assert of(streed.maximize(Misclassifications())).kernel == "signed"


def test_fronts_and_limits_on_values_run_natively_where_they_add_up() -> None:
    front = of(Accuracy() & Splits())
    assert (front.order, front.additive, front.kernel, front.constrained) == ("componentwise", True, "fronts", False)
    limited = of(Accuracy().subject_to(most(Splits(), 2), MinSupport(2)))
    assert (limited.order, limited.additive, limited.kernel) == ("componentwise", True, "fronts")
    assert limited.constrained
    assert limited.supports
    partial = (*(each for each in NATIVE if each not in TOTAL_ONLY), "fronts", "general")
    assert limited.drivers == front.drivers == partial
    worst = of(Accuracy().subject_to(most(WorstLeaf(), 2)))
    assert (worst.additive, worst.kernel) == (False, "general")


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
        (Accuracy().subject_to(most(Splits(), 2)), "Splits() <= 2"),
        (BalancedAccuracy() & Splits(), "front of\n  BalancedAccuracy()\n  Splits()"),
        (streed.maximize(Gain()), "maximum of\n  Gain()"),
        (WorstLeaf(), "the task's own; never gives a better value"),
        (NeedsCosts(), "costs: it is missing; give costs="),
    ],
)
def test_explain_says_so(task: Task, said: str) -> None:
    assert said in explain(task)
    assert streed.explain is explain


def test_explain_reads_the_data() -> None:
    data = Dataset.make([[0], [1], [0]], ["a", "b", "c"], costs=[1.0, 2.0, 3.0])
    assert "kernel     labels" in explain(Accuracy(), data)
    assert "kernel     labels" in explain(NeedsCosts(), data)


def test_the_shell_explains() -> None:
    result = CliRunner().invoke(app, ["explain", "sparse-accuracy(0.01)", "--subject-to", "min-support(5)"])
    assert result.exit_code == 0, result.output
    assert "SparseAccuracy(lam=0.01)" in result.output
    assert "kernel     signed" in result.output


@attrs.frozen
class Deviations(Task):
    """Reads the rows themselves."""

    reads_rows = True

    def statistics(self, data: Dataset) -> dict[str, Any]:
        return {}

    def leaf_cost(self, s: Any, k: int) -> Any:
        return float(abs(s.data.class_numbers[s.members] - s.data.class_numbers[s.members].mean()).sum())


def test_tasks_that_read_rows_take_the_general_route_and_so_do_their_compositions() -> None:
    for task in (
        Deviations(),
        2 * Deviations() + Splits(),
        Deviations() & Splits(),
        Deviations().subject_to(MinSupport(2)),
    ):
        assert task.reads_rows
        known = of(task)
        assert (known.row_costs, known.kernel) == (None, "general")
    whole = State(2, data=some_data(), members=[0, 1])
    assert (0.5 * Deviations() + Splits()).leaf_cost(
        State(2, data=some_data(), members=[0, 1], part1_cost=(0, 0)), 0
    ) == 0.5
    assert Deviations().leaf_cost(whole, 0) == 1


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
