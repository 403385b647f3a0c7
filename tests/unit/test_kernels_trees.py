"""Fronts of shallow trees and splits of ordered columns, against every tree in plain numpy."""

from __future__ import annotations

import ctypes
import functools
from typing import Any, final

import attrs
import numpy as np
import pytest

from streed.data import Dataset
from streed.exact import Array
from streed.kernels.counting.groups import group_rows
from streed.kernels.ordered import INFEASIBLE, NEW, ROW, SPLITS
from streed.kernels.packed import PackedProblem, pack
from streed.kernels.record_proxy import address_of
from streed.kernels.records import LEAF
from streed.ordered.rows import SearchedRows, ordered_rows
from streed.ordered.scores import LABELLED, MATRIX, SIGNED
from streed.ordered.session import OrderedSession, find_stump
from streed.problem import Problem, SearchLimits
from streed.tables.fronts import FrontEngine
from streed.tables.packing import Packed, pack_fronts
from streed.task import COMPONENTWISE, State, Task
from tests.unit.kernel_harness import Bench, Instance

Point = tuple[int, ...]


@final
@attrs.frozen(eq=False)
class Sums(Task):
    """Costs (n, K, m) by row, label and component, and what a branching node costs, (m,)."""

    order = COMPONENTWISE

    costs: Any
    split: tuple[int, ...]

    def statistics(self, data: Dataset) -> dict[str, Array]:
        return {f"of_{k}_{c}": self.costs[:, k, c] for k in range(self.costs.shape[1]) for c in range(len(self.split))}

    def labels(self, data: Dataset) -> Any:
        return range(self.costs.shape[1])

    def leaf_cost(self, s: State, k: int) -> Any:
        return tuple(getattr(s, f"of_{k}_{c}") for c in range(len(self.split)))

    def branching_cost(self, rows: int, path: tuple[int, ...], split: int) -> Any:
        return self.split


def posed(
    rng: np.random.Generator,
    *,
    rows: int,
    columns: int,
    labels: int,
    components: int,
    scale: int = 1,
    min_leaf: int = 1,
) -> tuple[Dataset, Sums, Packed]:
    """A problem of whole costs of which every row has one label that is free."""
    X = (rng.random((rows, columns)) < 0.5).astype(np.uint8)
    costs = rng.integers(0, 3, (rows, labels, components)) * scale
    costs[np.arange(rows), rng.integers(0, labels, rows)] = 0
    task = Sums(costs, tuple(range(components)))
    data = Dataset.make(X)
    packed = pack_fronts(Problem(data, task, None, None, min_leaf))
    assert packed is not None
    return data, task, packed


def nondominated(points: set[Point]) -> set[Point]:
    """Those that no other is nowhere above."""
    every = np.array(sorted(points))
    return {
        tuple(each.tolist()) for each in every if not ((every <= each).all(axis=1) & (every != each).any(axis=1)).any()
    }


def front(X: Array, task: Sums, rows: Array, depth: int, min_leaf: int) -> set[Point]:
    """The front of trees of so much depth for some of the rows (n,) bool, by trying every column."""
    points = set(map(tuple, task.costs[rows].sum(axis=0).tolist())) if rows.sum() >= min_leaf else set()
    if depth > 0:
        for having in X.T.astype(bool):
            if (rows & having).any() and (rows & ~having).any():
                sides = [front(X, task, rows & side, depth - 1, min_leaf) for side in (having, ~having)]
                points |= {tuple(np.add(np.add(a, b), task.split).tolist()) for a in sides[0] for b in sides[1]}
    return nondominated(points) if points else points


CASES = {
    # rows, columns, labels, components, scale, min_leaf
    "one row": (1, 3, 2, 2, 1, 1),
    "two labels, two components: staircases": (31, 5, 2, 2, 1, 1),
    "the same with minimum support": (33, 5, 2, 2, 1, 4),
    "three labels, two components: buckets": (32, 4, 3, 2, 1, 1),
    "the same, counted": (40, 4, 3, 2, 1, 3),
    "no buckets": (33, 4, 2, 2, 2**20 + 1, 1),
    "three components": (33, 4, 2, 3, 1, 1),
    "three components, counted": (40, 4, 2, 3, 1, 3),
    "narrow lanes no longer suffice": (64, 4, 3, 3, 997, 1),
    "four components": (20, 3, 2, 4, 1, 1),
}


