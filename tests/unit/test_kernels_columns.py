"""Bit columns: which of the caller's columns they are, and the same bits by column and by row."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from streed.exact import Array
from streed.kernels.counting.columns import pack_columns
from streed.kernels.packed import NO_FLIPS
from streed.kernels.records import LANES


def _bits(words: Array) -> Array:
    """(..., 64 * W) of 0/1 for words (..., W)."""
    return np.unpackbits(np.ascontiguousarray(words).view(np.uint8), axis=-1, bitorder="little")


def _pack(codes: Array, categories: list[int], places: list[tuple[int, int]] | None = None, words: int | None = None):  # type: ignore[no-untyped-def]
    """`pack_columns`; without places, the rows stand in their own order."""
    pairs = [(row, row) for row in range(len(codes))] if places is None else places
    size = -(-len(codes) // 64) if words is None else words
    flat = np.array(pairs, np.int64).reshape(-1)
    return pack_columns(
        np.ascontiguousarray(codes, np.uint8), flat, np.array(categories, np.int64), size, True, NO_FLIPS
    )


def _check(codes: Array, categories: list[int], places: list[tuple[int, int]], words: int) -> None:
    """Compares `pack_columns` with the definition, column by column and row by row."""
    column, flipped, literals, column_rows, row_bits, rows = _pack(codes, categories, places, words)
    counted = np.array([row for row, _ in places], int)
    expected: list[tuple[int, int, Array]] = []
    for f, categorical in enumerate(categories):
        values = codes[counted, f].astype(int)
        if categorical or values.sum() in (0, len(values)):
            continue
        # of exactly one half, the first row's side counts as without
        first = min(range(len(places)), key=lambda i: places[i][1])
        flip = int(2 * values.sum() > len(values) or (2 * values.sum() == len(values) and values[first] == 1))
        if not any((have == values ^ flip).all() for _, _, have in expected):
            expected.append((f, flip, values ^ flip))
    n_binary = len(expected)
    everyone = np.zeros(words * 64, int)
    everyone[[place for _, place in places]] = 1
    assert _bits(rows).reshape(-1).tolist() == everyone.tolist()
    begins = []
    for f, categorical in enumerate(categories):
        if categorical:
            begins.append(len(expected))
            expected += [(f, 0, (codes[counted, f] == category).astype(int)) for category in range(categorical)]
    assert column.tolist() == [f for f, _, _ in expected]
    assert flipped.tolist() == [flip for _, flip, _ in expected]
    assert literals.tolist() == [*begins, len(expected)]
    assert literals[0] == (n_binary if begins else len(expected))
    wanted = np.zeros((len(expected), words * 64), int)
    for k, (_, _, have) in enumerate(expected):
        wanted[k, [place for _, place in places]] = have
    assert column_rows.shape == (len(expected), words)
    assert _bits(column_rows).reshape(wanted.shape).tolist() == wanted.tolist()
    lanes = -(-len(expected) // LANES)
    assert row_bits.shape == (words * 64, lanes)
    if expected:
        by_row = _bits(row_bits)
        assert by_row[:, : len(expected)].tolist() == wanted.T.tolist()
        assert not by_row[:, len(expected) :].any()


@given(seed=st.integers(0, 2**32))
@settings(max_examples=60, deadline=None)
def test_columns_are_their_definition(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.choice([1, 2, 7, 64, 65, 130]))
    p = int(rng.choice([0, 1, 5, 33, 64, 70, 131]))
    categories = np.where(rng.random(p) < rng.choice([0, 0.3]), rng.integers(1, 8, p), 0)
    chosen = rng.integers(0, np.maximum(categories, 1), (n, p))
    codes = np.where(categories > 0, chosen, rng.random((n, p)) < rng.random(p))
    if p > 1:
        for f in rng.integers(1, p, p // 3):
            other = rng.integers(0, f)
            if categories[f] == categories[other] == 0:
                codes[:, f] = codes[:, other] ^ rng.integers(0, 2)
    # rows stand anywhere, some of them twice and some nowhere, with gaps between them
    words = -(-n // 64) + int(rng.integers(0, 3))
    places = rng.permutation(words * 64)[: n + min(n, words * 64 - n)]
    rows = np.r_[np.arange(n), rng.integers(0, n, len(places) - n)]
    kept = rng.random(len(rows)) < rng.choice([0.5, 1.0])
    pairs = list(zip(rows[kept].tolist(), places[kept].tolist(), strict=True))
    _check(codes.astype(np.uint8), categories.tolist(), pairs, words)


def test_equal_and_complementary_columns_go_under_the_first_name() -> None:
    a, b = np.array([0, 0, 1, 0, 0]), np.array([1, 1, 0, 0, 1])
    column, flipped, *_ = _pack(np.column_stack([a * 0, b, a, 1 - a, 1 - b, b, a * 0 + 1, a]), [0] * 8)
    assert column.tolist() == [1, 2]
    assert flipped.tolist() == [1, 0]


def test_a_problem_without_columns_or_rows() -> None:
    column, _, literals, column_rows, row_bits, _ = _pack(np.zeros((3, 0)), [])
    assert (len(column), literals.tolist(), column_rows.shape, row_bits.shape) == (0, [0], (0, 1), (64, 0))
    column, _, literals, column_rows, row_bits, _ = _pack(np.ones((3, 2)), [0, 3], [], 0)
    assert (column.tolist(), literals.tolist()) == ([1, 1, 1], [0, 3])
    assert (column_rows.shape, row_bits.shape) == ((3, 0), (0, 1))
