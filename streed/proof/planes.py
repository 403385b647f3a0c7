"""Proofs under limits on sums: the multipliers of a Lagrangian relaxation, and records about the relaxed problems.

The multipliers are those of the search's own relaxation (`streed.reductions.lagrangian`), made for the costs that the
checker has. They need not be trusted: `check_limits.py` bounds what follows from any. At depth three and less there
are no records, as the checker computes the sides; of deeper trees every side of the first split has a claim.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from fractions import Fraction
from itertools import compress

import attrs
import numpy as np

from streed.data import Dataset
from streed.drivers.depth_first import DepthFirst
from streed.enumerate.vector_trees import Trees
from streed.exact import Array
from streed.problem import Problem, SearchLimits, SearchStopped
from streed.problem.oracle_by_search import FixedCosts
from streed.proof.check import UNLIMITED, Costs, Limits, Record
from streed.proof.check_limits import Amount, Plane
from streed.proof.format import numbers_of
from streed.proof.prover import Prover, StoppedError
from streed.proof.prover_sums import ProverSums, Searched
from streed.reductions.lagrangian import Relaxation

_NO_END = 2**50
"""No sum is beyond."""

_LARGEST = 2.0**48
"""Of the sums of a relaxed problem; the checker refuses larger ones."""


@attrs.frozen(eq=False)
class ProvedPlane:
    """Multipliers of the limited sums, and the records about the relaxed problem."""

    multipliers: list[Fraction]
    records: list[Record]

    def header(self) -> dict[str, object]:
        """As the file's header has it."""
        numbers = sum(1 for record in self.records for _ in numbers_of(record))
        return {"multipliers": [str(m) for m in self.multipliers], "numbers": numbers}

    def given(self) -> tuple[list[Fraction], list[int]]:
        """As the checker reads it."""
        return self.multipliers, [number for record in self.records for number in numbers_of(record)]


def find_planes(
    X: Array, costs: Costs, amounts: Sequence[Amount], limits: Limits, reached: int, deadline: float | None
) -> list[ProvedPlane]:
    """The plane whose bound on trees within the limits is highest, up to `reached` (a cost in whole units)."""
    left = None if deadline is None else max(0.0, deadline - time.monotonic())
    multipliers = _multipliers(X, costs, amounts, limits, reached, left)
    plane = Plane(X, costs, list(amounts), limits, multipliers, [], ProverSums)
    sums = plane.sums
    assert isinstance(sums, ProverSums)
    return [ProvedPlane(multipliers, side_records(sums, limits, plane.budget(reached), deadline)[0])]


def _multipliers(
    X: Array, costs: Costs, amounts: Sequence[Amount], limits: Limits, reached: int, left: float | None
) -> list[Fraction]:
    parts = np.stack([costs.costs, *(amount.of_rows for amount in amounts)])
    splits = (costs.split, *(amount.of_split for amount in amounts))
    windows = [
        (-_NO_END if each.least is None else each.least, _NO_END if each.most is None else each.most)
        for each in amounts
    ]
    wide = np.flatnonzero(X.max(axis=0, initial=0) > 1).tolist()
    data = Dataset.make(X.astype(np.int64), None, categorical=wide)
    depth = None if limits.depth == UNLIMITED else limits.depth
    problem = Problem(data, FixedCosts(parts[0], costs.split), depth, None, limits.min_leaf)
    trees = Trees(problem, parts, splits, DepthFirst(), SearchLimits(left))
    relaxation = Relaxation(trees, [1], windows, reached)
    try:
        relaxation.raise_bound(counting=False)
    except SearchStopped:
        pass  # the multipliers found so far are as good as any
    finally:
        trees.close()
    return _rounded(relaxation.multipliers, np.abs(parts).max(axis=2).sum(axis=1, dtype=np.float64))


def _rounded(multipliers: Sequence[Fraction], sizes: Array) -> list[Fraction]:
    """Multipliers over a common denominator with which sums of these sizes (1 + J,) stay within `_LARGEST`."""
    denominator = int(
        _LARGEST / (sizes[0] + sum(abs(float(m)) * x for m, x in zip(multipliers, sizes[1:], strict=True)) + 1)
    )
    return [Fraction(round(m * max(1, denominator)), max(1, denominator)) for m in multipliers]


def side_records(sums: Searched, limits: Limits, budget: int, deadline: float | None) -> tuple[list[Record], bool]:
    """Of trees deeper than three, claims about all sides of the first split, as far as the budget asks for them.

    And whether the time was enough.
    """
    depth = limits.depth
    if depth <= 3 or (depth == UNLIMITED and not sums.split):
        return [], True
    prover = Prover(sums, deadline)
    everything = np.ones(sums.n, np.bool_)
    root = prover.claim(everything, depth, ())
    roots = [root]
    try:
        prover.improve(root, float(budget + 1))
        closed = depth == UNLIMITED or root.lower > budget
        for column in () if closed else compress(sums.columns, root.splits.tolist()):
            sides = [(q, sums.held[q]) for q in sums.literals_of[column]]
            claims = [prover.claim(side, depth - 1, (q,)) for q, side in sides if side.any()]
            roots += claims
            for claim in claims:
                others = sum(each.lower for each in claims if each is not claim)
                prover.improve(claim, budget + 1 - float(sums.split) - others)
    except StoppedError:
        return prover.records(*roots), False
    return prover.records(*roots), True
