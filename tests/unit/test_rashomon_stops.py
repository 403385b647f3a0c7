"""Counts of near-optimal trees that are stopped: what is counted is a set of trees, and bounds hold the whole count."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import streed
from streed.problem import SearchStopped
from streed.rashomon.counting import Counted
from streed.rashomon.recursion import Watch
from streed.rashomon.stopped import most_trees
from streed.reference.near_optimal import counted_trees
from streed.tasks import Misclassifications
from streed.tree import Branch, Node
from tests.unit.test_rashomon import PRICED, made, value_of

pytestmark = pytest.mark.compiles


class _Countdown(Watch):
    left = 10**9
    reason: BaseException = SearchStopped("time")

    def look(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise self.reason


def stopped_after(whole: streed.RashomonSet, looks: int, reason: BaseException, threads: int = 1) -> streed.RashomonSet:
    """The set as it is if counting ends after so many looks at the limits."""
    watch = _Countdown(threads=threads)
    watch.left, watch.reason = looks, reason
    question, budget = whole.counted.question, whole.counted.budget
    assert budget is not None
    counted = Counted.of(question, budget, banned=frozenset(), extra=(), watch=watch)
    watch.left = 10**9
    return streed.RashomonSet(counted, whole.optimum)


@pytest.mark.parametrize("reason", [SearchStopped("time"), SearchStopped("memory"), KeyboardInterrupt(), MemoryError()])
def test_what_is_counted_when_stopped_is_a_set_of_trees(reason: BaseException) -> None:
    X, y, _ = made(60, 8)
    whole = streed.rashomon(PRICED, X, y, max_depth=4, slack=2)
    assert whole.count is not None
    assert whole.upper_count == whole.count
    every = {str(tree) for tree in whole}
    sizes = []
    for looks in range(200):
        part = stopped_after(whole, looks, reason)
        if part.status == "complete":
            break
        assert part.stopped in ("time", "memory", "interrupt")
        assert part.count is None
        sizes.append(part.lower_count)
        assert part.upper_count is not None
        assert part.lower_count <= whole.count <= part.upper_count
        if len(sizes) in (7, 25):
            trees = {str(tree) for tree in part}
            assert len(trees) == part.lower_count
            assert trees <= every
    assert part.lower_count == whole.count
    assert sizes == sorted(sizes)
    assert sum(0 < size < whole.count for size in sizes) >= 3


@pytest.mark.parametrize("options", [{}, {"trivial": False}, {"columns": "all"}, {"labels": "best"}])
def test_counts_that_are_stopped_below_the_root_keep_what_is_finished_there(options: dict[str, Any]) -> None:
    X, y, _ = made(40, 5, seed=3)
    X = np.column_stack([X, 1 - X[:, 0]])
    whole = streed.rashomon(PRICED, X, y, max_depth=5, slack=1, **options)
    assert whole.count is not None
    every = {str(tree) for tree in whole}
    below = 0
    for looks in range(0, 400, 3):
        part = stopped_after(whole, looks, SearchStopped("time"))
        if part.status == "complete":
            break
        assert part.upper_count is not None
        assert part.lower_count <= whole.count <= part.upper_count
        assert sum(part.histogram.values()) == part.lower_count
        trees = {str(tree) for tree in part}
        assert len(trees) == part.lower_count
        assert trees <= every
        counted = part.counted.part
        below += counted is not None and any(each is not None and each.finished for each in counted.inner)
    assert part.status == "complete"
    assert below >= 1


def splits_of(node: Node) -> int:
    return 1 + sum(map(splits_of, node.children)) if isinstance(node, Branch) else 0


def test_several_threads_that_are_stopped_leave_what_is_finished() -> None:
    X, y, _ = made(90, 9)
    whole = streed.rashomon(PRICED, X, y, max_depth=4, slack=2)
    assert whole.count is not None
    sizes = []
    for looks in range(0, 60, 3):
        part = stopped_after(whole, looks, SearchStopped("time"), threads=2)
        sizes.append(part.lower_count)
        assert part.status == "complete" or part.stopped == "time"
        assert part.lower_count <= whole.count
        assert all(count <= whole.histogram[value] for value, count in part.histogram.items())
    assert len(set(sizes)) > 3


def test_a_bound_on_all_trees_holds_every_tree() -> None:
    for depth in range(4):
        for m in (1, 2, 3) if depth < 3 else (1, 2):
            X = np.array([[row >> j & 1 for j in range(m)] for row in range(2**m)])
            y = [row % 2 for row in range(2**m)]
            data = streed.Dataset.make(X, y)
            every = [node for _, _, node in counted_trees(Misclassifications(), data, max_depth=depth)]
            assert most_trees(2, m, depth, None) == len(every)
            for splits in range(4):
                few = sum(splits_of(node) <= splits for node in every)
                bound = most_trees(2, m, depth, splits)
                assert bound is not None
                assert few <= bound
                if depth >= m or splits < 2:
                    assert bound == few
    assert most_trees(3, 0, 4, None) == 3
    assert most_trees(2, 50, 30, None) is None


def test_a_stopped_set_is_asked_after_its_time_is_over() -> None:
    X, y, _ = made(60, 8)
    whole = streed.rashomon(PRICED, X, y, max_depth=4, slack=2)
    watch = _Countdown()
    watch.left = 8
    assert whole.counted.budget is not None
    counted = Counted.of(whole.counted.question, whole.counted.budget, banned=frozenset(), extra=(), watch=watch)
    part = streed.RashomonSet(counted, whole.optimum)
    assert part.status == "stopped"
    rng = np.random.default_rng(0)
    assert all(value_of(tree) in whole.histogram for tree in part.sample(20, rng))
