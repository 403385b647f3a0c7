"""A task that breaks the contract, or that a tree refutes, gets two lines, and the second is its own source."""

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
from streed.reference import every_tree
from streed.task import Limit, RowCostTask, State, Task
from streed.task.contract import build, check_contract, is_shipped
from streed.tasks import Accuracy, MinSupport, SparseAccuracy
from streed.tree.evaluation import check_declarations

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


def wrong(name: str, said: str, mark: str = "", **members: Any) -> tuple[Task, str, str]:
    """A task of this name that is `Fine` but for these members; what is said of it; what stands in the line shown."""
    return fine(name, **members), said, mark or f'"{name}"'


def _outside(total: Any) -> Any:
    return 1 / (total - total)


@attrs.frozen
class Crooked(Limit):
    def allows(self, s: State) -> Any:
        return s.rows.nothing  # type: ignore[attr-defined]


class TooFewCosts(RowCostTask):
    def row_costs(self, data: Dataset) -> Any:
        return np.zeros((data.n_rows, 1))


WRONG: list[tuple[Task, str, str]] = [
    wrong("Text", "weight=3.5), 1) returned '3.5'", leaf_cost=lambda self, s, k: str(3.5) if k else 0),
    wrong("NoReturn", "returned None; return a number (is a `return` missing?)", leaf_cost=lambda self, s, k: None),
    wrong("BeyondTheEnd", "1) raised IndexError: tuple index out of range", leaf_cost=lambda self, s, k: s.n[k + 1]),
    wrong("NoNumber", "weight=1.0), 0) returned nan", leaf_cost=lambda self, s, k: math.nan if s.rows == 1 else 0),
    wrong("NoStatistic", "raised this state has no statistic 'm'; it has n,", leaf_cost=lambda self, s, k: s.m[k]),
    wrong("OneList", "statistics(data) returned [1, 2, 3]; return a dict", statistics=lambda self, data: [1, 2, 3]),
    wrong("TooShort", "(4, 2); give one entry per row", statistics=lambda self, data: {"n": np.ones((4, 2))}),
    wrong("Ragged", "has 'n' of shape ()", statistics=lambda self, data: {"n": [[1], [2, 3], [4]]}),
    wrong("NotFinite", "no finite numbers; give", statistics=lambda self, data: {"n": np.full((3, 2), np.inf)}),
    wrong(
        "Masked", "masked entries; fill them in", statistics=lambda self, data: {"n": np.ma.masked_equal([0, 1, 2], 1)}
    ),
    wrong("Changing", "has another 'n' when", statistics=lambda self, data: {"n": np.random.default_rng().random(3)}),
    wrong("Writing", "assignment destination is read-only", statistics=lambda self, data: data.X.fill(0)),
    wrong("BadName", "has the name 'rows'; use names", statistics=lambda self, data: {"rows": np.ones(3)}),
    wrong("NoRowData", "if that is row data, give treated=", statistics=lambda self, data: data.row_data["treated"]),
    wrong("NoLabels", "NoLabels.labels(data) returned []; return a list of", labels=lambda self, data: []),
    wrong(
        "OfOneClass", "raised ZeroDivisionError", leaf_cost=lambda self, s, k: s.n[1] / s.n[0] if s.rows == 2 else 0.0
    ),
    wrong("Endless", "returned -inf; no leaf is better than all", leaf_cost=lambda self, s, k: -math.inf),
    wrong("Huge", "return a number that a float can hold", leaf_cost=lambda self, s, k: 10**400),
    wrong("Single", "return a number of Python's", leaf_cost=lambda self, s, k: np.float32(1)),
    wrong("OneLeft", "a split is the number of one of 2", branching_cost=lambda self, rows, path, split: [1][split]),
    wrong("NotStrict", "no value is better than itself", better=lambda self, a, b: a <= b),
    wrong("Perhaps", "maximize is 'yes'; write maximize = True or False", maximize="yes", mark="leaf_cost"),
    wrong("NoShow", "leaf_label(State(rows=3", leaf_label=lambda self, s, k: s.nothing),
    wrong("Unlike", "what every leaf costs: a number, such as 2.5", branching_cost=lambda self, *split: (1, 0)),
    wrong("NoAnswer", "NoAnswer.feasible(2.5) returned None; return True or", feasible=lambda self, value: None),
    wrong("BadWorst", "returned 1.0; return an array of shape (3,), f", worst_per_row=lambda self, data: 1.0),
    wrong("BadBind", "BadBind.bind(data) returned None; return a Task, such as self", bind=lambda self, data: None),
    wrong("RaisingHelper", "RaisingHelper.leaf_cost(", "1 / (total", leaf_cost=lambda self, s, k: _outside(s.n[k])),
    (Accuracy().subject_to(Crooked()), "Crooked.allows(State(rows=3", "s.rows.nothing"),
    (TooFewCosts(), "row_costs(data) returned array([[0.], [0.], [0.]]); return an array of shape (3, 2)", "np.zeros"),
]


