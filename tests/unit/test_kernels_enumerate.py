"""Tables of entries and sums over pairs of columns by rows, against every tree in plain numpy."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import attrs
import numpy as np
import pytest

from streed.enumerate.entries import (
    addends,
    combine,
    compact,
    meet,
    merge_equal,
    new_index,
    new_table,
    order_by,
    put_entry,
    thin,
)
from streed.enumerate.layout import COST, FULL, KEY, SPACE, VALUE
from streed.enumerate.numbered_kernels import add_pairs, find_separating, optima_of_children, sum_pairs
from streed.enumerate.shallow import enumerate_shallow, find_shallow
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
def _sum_pairs(rows, starts, columns, n_columns, profits, f, side):  # type: ignore[no-untyped-def]
    local, chosen = find_separating(rows, starts, columns, n_columns)
    pairs = np.zeros((len(chosen), len(chosen), profits.shape[1]), np.int64)
    total = np.zeros(profits.shape[1], np.int64)
    add_pairs(pairs, total, rows, starts, columns, local, profits, np.arange(len(total)), f, side)
    return local, chosen, pairs, total


@entry
def _merge_equal(entries):  # type: ignore[no-untyped-def]
    index = new_index(len(entries))
    count = merge_equal(entries, len(entries), index)
    return count, index.any()


def as_set(entries: Any) -> set[Entry]:
    return set(map(tuple, entries.tolist()))


def unite(a: Any, b: Any) -> Any:
    """The entries of a and of b."""
    return combine(np.vstack([a, b]), a[:0], a[:0], np.zeros(a.shape[1], np.int64), np.int64(0), np.int64(INFINITE))


def least_of_keys(entries: Any) -> dict[Entry, int]:
    """The least value of every key."""
    least: dict[Entry, int] = {}
    for each in map(tuple, np.asarray(entries).reshape(-1, np.shape(entries)[-1] if len(entries) else 3).tolist()):
        least[each[KEY:]] = min(each[VALUE], least.get(each[KEY:], INFINITE))
    return least


def check_table(entries: Array) -> None:
    """Asserts that no key stands twice and that costs rise."""
    assert (np.diff(entries[:, COST]) >= 0).all()
    assert len({each[KEY:] for each in as_set(entries)}) == len(entries)


def make_limits(**more: int) -> Array:
    """Limits of entries, by which all are needed but for what is given."""
    limits = {"most_key": 2**62, "most_value": INFINITE, "staircase": 0, "space": INFINITE, "full": 0, **more}
    return np.array(list(limits.values()), np.int64)


@pytest.mark.parametrize("count", [0, 1, 2, 31, 32, 33, 64, 65, 511, 512, 513])
@pytest.mark.parametrize("width", [3, 4, 6])
def test_of_equal_keys_the_least_value_is_kept(count: int, width: int) -> None:
    """The table begins with 4 places and with 1,024, of which one half is used."""
    rng = np.random.default_rng(count)
    candidates = rng.integers(-4, 5, (count, width)) * 2 ** rng.integers(0, 50, (count, 1))
    for bits in (2, 10):
        found = _put_all(candidates, bits)
        check_table(found)
        assert as_set(found) <= as_set(candidates)
        assert least_of_keys(found) == least_of_keys(candidates)


@pytest.mark.parametrize("count", [0, 1, 2, 7, 8, 9, 31, 32, 33, 400])
@pytest.mark.parametrize("width", [3, 5])
@pytest.mark.parametrize("cost_is_told", [True, False])
def test_of_equal_entries_one_is_left(count: int, width: int, cost_is_told: bool) -> None:
    """Which budgets an entry fits, and its value, are as before; where value and key tell the cost, keys differ."""
    rng = np.random.default_rng(count)
    entries = rng.integers(-2, 3, (count, width)) * 2**40
    if cost_is_told:
        entries[:, COST] = 3 * entries[:, VALUE] + entries[:, KEY]
    found = entries.copy()
    kept, index_is_used = _merge_equal(found)
    assert not index_is_used
    left = found[:kept]
    assert as_set(left) <= as_set(entries)
    for budget in sorted(set(entries[:, COST].tolist())):
        assert least_of_keys(left[left[:, COST] <= budget]) == least_of_keys(entries[entries[:, COST] <= budget])
    if cost_is_told:
        assert kept == len({each[KEY:] for each in as_set(entries)})


@pytest.mark.parametrize("count", [0, 1, 2, 31, 32, 33, 100])
def test_entries_in_the_order_of_a_column(count: int) -> None:
    rng = np.random.default_rng(count)
    entries = rng.integers(0, 6, (count, 3))
    for column in range(3):
        assert _order_by(entries, column).tolist() == np.argsort(entries[:, column], kind="stable").tolist()


@pytest.mark.parametrize(("m", "n"), [(0, 0), (0, 2), (1, 1), (31, 33), (40, 60)])
def test_the_sums_of_two_tables_within_a_budget(m: int, n: int) -> None:
    rng = np.random.default_rng(m + n)
    found, a, b = (unite(*np.split(rng.integers(0, 30, (size, 4)), [size // 2])) for size in (5, m, n))
    add = rng.integers(0, 4, 4)
    sums = (a[:, None] + b[None] + add).reshape(-1, 4)
    for budget in (-1, 20, 40, 100):
        combined = combine(found, a, b, add, budget, INFINITE)
        check_table(combined)
        within = np.vstack([found, sums[sums[:, COST] <= budget]])
        assert as_set(combined) <= as_set(within)
        assert least_of_keys(combined) == least_of_keys(within)
    if len(within) > 20:
        assert 10 < len(combine(found, a, b, add, 100, 10)) < len(combined)


@pytest.mark.parametrize("count", [0, 1, 2, 33, 200])
def test_entries_that_are_needed(count: int) -> None:
    rng = np.random.default_rng(count)
    entries = unite(rng.integers(0, 40, (count, 3)), np.zeros((0, 3), np.int64))
    within = entries[(entries[:, KEY] <= 25) & (entries[:, VALUE] <= 30)]
    assert thin(entries, make_limits()).tolist() == entries.tolist()
    assert thin(entries, make_limits(most_key=25, most_value=30)).tolist() == within.tolist()
    found = thin(entries, make_limits(most_key=25, most_value=30, staircase=1))
    check_table(found)
    dominated = {
        x for x in as_set(within) for y in as_set(within) if x != y and x[VALUE] >= y[VALUE] and x[KEY] >= y[KEY]
    }
    assert as_set(found) == as_set(within) - dominated


@pytest.mark.parametrize(("m", "n"), [(0, 0), (0, 3), (1, 1), (31, 33)])
def test_two_entries_that_add_up_to_a_total(m: int, n: int) -> None:
    rng = np.random.default_rng(m + n)
    a, b = rng.integers(0, 6, (m, 4)), rng.integers(0, 6, (n, 4))
    sums = as_set((a[:, None] + b[None]).reshape(-1, 4))
    for total in [*sums][:20]:
        i, j = addends(a, b, np.array(total))
        assert tuple(a[i] + b[j]) == total
    for total in [x for x in itertools.product(range(0, 11, 3), repeat=4) if x not in sums][:50]:
        assert addends(a, b, np.array(total)) == (-1, -1)


@pytest.mark.parametrize("intervals", [1, 2, 3])
@pytest.mark.parametrize(("m", "n"), [(0, 0), (0, 4), (4, 0), (1, 1), (32, 33), (64, 65)])
def test_the_least_pair_with_all_sums_in_their_intervals(intervals: int, m: int, n: int) -> None:
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

    def sums(self, rows: Array, depth: int) -> tuple[Array, Array, Array, Array]:
        """`sum_pairs` of the rows, by number."""
        sums: tuple[Array, Array, Array, Array] = sum_pairs(
            rows, self.starts, self.columns, self.profits, self.base, self.X.shape[1], depth
        )
        return sums

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
def test_all_shallow_trees_within_a_budget(labels: int, least_rows: int, depth: int) -> None:
    for seed in range(6):
        rng = np.random.default_rng([seed, labels])
        posed = Posed.drawn(rng, 7, 3, labels, scale=2**50 if seed == 0 else 1)
        columns, *sums = posed.sums(np.arange(7), depth)
        least = sums[-1]
        assert len(columns) == len(sums[0]) <= (3 if depth else 0)
        every = np.array(sorted(posed.trees(np.ones(7, bool), depth, least_rows)), np.int64).reshape(-1, 3)
        for quantile in (0, 0.3, 1):
            budget = int(np.quantile(every[:, COST], quantile, method="nearest")) if len(every) else 9
            limits = make_limits()
            found = enumerate_shallow(*sums, posed.split, depth, least_rows, budget, limits)
            check_table(found)
            within = every[every[:, COST] <= budget]
            assert as_set(found) <= as_set(within)
            assert least_of_keys(found) == least_of_keys(within)
            assert limits[FULL] == 0
        for target in [*as_set(every)][:20]:
            check_found(posed, np.arange(7), depth, least_rows, np.array(target) - least)
        no_tree = every.max(axis=0, initial=0) + 1 - least
        label, place, _, _ = find_shallow(*sums[:2], posed.split, depth, least_rows, no_tree)
        assert (label, place) == (-1, -1)


def check_found(posed: Posed, rows: Array, depth: int, least_rows: int, target: Array) -> None:
    """Asserts that a tree is found for the target, which is beyond the entry of the rows under the first label."""
    columns, pairs, total, least = posed.sums(rows, depth)
    label, place, having, without = find_shallow(pairs, total, posed.split, depth, least_rows, target)
    if label >= 0:
        assert posed.counts[rows].sum() >= least_rows
        assert posed.costs[rows, label].sum(axis=0).tolist() == (target + least).tolist()
        return
    assert place >= 0
    assert (having + without + posed.split).tolist() == target.tolist()
    inside = posed.X[rows, columns[place]] == 1
    check_found(posed, rows[inside], depth - 1, least_rows, having)
    check_found(posed, rows[~inside], depth - 1, least_rows, without)


@pytest.mark.parametrize("space", [1, 3, 10])
def test_more_entries_than_there_is_space_for_are_told(space: int) -> None:
    posed = Posed.drawn(np.random.default_rng(0), 9, 4, 2)
    sums = posed.sums(np.arange(9), 2)[1:]
    limits = make_limits(space=space)
    found = enumerate_shallow(*sums, posed.split, 2, 1, INFINITE, limits)
    assert limits[FULL] == 1
    assert len(found) > limits[SPACE]


@pytest.mark.parametrize("labels", [2, 3])
@pytest.mark.parametrize("least_rows", [1, 3])
@pytest.mark.parametrize("depth", [0, 1, 2])
@pytest.mark.parametrize("columns", [3, 33])
def test_the_least_costs_of_children(labels: int, least_rows: int, depth: int, columns: int) -> None:
    rng = np.random.default_rng([labels, least_rows, depth])
    posed = Posed.drawn(rng, 12, columns, labels, width=1, scale=2**45)
    rows = np.arange(12) if columns > 3 else np.flatnonzero(rng.random(12) < 0.8)
    found = optima_of_children(
        rows, posed.starts, posed.columns, posed.profits, posed.base, posed.split, columns, depth, least_rows
    )
    inside = np.isin(np.arange(12), rows)
    for f in range(0, columns, max(1, columns // 4)):
        having = posed.X[:, f].astype(bool)
        for side, part in enumerate((inside & ~having, inside & having)):
            separates = 0 < (inside & having).sum() < len(rows)
            costs = [each[COST] for each in posed.trees(part, depth, least_rows)] if separates else []
            assert found[f, side] == min(costs, default=INFINITE)
