"""The branch cache: a branch is a set of literals, and what is recalled for it is what was stored for it."""

from __future__ import annotations

import attrs
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streed.exact import Array
from streed.kernels.values import UNKNOWN
from tests.unit.kernel_harness import SPACE, Bench, extend, make_instance, recall_costs, store_costs

LITERALS = st.integers(1, 2**16 - 1)


def _branch(literals: list[int]) -> tuple[int, int]:
    """The branch (high, low) of literals, added in this order."""
    high, low = np.uint64(0), np.uint64(0)
    for number in literals:
        high, low = (np.uint64(word) for word in extend(high, low, number))
    return int(high), int(low)


@given(literals=st.lists(LITERALS, max_size=8), seed=st.integers(0, 2**32))
@settings(deadline=None)
def test_a_branch_is_its_literals_in_descending_order(literals: list[int], seed: int) -> None:
    order = np.random.default_rng(seed).permutation(len(literals))
    high, low = _branch([literals[i] for i in order])
    words = [low >> 16 * i & 0xFFFF for i in range(4)] + [high >> 16 * i & 0xFFFF for i in range(4)]
    assert words == sorted(literals, reverse=True) + [0] * (8 - len(literals))


def _random_branches(rng: np.random.Generator, count: int) -> Array:
    """(count, 2) different branches of one to eight literals."""
    branches = {_branch(rng.integers(1, 60, rng.integers(1, 9)).tolist()) for _ in range(2 * count)}
    return np.array(sorted(branches), np.uint64)[rng.permutation(len(branches))[:count]]


def _recall(bench: Bench, branches: Array) -> list[int]:
    costs = np.full(len(branches), -7)
    recall_costs(bench.engine.address, branches, costs)
    found: list[int] = costs.tolist()
    return found


def _bench(branches: int) -> Bench:
    instance = make_instance(np.random.default_rng(0), rows=8, binary=2)
    return Bench(instance, space=attrs.evolve(SPACE, branches=branches))


def test_everything_is_recalled_while_the_table_grows() -> None:
    rng = np.random.default_rng(1)
    branches = _random_branches(rng, 3000)
    costs = rng.integers(0, 2**60, len(branches))
    with _bench(len(branches)) as bench:
        slots = int(bench.engine["branch_slots"])
        for begin in range(0, len(branches), 100):
            store_costs(bench.engine.address, branches[begin : begin + 100], costs[begin : begin + 100])
            unknown = len(branches) - begin - 100
            assert _recall(bench, branches) == costs[: begin + 100].tolist() + [UNKNOWN] * unknown
        assert int(bench.engine["branch_slots"]) > slots
        assert int(bench.engine["branch_count"]) == len(branches)
        store_costs(bench.engine.address, branches, costs + 1)
        assert _recall(bench, branches) == (costs + 1).tolist()
        assert int(bench.engine["branch_count"]) == len(branches)


@pytest.mark.parametrize("word", [0, 1])
def test_whole_keys_are_compared(word: int) -> None:
    # branches that differ in one word only, so many that their slots collide
    branches = np.full((500, 2), 5, np.uint64)
    branches[:, word] = np.arange(500) + 1
    with _bench(500) as bench:
        for begin in range(0, 500, 50):
            store_costs(bench.engine.address, branches[begin : begin + 50], np.arange(begin, begin + 50))
            assert _recall(bench, branches) == [*range(begin + 50), *[UNKNOWN] * (450 - begin)]


@pytest.mark.parametrize("space", [1, 16, 100])
def test_a_full_table_forgets_but_never_lies(space: int) -> None:
    rng = np.random.default_rng(space)
    branches = _random_branches(rng, 4000)
    costs = rng.integers(0, 1000, len(branches))
    with _bench(space) as bench:
        known = 0
        for begin in range(0, len(branches), 250):
            some = slice(begin, begin + 250)
            store_costs(bench.engine.address, branches[some], costs[some])
            found = np.array(_recall(bench, branches))
            assert ((found == costs) | (found == UNKNOWN))[: begin + 250].all()
            assert (found[begin + 250 :] == UNKNOWN).all()
            known = int((found[some] != UNKNOWN).sum())
        assert 0 < int((found != UNKNOWN).sum()) <= int(bench.engine["branch_slots"]) // 2
        assert known > 0, "new entries replace old ones"
