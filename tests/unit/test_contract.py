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


class Text(Fine):
    def leaf_cost(self, s: Any, k: int) -> Any:
        if k == 0:
            return 0
        cost = sum(s.n)
        return str(cost)  # here: text


class NoReturn(Fine):
    def leaf_cost(self, s: Any, k: int) -> Any:
        cost = s.n[k]  # noqa: F841 - here: no return


class BeyondTheEnd(Fine):
    def leaf_cost(self, s: Any, k: int) -> Any:
        return s.n[k + 1]  # here: beyond


class NoNumber(Fine):
    def leaf_cost(self, s: Any, k: int) -> Any:
        return math.nan if s.rows == 1 else 0  # here: nan


class Misspelt(Fine):
    def leaf_cost(self, s: Any, k: int) -> Any:
        return self.weight * s.n[k]  # type: ignore[attr-defined] # here: attribute


class NoStatistic(Fine):
    def leaf_cost(self, s: Any, k: int) -> Any:
        return s.m[k]  # here: statistic


def _outside(total: Any) -> Any:
    return 1 / (total - total)  # here: helper


class RaisingHelper(Fine):
    def leaf_cost(self, s: Any, k: int) -> Any:
        return _outside(s.n[k])


class OneListPerRow(Fine):
    def statistics(self, data: Dataset) -> Any:
        return [1, 2, 3]  # here: list


class TooShort(Fine):
    def statistics(self, data: Dataset) -> Any:
        return {"n": np.ones((data.n_rows + 1, 2))}  # here: short


class NotFinite(Fine):
    def statistics(self, data: Dataset) -> Any:
        return {"n": np.full((data.n_rows, 2), np.inf)}  # here: infinite


class BadName(Fine):
    def statistics(self, data: Dataset) -> Any:
        return {"rows": np.ones(data.n_rows)}  # here: name


class NoRowData(Fine):
    def statistics(self, data: Dataset) -> Any:
        return {"n": data.row_data["treated"]}  # here: row data


class NoLabels(Fine):
    def labels(self, data: Dataset) -> Any:
        return []  # here: labels


class Unlike(Fine):
    def branching_cost(self, rows: int, path: tuple[int, ...], split: int) -> Any:
        return (1, 0)  # here: a tuple


class NoAnswer(Fine):
    def feasible(self, value: Any) -> Any:
        value < 3  # noqa: B015 - here: no answer


class BadSubtract(Fine):
    def subtract(self, a: Any, b: Any) -> Any:
        return "less"  # here: subtract


class BadWorst(Fine):
    def worst_per_row(self, data: Dataset) -> Any:
        return 1.0  # here: worst


class BadBind(Fine):
    def bind(self, data: Dataset) -> Any:
        return None  # here: bind


@attrs.frozen
class Crooked(Limit):
    def allows(self, s: State) -> Any:
        return s.rows.nothing  # type: ignore[attr-defined] # here: limit


class TooFewCosts(RowCostTask):
    def row_costs(self, data: Dataset) -> Any:  # here: row costs
        return np.zeros((data.n_rows, 1))


WRONG: dict[str, tuple[Task, str, str]] = {
    "a text": (
        Text(),
        "Text.leaf_cost(State(rows=3, n=(1.0, 2.5), rows_left=3.5, weight=3.5), 1) returned '3.5'",
        "text",
    ),
    "no return": (NoReturn(), "returned None; return a number (is a `return` missing?)", "no return"),
    "an index beyond the end": (BeyondTheEnd(), "1) raised IndexError: tuple index out of range", "beyond"),
    "NaN at one row": (NoNumber(), "State(rows=1, n=(1.0, 0.0), rows_left=1.0, weight=1.0), 0) returned nan", "nan"),
    "an attribute that is not there": (Misspelt(), "object has no attribute 'weight'", "attribute"),
    "a statistic that is not there": (NoStatistic(), "raised this state has no statistic 'm'; it has n,", "statistic"),
    "a helper that raises": (RaisingHelper(), "RaisingHelper.leaf_cost(", "helper"),
    "statistics as a list": (OneListPerRow(), "statistics(data) returned [1, 2, 3]; return a dict", "list"),
    "statistics of another length": (
        TooShort(),
        "has 'n' of shape (4, 2); give one entry per row: shape (3,)",
        "short",
    ),
    "infinite statistics": (NotFinite(), "has 'n' with entries that are no finite numbers", "infinite"),
    "a name that is taken": (BadName(), "has the name 'rows'; use names such as", "name"),
    "row data that was not given": (NoRowData(), "KeyError: 'treated'; if that is row data, give treated=", "row data"),
    "no labels": (NoLabels(), "NoLabels.labels(data) returned []; return a list of at least one label", "labels"),
    "a branching cost of another kind": (Unlike(), "return what every leaf costs: a number, such as 2.5", "a tuple"),
    "feasible without an answer": (NoAnswer(), "NoAnswer.feasible(2.5) returned None; return True or", "no answer"),
    "a bound that is a text": (BadSubtract(), "BadSubtract.subtract(2.5, 0.0) returned 'less'", "subtract"),
    "one worst cost for all": (BadWorst(), "worst_per_row(data) returned 1.0; return an array of shape (3,)", "worst"),
    "bind without a task": (BadBind(), "BadBind.bind(data) returned None; return a Task, such as self", "bind"),
    "a limit that raises": (Fine().subject_to(Crooked()), "Crooked.allows(State(rows=3", "limit"),
    "too few costs per row": (TooFewCosts(), "raised IndexError: tuple index out of range", "row costs"),
}


@pytest.mark.parametrize(("task", "said", "marked"), WRONG.values(), ids=WRONG)
def test_the_error_is_two_lines_and_shows_the_tasks_own(task: Task, said: str, marked: str) -> None:
    with pytest.raises(TaskError) as caught:
        check_contract(task, DATA)
    first, second = str(caught.value).splitlines()
    assert said in first
    lines = Path(__file__).read_text(encoding="utf-8").splitlines()
    number = next(i for i, line in enumerate(lines, start=1) if line.endswith(f" here: {marked}"))
    assert f"test_contract.py:{number}: " in second


def test_solve_says_it_before_it_searches() -> None:
    with pytest.raises(TaskError, match=r"returned '3.5'.*\n  .*test_contract.py:\d+: return str"):
        streed.solve(Text(), DATA)


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


def test_a_tuple_of_another_length_is_refused_at_some_state() -> None:
    class Growing(Fine):
        def leaf_cost(self, s: Any, k: int) -> Any:
            return (0,) * s.rows

    with pytest.raises(TaskError, match=r"return what every leaf costs: a tuple of 3, such as \(0, 0, 0\)"):
        check_contract(Growing(), DATA)


def test_the_componentwise_order_needs_tuples() -> None:
    class Numbers(Fine):
        order = "componentwise"

        def better(self, a: Any, b: Any) -> bool:
            return bool(a < b)

    with pytest.raises(TaskError, match="the order is componentwise; return a tuple"):
        check_contract(Numbers(), DATA)


def test_an_order_that_does_not_exist() -> None:
    class Odd(Fine):
        order = "lexical"

    with pytest.raises(TaskError, match=r"Odd.order is 'lexical'; use .total"):
        check_contract(Odd(), DATA)


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
