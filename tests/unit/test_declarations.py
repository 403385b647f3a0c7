"""A tree that refutes what its task declares is an error that names the declaration, never an optimum."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import attrs
import numpy as np
import pytest

import streed
from streed.data import Dataset
from streed.errors import TaskError
from streed.reference import every_tree
from streed.task import State, Task
from streed.tasks import MinSupport
from streed.tree.declarations import check_declarations

RNG = np.random.default_rng(4)
X = RNG.integers(0, 2, (24, 3))
Y = ((X[:, 0] & X[:, 1]) ^ (RNG.random(24) < 0.2)).astype(int)


DATA = Dataset.make(X, Y)


@attrs.frozen
class Squares(Task):
    """The sum over leaves of the square of their errors: nothing that is declared below holds of it."""

    def statistics(self, data: Dataset) -> Any:
        return {"n": (data.class_numbers[:, None] == np.arange(2)).astype(np.int64)}

    def leaf_cost(self, s: State, k: int) -> Any:
        errors = sum(s.n) - s.n[k]
        return errors * errors


@attrs.frozen
class TooHigh(Squares):
    def lower_bound(self, s: State) -> Any:
        return s.rows  # here: too high


@attrs.frozen
class TooHighBelow(Squares):
    """A bound that the root keeps, and a node below it does not."""

    def lower_bound(self, s: State) -> Any:
        return 100 if s.rows < 20 else 0  # here: too high


@attrs.frozen
class Root(Squares):
    """Roots of errors, of which the parts of a leaf have more together."""

    superadditive: ClassVar[bool] = True  # here: superadditive

    def leaf_cost(self, s: State, k: int) -> Any:
        return (sum(s.n) - s.n[k]) ** 0.5


@attrs.frozen
class WorstTooLow(Squares):
    def worst_per_row(self, data: Dataset) -> Any:
        return np.full(data.n_rows, 0.25)  # here: worst


@attrs.frozen
class RowsHelp(Squares):
    def leaf_cost(self, s: State, k: int) -> Any:
        return 24 - s.rows

    def worst_per_row(self, data: Dataset) -> Any:
        return np.full(data.n_rows, 1.0)  # here: worst


@attrs.frozen
class NoLabel(Squares):
    any_label: ClassVar[bool] = True


WRONG: dict[str, tuple[Task, str, str | None]] = {
    "lower_bound": (TooHigh(), "TooHigh.lower_bound(State(rows=", "here: too high"),
    "lower_bound of a node": (TooHighBelow(), "TooHighBelow.lower_bound(State(rows=", "here: too high"),
    "superadditive": (Root(), "Root.superadditive is True, but", None),
    "worst_per_row": (WorstTooLow(), "WorstTooLow.worst_per_row allows a leaf", "here: worst"),
    "worst_per_row falls": (RowsHelp(), "RowsHelp.worst_per_row is declared, but a leaf", "here: worst"),
    "any_label": (NoLabel(), "NoLabel.any_label is True, and a leaf", None),
}


@pytest.mark.parametrize("limited", [False, True])
@pytest.mark.parametrize("name", WRONG)
def test_a_tree_that_refutes_a_declaration_is_an_error(name: str, limited: bool) -> None:
    task, said, mark = WRONG[name]
    if limited:
        task = task.subject_to(MinSupport(1))

    def attempt() -> None:
        if name not in ("superadditive", "worst_per_row falls"):
            streed.solve(task, DATA, max_depth=1, search="general")
            return
        for root in every_tree(task, DATA, max_depth=1):  # a leaf is best, and refutes nothing by itself
            check_declarations(task.bind(DATA), DATA, root)

    with pytest.raises(TaskError) as caught:
        attempt()
    first, second = str(caught.value).split("\n")
    assert first.startswith(said)
    if mark is not None:
        place = second if second.endswith(mark) else _line_below(second)
        assert mark in place


def _line_below(place: str) -> str:
    """The source behind the line that defines a member."""
    file, line, _ = place.strip().split(":", 2)
    return Path(file).read_text().split("\n")[int(line)]


def test_a_sound_task_is_solved_as_before() -> None:
    @attrs.frozen
    class Sound(Squares):
        superadditive: ClassVar[bool] = True

        def lower_bound(self, s: State) -> Any:
            return 0

    result = streed.solve(Sound(), X, Y, max_depth=2, search="general")
    assert (result.status, result.value) == (
        "optimal",
        streed.solve(Squares(), X, Y, max_depth=2, search="general").value,
    )
