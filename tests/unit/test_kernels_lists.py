"""Lists of entries and sums over pairs of columns by rows, against every tree in plain numpy."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import attrs
import numpy as np
import pytest

from streed.enumerate.entries import (
    COST,
    KEY,
    VALUE,
    compact,
    list_pairs,
    meet,
    new_table,
    order_by,
    put_entry,
    unite,
)
from streed.enumerate.shallow import add_pairs, find_separating, floor_children
from streed.exact import Array
from streed.kernels.compiled import entry
from streed.kernels.records import INFINITE

Entry = tuple[int, ...]


@entry
def _order_by(entries, column):  # type: ignore[no-untyped-def]
    return order_by(entries, len(entries), column)


@entry
def _put_all(candidates, bits):  # type: ignore[no-untyped-def]
    entries, used = new_table(bits, candidates.shape[1])
    count = 0
    for i in range(len(candidates)):
        entries, used, bits, count = put_entry(entries, used, bits, count, candidates[i])
    return compact(entries, used, count)


@entry
def _list_pairs(pairs, total, split, depth, least_rows, room, most):  # type: ignore[no-untyped-def]
    return list_pairs(pairs, total, split, depth, least_rows, room, most)


@entry
def _sum_pairs(rows, starts, columns, n_columns, profits, f, side):  # type: ignore[no-untyped-def]
    local, chosen = find_separating(rows, starts, columns, n_columns)
    pairs = np.zeros((len(chosen), len(chosen), profits.shape[1]), np.int64)
    total = np.zeros(profits.shape[1], np.int64)
    add_pairs(pairs, total, rows, starts, columns, local, profits, np.arange(len(total)), f, side)
    return local, chosen, pairs, total


def as_set(listed: Any) -> set[Entry]:
    return set(map(tuple, listed.tolist()))


def least_of_keys(entries: Any) -> dict[Entry, int]:
    """The least value of every key."""
    least: dict[Entry, int] = {}
    for each in map(tuple, np.asarray(entries).reshape(-1, np.shape(entries)[-1] if len(entries) else 3).tolist()):
        least[each[KEY:]] = min(each[VALUE], least.get(each[KEY:], INFINITE))
    return least


def is_list(listed: Array) -> None:
    """Asserts that no key stands twice and that costs rise."""
    assert (np.diff(listed[:, COST]) >= 0).all()
    assert len({each[KEY:] for each in as_set(listed)}) == len(listed)


@pytest.mark.parametrize("count", [0, 1, 2, 31, 32, 33, 64, 65, 511, 512, 513])
@pytest.mark.parametrize("width", [3, 4, 6])
def test_of_equal_keys_the_least_value_is_kept(count: int, width: int) -> None:
    """The table begins with 4 places and with 1,024, of which one half is used."""
    rng = np.random.default_rng(count)
    candidates = rng.integers(-4, 5, (count, width)) * 2 ** rng.integers(0, 50, (count, 1))
    for bits in (2, 10):
        found = _put_all(candidates, bits)
        is_list(found)
        assert as_set(found) <= as_set(candidates)
        assert least_of_keys(found) == least_of_keys(candidates)


@pytest.mark.parametrize("count", [0, 1, 2, 31, 32, 33, 100])
def test_entries_in_the_order_of_a_column(count: int) -> None:
    rng = np.random.default_rng(count)
    entries = rng.integers(0, 6, (count, 3))
    for column in range(3):
        assert _order_by(entries, column).tolist() == np.argsort(entries[:, column], kind="stable").tolist()


@pytest.mark.parametrize(("m", "n"), [(0, 0), (0, 2), (1, 1), (31, 33), (600, 600)])
def test_the_union_of_two_lists(m: int, n: int) -> None:
    rng = np.random.default_rng(m + n)
    a, b = (rng.integers(0, 30, (size, 4)) for size in (m, n))
    found = unite(a, b)
    is_list(found)
    assert least_of_keys(found) == least_of_keys(np.vstack([a, b]))


@pytest.mark.parametrize("intervals", [1, 2, 3])
@pytest.mark.parametrize(("m", "n"), [(0, 0), (0, 4), (4, 0), (1, 1), (32, 33), (64, 65)])
def test_the_least_pair_with_all_sums_in_their_windows(intervals: int, m: int, n: int) -> None:
    rng = np.random.default_rng(100 * intervals + m)
    for width in (0, 4, 40):
        a, b = rng.integers(0, 50, (m, 3)), rng.integers(0, 50, (n, 3))
        sums_a, sums_b = rng.integers(-20, 20, (m, intervals)), rng.integers(-20, 20, (n, intervals))
        order = np.argsort(sums_b[:, 0], kind="stable")
        b, sums_b = b[order], sums_b[order]
        least = rng.integers(-10, 10, intervals)
        most = least + width
        sums = sums_a[:, None] + sums_b[None]
        inside = ((sums >= least) & (sums <= most)).all(axis=2)
        values = np.where(inside, a[:, None, VALUE] + b[None, :, VALUE], INFINITE)
        best = int(values.min(initial=INFINITE))
        value, i, j = meet(a, b, sums_a, sums_b, least, most, INFINITE)
        assert value == best
        assert (i, j) == (-1, -1) if best == INFINITE else values[i, j] == best
        assert meet(a, b, sums_a, sums_b, least, most, best) == (best, -1, -1)


@attrs.frozen(eq=False)
class Posed:
    """Rows X (n, p), what each costs by label, (n, K, width), and how many rows each stands for, as kernels take them.

    `split` (width,) is what a branching node adds.
    """

    X: Array
    costs: Array
    counts: Array
    split: Array

    @classmethod
    def drawn(cls, rng: np.random.Generator, n: int, p: int, labels: int, width: int = 3, scale: int = 1) -> Posed:
        X = (rng.random((n, p)) < 0.4).astype(np.uint8)
        split = np.array([scale, 0, 1])[:width]
        return cls(X, rng.integers(0, 5, (n, labels, width)) * scale, rng.integers(1, 4, n), split)

    @property
    def starts(self) -> Array:
        return np.concatenate([[0], np.cumsum(self.X.sum(axis=1))]).astype(np.int64)

    @property
    def columns(self) -> Array:
        return np.nonzero(self.X)[1].astype(np.int64)

    @property
    def base(self) -> Array:
        return np.ascontiguousarray(self.costs[:, 0])

    @property
    def profits(self) -> Array:
        more = (self.costs[:, 1:] - self.costs[:, :1]).reshape(len(self.X), -1)
        return np.ascontiguousarray(np.column_stack([self.counts, more]))

    def trees(self, rows: Array, depth: int, least_rows: int) -> Iterator[Entry]:
        """The entry of every tree of depth at most `depth` for some of the rows (n,) bool."""
        if self.counts[rows].sum() >= least_rows:
            yield from map(tuple, self.costs[rows].sum(axis=0).tolist())
        if depth > 0:
            for having in self.X.T.astype(bool):
                a, b = rows & having, rows & ~having
                if a.any() and b.any():
                    left, right = set(self.trees(a, depth - 1, least_rows)), set(self.trees(b, depth - 1, least_rows))
                    for x, y in itertools.product(left, right):
                        yield tuple((np.array(x) + y + self.split).tolist())


@pytest.mark.parametrize("columns", [1, 31, 32, 33, 65])
@pytest.mark.parametrize("f", [-1, 0])
def test_sums_over_pairs_of_columns(columns: int, f: int) -> None:
    rng = np.random.default_rng(columns)
    posed = Posed.drawn(rng, 20, columns, 3, scale=2**40)
    rows = np.flatnonzero(rng.random(20) < 0.7)
    for side in (0, 1):
        local, chosen, pairs, total = _sum_pairs(
            rows, posed.starts, posed.columns, columns, posed.profits, np.int64(f), np.int64(side)
        )
        shares = posed.X[rows].mean(axis=0)
        assert chosen.tolist() == np.flatnonzero((shares > 0) & (shares < 1)).tolist()
        assert local[chosen].tolist() == list(range(len(chosen)))
        assert (np.delete(local, chosen) == -1).all()
        kept = rows if f < 0 else rows[posed.X[rows, f] == side]
        one, profits = posed.X[np.ix_(kept, chosen)].astype(np.int64), posed.profits[kept]
        assert total.tolist() == profits.sum(axis=0).tolist()
        upper = np.triu_indices(len(chosen))
        assert (pairs[upper] == np.einsum("ni,nj,nc->ijc", one, one, profits)[upper]).all()


def test_no_rows_have_no_sums() -> None:
    posed = Posed.drawn(np.random.default_rng(0), 3, 4, 2)
    none = np.zeros(0, np.int64)
    arguments = (none, posed.starts, posed.columns, 4, posed.profits, np.int64(-1), np.int64(0))
    local, chosen, pairs, total = _sum_pairs(*arguments)
    assert (local == -1).all()
    assert (len(chosen), pairs.shape, total.tolist()) == (0, (0, 0, 4), [0] * 4)


@pytest.mark.parametrize("labels", [1, 2, 3])
@pytest.mark.parametrize("least_rows", [1, 4])
@pytest.mark.parametrize("depth", [0, 1, 2])
def test_lists_of_all_trees_within_a_budget(labels: int, least_rows: int, depth: int) -> None:
    for seed in range(6):
        rng = np.random.default_rng([seed, labels])
        posed = Posed.drawn(rng, 7, 3, labels, scale=2**50 if seed == 0 else 1)
        rows = np.arange(7)
        _, _, pairs, total = (
            _sum_pairs(rows, posed.starts, posed.columns, 3 if depth else 0, posed.profits, np.int64(-1), np.int64(0))
            if depth
            else (0, 0, np.zeros((0, 0, posed.profits.shape[1]), np.int64), posed.profits.sum(axis=0))
        )
        base = posed.base.sum(axis=0)
        every = np.array(sorted(posed.trees(np.ones(7, bool), depth, least_rows)), np.int64).reshape(-1, 3) - base
        for quantile in (0, 0.3, 1):
            budget = int(np.quantile(every[:, COST], quantile, method="nearest")) if len(every) else 9
            found = _list_pairs(pairs, total, posed.split, depth, least_rows, budget, INFINITE)
            is_list(found)
            within = every[every[:, COST] <= budget]
            assert as_set(found) <= as_set(within)
            assert least_of_keys(found) == least_of_keys(within)


@pytest.mark.parametrize("labels", [2, 3])
@pytest.mark.parametrize("least_rows", [1, 3])
@pytest.mark.parametrize("depth", [0, 1, 2])
@pytest.mark.parametrize("columns", [3, 33])
def test_the_least_costs_of_children(labels: int, least_rows: int, depth: int, columns: int) -> None:
    rng = np.random.default_rng([labels, least_rows, depth])
    posed = Posed.drawn(rng, 12, columns, labels, width=1, scale=2**45)
    rows = np.arange(12) if columns > 3 else np.flatnonzero(rng.random(12) < 0.8)
    found = floor_children(
        rows, posed.starts, posed.columns, posed.profits, posed.base, posed.split, columns, depth, least_rows
    )
    inside = np.isin(np.arange(12), rows)
    for f in range(0, columns, max(1, columns // 4)):
        having = posed.X[:, f].astype(bool)
        for side, part in enumerate((inside & ~having, inside & having)):
            separates = 0 < (inside & having).sum() < len(rows)
            costs = [each[COST] for each in posed.trees(part, depth, least_rows)] if separates else []
            assert found[f, side] == min(costs, default=INFINITE)
