"""A task that breaks the contract gets two lines, and the second is its own source."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
import pytest

import streed
from streed.data import Dataset
from streed.errors import InputError, TaskError
from streed.task import Limit, RowCostTask, State, Task
from streed.task.contract import build, check_contract, is_shipped
from streed.tasks import Accuracy, MinSupport, SparseAccuracy

if TYPE_CHECKING:
    from collections.abc import Callable

DATA = Dataset.make([[0, 0], [0, 1], [1, 1]], ["a", "b", "b"], sample_weight=[1, 2, 0.5])


class Fine(Task):
    def statistics(self, data: Dataset) -> Any:
        return {
            "n": (data.class_numbers[:, None] == np.arange(data.n_classes)).astype(int),
            "rows_left": np.ones(data.n_rows),
        }

    def leaf_cost(self, s: Any, k: int) -> Any:
        return sum(s.n) - s.n[k]


def fine(name: str, **members: Any) -> Task:
    """A task as `Fine`, but for these members."""
    made: Any = type(name, (Fine,), members)
    return made()  # type: ignore[no-any-return]


def _outside(total: Any) -> Any:
    return 1 / (total - total)  # here: helper


@attrs.frozen
class Crooked(Limit):
    def allows(self, s: State) -> Any:
        return s.rows.nothing  # type: ignore[attr-defined] # here: limit


class TooFewCosts(RowCostTask):
    def row_costs(self, data: Dataset) -> Any:  # here: row costs
        return np.zeros((data.n_rows, 1))


WRONG: list[tuple[Task, str, str]] = [
    (
        fine("Text", leaf_cost=lambda self, s, k: 0 if k == 0 else str(sum(s.n))),  # here: text
        "Text.leaf_cost(State(rows=3, n=(1.0, 2.5), rows_left=3.5, weight=3.5), 1) returned '3.5'",
        "text",
    ),
    (
        fine("NoReturn", leaf_cost=lambda self, s, k: None),  # here: no return
        "returned None; return a number (is a `return` missing?)",
        "no return",
    ),
    (
        fine("BeyondTheEnd", leaf_cost=lambda self, s, k: s.n[k + 1]),  # here: beyond
        "1) raised IndexError: tuple index out of range",
        "beyond",
    ),
    (
        fine("NoNumber", leaf_cost=lambda self, s, k: math.nan if s.rows == 1 else 0),  # here: nan
        "State(rows=1, n=(1.0, 0.0), rows_left=1.0, weight=1.0), 0) returned nan",
        "nan",
    ),
    (
        fine("Misspelt", leaf_cost=lambda self, s, k: self.weight * s.n[k]),  # here: attribute
        "object has no attribute 'weight'",
        "attribute",
    ),
    (
        fine("NoStatistic", leaf_cost=lambda self, s, k: s.m[k]),  # here: statistic
        "raised this state has no statistic 'm'; it has n,",
        "statistic",
    ),
    (fine("RaisingHelper", leaf_cost=lambda self, s, k: _outside(s.n[k])), "RaisingHelper.leaf_cost(", "helper"),
    (
        fine("OneListPerRow", statistics=lambda self, data: [1, 2, 3]),  # here: list
        "statistics(data) returned [1, 2, 3]; return a dict",
        "list",
    ),
    (
        fine("TooShort", statistics=lambda self, data: {"n": np.ones((data.n_rows + 1, 2))}),  # here: short
        "has 'n' of shape (4, 2); give one entry per row: shape (3,)",
        "short",
    ),
    (
        fine("NotFinite", statistics=lambda self, data: {"n": np.full((data.n_rows, 2), np.inf)}),  # here: infinite
        "has 'n' with entries that are no finite numbers",
        "infinite",
    ),
    (
        fine("BadName", statistics=lambda self, data: {"rows": np.ones(data.n_rows)}),  # here: name
        "has the name 'rows'; use names such as",
        "name",
    ),
    (
        fine("NoRowData", statistics=lambda self, data: {"n": data.row_data["treated"]}),  # here: row data
        "KeyError: 'treated'; if that is row data, give treated=",
        "row data",
    ),
    (
        fine("NoLabels", labels=lambda self, data: []),  # here: labels
        "NoLabels.labels(data) returned []; return a list of at least one label",
        "labels",
    ),
    (
        fine("Unlike", branching_cost=lambda self, rows, path, split: (1, 0)),  # here: a tuple
        "return what every leaf costs: a number, such as 2.5",
        "a tuple",
    ),
    (
        fine("NoAnswer", feasible=lambda self, value: None),  # here: no answer
        "NoAnswer.feasible(2.5) returned None; return True or",
        "no answer",
    ),
    (
        fine("BadSubtract", subtract=lambda self, a, b: "less"),  # here: subtract
        "BadSubtract.subtract(2.5, 0.0) returned 'less'",
        "subtract",
    ),
    (
        fine("BadWorst", worst_per_row=lambda self, data: 1.0),  # here: worst
        "worst_per_row(data) returned 1.0; return an array of shape (3,)",
        "worst",
    ),
    (
        fine("BadBind", bind=lambda self, data: None),  # here: bind
        "BadBind.bind(data) returned None; return a Task, such as self",
        "bind",
    ),
    (Fine().subject_to(Crooked()), "Crooked.allows(State(rows=3", "limit"),
    (TooFewCosts(), "raised IndexError: tuple index out of range", "row costs"),
]


@pytest.mark.parametrize(("task", "said", "marked"), WRONG, ids=[marked for _, _, marked in WRONG])
def test_the_error_is_two_lines_and_shows_the_tasks_own(task: Task, said: str, marked: str) -> None:
    with pytest.raises(TaskError) as caught:
        check_contract(task, DATA)
    first, second = str(caught.value).splitlines()
    assert said in first
    lines = Path(__file__).read_text(encoding="utf-8").splitlines()
    number = next(i for i, line in enumerate(lines, start=1) if line.endswith(f" here: {marked}"))
    assert f"test_contract.py:{number}: " in second


def test_solve_says_it_before_it_searches() -> None:
    with pytest.raises(TaskError, match=r"returned '3.5'.*\n  .*test_contract.py:\d+: .*str"):
        streed.solve(WRONG[0][0], DATA)


@pytest.mark.parametrize("task", [Fine(), Accuracy(), SparseAccuracy(0.1), Accuracy().subject_to(MinSupport(2))])
def test_tasks_that_keep_the_contract_pass(task: Task) -> None:
    check_contract(task, DATA)
    check_contract(task, Dataset.make(np.zeros((1, 0)), ["a"]))


def test_data_at_fault_stays_an_input_error() -> None:
    class Demanding(Fine):
        def statistics(self, data: Dataset) -> Any:
            raise InputError("y", "it has no positives", "give some")

    with pytest.raises(InputError, match="no positives"):
        check_contract(Demanding(), DATA)


@pytest.mark.parametrize(
    ("task", "said"),
    [
        (
            fine("Growing", leaf_cost=lambda self, s, k: (0,) * s.rows),
            r"return what every leaf costs: a tuple of 3, such as \(0, 0, 0\)",
        ),
        (
            fine("Numbers", order="componentwise", better=lambda self, a, b: bool(a < b)),
            "the order is componentwise; return a tuple",
        ),
        (fine("Odd", order="lexical"), r"Odd.order is 'lexical'; use .total"),
    ],
)
def test_values_that_do_not_fit_their_order(task: Task, said: str) -> None:
    with pytest.raises(TaskError, match=said):
        check_contract(task, DATA)


class Half(Task):
    def statistics(self, data: Dataset) -> Any:
        return {}


@attrs.frozen
class Weighted(Fine):
    weight: float


def test_build() -> None:
    task = Fine()
    assert build(task) is task
    assert isinstance(build(Fine), Fine)
    with pytest.raises(
        TaskError, match=r"Half lacks leaf_cost; define leaf_cost\(self, s, k\)\n.*: class Half\(Task\)"
    ):
        build(Half)
    with pytest.raises(
        TaskError, match=r"Weighted needs arguments .*'weight'.*\n.*test_contract.py:\d+: class Weighted"
    ):
        build(Weighted)
    made: Callable[[], Any] = lambda: build(3)  # type: ignore[arg-type]  # noqa: E731
    with pytest.raises(TaskError, match="3 is no Task"):
        made()


def test_what_is_shipped() -> None:
    assert is_shipped(SparseAccuracy(0.1))
    assert is_shipped(Accuracy() + 0.5 * Accuracy())
    assert not is_shipped(Fine())
    assert not is_shipped(Fine().subject_to(MinSupport(2)))
    assert not is_shipped(Accuracy() + TooFewCosts())
