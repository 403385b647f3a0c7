"""Rows as the literals that remove them, against plain Python."""

from __future__ import annotations

import numpy as np
import pytest

from streed.exact import Array
from streed.kernels.compiled import entry
from streed.kernels.removing_literals import flow, merge, take


@entry
def _flow(planes, weights, enough, above, missing, left):  # type: ignore[no-untyped-def]
    return flow(planes, len(planes), weights, len(weights), enough, above, missing, left)


@entry
def _merge(planes, weights, counts, stamps, keys, at, drop):  # type: ignore[no-untyped-def]
    return merge(planes, len(planes), weights, counts, len(weights), stamps, keys, at, 1, drop)


@entry
def _take(planes, weights, counts, bit, kept, planes2, weights2, counts2):  # type: ignore[no-untyped-def]
    return take(planes, len(planes), weights, counts, len(weights), bit, kept, planes2, weights2, counts2)


def draw(seed: int, planes: int, rows: int) -> tuple[Array, Array, Array]:
    """(planes, weights, counts): few literals a row, so that some rows' are among others'."""
    rng = np.random.default_rng(seed)
    bits = np.zeros((planes, rows), np.uint64)
    for _ in range(int(rng.integers(1, 5))):
        bits[rng.integers(0, planes, rows), np.arange(rows)] |= np.uint64(1) << rng.integers(0, 4, rows, np.uint64)
    bits[:, rng.random(rows) < 0.1] = 0
    return bits, rng.integers(-6, 7, rows), rng.integers(1, 4, rows)


@pytest.mark.parametrize("planes", [1, 2, 3])
@pytest.mark.parametrize("seed", range(8))
def test_the_flow_is_that_of_plain_python(seed: int, planes: int) -> None:
    bits, weights, _ = draw(seed, planes, 40)
    left = np.maximum(weights, 0).tolist()
    expected = []
    total = 0
    for t in np.flatnonzero(weights < 0):
        need = -int(weights[t])
        for u in range(len(left)):
            if not np.any(bits[:, t] & ~bits[:, u]):
                taken = min(left[u], need)
                left[u] -= taken
                need -= taken
                total += taken
        expected.append(total)
    n = len(weights)
    scratch = np.zeros((planes, n), np.uint64), np.zeros(n, np.uint64), np.zeros(n, np.int64)
    assert expected[-1] > 0
    for enough in (1, expected[-1] // 2, expected[-1], 10**9):
        stop = next((each for each in expected if each >= enough), expected[-1])
        assert _flow(bits, weights, enough, *scratch) == stop


@pytest.mark.parametrize("planes", [1, 2, 3])
@pytest.mark.parametrize("drop", [False, True])
def test_rows_that_the_same_literals_remove_become_one(planes: int, drop: bool) -> None:
    for seed in range(8):
        bits, weights, counts = draw(seed, planes, 30)
        together: dict[tuple[int, ...], list[int]] = {}
        for t in range(len(weights)):
            each = together.setdefault(tuple(bits[:, t].tolist()), [0, 0])
            each[0] += int(weights[t])
            each[1] += int(counts[t])
        settled = together.pop((0,) * planes, [0, 0])
        if drop:
            together = {key: each for key, each in together.items() if each[0] != 0}
        tables = np.zeros(256, np.int64), np.zeros(256, np.uint64), np.zeros(256, np.int32)
        n, weight, count = _merge(bits, weights, counts, *tables, drop)
        assert [weight, count] == settled
        found = {tuple(bits[:, t].tolist()): [int(weights[t]), int(counts[t])] for t in range(n)}
        assert (n, found) == (len(together), together)


@pytest.mark.parametrize("in_place", [False, True])
@pytest.mark.parametrize("planes", [1, 3])
def test_a_literal_keeps_the_rows_that_it_does_not_remove(planes: int, in_place: bool) -> None:
    for seed in range(8):
        bits, weights, counts = draw(seed, planes, 30)
        bit = 64 * (planes - 1) + 2
        kept = np.array([0b1011] * planes, np.uint64)
        stays = (bits[planes - 1] >> np.uint64(2)) & np.uint64(1) == 0
        new = (bits & kept[:, None])[:, stays]
        free = ~new.any(axis=0)
        most = int(np.where(free, weights[stays], np.maximum(weights[stays], 0)).sum())
        expected = new, weights[stays], counts[stays]
        target = (bits, weights, counts) if in_place else tuple(np.zeros_like(a) for a in (bits, weights, counts))
        assert _take(bits, weights, counts, bit, kept, *target) == (int(stays.sum()), most)
        for found, right in zip(target, expected, strict=True):
            np.testing.assert_array_equal(found[..., : stays.sum()], right)
