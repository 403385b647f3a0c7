"""Scores that are fractions of affine functions, by scalar solves: Dinkelbach's method in whole numbers.

    maximise N(v) / D(v), N = top - falls . v, D = base + slopes . v > 0, v the sums of a tree

    f = p / q, the score of a known tree; repeat
        the tree of least w . v, w = q falls + p slopes            (w . v < q top - p base exactly if N / D > f)
        none below q top - p base: f is the optimum; else f is that tree's score, strictly larger

There are finitely many scores, and f rises. W. Dinkelbach (1967): On nonlinear fractional programming, Management
Science 13, 492-498.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

from streed.reductions.oracle import Incumbent, Oracle
from streed.reductions.trees import SHALLOW, Found, Stop
from streed.sums import LinearFraction


def maximise(oracle: Oracle, score: LinearFraction, incumbent: Incumbent) -> None:
    """Raises the incumbent to the optimum and proves it; raises Stop with what is known so far in the incumbent.

    The coefficients of the score are whole numbers.
    """
    oracle.seed(incumbent)
    incumbent.bound = incumbent.rank_of(tuple(low for low, _ in oracle.spreads()))
    if not any(score.slopes):
        found = _minimise(oracle, score, Fraction(0), incumbent, proving=True)
        if found is not None:
            incumbent.offer(found)
            incumbent.bound = incumbent.rank
        return
    for each in shallower(oracle):
        _climb(each, score, incumbent, proving=False)
    if _climb(oracle, score, incumbent, proving=True):
        incumbent.bound = incumbent.rank


def shallower(oracle: Oracle) -> Iterator[Oracle]:
    """The oracles of the searches before the one that proves the optimum: what they find costs little."""
    trees, depth = oracle.trees, oracle.trees.problem.max_depth
    if trees.shallow is not None:
        yield Oracle(trees.shallow, oracle.windows)
        return
    assert depth is not None
    for each in range(SHALLOW, depth):
        with trees.within(each):
            yield oracle


def _climb(oracle: Oracle, score: LinearFraction, incumbent: Incumbent, *, proving: bool) -> bool:
    """Offers ever better trees until there are none; False if no tree is allowed."""
    while True:
        known = incumbent.found is not None
        found = _minimise(oracle, score, incumbent.rank if known else Fraction(0), incumbent, proving=proving)
        if found is None or not incumbent.offer(found):
            return incumbent.found is not None


def _minimise(
    oracle: Oracle, score: LinearFraction, f: Fraction, incumbent: Incumbent, *, proving: bool
) -> Found | None:
    """A tree that beats the score f if any does; if stopped, and if `proving`, the incumbent's bound is lowered."""
    p, q = f.numerator, f.denominator
    weights = [int(q * fall + p * slope) for fall, slope in zip(score.falls, score.slopes, strict=True)]
    room = int(q * score.top - p * score.base)
    divisor = max(math.gcd(*weights), 1)
    # a sum of whole numbers is below this exactly if the score is above f
    below = -(-room // divisor) if incumbent.found is not None and any(score.slopes) else None
    try:
        return oracle.minimise([w // divisor for w in weights], below)
    except Stop as stop:
        if stop.found is not None:
            incumbent.offer(stop.found)
        if proving and stop.lower is not None:
            incumbent.bound = min(incumbent.bound, _bound(oracle, score, f, room - stop.lower * divisor))
        raise


def _bound(oracle: Oracle, score: LinearFraction, f: Fraction, excess: int) -> Fraction | float:
    """A bound on the score of trees with q N - p D <= excess, where f = p / q: N / D <= f + excess / (q D).

    D is at least what the labels that give it least make of it, and where it is constant the excess may be negative.
    """
    if not any(score.slopes):
        return f + excess / (f.denominator * Fraction(score.base))
    least = score.base + sum(
        min(slope * low, slope * high) for slope, (low, high) in zip(score.slopes, oracle.spreads(), strict=True)
    )
    if least <= 0:
        return math.inf
    return f + Fraction(max(0, excess), f.denominator * least)
