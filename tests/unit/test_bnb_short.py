"""Short searches in one native call answer as searches step by step do, in all that is told of them."""

from __future__ import annotations

import time
from fractions import Fraction
from typing import Any

import attrs
import numpy as np
import pytest

from streed.bnb import native_search, short_search
from streed.bnb.entries import empty_caches, extract_tree, lay_out, link_problem, solve_short, solve_short_each
from streed.bnb.oracle import NativeOracle
from streed.bnb.procedure import BEST_FIRST, DEPTH_FIRST
from streed.bnb.short_oracle import ShortOracle
from streed.data import Dataset
from streed.encoding.row_costs import row_costs_of
from streed.encoding.test_costs import costs_with_tests
from streed.enumerate.packed_rows import packed_rows_of
from streed.kernels import buffers
from streed.kernels.entries import common_divisor, find_groups, find_rows, measure_tree, pack_columns
from streed.kernels.linking import Native
from streed.problem import Outcome, Problem, SearchLimits
from streed.problem.linear_oracle import Answer
from streed.reference import optimum
from streed.task import Task
from streed.tasks import Accuracy, CostSensitive, SparseAccuracy
from streed.tasks.cost_tables import CostTable, TestCost

TIMES = ("seconds_setup", "seconds_search", "trace", "peak_bytes")
"""What is never the same twice; of the trace, the times."""


@pytest.fixture
def step_by_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """No search is taken for a short one."""
    monkeypatch.setattr(native_search, "is_surely_short", lambda *_: False)


def random_problem(seed: int) -> Problem:
    """One of few rows and columns: of two or more labels, weights, prices of splits, categorical columns, limits."""
    draw = np.random.default_rng(seed)
    n, p = int(draw.integers(1, 150)), int(draw.integers(1, 12))
    X: Any = draw.integers(0, 2, (n, p))
    if seed % 4 == 1:
        X = {f"x{j}": column if j else [f"v{v}" for v in draw.integers(0, 4, n)] for j, column in enumerate(X.T)}
    labels = int(draw.integers(2, 5))
    y = draw.integers(0, labels, n)
    task: Task = SparseAccuracy(0.02) if seed % 3 == 1 else Accuracy()
    if seed % 7 == 3:
        prices = draw.integers(0, 1000, (labels, labels)) * (seed * 10**4)
        task = CostSensitive(np.array(prices) - np.diag(np.diag(prices)))
    weights = draw.integers(1, 4, n) if seed % 5 == 2 else None
    data = Dataset.make(X, y, sample_weight=weights, categorical=True if isinstance(X, dict) else None)
    if seed % 7 == 3 and data.n_classes != labels:
        task = Accuracy()
    depth, needed = int(draw.integers(0, 4)), int(draw.choice([1, 1, 3, n + 1]))
    return Problem(data, task.bind(data), depth, None, needed)


def told(outcome: Outcome) -> dict[str, Any]:
    """All but times."""
    stats = {name: what for name, what in outcome.stats.items() if name not in TIMES}
    trace = [entry[1:] for entry in outcome.stats["trace"]]
    return attrs.asdict(outcome, recurse=False) | {"stats": stats, "trace": trace, "solutions": roots(outcome)}


def roots(outcome: Outcome) -> list[Any]:
    return [(solution.value, solution.root) for solution in outcome.solutions]


@pytest.mark.usefixtures("step_by_step")
@pytest.mark.parametrize("part", range(4))
def test_one_call_answers_as_many_do(part: int) -> None:
    shapes, kernels, lanes = set(), set(), set()
    for seed in range(part, 160, 4):
        problem = random_problem(seed)
        costs = row_costs_of(problem)
        assert costs is not None
        assert costs.exact
        procedure = BEST_FIRST if seed % 6 == 5 else DEPTH_FIRST
        quick = short_search.search_short(problem, costs, procedure, time.perf_counter())
        slow = native_search.search_native(problem, SearchLimits(), procedure)
        assert quick is not None, seed
        assert slow is not None, seed
        assert told(quick) == told(slow), seed
        shapes.add((len(quick.solutions), problem.max_depth))
        kernels.add(quick.stats["kernel"])
        lanes.add(quick.stats["lane"])
    assert len(shapes) > 5
    assert part or (kernels == {"signed", "labels"} and len(lanes) > 1)


