"""Keys of several components: adding, comparing, sweeping and merging them, against vectors in plain numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from streed.exact import Array
from streed.kernels.compiled import entry
from streed.pareto.arrays import KeyLayout
from streed.pareto.packed_vectors import (
    BLOCK,
    add_sets,
    empty,
    empty_buckets,
    is_allowed,
    merge_buckets,
    merge_sets,
    sort_and_sweep,
    sweep,
)

NOTHING = np.iinfo(np.int64).max


@entry
def _sweep(layout, keys, columns):  # type: ignore[no-untyped-def]
    return sweep(layout, keys, columns, len(keys))


@entry
def _sort_and_sweep(layout, keys):  # type: ignore[no-untyped-def]
    return sort_and_sweep(layout, keys)


@entry
def _add_sets(layout, a, b):  # type: ignore[no-untyped-def]
    return add_sets(layout, a, b)


@entry
def _empty(layout, best, count):  # type: ignore[no-untyped-def]
    return empty(layout, best, count).copy()


@entry
def _is_allowed(layout, keys, found):  # type: ignore[no-untyped-def]
    for i in range(len(keys)):
        found[i] = is_allowed(layout, keys[i])


class Vectors:
    """A layout of components of `widths` bits each, guard bits included, and its keys as rows of numbers."""

    def __init__(self, widths: list[int], caps: list[int] | None = None, split: list[int] | None = None) -> None:
        self.shifts = [sum(widths[at + 1 :]) for at in range(len(widths))]
        self.most = np.array([2 ** (width - 1) - 1 for width in widths])
        self.caps = self.most if caps is None else np.array(caps)
        self.split = np.zeros(len(widths), np.int64) if split is None else np.array(split)
        guards = sum(1 << (shift + width - 1) for shift, width in zip(self.shifts, widths, strict=True))
        buckets = int(self.most[0]) + 1 if len(widths) == 2 and widths[0] < 16 else 0
        cap = guards + int(self.pack(self.caps[None])[0])
        self.layout = KeyLayout(np.array(self.shifts), guards, cap, int(self.pack(self.split[None])[0]), buckets)

    def pack(self, vectors: Array) -> Array:
        return np.asarray((vectors.astype(np.int64) << np.array(self.shifts)).sum(axis=1))

    def front(self, vectors: Array) -> list[tuple[int, ...]]:
        """The vectors under the caps that no other is below, each once, in lexicographic order."""
        vectors = np.unique(vectors[(vectors <= self.caps).all(axis=1)], axis=0)
        kept: list[tuple[int, ...]] = []
        best = np.zeros((0, vectors.shape[1]), np.int64)
        for vector in vectors:
            if not (best <= vector).all(axis=1).any():
                best = np.vstack([best, vector])
                kept.append(tuple(vector.tolist()))
        return kept

    def unpack(self, keys: Array) -> list[tuple[int, ...]]:
        mask = 2 * self.most + 1
        return [tuple(row) for row in ((keys[:, None] >> np.array(self.shifts)) & mask).tolist()]

    def sums(self, a: Array, b: Array) -> Array:
        return np.asarray((a[:, None] + b[None] + self.split).reshape(-1, len(self.shifts)))


LAYOUTS = {
    "one": [20],
    "two": [8, 12],
    "two at 62 bits": [31, 31],
    "three": [5, 6, 7],
    "three at 62 bits": [20, 21, 21],
    "four": [4, 5, 6, 7],
    "five at 62 bits": [12, 12, 12, 13, 13],
}

every_layout = pytest.mark.parametrize("name", LAYOUTS)


def drawn(rng: np.random.Generator, vectors: Vectors, count: int, share: float = 1.0) -> Array:
    """Vectors (count, m): few different numbers, up to the largest of every component."""
    steps = rng.integers(0, 7, (count, len(vectors.shifts)))
    return np.asarray((steps * (vectors.most * share / 6)).astype(np.int64))


@every_layout
@pytest.mark.parametrize("count", [0, 1, 2, 31, 32, 33, 63, 64, 65, 300])
def test_the_nondominated_keys_under_caps(name: str, count: int) -> None:
    rng = np.random.default_rng(count)
    for caps in (None, [int(most) // 2 for most in Vectors(LAYOUTS[name]).most]):
        vectors = Vectors(LAYOUTS[name], caps)
        points = drawn(rng, vectors, count)
        keys = vectors.pack(points)
        allowed = np.zeros(count, bool)
        _is_allowed(vectors.layout, keys, allowed)
        assert (allowed == (points <= vectors.caps).all(axis=1)).all()
        assert vectors.unpack(_sort_and_sweep(vectors.layout, keys.copy())) == vectors.front(points)


@every_layout
def test_of_equal_keys_the_first_keeps_its_column(name: str) -> None:
    rng = np.random.default_rng(5)
    vectors = Vectors(LAYOUTS[name])
    points = drawn(rng, vectors, 90)
    keys = vectors.pack(points)
    order = np.argsort(keys, kind="stable")
    swept, columns = keys[order].copy(), order.astype(np.int32)
    count = _sweep(vectors.layout, swept, columns)
    first = {tuple(point): at for at, point in reversed(list(enumerate(points.tolist())))}
    assert [first[point] for point in vectors.front(points)] == columns[:count].tolist()


@every_layout
@pytest.mark.parametrize(("m", "n"), [(0, 0), (0, 3), (3, 0), (1, 1), (31, 33), (32, 32), (64, 65)])
def test_sums_of_two_sets_with_the_cost_of_a_split(name: str, m: int, n: int) -> None:
    rng = np.random.default_rng(m + n)
    most = Vectors(LAYOUTS[name]).most
    vectors = Vectors(LAYOUTS[name], split=[int(each) // 9 for each in most])
    a, b = drawn(rng, vectors, m, 0.4), drawn(rng, vectors, n, 0.4)
    found = _add_sets(vectors.layout, vectors.pack(a), vectors.pack(b))
    assert vectors.unpack(found) == vectors.front(vectors.sums(a, b))


@pytest.mark.parametrize("n", [BLOCK // 512 - 1, BLOCK // 512, BLOCK // 512 + 1])
def test_sums_on_both_sides_of_a_block(n: int) -> None:
    """Antichains, so that no sum of the first components is dominated by chance alone."""
    vectors = Vectors([20, 20, 20])
    at = np.arange(512)
    a = np.column_stack([at, 511 - at, at % 7])
    at = np.arange(n)
    b = np.column_stack([3 * at, 3 * (n - 1 - at), at % 5])
    found = _add_sets(vectors.layout, vectors.pack(a), vectors.pack(b))
    whole = np.unique(vectors.sums(a, b), axis=0)
    least = np.full((4096, 4096), 99)
    for x, y, z in whole.tolist():
        least[x, y] = min(least[x, y], z)
    below = np.minimum.accumulate(np.minimum.accumulate(least, axis=0), axis=1)
    kept = [
        (x, y, z)
        for x, y, z in whole.tolist()
        if least[x, y] == z and (x == 0 or below[x - 1, y] > z) and (y == 0 or below[x, y - 1] > z)
    ]
    assert vectors.unpack(found) == kept


@every_layout
def test_merging_into_what_is_known(name: str) -> None:
    """Of a sum that is there already the old column stays."""
    rng = np.random.default_rng(7)
    vectors = Vectors(LAYOUTS[name])
    known = np.array(vectors.front(drawn(rng, vectors, 40)))
    a, b = drawn(rng, vectors, 20, 0.45), drawn(rng, vectors, 20, 0.45)
    columns = np.arange(len(known), dtype=np.int32) + 100
    arguments = (vectors.pack(a), vectors.pack(b), 7)
    keys, origins = merge_sets(vectors.layout, vectors.pack(known), columns, *arguments)
    expected = vectors.front(np.vstack([known, vectors.sums(a, b)]))
    assert vectors.unpack(keys) == expected
    old = {tuple(point): 100 + at for at, point in enumerate(known.tolist())}
    assert origins.tolist() == [old.get(point, 7) for point in expected]


@pytest.mark.parametrize("caps", [None, [90, 1000]])
@pytest.mark.parametrize("size", [0, 1, 31, 32, 33, 65])
def test_buckets_are_the_sets_of_two_components(caps: list[int] | None, size: int) -> None:
    rng = np.random.default_rng(size)
    vectors = Vectors([8, 12], caps, [1, 2])
    best, origins = np.full(vectors.layout.buckets, NOTHING), np.zeros(vectors.layout.buckets, np.int32)
    everything = [np.zeros((0, 2), np.int64)]
    for column in range(3):
        a, b = drawn(rng, vectors, size, 0.45), drawn(rng, vectors, size, 0.45)
        merge_buckets(vectors.layout, vectors.pack(a), vectors.pack(b), column, best, origins)
        everything.append(vectors.sums(a, b))
    keys, columns = empty_buckets(vectors.layout, best, origins)
    expected = vectors.front(np.vstack(everything))
    assert vectors.unpack(keys) == expected
    sets: list[Any] = [set(map(tuple, each.tolist())) for each in everything[1:]]
    first = [next(column for column in range(3) if point in sets[column]) for point in expected]
    assert columns.tolist() == first
    assert (best == NOTHING).all()


def test_the_first_buckets_are_emptied_whatever_is_allowed() -> None:
    vectors = Vectors([8, 12], [0, 0])
    best = np.full(vectors.layout.buckets, NOTHING)
    best[[0, 3, 5, 6, 40]] = [9, 9, 4, 5, 0]
    assert vectors.unpack(_empty(vectors.layout, best, 7)) == [(0, 9), (5, 4)]
    assert (best[:7] == NOTHING).all()
    assert best[40] == 0
