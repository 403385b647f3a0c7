"""What every tree costs at least: rows that agree in every column, and prices by the columns tested above."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import attrs
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streed.data import Dataset
from streed.encoding.row_costs import CostsOfTests, RowCosts
from streed.exact import Array
from streed.kernels import values
from streed.kernels.packed import PackedProblem
from streed.kernels.records import INFINITE, UNLIMITED
from streed.problem import Problem
from streed.whole_costs import IntegerCosts
from tests.unit.kernel_harness import KINDS, Bench, Instance, TableCosts, find_or_add, make_instance


def _floor(instance: Instance, rows: Array) -> int:
    """The sum over the classes of equal rows of their least cost under a common label."""
    _, classes = np.unique(instance.data.X[rows], axis=0, return_inverse=True)
    costs = instance.costs[rows]
    return sum(int(costs[classes == c].sum(axis=0).min()) for c in np.unique(classes))


def _states(instance: Instance, rng: np.random.Generator) -> list[Array]:
    """Sets of rows behind random branches, from all rows down."""
    rows = instance.everything()
    states: list[Array] = []
    while rows.any() and len(states) < 5:
        states.append(rows)
        codes = instance.data.X[:, rng.integers(0, instance.data.n_columns)]
        rows = rows & (codes == rng.choice(codes[rows]))
    return states


@given(seed=st.integers(0, 2**32))
@settings(max_examples=60, deadline=None)
def test_a_node_begins_with_its_floor_which_is_the_optimum_without_limits(seed: int) -> None:
    rng = np.random.default_rng(seed)
    instance = make_instance(
        rng,
        rows=int(rng.integers(5, 60)),
        binary=int(rng.integers(1, 5)),
        categories=rng.integers(3, 5, rng.integers(0, 2)).tolist(),
        labels=int(rng.integers(1, 5)),
        kind=str(rng.choice(KINDS)),
    )
    with Bench(instance) as bench:
        for state in _states(instance, rng):
            v = find_or_add(bench.engine.address, bench.place(state), 9, UNLIMITED, True)
            lower = int(bench.workspace.nodes[v]["lower"])
            assert lower == _floor(instance, state) == instance.optimum(state, None)


@given(seed=st.integers(0, 2**32))
@settings(max_examples=40, deadline=None)
def test_the_floor_bounds_every_tree_under_limits(seed: int) -> None:
    rng = np.random.default_rng(seed)
    min_leaf = int(rng.integers(1, 4))
    instance = make_instance(
        rng, rows=30, binary=3, categories=(3,), labels=3, split=int(rng.integers(0, 3)), min_leaf=min_leaf
    )
    with Bench(instance) as bench:
        for state in _states(instance, rng):
            v = find_or_add(bench.engine.address, bench.place(state), 9, UNLIMITED, True)
            assert int(bench.workspace.nodes[v]["lower"]) <= instance.optimum(state, None)


LANE_TYPES = (np.int16, np.int32, np.int64)


@attrs.define(eq=False, slots=False)
class Priced:
    """Rows with costs (n, K), prices of columns, and the least costs of trees, looked up in plain numpy."""

    data: Dataset
    costs: Array
    full: Array
    given: Array
    min_leaf: int = 1

    @cached_property
    def packed(self) -> PackedProblem:
        problem = Problem(self.data, TableCosts(self.costs, 0), 3, None, self.min_leaf)
        whole = IntegerCosts(self.costs, 0, 1, True)  # type: ignore[arg-type]
        encoding = RowCosts.packing(problem, whole, CostsOfTests(self.full, self.given))
        assert encoding.divisor == 1
        return encoding.packed

    def everything(self) -> Array:
        return np.ones(self.data.n_rows, bool)

    def price(self, column: int, path: Sequence[int]) -> int:
        """Of a column for a row, below the tests of the path."""
        return int(min([self.full[column], *self.given[list(path), column]]))

    def leaf(self, rows: Array) -> int:
        if 0 < rows.sum() < self.min_leaf:
            return INFINITE
        return int(self.costs[rows].sum(axis=0).min(initial=2**62)) if rows.any() else 0

    def optimum(self, rows: Array, depth: int, path: Sequence[int]) -> int:
        """The least cost of a tree on the rows, of which each pays for the tests on its way; every test parts some."""
        parting = [j for j in range(self.data.n_columns) if 0 < self.data.X[rows, j].sum() < rows.sum()]
        return min([self.leaf(rows), *(self.split(rows, j, depth, path) for j in parting if depth > 0)])

    def split(self, rows: Array, j: int, depth: int, path: Sequence[int]) -> int:
        """The least cost of a tree of that depth on the rows that asks about column j first."""
        asked = self.data.X[:, j] == 1
        sides = [self.optimum(rows & side, depth - 1, (*path, j)) for side in (asked, ~asked)]
        return min(self.price(j, path) * int(rows.sum()) + sum(sides), INFINITE)


def made(rng: np.random.Generator, rows: int, columns: int, labels: int, min_leaf: int = 1) -> Priced:
    X = (rng.random((rows, columns)) < rng.uniform(0.2, 0.8, columns)).astype(np.uint8)
    costs = rng.integers(0, 8, (rows, labels))
    costs -= costs.min(axis=1, keepdims=True)
    costs[0, :2] = 0, 1
    full = rng.integers(0, 4, columns)
    given = np.minimum(rng.integers(0, 4, (columns, columns)), full)
    return Priced(Dataset.make(X), costs.astype(np.int64), full, given, min_leaf)


def bit_columns(bench: Bench) -> list[int]:
    """The caller's column of every local column of the node at hand."""
    return [int(bench.packed.column[k]) for k in bench.active()]