@pytest.mark.compiles
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("depth", [0, 1, 2, 3])
def test_fronts_are_those_of_all_trees(name: str, depth: int) -> None:
    n, p, labels, components, scale, min_leaf = CASES[name]
    rng = np.random.default_rng(len(name))
    shape: dict[str, Any] = {"rows": n, "columns": p, "labels": labels, "components": components}
    data, task, packed = posed(rng, **shape, scale=scale, min_leaf=min_leaf)
    expected = sorted(front(data.X, task, np.ones(n, bool), depth, min_leaf))
    for room in (None, 0):
        engine = FrontEngine(packed, SearchLimits(memory_limit=room))
        keys, columns = engine.solve(packed.root, depth)
        assert engine.kept == 0 or room is None
        assert (np.diff(keys) > 0).all()
        assert sorted(map(packed.vector, keys.tolist())) == expected
        assert ((columns >= LEAF + 1 - labels) & (columns < len(packed.columns))).all()
    if depth == 0:
        leaves = task.costs.sum(axis=0).tolist()
        assert [tuple(leaves[LEAF - column]) for column in columns] == list(map(packed.vector, keys.tolist()))


SIZES = (1, 2, 31, 32, 33, 70)

KINDS = (SIGNED, LABELLED, MATRIX)

LARGEST = {np.int16: 40, np.int32: 10_000, np.int64: 2**40}
"""Of a row's costs, so that sums need the lane type."""


def _draw(rng: np.random.Generator, n: int, kind: str, lane: Any, min_leaf: int) -> SearchedRows:
    labels = 2 if kind == SIGNED else int(rng.integers(3, 6))
    costs = rng.integers(0, LARGEST[lane], (n, labels))
    if kind == LABELLED:
        costs = (rng.integers(0, labels, n)[:, None] != np.arange(labels)) * costs[:, :1]
    if lane != np.int16:
        # one row that alone asks for the lane type, and one that leaves no common divisor
        costs[0] = [0, *[LARGEST[lane] * 4] * (labels - 1)]
        costs[1] = [0, *[1] * (labels - 1)] if kind != MATRIX else [0, 1, *[2] * (labels - 2)]
    ranks = np.stack([rng.integers(0, most, n) for most in (1, 2, 5, 1000, 1000)]).astype(np.int32)
    frequency = rng.integers(1, 4, n) if min_leaf > 1 else None
    return ordered_rows(ranks, costs.astype(np.int64), min_leaf=min_leaf, frequency=frequency)


def _leaf(rows: SearchedRows, inside: Array) -> int:
    """What a leaf for some rows costs in units of the divisor."""
    if rows.arrays["copies"][inside].sum() < rows.min_leaf:
        return INFEASIBLE
    return int(rows.arrays["leaf_costs"][inside].sum(axis=0).min())


def _stump(rows: SearchedRows, inside: Array) -> int:
    """What the best single split of some rows costs, likewise."""
    best = INFEASIBLE
    for ranks in rows.ranks:
        for rank in np.unique(ranks[inside])[:-1]:
            below = ranks <= rank
            sides = _leaf(rows, inside & below), _leaf(rows, inside & ~below)
            best = min(best, sum(sides) if max(sides) < INFEASIBLE else INFEASIBLE)
    return best


def _ask(session: OrderedSession, columns: int, splits: list[tuple[int, int]]) -> dict[str, Array]:
    """What the scoring kernel says of splits (column, position)."""
    asked = {"asked_orders": address_of(session.orders), "asked_rows": session.rows.n_rows, "asked_columns": columns}
    session.record.write(asked | {"asked_splits": len(splits)})
    for at, (column, position) in enumerate(splits):
        session.arrays["split_columns"][at], session.arrays["split_positions"][at] = column, position
    ctypes.CFUNCTYPE(None, ctypes.c_int64)(session.rows.kernels[0])(session.record.address)
    told = (name for name in session.arrays if name.endswith(("left", "right")))
    return {name: session.arrays[name][: len(splits)].copy() for name in told}


