"""Fronts of shallow trees by packed sums, and the store that keeps them, against every tree in plain numpy."""

from __future__ import annotations

from typing import Any, final

import attrs
import numpy as np
import pytest

from streed.data import Dataset
from streed.exact import Array
from streed.kernels.control import ROWS_OF_CONTROL
from streed.pareto.arrays import LEAF
from streed.pareto.fronts import FrontEngine
from streed.pareto.packing import Packed, pack_fronts
from streed.problem import Problem
from streed.task import COMPONENTWISE, State, Task

pytestmark = pytest.mark.compiles

Point = tuple[int, ...]


@final
@attrs.frozen(eq=False)
class Sums(Task):
    """Costs (n, K, m) by row, label and component, and what a branching node costs, (m,)."""

    order = COMPONENTWISE

    costs: Any
    split: tuple[int, ...]

    def statistics(self, data: Dataset) -> dict[str, Array]:
        return {f"of_{k}_{c}": self.costs[:, k, c] for k in range(self.costs.shape[1]) for c in range(len(self.split))}

    def labels(self, data: Dataset) -> Any:
        return range(self.costs.shape[1])

    def leaf_cost(self, s: State, k: int) -> Any:
        return tuple(getattr(s, f"of_{k}_{c}") for c in range(len(self.split)))

    def branching_cost(self, rows: int, path: tuple[int, ...], split: int) -> Any:
        return self.split


def drawn(
    rng: np.random.Generator,
    *,
    rows: int,
    columns: int,
    labels: int,
    components: int,
    scale: int = 1,
    min_leaf: int = 1,
) -> tuple[Dataset, Sums, Packed]:
    """A problem of whole costs of which every row has one label that is free."""
    X = (rng.random((rows, columns)) < 0.5).astype(np.uint8)
    costs = rng.integers(0, 3, (rows, labels, components)) * scale
    costs[np.arange(rows), rng.integers(0, labels, rows)] = 0
    task = Sums(costs, tuple(range(components)))
    data = Dataset.make(X)
    packed = pack_fronts(Problem(data, task, None, None, min_leaf))
    assert packed is not None
    return data, task, packed


def nondominated(points: set[Point]) -> set[Point]:
    """Those that no other is nowhere above."""
    every = np.array(sorted(points))
    return {
        tuple(each.tolist()) for each in every if not ((every <= each).all(axis=1) & (every != each).any(axis=1)).any()
    }


def front(X: Array, task: Sums, rows: Array, depth: int, min_leaf: int) -> set[Point]:
    """The front of trees of so much depth for some of the rows (n,) bool, by trying every column."""
    points = set(map(tuple, task.costs[rows].sum(axis=0).tolist())) if rows.sum() >= min_leaf else set()
    if depth > 0:
        for having in X.T.astype(bool):
            if (rows & having).any() and (rows & ~having).any():
                sides = [front(X, task, rows & side, depth - 1, min_leaf) for side in (having, ~having)]
                points |= {tuple(np.add(np.add(a, b), task.split).tolist()) for a in sides[0] for b in sides[1]}
    return nondominated(points) if points else points


def values(packed: Packed, keys: Array, rows: int) -> list[Point]:
    """The values of keys of all rows."""
    return [packed.costs.value(packed.keys.vector(key)) for key in keys.tolist()]


CASES = {
    # rows, columns, labels, components, scale, min_leaf
    "one row": (1, 3, 2, 2, 1, 1),
    "two labels, two components: staircases": (31, 5, 2, 2, 1, 1),
    "the same with minimum support": (33, 5, 2, 2, 1, 4),
    "three labels, two components: buckets": (32, 4, 3, 2, 1, 1),
    "the same, counted": (40, 4, 3, 2, 1, 3),
    "no buckets": (33, 4, 2, 2, 2**20 + 1, 1),
    "three components": (33, 4, 2, 3, 1, 1),
    "three components, counted": (40, 4, 2, 3, 1, 3),
    "narrow lanes no longer suffice": (64, 4, 3, 3, 997, 1),
    "four components": (20, 3, 2, 4, 1, 1),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("depth", [0, 1, 2, 3])
def test_fronts_are_those_of_all_trees(name: str, depth: int) -> None:
    n, p, labels, components, scale, min_leaf = CASES[name]
    rng = np.random.default_rng(len(name))
    shape: dict[str, Any] = {"rows": n, "columns": p, "labels": labels, "components": components}
    data, task, packed = drawn(rng, **shape, scale=scale, min_leaf=min_leaf)
    expected = sorted(front(data.X, task, np.ones(n, bool), depth, min_leaf))
    for room in (2**20, 0):
        engine = FrontEngine(packed, np.zeros(ROWS_OF_CONTROL, np.int64), room)
        keys, columns = engine.solve(packed.root, depth)
        assert engine.kept == 0 or room
        assert (np.diff(keys) > 0).all()
        assert sorted(values(packed, keys, n)) == expected
        assert ((columns >= LEAF + 1 - labels) & (columns < len(packed.columns))).all()
    if depth == 0:
        leaves = task.costs.sum(axis=0).tolist()
        assert [tuple(leaves[LEAF - column]) for column in columns] == values(packed, keys, n)
