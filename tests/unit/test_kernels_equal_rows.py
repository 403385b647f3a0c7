"""The equivalent-points bound: what rows that agree in every column cost every tree."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from streed.exact import Array
from streed.kernels.counting.equal_rows import find_floors
from streed.kernels.counting.groups import NO_TIMES
from streed.kernels.records import UNLIMITED
from tests.unit.kernel_harness import KINDS, Bench, Instance, find_or_add, make_instance


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


def test_floors_stand_at_the_first_place_of_a_class() -> None:
    # rows 0, 2 and 3 are equal, 1 and 4 too, 5 is alone
    row_bits = np.zeros((128, 1), np.int32)
    rows, places = [0, 1, 2, 3, 4, 5], [64, 0, 65, 66, 1, 2]
    row_bits[places, 0] = [5, -7, 5, 5, -7, 0]
    costs = np.array([[0, 6], [3, 9], [6, 0], [0, 6], [10, 2], [0, 6]])
    mask, floors = find_floors(row_bits, np.column_stack([rows, places]).reshape(-1), NO_TIMES, costs, 2)
    assert np.flatnonzero(floors).tolist() == [0, 64]
    assert floors[[0, 64]].tolist() == [3, 3]
    assert mask.tolist() == [1, 1]


def test_rows_that_differ_in_any_column_are_not_equal() -> None:
    # 70 columns, three lanes of bits, of which every row has one: hashes alone would not do
    instance = make_instance(np.random.default_rng(2), rows=210, binary=70)
    instance.data.X[:] = np.tile(np.eye(70, dtype=np.uint8), (3, 1))
    instance.costs[:] = np.repeat([[0, 1], [0, 1], [1, 0]], 70, axis=0)
    with Bench(instance) as bench:
        v = find_or_add(bench.engine.address, bench.place(instance.everything()), 9, UNLIMITED, True)
        assert int(bench.workspace.nodes[v]["lower"]) == 70