@pytest.mark.compiles
@pytest.mark.parametrize("min_leaf", [1, 4])
@pytest.mark.parametrize("lane", [np.int16, np.int32, pytest.param(np.int64, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", KINDS)
def test_scores_and_the_best_split_are_those_of_numpy(kind: str, lane: Any, min_leaf: int) -> None:
    rng = np.random.default_rng([KINDS.index(kind), np.dtype(lane).itemsize, min_leaf])
    for n in SIZES if lane == np.int16 else SIZES[1:]:
        rows = _draw(rng, n, kind, lane, min_leaf)
        session = OrderedSession(rows)
        assert (rows.kind, rows.lane) == (kind, lane)
        width, orders = session.n_columns, session.orders
        possible = [(0, 0)] + [(f, at) for f in range(width) for at in np.flatnonzero(orders[f, :n] >= NEW).tolist()]
        for count in (1, 5, SPLITS - 1, SPLITS):
            drawn = [possible[i] for i in rng.integers(0, len(possible), count)]
            found = _ask(session, width, drawn)
            for at, (column, position) in enumerate(drawn):
                left = np.isin(np.arange(n), orders[column, :position] & np.uint32(ROW))
                for side, inside in (("left", left), ("right", ~left)):
                    leaf = _leaf(rows, inside) if inside.any() or min_leaf > 1 else 0
                    assert found[f"leaf_{side}"][at] == leaf
                    best = min(leaf, _stump(rows, inside))
                    # where no split is allowed, any cost from that of a leaf on will do
                    assert min(found[f"stump_{side}"][at], leaf) == best
            first = [at for at, (column, _) in enumerate(drawn) if column == 0]
            only_leaves = _ask(session, 0, [drawn[at] for at in first])  # whose order is always there
            assert (only_leaves["leaf_left"] == found["leaf_left"][first]).all()
        answer = np.zeros(4, np.int64)
        find_stump(session.record.address, orders, n, np.arange(width), answer)
        everything = np.ones(n, bool)
        assert answer[0] == _leaf(rows, everything)
        assert answer[1] == _stump(rows, everything)
        if answer[1] < INFEASIBLE:
            column, position = answer[2:].tolist()
            left = np.isin(np.arange(n), orders[column, :position] & np.uint32(ROW))
            assert _leaf(rows, left) + _leaf(rows, ~left) == answer[1]


def summed(
    rng: np.random.Generator, rows: int, columns: int, labels: int, scale: int, min_leaf: int, share: float = 0.15
) -> Instance:
    """Different rows, each of costs of its own, so that sums over rows take less time than groups.

    `share`: of the columns that a row has.
    """
    X = (rng.random((4 * rows, columns)) < share).astype(np.uint8)
    X = X[np.sort(np.unique(X, axis=0, return_index=True)[1])][:rows]
    costs = rng.integers(0, 1000, (len(X), labels)) * scale
    costs -= costs.min(axis=1, keepdims=True)
    return Wide(Dataset.make(X), costs, 0, min_leaf)


@attrs.define(eq=False, slots=False)
class Wide(Instance):
    """An instance whose rows are summed one by one."""

    @functools.cached_property
    def packed(self) -> PackedProblem:
        groups = group_rows(self.costs, 1, self.data.counts if self.min_leaf > 1 else None, self.data.X)
        none = np.zeros(self.data.n_columns, np.int64)
        return pack(self.data.X, none, groups, self.costs.shape[1], 0, self.min_leaf, merge=False)


@pytest.mark.parametrize(("columns", "share"), [(8, 0.15), (31, 0.15), (32, 0.15), (33, 0.15), (63, 0.15), (64, 0.15),
                                                (65, 0.15), (65, 0.45), (96, 0.45), (130, 0.45)])  # fmt: skip
@pytest.mark.parametrize("lane", [np.int32, np.int64])
@pytest.mark.parametrize(
    ("labels", "min_leaf"),
    [(3, 1), *(pytest.param(*each, marks=pytest.mark.compiles) for each in ((2, 1), (3, 2), (4, 2)))],
)
def test_pair_sums_of_rows_with_numbers_of_their_own(
    lane: Any, columns: int, share: float, labels: int, min_leaf: int
) -> None:
    """Of blocks that are whole and that are not, of four planes and of more."""
    rng = np.random.default_rng(columns)
    instance = summed(rng, 90, columns, labels, 2**40 if lane is np.int64 else 1, min_leaf, share)
    costs, planes = instance.costs, labels + 1 + (min_leaf > 1)
    worst = costs.max(axis=1)
    amounts = np.column_stack([worst[:, None] - costs, worst, np.ones(len(costs), np.int64)])[:, :planes]
    with Bench(instance, lane=lane) as bench:
        rows = rng.random(len(costs)) < 0.8
        bench.load(rows)
        bench.call("prepare")
        active, stride = len(bench.active()), int(bench.engine["stride"])
        having = np.column_stack([bench.rows_with(f) for f in bench.active()]).astype(np.int64)

        def check(field: str, side: Array) -> None:
            found = bench.view(field, lane, planes, stride, stride)
            one = having * side[:, None]
            for plane, each in enumerate(amounts.T):
                assert (found[plane, :active, :active] == one.T @ (one * each[:, None])).all()
            assert not found[:, :active, active:].any()

        check("pairs", rows)
        assert bench.view("totals", np.int64, planes).tolist() == amounts[rows].sum(axis=0).tolist()
        for column in (0, active - 1):
            without, with_it = bench.sides(rows, column)
            bench.solve_children(column)
            check("child_pairs", with_it if 2 * with_it.sum() <= rows.sum() else without)
