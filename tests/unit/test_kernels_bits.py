"""Matrices of bits, and costs by kind of row, against plain numpy."""

from __future__ import annotations

import math

import numpy as np
import pytest

from streed.exact import Array
from streed.kernels.compiled import entry
from streed.kernels.counting.bits import pack_bytes, transposed
from streed.kernels.counting.group_kernels import set_prices


@entry
def _pack(array, words):  # type: ignore[no-untyped-def]
    for w in range(len(words)):
        words[w] = pack_bytes(array, 64 * w)


@entry
def _pack_at(array, at):  # type: ignore[no-untyped-def]
    return pack_bytes(array, at)


def as_bits(words: Array) -> Array:
    """(rows, 64 * words) 0/1: the lowest bit first."""
    return np.unpackbits(np.ascontiguousarray(words).view(np.uint8), axis=1, bitorder="little")


@pytest.mark.parametrize("used", [0, 1, 31, 32, 33, 63, 64, 65, 128])
def test_bytes_that_are_not_zero_are_bits(used: int) -> None:
    rng = np.random.default_rng(used)
    size = -(-used // 64) * 64
    codes = np.zeros(size, np.uint8)
    codes[:used] = rng.choice([0, 1, 2, 127, 128, 255], used)
    words = np.zeros(size // 64, np.uint64)
    _pack(codes, words)
    assert (words == np.packbits(codes != 0, bitorder="little").view(np.uint64)).all()


def test_bytes_are_packed_from_any_place() -> None:
    codes = np.arange(200).astype(np.uint8) % 3
    for at in (0, 1, 63, 64, 65, 136):
        assert int(_pack_at(codes, at)) == sum(int(codes[at + k] != 0) << k for k in range(64))


@pytest.mark.parametrize(("blocks", "words"), [(0, 0), (1, 1), (1, 3), (3, 1), (2, 5)])
@pytest.mark.parametrize("density", [0.0, 0.03, 0.5, 1.0])
def test_a_transpose_is_numpys(blocks: int, words: int, density: float) -> None:
    rng = np.random.default_rng(blocks + words)
    bits = (rng.random((64 * blocks, 64 * words)) < density).astype(np.uint8)
    packed = np.packbits(bits, axis=1, bitorder="little").view(np.uint64).reshape(64 * blocks, words)
    assert (as_bits(transposed(packed)).reshape(64 * words, 64 * blocks) == bits.T).all()


@pytest.mark.parametrize("labels", [1, 2, 3, 5])
@pytest.mark.parametrize("groups", [0, 1, 31, 32, 33, 48])
def test_prices_of_groups(labels: int, groups: int) -> None:
    rng = np.random.default_rng(labels + groups)
    for unit, split in ((1, 0), (6, 0), (6, 9), (2**33, 2**34)):
        costs = rng.integers(-20, 20, (groups, labels)) * unit + rng.integers(0, 5, (groups, 1))
        sizes = rng.integers(1, 2**15, groups)
        profits = np.full((groups, labels + 2), -7)
        signed = np.full((groups, 2), -7)
        base, worst, divisor, accuracy = set_prices(costs, sizes, split, profits, signed)
        assert divisor == max(1, math.gcd(split, *(costs - costs[:, :1]).ravel().tolist()))
        most = costs.max(axis=1)
        expected = (most[:, None] - costs) // divisor
        spread = (most - costs.min(axis=1)) // divisor
        assert base == sum((sizes * costs.min(axis=1)).tolist())
        assert worst == sum((sizes * spread).tolist())
        assert (profits[:, :labels] == expected).all()
        assert (profits[:, labels] == spread).all()
        assert (profits[:, labels + 1] == -7).all()
        assert accuracy == int(((expected != 0).sum(axis=1) <= 1).all())
        if labels == 2:
            assert (signed == np.column_stack([(costs[:, 0] - costs[:, 1]) // divisor, spread])).all()
        else:
            assert (signed == -7).all()


def test_prices_of_plain_errors_are_those_of_accuracy() -> None:
    profits, signed = np.zeros((3, 4), np.int64), np.zeros((3, 2), np.int64)
    wrong = 1 - np.eye(3, dtype=np.int64)
    assert set_prices(wrong, np.array([4, 5, 6]), 0, profits, signed) == (0, 15, 1, 1)
    wrong[0, 1] = 0
    assert set_prices(wrong, np.array([4, 5, 6]), 0, profits, signed)[3] == 0