def check(case: Priced, lane: Any, shares: Sequence[float], rng: np.random.Generator) -> None:
    with Bench(case, lane=lane) as bench:  # type: ignore[arg-type]
        for share in shares:
            rows = rng.random(case.data.n_rows) < share
            if rows.any():
                check_node(case, bench, rows)
                check_children(case, bench, rows)


def check_node(case: Priced, bench: Bench, rows: Array) -> None:
    """What `prepare` says of the rows: costs of leaves, of splits, and what trees that begin with a column cost."""
    bench.load(rows)
    bench.call("prepare")
    found, columns = bench.values(), bit_columns(bench)
    assert int(bench.engine["upper"]) == case.leaf(rows)
    for k, j in enumerate(columns):
        without, having = bench.sides(rows, k)
        assert found[values.LEAF1, k] == case.leaf(having)
        assert found[values.LEAF0, k] == case.leaf(without)
        assert found[values.COST, k] == case.price(j, ()) * rows.sum()
        if having.any() and without.any():
            assert found[values.KEY, k] == case.split(rows, j, 2, ())
        for side, row in ((having, values.LEAST1), (without, values.LEAST0)):
            assert found[row, k] == purified(case, side, j, columns)


def purified(case: Priced, rows: Array, above: int, columns: Sequence[int]) -> int:
    """What a side below a test costs at least: as a leaf, or the cheapest test that parts its rows (Prop. 4.2)."""
    size = int(rows.sum())
    parting = [j for j in columns if 0 < int(rows[case.data.X[:, j] == 1].sum()) < size]
    return min([case.leaf(rows), *(case.price(j, (above,)) * size for j in parting)])


def check_children(case: Priced, bench: Bench, rows: Array) -> None:
    """The optima of all children of the node at hand, below the test of their column."""
    for k, j in enumerate(bit_columns(bench)):
        without, having = bench.sides(rows, k)
        if without.any() and having.any():
            expected = tuple(case.optimum(side, 2, (j,)) for side in (without, having))
            assert bench.solve_children(k) == expected


@pytest.mark.compiles
@pytest.mark.parametrize("lane", LANE_TYPES)
@given(seed=st.integers(0, 2**32))
@settings(max_examples=15, deadline=None)
def test_nodes_and_their_children(lane: Any, seed: int) -> None:
    rng = np.random.default_rng(seed)
    case = made(
        rng, int(rng.integers(1, 30)), int(rng.integers(1, 6)), int(rng.integers(2, 5)), int(rng.choice([1, 1, 2, 4]))
    )
    check(case, lane, (1.0, 0.6, 0.2), rng)


@pytest.mark.compiles
def test_a_test_below_another_costs_what_is_given_there() -> None:
    """By hand: column 1 costs 10 a row, and 1 below column 0, which costs 2; both are needed."""
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], np.uint8)
    costs = np.array([[0, 100], [100, 0], [100, 0], [0, 100]])
    case = Priced(Dataset.make(X), costs, np.array([2, 10]), np.array([[2, 1], [2, 10]]))
    assert case.split(case.everything(), 0, 2, ()) == 4 * 2 + 4 * 1
    assert case.split(case.everything(), 1, 2, ()) == 4 * 10 + 4 * 2
    with Bench(case) as bench:  # type: ignore[arg-type]
        bench.load()
        bench.call("prepare")
        found = {j: int(bench.values()[values.KEY, k]) for k, j in enumerate(bit_columns(bench))}
    assert found == {0: 12, 1: 48}