def priced_problem(seed: int) -> Problem:
    """One whose rows pay for tests: features of several columns, groups, prices that differ or are all equal."""
    draw = np.random.default_rng((7, seed))
    n, features, labels = int(draw.integers(2, 120)), int(draw.integers(1, 5)), int(draw.integers(2, 5))
    wide = int(draw.integers(1, 4))
    X = draw.integers(0, 2, (n, features * wide))
    if seed % 4 == 1:
        X[:, -1] = X[:, 0]  # which are the same split, at another price
    unit = (1, 7, 10**4, 10**9)[seed % 4]
    tests = [
        TestCost(f"f{j}", Fraction(int(full) * unit, 5), Fraction(int(full) * unit // 2, 5), group, columns)
        for j, full in enumerate(draw.integers(0, 6, features))
        for group in ["ab"[j % 2] if seed % 3 else None]
        for columns in [range(wide * j, wide * (j + 1))][: int(j == 0 or draw.random() < 0.8)]
    ]
    matrix = draw.integers(0, 9, (labels, labels)) * unit + draw.integers(0, 9, (labels, labels))
    table = CostTable.of(matrix - np.diag(np.diag(matrix)), tests, range(labels))
    data = Dataset.make(X, draw.integers(0, labels, n))
    task = CostSensitive(table)
    return Problem(data, task.bind(data), int(draw.integers(0, 4)), None, int(draw.choice([1, 1, 3])))


@pytest.mark.usefixtures("step_by_step")
def test_one_call_answers_as_many_do_where_rows_pay_for_tests() -> None:
    lanes, optima = set(), 0
    for seed in range(60):
        problem = priced_problem(seed)
        found = costs_with_tests(problem)
        if found is None:
            assert row_costs_of(problem) is not None, seed  # no test costs anything
            continue
        costs, tests = found
        quick = short_search.search_short(problem, costs, DEPTH_FIRST, time.perf_counter(), tests)
        slow = native_search.search_native(problem, SearchLimits(), DEPTH_FIRST)
        assert quick is not None, seed
        assert slow is not None, seed
        assert told(quick) == told(slow), seed
        lanes.add(quick.stats["lane"])
        if seed % 3 == 0 and quick.solutions:
            best = optimum(problem.task, problem.data, max_depth=problem.max_depth, min_leaf=problem.min_leaf)
            assert best is not None
            assert quick.solutions[0].value == best[0], seed
            optima += 1
    assert len(lanes) == 3
    assert optima > 5


@pytest.mark.parametrize("split", [0, 3])
def test_an_oracle_of_calls_answers_as_one_with_a_workspace(split: int) -> None:
    for seed in range(40):
        problem = random_problem(seed)
        draw = np.random.default_rng((split, seed))
        kinds = np.unique(draw.integers(0, 5, problem.data.n_rows), return_inverse=True)[1]
        labels = int(draw.integers(2, 4))
        quick, slow = oracles(problem, kinds, labels, split)
        for scale in (1, 1000, 10**12):
            costs = draw.integers(-9, 10, (kinds.max() + 1, labels)) * scale
            one, other = (each.solve(costs, split * scale) for each in (quick, slow))
            assert answer(one) == answer(other), seed
            if one.cost is None:
                continue
            assert quick.solve(costs, split * scale, below=one.cost).preorder is None
            better = quick.solve(costs, split * scale, below=one.cost + 1)
            assert (better.cost, preorder(better)) == (one.cost, preorder(one))
            assert quick.stats()["lane"] == slow.stats()["lane"], seed
        assert quick.stats().keys() == slow.stats().keys()
        quick.close()
        slow.close()


def test_an_oracle_of_calls_leaves_sets_of_rows_to_another() -> None:
    problem = random_problem(2)
    kinds = np.arange(problem.data.n_rows) % 2
    quick, slow = oracles(problem, kinds, 2, 0)
    assert quick.count(np.array([-1])) is None
    entries = np.arange(12).reshape(2, 2, 3)
    one, other = (each.row_sets(entries, np.zeros(3, np.int64), SearchLimits()) for each in (quick, slow))
    assert one is not None
    assert other is not None
    assert (one.base, one.unit, one.split.tolist()) == (other.base, other.unit, other.split.tolist())
    counted, expected = (each.count(np.array([-1])) for each in (quick, slow))
    assert counted is not None
    assert expected is not None
    assert np.array_equal(counted, expected)


def oracles(problem: Problem, kinds: Any, labels: int, split: int) -> tuple[ShortOracle, NativeOracle]:
    """One that solves by calls, and one with a workspace."""

    def make() -> NativeOracle:
        return NativeOracle(problem, kinds, labels, split > 0, SearchLimits(), DEPTH_FIRST, packed_rows_of)

    return ShortOracle(problem, kinds, labels, DEPTH_FIRST, make), make()


def answer(found: Answer) -> Any:
    """All of it but what may be left out."""
    return found.lower, found.cost, preorder(found), found.stopped, found.nodes


def preorder(found: Answer) -> Any:
    return None if found.preorder is None else found.preorder.tolist()


def test_rows_of_many_kinds_are_left_to_the_search_step_by_step() -> None:
    draw = np.random.default_rng(0)
    data = Dataset.make(draw.integers(0, 2, (100, 5)), np.arange(100) % 2, sample_weight=np.arange(1, 101))
    problem = Problem(data, Accuracy().bind(data), 2, None, 1)
    costs = row_costs_of(problem)
    assert costs is not None
    assert short_search.search_short(problem, costs, DEPTH_FIRST, 0.0) is None


@pytest.mark.parametrize(
    ("limits", "more", "columns"),
    [
        ((4, None), {}, 5),
        ((None, None), {}, 5),
        ((3, 6), {}, 5),
        ((3, None), {"memory_limit": 2**33}, 5),
        ((3, None), {"beat": 3}, 5),
        ((3, None), {}, 600),
    ],
    ids=["deep", "any depth", "few nodes", "memory", "to beat", "many columns"],
)
def test_what_may_take_long_or_is_limited_is_not_short(
    limits: tuple[int | None, int | None], more: dict[str, Any], columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Native, "is_prebuilt", True)
    draw = np.random.default_rng(1)
    data = Dataset.make(draw.integers(0, 2, (100, columns)), np.arange(100) % 2)
    few = Dataset.make(draw.integers(0, 2, (100, 5)), np.arange(100) % 2)
    task = Accuracy()
    assert short_search.is_surely_short(Problem(few, task, 3, 7, 1), SearchLimits(), DEPTH_FIRST)
    assert not short_search.is_surely_short(Problem(data, task, *limits, 1), SearchLimits(**more), DEPTH_FIRST)


def test_a_large_problem_gets_more_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(short_search, "_ROOM", 64)
    monkeypatch.setattr(buffers, "borrow", lambda size: np.empty(size, np.uint8))
    problem = random_problem(0)
    costs = row_costs_of(problem)
    assert costs is not None
    found = short_search.search_short(problem, costs, DEPTH_FIRST, 0.0)
    assert found is not None
    assert found.stats["columns"] > 0


def test_native_callers_compile_what_is_declared_and_nothing_else() -> None:
    for each in (solve_short, solve_short_each):
        each.make_ready()
    called = (lay_out, link_problem, empty_caches, extract_tree, common_divisor, find_groups, pack_columns, find_rows)
    for each in (*called, measure_tree):
        kinds = {str(kind) for signature in each.compiled.signatures for kind in signature}
        assert not any("iteral" in kind or "Omitted" in kind for kind in kinds), each.name
        assert len(each.compiled.signatures) <= len(each.signatures), each.name
