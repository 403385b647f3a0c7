"""The multipliers of a proof under limits on sums: those of the search's own relaxation.

They need not be trusted: `check.py` bounds what follows from any.
"""

from __future__ import annotations

import contextlib
import time
from fractions import Fraction

import numpy as np

from streed.data import Dataset
from streed.drivers.native import DepthFirst
from streed.enumerate.vector_trees import Trees
from streed.problem import Problem, SearchLimits, SearchStopped
from streed.problem.oracle_by_search import FixedCosts
from streed.proof.check import UNLIMITED, Limits
from streed.proof.statement import ProofClaim
from streed.reductions.lagrangian import Relaxation

_NO_END = 2**50
"""No sum is beyond."""

_LARGEST = 2.0**48
"""Of the sums of a relaxed problem, which are then summed quickly."""


def find_multipliers(made: ProofClaim, limits: Limits, deadline: float | None) -> list[Fraction]:
    """Those whose bound on trees within the limits is highest, a multiplier for every amount of a claim."""
    costs, amounts = made.goal.costs, made.amounts
    parts = np.stack([costs.costs, *(amount.of_rows for amount in amounts)])
    splits = (costs.split, *(amount.of_split for amount in amounts))
    windows = [(-_NO_END if a.least is None else a.least, _NO_END if a.most is None else a.most) for a in amounts]
    wide = np.flatnonzero(made.X.max(axis=0, initial=0) > 1).tolist()
    data = Dataset.make(made.X.astype(np.int64), None, categorical=wide)
    depth = None if limits.depth == UNLIMITED else limits.depth
    problem = Problem(data, FixedCosts(parts[0], costs.split), depth, None, limits.min_leaf)
    left = None if deadline is None else max(0.0, deadline - time.monotonic())
    with contextlib.closing(Trees(problem, parts, splits, DepthFirst(), SearchLimits(left))) as trees:
        relaxation = Relaxation(trees, [1], windows, made.goal.reached)
        try:
            relaxation.raise_bound(counting=False)
        except SearchStopped as stopped:  # the multipliers found so far are as good as any
            if stopped.reason == "interrupt":
                raise KeyboardInterrupt from None
    sizes = np.abs(parts).max(axis=2).sum(axis=1, dtype=np.float64)
    total = sizes[0] + sum(abs(float(m)) * x for m, x in zip(relaxation.multipliers, sizes[1:], strict=True)) + 1
    denominator = max(1, int(_LARGEST / total))
    return [Fraction(round(m * denominator), denominator) for m in relaxation.multipliers]
