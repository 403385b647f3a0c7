"""Of several best trees, the one that the rule of ties.py chooses, by the definition of the rule."""

from __future__ import annotations

import functools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import streed
from streed.bnb import native_search
from streed.exact import Array
from streed.tasks import SparseAccuracy
from streed.tree.nodes import Leaf
from tests.searches import NATIVE

Rows = frozenset[int]


class Rule:
    """The rule in plain Python: errors, and one for each branching node, with any depth."""

    def __init__(self, X: Array, y: Array) -> None:
        self.X, self.y = X, y
        self.best = functools.cache(self._best)

    def leaf(self, rows: Rows) -> int:
        """The errors of a leaf."""
        ones = int(sum(self.y[i] for i in rows))
        return min(ones, len(rows) - ones)

    def sides(self, rows: Rows) -> dict[int, tuple[Rows, Rows]]:
        """The rows without and with each column that parts them."""
        found = {}
        for column in range(self.X.shape[1]):
            having = frozenset(i for i in rows if self.X[i, column])
            if 0 < len(having) < len(rows):
                found[column] = (rows - having, having)
        return found

    def _best(self, rows: Rows) -> int:
        splits = (1 + self.best(a) + self.best(b) for a, b in self.sides(rows).values())
        values: list[int] = [self.leaf(rows), *(splits if self.leaf(rows) > 1 else ())]
        return min(values)

    def shallow(self, rows: Rows) -> int:
        """The best value of at most one split."""
        splits = (1 + self.leaf(a) + self.leaf(b) for a, b in self.sides(rows).values())
        return min([self.leaf(rows), *splits])

    def check(self, tree: Any, rows: Rows) -> int:
        """How many nodes were chosen by the rule; fails where one was not."""
        value = self.best(rows)
        if self.leaf(rows) == value:
            assert isinstance(tree, Leaf)
            return 1
        sides = self.sides(rows)
        order = sorted(sides, key=lambda column: sum(map(self.shallow, sides[column])))
        chosen = next(column for column in order if 1 + sum(map(self.best, sides[column])) == value)
        assert tree.column == chosen
        # a side that expansion knew is of this value, and any such tree
        return 1 + sum(
            self.check(child, side)
            for child, side in zip(tree.children, sides[chosen], strict=True)
            if self.best(side) < self.shallow(side)
        )


@pytest.mark.parametrize("search", NATIVE)
@pytest.mark.parametrize("threads", [1, 2])
def test_the_rule(search: str, threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native_search, "is_short", lambda *_: False)
    rng = np.random.default_rng(7)
    chosen = 0
    for _ in range(25):
        rows, columns = int(rng.integers(15, 40)), int(rng.integers(3, 6))
        X = rng.integers(0, 2, (rows, columns))
        y = (X[:, 0] ^ X[:, 1] ^ (X[:, 2] & (rng.random(rows) < 0.8))).astype(np.int64)
        found = streed.solve(SparseAccuracy(Fraction(1, rows)), X, y, search=search, threads=threads)
        assert found.stats["settled"]
        assert found.tree is not None
        chosen += Rule(X, y).check(found.tree.root, frozenset(range(rows)))
    assert chosen > 30
