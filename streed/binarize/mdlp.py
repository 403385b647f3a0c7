"""Cuts that pay for their own description: the minimum description length principle of Fayyad and Irani.

A cut of a set of N rows is accepted if its information gain is above (log2(N - 1) + delta) / N, where

    delta = log2(3^k - 2) - (k H(S) - k1 H(S1) - k2 H(S2)),

k is the number of classes in a set and H its entropy; both sides are then cut in turn. Reference: U. Fayyad, K. Irani:
Multi-Interval Discretization of Continuous-Valued Attributes for Classification Learning, IJCAI 1993, Section 3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from streed.exact import Array


def mdlp(counts: Array) -> list[int]:
    """The accepted cuts, ascending, of a column with m distinct values and K classes.

    `counts`: (m, K) float64, the weight of each class at each value. Cut i lies between values i and i + 1.
    """
    below = np.vstack([np.zeros((1, counts.shape[1])), np.cumsum(counts, axis=0)])
    cuts, stack = [], [(0, len(counts))]
    while stack:
        first, last = stack.pop()
        cut = _best_cut(below[first : last + 1] - below[first])
        if cut is None:
            continue
        cuts.append(first + cut - 1)
        stack += [(first, first + cut), (first + cut, last)]
    return sorted(cuts)


def _best_cut(below: Array) -> int | None:
    """How many values lie below the best cut, or None if it is not accepted; `below`: (m + 1, K), 0 first."""
    if len(below) <= 2:
        return None
    whole, left = below[-1], below[1:-1]
    right = whole - left
    n, n_left, n_right = whole.sum(), left.sum(axis=1), right.sum(axis=1)
    entropy, at_left, at_right = _entropy(whole[None, :])[0], _entropy(left), _entropy(right)
    gains = entropy - (n_left * at_left + n_right * at_right) / n
    best = int(np.argmax(gains))
    k, k_left, k_right = (int((part > 0).sum()) for part in (whole, left[best], right[best]))
    delta = np.log2(3.0**k - 2) - (k * entropy - k_left * at_left[best] - k_right * at_right[best])
    needed = (np.log2(max(n - 1, 1)) + delta) / n
    return best + 1 if gains[best] > needed else None


def _entropy(counts: Array) -> Array:
    """(m,) in bits, of class weights (m, K)."""
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1e-300)
    terms = np.zeros_like(shares)
    np.log2(shares, out=terms, where=shares > 0)
    entropy: Array = -(shares * terms).sum(axis=1)
    return entropy
