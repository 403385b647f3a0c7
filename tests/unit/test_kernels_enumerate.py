"""Tables of entries and sums over pairs of columns by rows, against every tree in plain numpy."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import attrs
import numpy as np
import pytest

from streed.enumerate.layout import COST, FULL, KEY, SPACE, VALUE
from streed.enumerate.numbered_kernels import least_shallow, sum_pairs
from streed.enumerate.shallow import enumerate_shallow, find_shallow
from streed.exact import Array
from streed.kernels.records import INFINITE

pytestmark = pytest.mark.compiles

Entry = tuple[int, ...]


def as_set(entries: Any) -> set[Entry]:
    return set(map(tuple, entries.tolist()))


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
def test_sums_over_pairs_of_columns(columns: int) -> None:
    rng = np.random.default_rng(columns)
    posed = Posed.drawn(rng, 20, columns, 3, scale=2**40)
    for rows in (np.flatnonzero(rng.random(20) < 0.7), np.zeros(0, np.int64)):
        chosen, pairs, total, least = posed.sums(rows, 2)
        ones = posed.X[rows].sum(axis=0)
        assert chosen.tolist() == np.flatnonzero((ones > 0) & (ones < len(rows))).tolist()
        one, profits = posed.X[np.ix_(rows, chosen)].astype(np.int64), posed.profits[rows]
        assert total.tolist() == profits.sum(axis=0).tolist()
        assert least.tolist() == posed.base[rows].sum(axis=0).tolist()
        upper = np.triu_indices(len(chosen))
        assert (pairs[upper] == np.einsum("ni,nj,nc->ijc", one, one, profits)[upper]).all()


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
def test_the_least_cost_of_shallow_trees(labels: int, least_rows: int, depth: int) -> None:
    rng = np.random.default_rng([labels, least_rows, depth])
    posed = Posed.drawn(rng, 12, 4, labels, width=2, scale=2**45)
    for share in (0.1, 0.3, 0.8, 1):
        inside = rng.random(12) < share
        arrays = posed.starts, posed.columns, posed.profits, posed.base
        found = least_shallow(np.flatnonzero(inside), *arrays, 4, depth, posed.split[COST], least_rows)
        costs = [each[COST] for each in posed.trees(inside, depth, least_rows)]
        assert found == min(costs, default=INFINITE)
