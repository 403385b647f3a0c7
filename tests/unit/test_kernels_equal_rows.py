"""The equivalent-points bound: what rows that agree in every column cost every tree."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from streed.exact import Array
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
