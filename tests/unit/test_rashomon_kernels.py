"""The native counts of near-optimal trees: columns told apart, and near keys counted as keys far apart are."""

from __future__ import annotations

import numpy as np
import pytest

from streed.rashomon.compiled.counts import count_shallow, count_three
from streed.rashomon.compiled.shallow import WIDEST
from streed.rashomon.kinds import Kinds
from streed.rashomon.splits import distinct_columns


@pytest.mark.parametrize("seed", range(12))
def test_distinct_columns_part_the_rows_as_numpy_says(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(1, 200)), int(rng.integers(0, 40))
    codes = (rng.random((n, p)) < rng.random()).astype(np.uint8)
    for f in range(1, p):
        if rng.random() < 0.5:
            codes[:, f] = codes[:, int(rng.integers(f))] ^ np.uint8(rng.random() < 0.5)
    bits, first, member = distinct_columns(codes)
    apart = codes ^ codes[:1]
    known: dict[bytes, int] = {}
    for f in range(p):
        expected = known.setdefault(apart[:, f].tobytes(), len(known)) if apart[:, f].any() else -1
        assert member[f] == expected
    assert first.tolist() == [member.tolist().index(c) for c in range(len(known))]
    held = np.unpackbits(bits.view(np.uint8).reshape(len(first), -1), axis=1, bitorder="little")
    assert (codes[:, first] == held[:, :n].T).all()
    assert not held[:, n:].any()


def _problem(seed: int) -> tuple[tuple[np.ndarray, ...], np.ndarray]:
    """Columns, groups, keys, copies, how many questions make each split and options of a random problem; all rows."""
    rng = np.random.default_rng(seed)
    n, p, labels = int(rng.integers(2, 90)), int(rng.integers(1, 40)), int(rng.integers(2, 4))
    codes = (rng.random((n, p)) < 0.4).astype(np.uint8)
    costs = rng.integers(0, 4, (n, labels)) * (rng.random((n, labels)) < 0.6)
    kinds = Kinds.of(costs, rng.integers(1, 3, n) if seed % 2 else None)
    sets, first, _ = distinct_columns(codes)
    options = np.array([int(rng.integers(1, 4)), 1, seed % 5 == 4, seed % 3 != 2], np.int64)
    multiple = rng.integers(1, 3, len(first))
    keys, copies = np.array(kinds.keys, np.int64), np.array(kinds.copies, np.int64)
    members = kinds.members()
    return (np.ascontiguousarray(sets.T), members, keys, copies, multiple, options), np.bitwise_or.reduce(members)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(15))
def test_counts_are_the_same_whether_keys_are_near_or_far_apart(seed: int) -> None:
    (columns, groups, keys, copies, multiple, options), rows = _problem(seed)
    price, far = seed % 3, 3 * WIDEST
    asked = np.flatnonzero([(rows & ~column).any() and (rows & column).any() for column in columns.T])

    def near_and_far(depth: int, budget: int, counting: bool) -> list[tuple[int, list[int], list[int]]]:
        found = []
        for times in (1, far):
            arrays = columns, groups, keys * times, copies, multiple, options
            if depth == 3:
                own, counts = count_three(*arrays, rows, asked, price * times, budget * times, np.zeros(1))
                least = own[0]
            else:
                least, own, counts = count_shallow(
                    *arrays, rows, price * times, depth, budget * times, counting, np.zeros(1)
                )
            found.append((int(least) // times, (own // times).tolist(), counts.tolist()))
        return found

    for depth in (1, 2, 3):
        least = near_and_far(min(depth, 2), 10**6, counting=False)[0][0]
        if least >= 2**60:
            continue
        for slack in (0, 1, 5):
            near, distant = near_and_far(depth, least + slack, counting=True)
            assert near == distant
            assert near[0] == near[1][0] <= least
            assert min(near[2]) >= 1
