"""Which tasks take row weights, and that those which do count a row of weight w as w rows."""

from __future__ import annotations

from typing import Any, ClassVar

import attrs
import numpy as np
import pytest

import streed
from streed.registry import tasks
from streed.task import GeneralTask
from streed.task.weighing import takes_weights
from streed.tasks import Accuracy, CostSensitive, MehtaMDL, Splits
from streed.testing import find_violations
from streed.testing.laws import weights

pytestmark = pytest.mark.compiles


@attrs.frozen
class ByWeight(streed.Task):
    """The error rate of the worst leaf, by weight: the first task of the README."""

    def statistics(self, data: Any) -> Any:
        return {"counts": data.class_numbers[:, None] == np.arange(data.n_classes)}

    def leaf_cost(self, s: Any, k: int) -> Any:
        return (s.weight - s.counts[k]) / s.weight if s.weight > 0 else 0.0

    def combine(self, a: Any, b: Any) -> Any:
        return max(a, b)


@attrs.frozen
class ByRows(ByWeight):
    """The same by rows, which weights are not."""

    def leaf_cost(self, s: Any, k: int) -> Any:
        return (s.rows - s.counts[k]) / s.rows


@attrs.frozen
class Declared(ByRows):
    """It says that it is meant so, and is wrong."""

    takes_weights: ClassVar[bool] = True


@attrs.frozen
class PricedRows(ByWeight):
    """Its splits cost by the row."""

    combine = streed.Task.combine

    def branching_cost(self, rows: int, path: Any, split: int) -> Any:
        return 0.1 * rows


@attrs.frozen
class Unweighed(GeneralTask):
    """A function of rows that knows of no weights."""

    def rows_cost(self, data: Any, rows: Any, k: int) -> Any:
        return int((data.y[rows] != k).sum())


X, y = [[0], [0], [1]], ["no", "yes", "yes"]


@pytest.mark.parametrize("task", [ByRows(), PricedRows(), Unweighed(), ByRows().subject_to(streed.tasks.MinSupport(1))])
def test_tasks_that_count_rows_refuse_weights(task: streed.Task) -> None:
    assert not takes_weights(task)
    with pytest.raises(streed.InputError, match="sample_weight: ") as caught:
        streed.solve(task, X, y, sample_weight=[3, 1, 2], max_depth=1)
    assert "takes_weights = True" in str(caught.value)
    assert streed.solve(task, X, y, max_depth=1).status == "optimal"
    assert streed.solve(task, X, y, sample_weight=[1, 1, 1], max_depth=1).status == "optimal"


def test_every_task_that_ships_takes_weights() -> None:
    arguments: dict[str, dict[str, Any]] = {"sparse-accuracy": {"lam": 0.1}, "fbeta": {"beta": 2}}
    for name, entry in tasks().items():
        if "required" not in entry.parameters.values() or name in arguments:
            assert takes_weights(entry.made_by(**arguments.get(name, {}))), name
    assert takes_weights(Accuracy() + 0.1 * Splits())
    assert takes_weights(MehtaMDL())
    assert takes_weights(CostSensitive([[0, 1], [2, 0]]))


def test_the_law_tells_who_counts_rows_in_place_of_weights() -> None:
    found = find_violations(Declared(), weights.LAWS, max_examples=60)
    assert found.violated == ("weights are copies",)
    assert "does not count rows by weight" in found.explanation()
    assert find_violations(ByWeight(), weights.LAWS, max_examples=60).holds
    untold = find_violations(ByRows(), weights.LAWS, max_examples=60)
    assert untold.holds
    assert untold["weights are copies"].verdict == "not applicable"
    assert untold["frequencies are copies"].examples > 0
