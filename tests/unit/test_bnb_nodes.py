"""The node store: subproblems found by their whole key, an index that grows, and blocks that are used again."""

from __future__ import annotations

import itertools

import attrs
import numpy as np
import pytest

from streed.bnb.nodes import block_size, free_edges, nodes_of, take_children, take_edges
from streed.exact import Array
from streed.kernels.compiled import entry
from streed.kernels.pointers import engine_at
from streed.kernels.records import NO_TREE, NONE, UNLIMITED
from tests.unit.kernel_harness import SPACE, Bench, find_or_add, make_instance


@entry
def _take(engine, edges, children):  # type: ignore[no-untyped-def]
    """Where blocks for so many edges and children begin."""
    return take_edges(engine_at(engine), edges), take_children(engine_at(engine), children)


@entry
def _give(engine, v):  # type: ignore[no-untyped-def]
    """`free_edges` of node v."""
    e = engine_at(engine)
    free_edges(e, nodes_of(e)[v])


def _bench(rows: int = 130, **space: int) -> Bench:
    instance = make_instance(np.random.default_rng(0), rows=rows, binary=3)
    return Bench(instance, space=attrs.evolve(SPACE, **space))


def _row_sets(bench: Bench, count: int) -> Array:
    """(count, W) different sets of rows."""
    words = np.random.default_rng(1).integers(0, 2**63, (count, int(bench.engine["row_words"])), dtype=np.uint64)
    words[:, 0] = np.arange(count)
    return words


def test_a_subproblem_is_found_again() -> None:
    with _bench() as bench:
        sets = _row_sets(bench, 30)
        keys = [(i, depth, budget) for i in range(30) for depth in (4, 5, UNLIMITED) for budget in (3, UNLIMITED)]
        for number, (i, depth, budget) in enumerate(keys):
            assert find_or_add(bench.engine.address, sets[i], depth, budget, False) == NONE
            assert find_or_add(bench.engine.address, sets[i], depth, budget, True) == number
        for number, (i, depth, budget) in enumerate(keys):
            assert find_or_add(bench.engine.address, sets[i], depth, budget, number % 2 == 0) == number
            node = bench.workspace.nodes[number]
            found = [int(node[name]) for name in ("depth", "budget", "n_edges", "split", "plan", "edge_space")]
            assert found == [depth, budget, NONE, NO_TREE, NONE, 0]
            assert bench.workspace.node_rows[number].tolist() == sets[i].tolist()
        assert int(bench.engine["node_count"]) == len(keys)


@pytest.mark.parametrize("word", [0, 1, -1])
@pytest.mark.parametrize("bit", [0, 31, 63])
def test_rows_depth_and_budget_all_count_whatever_their_hash(word: int, bit: int) -> None:
    with _bench() as bench:
        sets = _row_sets(bench, 2)
        sets[1] = sets[0]
        sets[1, word] ^= np.uint64(1 << bit)
        keys: list[tuple[Array, int, int]] = [(sets[0], 4, UNLIMITED), (sets[1], 4, UNLIMITED), (sets[0], 5, UNLIMITED)]
        keys.append((sets[0], 4, 7))
        assert find_or_add(bench.engine.address, *keys[0], True) == 0
        hashed = bench.workspace.nodes[0]["hash"]
        for key in keys[1:]:
            assert find_or_add(bench.engine.address, *key, False) == NONE
        for number, key in enumerate(keys[1:], start=1):
            assert find_or_add(bench.engine.address, *key, True) == number
        # the same again where all hashes are equal: whole keys are compared
        slots = int(bench.engine["slot_count"])
        index = np.zeros(2 * slots, np.int32)
        first = int(hashed) % slots
        for number in range(len(keys)):
            bench.workspace.nodes["hash"][number] = hashed
            index[(first + number) % slots] = number + 1
        assert int(bench.engine["slot_offset"]) == 0
        bench.write("slots", index[:slots])
        assert find_or_add(bench.engine.address, *keys[0], False) == 0
        bench.workspace.nodes["hash"][0] = 0
        bench.workspace.node_rows[0] = sets[1]
        assert find_or_add(bench.engine.address, *keys[0], False) == NONE


def test_the_index_grows_and_loses_nothing() -> None:
    count = 3000
    with _bench(nodes=count + 1) as bench:
        sets = _row_sets(bench, count)
        slots = int(bench.engine["slot_count"])
        address = bench.engine.address
        for i in range(count):
            assert find_or_add(address, sets[i], 9, UNLIMITED, True) == i
            if i in (100, 127, 128, 129, 1500):
                assert [find_or_add(address, s, 9, UNLIMITED, False) for s in sets[: i + 1]] == list(range(i + 1))
                assert find_or_add(address, sets[i + 1], 9, UNLIMITED, False) == NONE
        assert [find_or_add(address, s, 9, UNLIMITED, False) for s in sets] == list(range(count))
        assert int(bench.engine["slot_count"]) >= max(slots, 2 * count)
        assert int(bench.engine["slot_offset"]) + int(bench.engine["slot_count"]) <= int(bench.engine["slot_space"])


def _blocks(bench: Bench, v: int) -> tuple[int, int, int, int]:
    node = bench.workspace.nodes[v]
    return tuple(int(node[name]) for name in ("edges", "edge_space", "children", "child_space"))  # type: ignore[return-value]


def _own(bench: Bench, v: int, edges: int, children: int) -> None:
    """Gives node v new blocks for so many edges and children."""
    at = _take(bench.engine.address, edges, children)
    assert NONE not in at
    node = bench.workspace.nodes[v]
    node["edges"], node["children"] = at
    node["edge_space"], node["child_space"] = block_size.py_func(edges), block_size.py_func(children)
    node["n_edges"] = edges


def _overlaps(blocks: list[tuple[int, int]]) -> bool:
    ordered = sorted(block for block in blocks if block[1] > 0)
    return any(begin + size > after for (begin, size), (after, _) in itertools.pairwise(ordered))


def test_blocks_of_solved_nodes_are_used_again() -> None:
    rng = np.random.default_rng(4)
    with _bench() as bench:
        owners = range(20)
        bench.workspace.nodes["edge_space"][:20] = 0
        for v in owners:
            _own(bench, v, int(rng.integers(1, 40)), int(rng.integers(1, 90)))
        for _ in range(300):
            v = int(rng.choice(owners))
            size, children = int(bench.workspace.nodes[v]["n_edges"]), _blocks(bench, v)[3]
            _give(bench.engine.address, v)
            assert _blocks(bench, v)[1::2] == (0, 0)
            used = int(bench.engine["edge_count"]), int(bench.engine["child_count"])
            _own(bench, v, size, children)
            assert (int(bench.engine["edge_count"]), int(bench.engine["child_count"])) == used
            if rng.random() < 0.3:
                _give(bench.engine.address, v)
                _own(bench, v, int(rng.integers(1, 40)), int(rng.integers(1, 90)))
            blocks = [_blocks(bench, owner) for owner in owners]
            assert not _overlaps([(edges, size) for edges, size, _, _ in blocks])
            assert not _overlaps([(children, size) for _, _, children, size in blocks])
