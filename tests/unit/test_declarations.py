"""A tree that refutes what its task declares is an error that names the declaration, never an optimum."""

from __future__ import annotations

from pathlib import Path
from typing import Any

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


def squares(name: str, **members: Any) -> Task:
    """A task as `Squares`, but for these members."""
    made: Any = type(name, (Squares,), members)
    return made()  # type: ignore[no-any-return]


WRONG: dict[str, tuple[Task, str, str | None]] = {
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
        lines = Path(__file__).read_text(encoding="utf-8").splitlines()
        number = next(i for i, line in enumerate(lines, start=1) if line.endswith(f" here: {mark}"))
        assert f"test_declarations.py:{number}: " in second


def test_a_sound_task_is_solved_as_before() -> None:
    sound = squares("Sound", lower_bound=lambda self, s: 0)
    found, plain = (streed.solve(task, X, Y, max_depth=2, search="general") for task in (sound, Squares()))
    assert (found.status, found.value) == ("optimal", plain.value)
