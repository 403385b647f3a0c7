"""The compacted columns of nodes and children, taken apart in numpy: words of 16 rows, or units of 12."""

from __future__ import annotations

import numpy as np

from streed.exact import Array
from streed.kernels.counting.look_up import AGAINST, LOOKS_UP
from streed.kernels.records import LANES, NIBBLE, NIBBLES, UNIT_BYTES, UNIT_ROWS, WORD_ROWS
from tests.unit.kernel_harness import Bench


def unpack_words(words: Array, begins: Array, sizes: list[int]) -> Array:
    """(m, columns) of 0/1 from 16-row words (w, columns), of which every group has so many rows; the rest must be 0."""
    bits = (words.astype(np.uint16)[:, None, :] >> np.arange(WORD_ROWS, dtype=np.uint16)[None, :, None]) & 1
    found = []
    for begin, end, size in zip(begins[:-1], begins[1:], sizes, strict=True):
        assert end - begin == -(-size // WORD_ROWS)
        group = bits[begin:end].reshape((end - begin) * WORD_ROWS, words.shape[1])
        assert not group[size:].any()
        found.append(group[:size])
    return np.concatenate(found) if found else np.zeros((0, words.shape[1]), np.uint16)


def unpack_units(units: Array, begins: Array, sizes: list[int]) -> Array:
    """(m, P) of 0/1 from units (u, 6 P) int8, of which every group has so many rows; as `unpack_words`.

    Where tables begin must follow from the nibbles.
    """
    u, blocks = len(units), units.shape[1] // (UNIT_BYTES * LANES)
    half = NIBBLES * LANES * blocks
    nibbles = (
        units[:, :half].reshape(u, blocks, NIBBLES, LANES).transpose(0, 2, 1, 3).reshape(u * NIBBLES, blocks * LANES)
    )
    places = np.ascontiguousarray(units[:, half:]).view(np.int16)
    places = (
        places.reshape(u, blocks, NIBBLES, LANES // 2).transpose(0, 2, 1, 3).reshape(u * NIBBLES, blocks * LANES // 2)
    )
    assert ((places % AGAINST) == 16 * (nibbles[:, ::2] + 16 * nibbles[:, 1::2].astype(np.int16))).all()
    bits = (nibbles[:, None, :] >> np.arange(NIBBLE)[None, :, None]) & 1
    bits = bits.reshape(u * UNIT_ROWS, blocks * LANES)
    found = [np.zeros((0, bits.shape[1]), np.int8)]
    for begin, end, size in zip(begins[:-1], begins[1:], sizes, strict=True):
        assert end - begin == -(-size // UNIT_ROWS)
        group = bits[begin * UNIT_ROWS : end * UNIT_ROWS]
        assert not group[size:].any()
        found.append(group[:size])
    return np.concatenate(found)


def child_bits(bench: Bench, begins: Array, sizes: list[int]) -> Array:
    """(m, P) of 0/1: the columns of the child at hand."""
    stride = int(bench.engine["stride"])
    if LOOKS_UP:
        return unpack_units(bench.view("child_words", np.int8, int(begins[-1]), UNIT_BYTES * stride), begins, sizes)
    return unpack_words(bench.view("child_words", np.int16, int(begins[-1]), stride), begins, sizes)
