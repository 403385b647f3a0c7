"""The node at hand and its children: their rows, words and active columns, against masks in numpy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streed.exact import Array
from streed.kernels.records import LANES
from tests.unit.compacted import child_bits, unpack_words
from tests.unit.kernel_harness import Bench, Instance, load_side, make_instance


def _places_of(bench: Bench, rows: Array) -> Array:
    """(m, 2): the (row, place) pairs of the rows, by place, which is the order of the engine."""
    pairs = bench.packed.groups.places.reshape(-1, 2)
    pairs = pairs[rows[pairs[:, 0]]]
    return pairs[np.argsort(pairs[:, 1])]


def _group_sizes(bench: Bench, places: Array) -> list[int]:
    begins = bench.packed.groups.words
    sizes: list[int] = np.histogram(places, 64 * begins)[0].tolist() if len(begins) > 1 else []
    return sizes


def _check_node(bench: Bench, rows: Array) -> Array:
    """(m, F) 0/1: all bit columns of the node's places, after comparing the loaded node with them."""
    e = bench.engine
    bench.load(rows)
    packed = bench.packed
    pairs = _places_of(bench, rows)
    sizes = _group_sizes(bench, pairs[:, 1])
    n, groups = len(pairs), int(e["groups"])
    having = np.zeros((n, packed.n_columns), bool)
    for f in range(packed.n_columns):
        having[:, f] = bench.rows_with(f)[pairs[:, 0]]
    assert int(e["n_rows"]) == n
    assert bench.view("rows", np.int32, n).tolist() == pairs[:, 1].tolist()
    assert bench.view("group_rows", np.int64, groups + 1).tolist() == [0, *np.cumsum(sizes, dtype=int).tolist()]
    active, stride = bench.active(), int(e["stride"])
    counts = having.sum(axis=0)
    literal = np.arange(packed.n_columns) >= packed.n_binary
    useful = np.flatnonzero(np.where(literal, counts > 0, (counts > 0) & (counts < n))).tolist()
    if len(active) != packed.n_columns:
        assert active == useful
    else:
        assert active == list(range(packed.n_columns))
        assert len(useful) >= 0.8 * packed.n_columns or len(useful) == len(active)
    assert bench.view("ones", np.int64, len(active)).tolist() == counts[active].tolist()
    assert int(e["n_binary"]) == sum(f < packed.n_binary for f in active)
    assert stride == -(-len(active) // LANES) * LANES
    begins = bench.view("group_begins", np.int64, groups + 1)
    assert int(e["n_words"]) == begins[-1]
    words = bench.view("words", np.int16, int(e["n_words"]), stride)
    assert not words[:, len(active) :].any()
    found = unpack_words(words[:, : len(active)], begins, sizes)
    assert (found == having[:, active]).all()
    _check_literals(bench, active, counts)
    return having


def _check_literals(bench: Bench, active: list[int], counts: Array) -> None:
    literals = bench.packed.literals
    local = bench.view("local_literals", np.int64, 3, max(len(literals) - 1, 1))
    found = [local[:, c].tolist() for c in range(int(bench.engine["n_categorical"]))]
    expected = []
    for c in range(len(literals) - 1):
        here = [k for k, f in enumerate(active) if literals[c] <= f < literals[c + 1]]
        if (counts[literals[c] : literals[c + 1]] > 0).sum() >= 2:
            expected.append([here[0], here[-1] + 1, c])
    assert found == expected


def _check_child(bench: Bench, rows: Array, having: Array, column: int, side: int) -> None:
    """Compares a child of the node at hand with its definition."""
    e = bench.engine
    active, groups = bench.active(), int(e["groups"])
    pairs = _places_of(bench, rows)
    mine = having[:, active[column]] == side
    assert load_side(e.address, column, side) == mine.sum()
    sizes = _group_sizes(bench, pairs[mine, 1])
    begins = bench.view("child_begins", np.int64, groups + 1)
    bits = child_bits(bench, begins, sizes)
    assert not bits[:, len(active) :].any()
    assert (bits[:, : len(active)] == having[mine][:, active]).all()


def _check(instance: Instance, rng: np.random.Generator, shares: tuple[float, ...]) -> None:
    with Bench(instance) as bench:
        for share in shares:
            rows = rng.random(instance.data.n_rows) < share
            having = _check_node(bench, rows)
            for column in rng.permutation(len(bench.active()))[:4].tolist():
                for side in range(2):
                    _check_child(bench, rows, having, column, side)


@given(seed=st.integers(0, 2**32))
@settings(max_examples=40, deadline=None)
def test_nodes_and_children_are_masks(seed: int) -> None:
    rng = np.random.default_rng(seed)
    instance = make_instance(
        rng,
        rows=int(rng.choice([8, 17, 64, 100, 300])),
        binary=int(rng.choice([1, 5, 31, 40, 70])),
        categories=rng.integers(3, 6, rng.integers(0, 3)).tolist(),
        labels=int(rng.integers(2, 4)),
        kind=str(rng.choice(["errors", "weights", "many"])),
        min_leaf=int(rng.integers(1, 3)),
    )
    _check(instance, rng, (1.0, 0.5, 0.1, 0.0))


@pytest.mark.parametrize("kind", ["errors", "many"])
def test_more_than_32767_rows(kind: str) -> None:
    rng = np.random.default_rng(2)
    instance = make_instance(rng, rows=90_000, binary=3, categories=(3,), kind=kind)
    # a column that nearly all rows of the node have, and more of them than 16 bits count
    rare = np.arange(90_000) < 44_000
    instance.data.X[:, 0] = rare & (rng.random(90_000) < 0.99)
    if kind == "errors":
        instance.costs[:] = [0, 1]  # all rows in one group
    _check(instance, rng, (0.3,))
    with Bench(instance) as bench:
        having = _check_node(bench, rare)
        assert having[:, 0].sum() > 2**15
        _check_child(bench, rare, having, 0, 1)
