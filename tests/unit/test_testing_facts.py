"""The laws on what is declared of costs, on large states, and on search_limits, each with a task that breaks it."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import attrs
import numpy as np
import pytest

from streed.task import State, Task
from streed.task.test_costs import CostsWithTests
from streed.tasks import Misclassifications
from streed.testing import LAWS, find_violations
from tests.property.broken_tasks import Counted

if TYPE_CHECKING:
    from streed.data import Dataset


@attrs.frozen
class LabelsMatter(Counted):
    any_label: ClassVar[bool] = True


@attrs.frozen
class WrongPrice(Counted):
    """A split costs two per row, and `priced` says one."""

    def branching_cost(self, rows: int, path: tuple[int, ...], split: int) -> Any:
        return 2 * rows

    def priced(self, data: Dataset) -> CostsWithTests:
        p = data.n_columns
        return CostsWithTests(Misclassifications(), np.ones(p, np.int64), np.ones((p, p), np.int64), Fraction(1))


@attrs.frozen
class GoodForFewRows(Counted):
    """A bound that only states of more than twenty rows refute."""

    def lower_bound(self, s: State) -> Any:
        return 0 if s.rows <= 20 else sum(s.n)


@attrs.frozen
class TieAndReverse(Counted):
    """Of equally many errors, more twos are worse, but from four errors on they are better."""

    def leaf_cost(self, s: State, k: int) -> Any:
        return (sum(s.n) - s.n[k], k)

    def better(self, a: Any, b: Any) -> bool:
        return bool(a[0] < b[0] or (a[0] == b[0] and (a[1] < b[1] if a[0] < 4 else a[1] > b[1])))


@pytest.mark.parametrize(
    ("task", "law"),
    [
        (LabelsMatter(), "any label costs the same"),
        (WrongPrice(), "prices are the costs"),
        (GoodForFewRows(), "lower bound is admissible"),
        (TieAndReverse(), "combine preserves order"),
    ],
)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_kit_finds_what_is_wrong_on_thirty_data_sets(task: Task, law: str, seed: int) -> None:
    (chosen,) = [each for each in LAWS if each.name == law]
    report = find_violations(task, (chosen,), max_examples=30, seed=seed)
    assert report.violated == (law,)


def test_laws_that_do_not_concern_a_task_say_so() -> None:
    laws = tuple(
        each
        for each in LAWS
        if each.name in ("any label costs the same", "prices are the costs", "score keeps the order")
    )
    report = find_violations(Counted(), laws, max_examples=5)
    verdicts = {each.law.name: each.verdict for each in report.findings}
    assert verdicts.pop("score keeps the order") == "holds"
    assert set(verdicts.values()) == {"not applicable"}
