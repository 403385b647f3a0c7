"""Keys of several components: adding, comparing, sweeping and merging them, against vectors in plain numpy."""

from __future__ import annotations

import numpy as np
import pytest

from streed.exact import Array
from streed.kernels.compiled import entry
from streed.pareto.arrays import KeyLayout
from streed.pareto.packed_vectors import (
    add_sets,
    is_allowed,
    merge_sets,
    sort_and_sweep,
)


@entry
def _sort_and_sweep(layout, keys):  # type: ignore[no-untyped-def]
    return sort_and_sweep(layout, keys)


@entry
def _add_sets(layout, a, b):  # type: ignore[no-untyped-def]
    return add_sets(layout, a, b)


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
@pytest.mark.parametrize(("m", "n"), [(0, 0), (0, 3), (3, 0), (1, 1), (31, 33), (32, 32), (64, 65)])
def test_sums_of_two_sets_with_the_cost_of_a_split(name: str, m: int, n: int) -> None:
    rng = np.random.default_rng(m + n)
    most = Vectors(LAYOUTS[name]).most
    vectors = Vectors(LAYOUTS[name], split=[int(each) // 9 for each in most])
    a, b = drawn(rng, vectors, m, 0.4), drawn(rng, vectors, n, 0.4)
    found = _add_sets(vectors.layout, vectors.pack(a), vectors.pack(b))
    assert vectors.unpack(found) == vectors.front(vectors.sums(a, b))


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
