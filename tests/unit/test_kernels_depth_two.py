"""Depth-two scoring, pair sums of rows with numbers of their own, and floors, by the reference and by numpy."""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streed.data import Dataset
from streed.exact import Array
from streed.kernels import values
from streed.kernels.counting.groups import Groups, group_rows
from streed.kernels.packed import pack
from streed.kernels.records import INFINITE, UNLIMITED
from tests.unit.kernel_harness import KINDS, Bench, Instance, find_or_add, make_instance

LANE_TYPES = (np.int16, np.int32, np.int64)


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

    @property
    def packed(self) -> Any:
        if "_packed" not in self.__dict__:
            groups: Groups = group_rows(self.costs, 1, self.min_leaf > 1, self.data.X)
            assert groups.values is not None
            none = np.zeros(self.data.n_columns, np.int64)
            self.__dict__["_packed"] = pack(
                self.data.X, none, groups, self.costs.shape[1], 0, self.min_leaf, merge=False
            )
        return self.__dict__["_packed"]


@pytest.mark.compiles
@pytest.mark.parametrize("lane", [np.int32, np.int64])
@pytest.mark.parametrize(("columns", "share"), [(8, 0.15), (31, 0.15), (32, 0.15), (33, 0.15), (63, 0.15), (64, 0.15),
                                                (65, 0.15), (65, 0.45), (96, 0.45), (130, 0.45)])  # fmt: skip
@pytest.mark.parametrize(("labels", "min_leaf"), [(2, 1), (3, 1), (3, 2), (4, 2)])
def test_pair_sums_of_rows_with_numbers_of_their_own(
    lane: Any, columns: int, share: float, labels: int, min_leaf: int
) -> None:
    """Both ways: in registers up to 64 columns or where rows have many, else row by row; of four planes and of more."""
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
        assert bench.engine["dense"] == (share > 0.4)
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


def _literals(bench: Bench, c: int) -> range:
    """The local literals of the c-th categorical split of the node at hand."""
    local = bench.view("local_literals", np.int64, 3, len(bench.packed.literals) - 1)
    return range(int(local[0, c]), int(local[1, c]))


def _check_node(bench: Bench, rows: Array) -> None:
    """Compares what `prepare` answers for the rows with the reference."""
    instance, e = bench.instance, bench.engine
    bench.load(rows)
    bench.call("prepare")
    found = bench.values()
    worst = instance.costs.max(axis=1)
    assert int(e["upper"]) == instance.optimum(rows, 0)
    assert int(e["weight"]) == worst[rows].sum()
    active = len(bench.active())
    for k in range(active):
        without, having = bench.sides(rows, k)
        assert found[values.WEIGHT, k] == worst[having].sum()
        assert found[values.LEAF1, k] == instance.optimum(having, 0)
        assert found[values.LEAF0, k] == instance.optimum(without, 0)
        if k < int(e["n_binary"]) and having.any() and without.any():
            cost = instance.split + instance.optimum(having, 1) + instance.optimum(without, 1)
            assert found[values.KEY, k] == min(cost, INFINITE)
    for c in range(int(e["n_categorical"])):
        sides = [bench.sides(rows, k)[1] for k in _literals(bench, c)]
        cost = instance.split + sum(instance.optimum(side, 1) for side in sides)
        assert found[values.KEY, active + c] == min(cost, INFINITE)


def _check_children(bench: Bench, rows: Array) -> None:
    """Compares the optima of all children of the node at hand with the reference."""
    for k in range(len(bench.active())):
        without, having = bench.sides(rows, k)
        literal = k >= int(bench.engine["n_binary"])
        expected = (0 if literal else bench.instance.optimum(without, 2), bench.instance.optimum(having, 2))
        if literal or (without.any() and having.any()):
            assert bench.solve_children(k) == expected


def _check(instance: Instance, lane: Any, rng: np.random.Generator) -> None:
    with Bench(instance, lane=lane) as bench:
        for share in (1.0, 0.5, 0.2):
            rows = rng.random(instance.data.n_rows) < share
            if rows.any():
                _check_node(bench, rows)
                _check_children(bench, rows)


@pytest.mark.compiles
@pytest.mark.parametrize("lane", LANE_TYPES)
@given(seed=st.integers(0, 2**32))
@settings(max_examples=25, deadline=None)
def test_two_labels_on_binary_columns(lane: Any, seed: int) -> None:
    rng = np.random.default_rng(seed)
    kind = str(rng.choice(KINDS[:2] if lane is np.int16 else KINDS))
    instance = make_instance(
        rng, rows=int(rng.integers(1, 40)), binary=int(rng.integers(1, 7)), kind=kind, split=int(rng.integers(0, 4))
    )
    assert instance.packed.signed
    _check(instance, lane, rng)


@pytest.mark.compiles
@pytest.mark.parametrize("lane", LANE_TYPES)
@given(seed=st.integers(0, 2**32))
@settings(max_examples=25, deadline=None)
def test_labels_categories_and_minimum_support(lane: Any, seed: int) -> None:
    rng = np.random.default_rng(seed)
    labels = int(rng.integers(2, 6))
    instance = make_instance(
        rng,
        rows=int(rng.integers(6, 40)),
        binary=int(rng.integers(0, 5)),
        categories=rng.integers(3, 6, rng.integers(0, 3)).tolist() or ([] if labels > 2 else [3]),
        labels=labels,
        kind=str(rng.choice(KINDS[:2] if lane is np.int16 else KINDS)),
        split=int(rng.integers(0, 4)),
        min_leaf=int(rng.choice([1, 1, 2, 5])),
    )
    assert not instance.packed.signed
    _check(instance, lane, rng)


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
