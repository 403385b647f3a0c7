"""Leaves to begin with: those of greedy trees that look at few columns each."""

from __future__ import annotations

import numpy as np

from streed.exact import Array
from streed.row_prices.leaves import Leaves

_TREES = 30

_SEED = 20250721


def grown_leaves(leaves: Leaves, trees: int = _TREES) -> Array:
    """(M, N) bool: all nodes of randomised greedy trees, grown while a split may pay its price."""
    rng = np.random.default_rng(_SEED)
    literals = np.flatnonzero(leaves.allowed)
    binary = np.array(
        [f for f in range(len(leaves.allowed) // 2) if leaves.allowed[2 * f] and leaves.allowed[2 * f + 1]]
    )
    if len(literals) == 0 or len(binary) == 0:
        return np.zeros((0, leaves.n_classes), bool)
    sample = min(len(binary), max(5, int(1.5 * np.sqrt(len(binary)))))
    worst = leaves.costs.max(axis=1, keepdims=True)
    shares = (worst - leaves.costs).astype(np.float64)
    bits = leaves.bits.astype(np.float64)
    found: list[Array] = []

    def grow(members: Array, depth: int) -> None:
        found.append(members)
        own = shares[members]
        totals = own.sum(axis=0)
        if totals.sum() - totals.max() <= 0.5 * float(leaves.due) or depth >= leaves.most_literals:
            return
        chosen = rng.choice(binary, sample, replace=False)
        inside = bits[members][:, chosen]
        ones = inside.T @ own
        zeros = totals - ones
        count = inside.sum(axis=0)
        possible = (count > 0) & (count < len(inside))
        if not possible.any():
            return
        impurity = _entropy(ones) + _entropy(zeros)
        impurity[~possible] = np.inf
        column = chosen[int(impurity.argmin())]
        for side in (1, 0):
            grow(members & (leaves.bits[:, column] == side), depth + 1)

    with np.errstate(divide="ignore", invalid="ignore"):
        for _ in range(trees):
            grow(np.ones(leaves.n_classes, bool), 0)
    return np.array(found)


def _entropy(counts: Array) -> Array:
    """(M,) of counts (M, K), in natural units; where there is nothing to count, 0.

    The caller has numpy ignore divisions by zero.
    """
    totals = counts.sum(axis=1, keepdims=True)
    terms = np.where(counts > 0, counts * np.log(counts / totals), 0.0)
    found: Array = -terms.sum(axis=1)
    return found
