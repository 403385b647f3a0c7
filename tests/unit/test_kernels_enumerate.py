"""Tables of entries and sums over pairs of columns by rows, against every tree in plain numpy."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import attrs
import numpy as np
import pytest

from streed.enumerate.entries import COST, KEY, VALUE
from streed.enumerate.shallow import enumerate_shallow, least_shallow
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
        split = np.array([scale, 0, scale])[:width]
        costs = rng.integers(0, 5, (n, labels, width)) * scale
        costs[:, :, COST] = costs[:, :, VALUE:].sum(axis=2)  # a weighted sum, as costs are
        return cls(X, costs, rng.integers(1, 4, n), split)

    def sums(self, rows: Array, depth: int) -> tuple[Array, Array, int]:
        """(pairs, total, m) of the rows, by number: for all columns, whether they separate the rows or not."""
        more = (self.costs[:, 1:] - self.costs[:, :1]).reshape(len(self.X), -1)
        profits = np.column_stack([self.counts, more])[rows]
        m = self.X.shape[1] if depth else 0
        having = np.zeros((len(rows), 32), np.int64)
        having[:, :m] = self.X[rows, :m]
        pairs = np.einsum("ni,nj,nc->cij", having, having, profits).reshape(-1, 32)
        return np.ascontiguousarray(pairs), profits.sum(axis=0), m

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


@pytest.mark.parametrize("labels", [1, 2, 3])
@pytest.mark.parametrize("least_rows", [1, 4])
@pytest.mark.parametrize("depth", [0, 1, 2])
def test_all_shallow_trees_within_a_budget(labels: int, least_rows: int, depth: int) -> None:
    for seed in range(6):
        rng = np.random.default_rng([seed, labels])
        posed = Posed.drawn(rng, 7, 3, labels, scale=2**50 if seed == 0 else 1)
        sums, least = posed.sums(np.arange(7), depth), posed.costs[:, 0].sum(axis=0)
        every = np.array(sorted(posed.trees(np.ones(7, bool), depth, least_rows)), np.int64).reshape(-1, 3)
        for quantile in (0, 0.3, 1):
            budget = int(np.quantile(every[:, COST], quantile, method="nearest")) if len(every) else 9
            within = every[every[:, COST] <= budget]
            for most in (10**9, 1):
                found = enumerate_shallow(*sums, posed.split, depth, least_rows, budget - least[COST], most)[:, :-1]
                found += least
                check_table(found)
                assert as_set(found) <= as_set(within)
                assert len(found) > most or least_of_keys(found) == least_of_keys(within)


@pytest.mark.parametrize("labels", [2, 3])
@pytest.mark.parametrize("least_rows", [1, 3])
@pytest.mark.parametrize("depth", [0, 1, 2])
def test_the_least_cost_of_shallow_trees(labels: int, least_rows: int, depth: int) -> None:
    rng = np.random.default_rng([labels, least_rows, depth])
    posed = Posed.drawn(rng, 12, 4, labels, width=2, scale=2**45)
    for share in (0.1, 0.3, 0.8, 1):
        inside = rng.random(12) < share
        sums = posed.sums(np.flatnonzero(inside), depth)
        found, left, right = least_shallow(*sums, posed.split, depth, least_rows)
        costs = [each[COST] for each in posed.trees(inside, depth, least_rows)]
        least = min(costs, default=INFINITE) - (posed.costs[inside, 0, COST].sum() if costs else 0)
        assert found == least if least_rows == 1 else found <= least
        assert (left + right + posed.split[COST]).min(initial=found) >= found