@pytest.mark.parametrize(("task", "said", "marked"), WRONG, ids=[said for _, said, _ in WRONG])
def test_the_error_is_two_lines_and_shows_the_tasks_own(task: Task, said: str, marked: str) -> None:
    with pytest.raises(TaskError) as caught:
        streed.solve(task, DATA)
    first, second = str(caught.value).splitlines()
    assert said in first
    number = int(second.partition("test_contract.py:")[2].partition(":")[0])
    assert marked in "".join(Path(__file__).read_text(encoding="utf-8").splitlines()[number - 3 : number])


def test_what_a_method_raises_in_a_search_is_told_with_its_line() -> None:
    rare = fine("Rare", order="componentwise", leaf_cost=lambda self, s, k: (s.n[k], 6 // (s.rows - 4)))
    with pytest.raises(TaskError, match=r"Rare.<lambda> raised ZeroDivisionError.*\n  .*test_contract.py:\d+: rare ="):
        streed.solve(rare, [[0]] * 4 + [[1]] * 6, [0, 1] * 5, max_depth=1)
    none = fine("Gone", leaf_cost=lambda self, s, k: s.n[k] if s.rows != 4 else None)
    with pytest.raises(TaskError, match="a leaf of 4 rows costs None by Gone"):
        streed.solve(none, [[0]] * 4 + [[1]] * 6, [0, 1] * 5, max_depth=1, search="general")


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


RNG = np.random.default_rng(4)
X = RNG.integers(0, 2, (24, 3))
Y = ((X[:, 0] & X[:, 1]) ^ (RNG.random(24) < 0.2)).astype(int)


DRAWN = Dataset.make(X, Y)


def squares(name: str, **members: Any) -> Task:
    """The sum over leaves of the square of their errors, but for these members, which do not hold of it."""
    return fine(name, **{"leaf_cost": lambda self, s, k: (sum(s.n) - s.n[k]) ** 2, **members})


REFUTED: dict[str, tuple[Task, str, str | None]] = {
    "lower_bound": (
        squares("TooHigh", lower_bound=lambda self, s: s.rows),  # here: too high
        "TooHigh.lower_bound(State(rows=",
        "too high",
    ),
    "lower_bound of a node": (
        squares("TooHighBelow", lower_bound=lambda self, s: 100 if s.rows < 20 else 0),  # here: too high below
        "TooHighBelow.lower_bound(State(rows=",
        "too high below",
    ),
    "superadditive": (  # roots of errors, of which the parts of a leaf have more together
        squares("Root", superadditive=True, leaf_cost=lambda self, s, k: (sum(s.n) - s.n[k]) ** 0.5),
        "Root.superadditive is True, but",
        None,
    ),
    "worst_per_row": (
        squares("WorstTooLow", worst_per_row=lambda self, data: np.full(data.n_rows, 0.25)),  # here: worst
        "WorstTooLow.worst_per_row allows a leaf",
        "worst",
    ),
    "worst_per_row falls": (
        squares(
            "RowsHelp",
            leaf_cost=lambda self, s, k: 24 - s.rows,
            worst_per_row=lambda self, data: np.full(data.n_rows, 1.0),  # here: worst of rows
        ),
        "RowsHelp.worst_per_row is declared, but a leaf",
        "worst of rows",
    ),
    "any_label": (squares("NoLabel", any_label=True), "NoLabel.any_label is True, and a leaf", None),
}


@pytest.mark.parametrize("limited", [False, True])
@pytest.mark.parametrize("name", REFUTED)
def test_a_tree_that_refutes_a_declaration_is_an_error(name: str, limited: bool) -> None:
    task, said, mark = REFUTED[name]
    if limited:
        task = task.subject_to(MinSupport(1))

    def attempt() -> None:
        if name not in ("superadditive", "worst_per_row falls"):
            streed.solve(task, DRAWN, max_depth=1, search="general")
            return
        for root in every_tree(task, DRAWN, max_depth=1):  # a leaf is best, and refutes nothing by itself
            check_declarations(task.bind(DRAWN), DRAWN, root)

    with pytest.raises(TaskError) as caught:
        attempt()
    first, second = str(caught.value).split("\n")
    assert first.startswith(said)
    if mark is not None:
        lines = Path(__file__).read_text(encoding="utf-8").splitlines()
        number = next(i for i, line in enumerate(lines, start=1) if line.endswith(f" here: {mark}"))
        assert f"test_contract.py:{number}: " in second


def test_a_sound_task_is_solved_as_before() -> None:
    sound = squares("Sound", lower_bound=lambda self, s: 0)
    found, plain = (streed.solve(task, X, Y, max_depth=2, search="general") for task in (sound, squares("Plain")))
    assert (found.status, found.value) == ("optimal", plain.value)
