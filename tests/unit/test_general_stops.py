"""Searches of the general driver that are stopped, by time, memory, Ctrl-C and nodes, and what they tell on the way."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any, ClassVar

import attrs
import numpy as np
import pytest

import streed
from streed.data import Dataset
from streed.exact import Array
from streed.progress import Progress
from streed.reference import Evaluation
from streed.task import GeneralTask, State, Task
from streed.tasks import AbsoluteError
from tests.unit.unusual_tasks import (
    ByOwnDominance,
    Discounted,
    ErrorsByClass,
    FewOfEach,
    Gini,
    Spread,
    general,
    random_data,
)

LARGE = random_data(2_000, 60)


def check_stopped(result: Any, data: Dataset) -> None:
    """Assert that a stopped result holds trees of their values, and a bound that they do not pass."""
    assert result.status == "feasible"
    assert result.front
    evaluation = Evaluation(result.task, data)
    for value, tree in result.front:
        assert float_of(evaluation.cost(tree.root)) == value
    if result.task.order == "total" and result.lower_bound is not None:
        assert result.lower_bound <= result.value == result.upper_bound


def float_of(value: Any) -> Any:
    return float(value) if isinstance(value, Fraction) else value


STOPPED: list[Task] = [AbsoluteError(), FewOfEach(), ErrorsByClass(), Gini(), Discounted(), ByOwnDominance(), Spread()]


@pytest.mark.parametrize("task", STOPPED, ids=lambda task: type(task).__name__)
@pytest.mark.parametrize("limit", [1e-9, 0.4])
def test_time_limit(task: Task, limit: float) -> None:
    begin = time.perf_counter()
    result = general(task, LARGE, max_depth=6, time_limit=limit)
    assert time.perf_counter() - begin < limit + 60  # it would take hours
    assert result.stats["stopped"] == "time"
    check_stopped(result, LARGE)


_LONGER = (0.3, 3, 30)


"""Seconds: the first do, unless the machine is busy."""


def test_a_longer_search_knows_more() -> None:
    at_once = general(Gini(), LARGE, max_depth=6, time_limit=1e-9).value
    assert any(general(Gini(), LARGE, max_depth=6, time_limit=limit).value < at_once for limit in _LONGER)
    assert len(general(FewOfEach(), LARGE, max_depth=6, time_limit=1e-9).front) == 2
    assert any(len(general(FewOfEach(), LARGE, max_depth=6, time_limit=limit).front) > 2 for limit in _LONGER)


def test_memory_limit() -> None:
    for task in STOPPED:
        result = general(task, LARGE, max_depth=6, memory_limit=1)
        assert result.stats["stopped"] == "memory"
        check_stopped(result, LARGE)


def test_stopped_before_a_tree_was_found() -> None:
    data = random_data(64, 6)
    result = general(FewOfEach(0).subject_to(Never()), data, max_depth=6, time_limit=1e-9)
    assert (result.status, result.tree, result.front) == ("unknown", None, ())


def test_no_leaf_is_feasible() -> None:
    for task in (ErrorsByClass(), Gini(), AbsoluteError()):
        result = general(task.subject_to(Never()), random_data(20, 30), max_depth=2)
        assert (result.status, result.front) == ("infeasible", ())


class Never(streed.Limit):
    def allows(self, s: State) -> bool:
        return False


@attrs.frozen(eq=False)
class Interrupted(GeneralTask):
    """Absolute differences of class numbers, until Ctrl-C at the `last` leaf; a front if `order` says so."""

    last: int
    calls: list[int] = attrs.field(factory=lambda: [0])

    def rows_cost(self, data: Dataset, rows: Array, k: int) -> Any:
        self.calls[0] += 1
        if self.calls[0] == self.last:
            raise KeyboardInterrupt
        return int(np.count_nonzero(data.class_numbers[rows] != k))

    def lower_bound(self, s: State) -> Any:
        return 0


@attrs.frozen(eq=False)
class InterruptedFront(Interrupted):
    order: ClassVar[str] = "componentwise"

    def rows_cost(self, data: Dataset, rows: Array, k: int) -> Any:
        wrong = Interrupted.rows_cost(self, data, rows, k)
        return (wrong * (k == 0), wrong * (k == 1))

    def lower_bound(self, s: State) -> Any:
        return None


@pytest.mark.parametrize("kind", [Interrupted, InterruptedFront])
def test_an_interrupt_gives_what_is_known(kind: Callable[[int], Task], monkeypatch: pytest.MonkeyPatch) -> None:
    # the first calls would be those of the check, which a user may well interrupt
    monkeypatch.setattr(sys.modules["streed.solving"], "check_contract", lambda task, data: None)
    data = random_data(300, 10)
    known = []
    for last in (5, 60, 600, 2500):
        result = general(kind(last), data, max_depth=5)
        assert result.stats["stopped"] == "interrupt"
        check_stopped(result, data)
        known.append(min(sum(value) if isinstance(value, tuple) else value for value, _ in result.front))
    assert known[-1] < known[0]
    none = general(kind(1), data, max_depth=5)
    assert (none.status, none.stats["stopped"]) == ("feasible", "interrupt")
    assert none.tree is not None


@pytest.mark.parametrize(("task", "count"), [(Gini(), 3), (FewOfEach(), 2)])
def test_progress_is_told(task: Any, count: int) -> None:
    told: list[Progress] = []

    def tell(progress: Progress) -> None:
        told.append(progress)
        if len(told) == count:
            raise KeyboardInterrupt

    assert general(task, LARGE, max_depth=5, time_limit=300, progress=tell).status == "feasible"
    assert [each.nodes for each in told] == sorted(each.nodes for each in told)
    assert told[0].phase == "searching"
    incumbents = [each.incumbent for each in told if each.incumbent is not None]
    assert incumbents == sorted(incumbents, reverse=True)
    assert all(each.lower_bound is None or each.lower_bound <= incumbents[-1] for each in told)


@pytest.mark.parametrize(("kind", "nodes"), [(Interrupted, None), (Interrupted, 12), (InterruptedFront, None)])
def test_good_trees_of_the_whole_depth_come_before_the_proof(kind: type[Interrupted], nodes: int | None) -> None:
    rng = np.random.default_rng(3)
    X = rng.integers(0, 2, (120, 9))
    data = Dataset.make(X, (X[:, 0] & X[:, 1]) ^ (X[:, 2] & X[:, 3]) ^ (X[:, 4] & (rng.random(120) < 0.8)))
    limits: dict[str, Any] = {"max_nodes": nodes}
    lower = kind(-1)
    shallow = {value for value, _ in general(lower, data, max_depth=3, **limits).front}
    ended = kind(-1)
    best = {value for value, _ in general(ended, data, max_depth=5, **limits).front}
    stopped = [general(kind(at), data, max_depth=5, **limits) for at in (2 * lower.calls[0], 3 * lower.calls[0])]
    for result in stopped:
        check_stopped(result, data)
        worth = [sum(value) if isinstance(value, tuple) else value for value, _ in result.front]
        least, most = (min(sum(v) if isinstance(v, tuple) else v for v in found) for found in (best, shallow))
        assert least <= min(worth) < most
    assert 4 * lower.calls[0] < ended.calls[0]
