"""The best tree over thresholds, by plain recursion: what the ordered search is compared with."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from streed.exact import Array
from streed.ordered.problem import OrderedRows
from streed.ordered.rebuild import Cut, Leaf, OrderedNode

INFINITE = 10**30


def best_cost(rows: OrderedRows, max_depth: int, max_nodes: int | None) -> int:
    """The least cost of a tree within the limits; INFINITE if there is none."""
    n = len(rows.costs)
    frequency = np.ones(n, np.int64) if rows.frequency is None else rows.frequency

    @functools.cache
    def solve(members: tuple[int, ...], depth: int, nodes: int) -> int:
        inside = np.array(members)
        best = INFINITE
        if frequency[inside].sum() >= rows.min_leaf:
            best = int(rows.costs[inside].sum(axis=0).min())
        if depth == 0 or nodes == 0:
            return best
        for ranks in rows.ranks:
            here = ranks[inside]
            for rank in np.unique(here)[:-1]:
                left, right = tuple(inside[here <= rank].tolist()), tuple(inside[here > rank].tolist())
                for share in range(nodes) if nodes < 2**depth - 1 else [nodes]:
                    other = nodes - 1 - share if nodes < 2**depth - 1 else nodes
                    cost = solve(left, depth - 1, share) + solve(right, depth - 1, other) + rows.split_cost
                    best = min(best, cost)
        return best

    return solve(tuple(range(n)), max_depth, 2**max_depth if max_nodes is None else max_nodes)


def measure(rows: OrderedRows, tree: OrderedNode) -> dict[str, int]:
    """What a tree costs, its depth, its branching nodes and the rows of its smallest leaf, from the raw arrays."""
    frequency = np.ones(len(rows.costs), np.int64) if rows.frequency is None else rows.frequency

    def grow(node: OrderedNode, inside: Array) -> tuple[int, int, int, int]:
        if not isinstance(node, Cut):
            assert isinstance(node, Leaf)
            assert node.rows == frequency[inside].sum()
            assert node.cost == rows.costs[inside, node.label].sum()
            return node.cost, 0, 0, node.rows
        left = rows.ranks[node.column, inside] <= node.rank
        one, other = grow(node.left, inside[left]), grow(node.right, inside[~left])
        return (
            one[0] + other[0] + rows.split_cost,
            1 + max(one[1], other[1]),
            1 + one[2] + other[2],
            min(one[3], other[3]),
        )

    cost, depth, nodes, smallest = grow(tree, np.arange(len(rows.costs)))
    return {"cost": cost, "depth": depth, "nodes": nodes, "smallest": smallest}


def draw_rows(rng: np.random.Generator, *, most_rows: int = 14, labels: int | None = None, **given: Any) -> OrderedRows:
    """A small random instance: ties, equal rows and columns, weights, costs of any sign, prices, leaf sizes."""
    n = int(rng.integers(1, most_rows + 1))
    columns = int(rng.integers(1, 4))
    n_labels = int(rng.integers(2, 6)) if labels is None else labels
    distinct = rng.choice([1, 2, 3, 6, 20], columns)
    ranks = np.stack([rng.integers(0, d, n) for d in distinct]).astype(np.int32)
    if columns > 1 and rng.random() < 0.2:
        ranks[0] = ranks[1]
    form = given.pop("form", rng.choice(["errors", "weighted", "matrix", "signs"]))
    y = rng.integers(0, n_labels, n)
    costs = (np.arange(n_labels)[None, :] != y[:, None]).astype(np.int64)
    if form == "weighted":
        costs *= rng.integers(0, 9, n)[:, None]
    elif form == "matrix":
        costs = rng.integers(0, 30, (n, n_labels))
    elif form == "signs":
        costs = rng.integers(-9, 9, (n, n_labels)) * 7
    costs = costs.astype(np.int64) * int(given.pop("scale", 1))
    found: dict[str, Any] = {"split_cost": 0, "min_leaf": 1, "frequency": None}
    if rng.random() < 0.4:
        found["split_cost"] = int(rng.integers(0, 6)) * max(1, int(np.abs(costs).max()) // 9)
    if rng.random() < 0.4:
        found["min_leaf"] = int(rng.integers(2, 5))
    if rng.random() < 0.3:
        found["frequency"] = rng.integers(1, 4, n)
    return OrderedRows(ranks, costs, **{**found, **given})
