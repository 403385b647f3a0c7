"""Generated kernels give the reference's optimum, and the general route's, for tasks of every kind."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
import pytest

import streed
from streed.bnb import native_search
from streed.data import Dataset
from streed.errors import StreedError
from streed.exact import Array, readable
from streed.reference import Evaluation, cost_of_tree, optimum
from streed.task import State, Task, Totals
from tests.differential.generated_cases import KINDS, Case, make_case
from tests.differential.generated_tasks import Gini

pytestmark = pytest.mark.compiles

CASES = 12
"""Of each kind."""

FEW_ROWS = 12
"""So many at most, for the general route."""

_TOLERANCE = 1e-9


def wrong_in(case: Case, **options: Any) -> list[str]:
    """What is wrong with the answer of `streed.solve` to the case, in words; empty if it is right."""
    task, data = case.task, case.data
    expected = optimum(task, data, **case.limits)
    try:
        result = streed.solve(task, data, **case.limits, **options)
    except StreedError as error:
        return [f"solve raises {type(error).__name__}: {error}"]
    if expected is None:
        found = (result.status, result.value, result.tree)
        return [] if found == ("infeasible", None, None) else [f"no tree is feasible, but there is {found}"]
    if result.tree is None:
        return [f"{result.status}, the optimum is {expected[0]}"]
    wrong = []
    if options.get("search", "depth-first") == "depth-first" and result.stats["route"] != "generated":
        wrong.append(f"the route is {result.stats['route']!r}")
    same = _equal if KINDS[case.kind].exact else _close
    best = readable(task.score(expected[0], Totals(task, data)))
    bounds = result.lower_bound, result.upper_bound
    if result.status != "optimal" or result.gap != 0 or result.value not in bounds:
        wrong.append(f"status and gap are {result.status, result.gap}, bounds {bounds}")
    if not same(result.value, best):
        wrong.append(f"the value is {result.value!r}, the optimum {best!r}")
    evaluation = Evaluation(task, data)
    cost = readable(cost_of_tree(task, data, result.tree.root))
    if not same(cost, readable(expected[0])):
        wrong.append(f"the tree costs {cost!r}, the optimum is {expected[0]!r}")
    return wrong + evaluation.broken_limits(result.tree.root, **case.limits)


def _equal(a: Any, b: Any) -> bool:
    return bool(a == b)


def _close(a: Any, b: Any) -> bool:
    return math.isclose(a, b, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE)


SOME = [pytest.param(kind, marks=() if i % 3 == 0 else pytest.mark.slow) for i, kind in enumerate(KINDS)]
"""A third of the kinds, and the others for the long run."""


@pytest.mark.parametrize("kind", SOME)
def test_generated_kernels_find_the_optimum(kind: str) -> None:
    for seed in range(CASES):
        case = make_case(kind, seed)
        assert not wrong_in(case), "\n".join([*wrong_in(case), str(case)])


@pytest.mark.parametrize("kind", SOME)
def test_the_general_route_agrees(kind: str) -> None:
    for seed in range(CASES):
        case = make_case(kind, seed)
        if case.data.n_rows <= FEW_ROWS:
            assert not wrong_in(case, search="general"), "\n".join([*wrong_in(case, search="general"), str(case)])


@pytest.mark.parametrize("kind", SOME)
def test_several_threads_agree(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native_search, "is_short", lambda *_: False)  # which is searched by one thread
    for seed in range(100, 104):
        case = make_case(kind, seed)
        assert not wrong_in(case, threads=2), "\n".join([*wrong_in(case, threads=2), str(case)])
        trees = {str(streed.solve(case.task, case.data, **case.limits, threads=n).tree) for n in (1, 2, 3)}
        assert len(trees) == 1


class Paid(Task):
    """Squared errors of real targets, and a gain for every row that a branching node asks."""

    superadditive: ClassVar[bool] = True

    def statistics(self, data: Dataset) -> dict[str, Array]:
        t = data.row_data["t"]
        return {"sum": t, "square": t * t}

    def labels(self, data: Dataset) -> tuple[str]:
        return ("mean",)

    def leaf_cost(self, s: State, k: int) -> Any:
        return max(s.square - s.sum * s.sum / s.rows, 0.0)

    def branching_cost(self, rows: int, path: tuple[int, ...], split: int) -> float:
        return -0.05 * rows


def test_equal_rows_give_no_floor_where_branching_may_gain() -> None:
    for seed in range(4):
        rng = np.random.default_rng(seed)
        data = Dataset.make(rng.integers(0, 2, (70, 4)), [0] * 70, t=rng.random(70))
        found = optimum(Paid(), data, max_depth=4)
        assert found is not None
        result = streed.solve(Paid(), data, max_depth=4)
        assert result.stats["kernel"] == "summed"
        assert result.value == pytest.approx(found[0], rel=1e-9)


def test_bounds_between_sides_of_categorical_columns() -> None:
    for seed in range(12):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(20, 60))
        X = np.hstack([rng.integers(0, 2, (n, 3)), rng.integers(0, 3, (n, 2))])
        X[0, 3:] = 2
        data = Dataset.make(X, rng.integers(0, 2, n), categorical=[3, 4])
        found = optimum(Gini(), data, max_depth=3)
        assert found is not None
        result = streed.solve(Gini(), data, max_depth=3)
        assert result.stats["kernel"] == "counted"
        assert result.value == pytest.approx(found[0], rel=1e-9)
