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
    """Raises the incumbent to the optimum and proves it; raises Stop with what is known so far in the incumbent."""
    oracle.seed(incumbent)
    incumbent.bound = incumbent.rank_of(tuple(low for low, _ in oracle.spreads()))
    if not any(score.slopes):
        found = _minimise(oracle, score, Fraction(0), incumbent, proving=True)
        if found is not None:
            incumbent.offer(found)
            incumbent.bound = incumbent.rank
        return
    # trees found there cost little and spare deeper solves
    for each in shallower(oracle):
        _climb(each, score, incumbent, proving=False)
    if _climb(oracle, score, incumbent, proving=True):
        incumbent.bound = incumbent.rank


def shallower(oracle: Oracle) -> Iterator[Oracle]:
    """The oracles of the searches before the one that proves the optimum."""
    trees, depth = oracle.trees, oracle.trees.problem.max_depth
    if trees.shallow is not None:
        yield Oracle(trees.shallow, oracle.windows)
        return
    assert depth is not None
    for each in range(min(SHALLOW, max(depth - 1, 1)), depth):
        with trees.within(each):
            yield oracle


def _climb(oracle: Oracle, score: LinearFraction, incumbent: Incumbent, *, proving: bool) -> bool:
    """Offers ever better trees until there are none; False if no tree is allowed."""
    while True:
        known = incumbent.found is not None
        f = incumbent.rank if known else Fraction(0)
        found = _minimise(oracle, score, f, incumbent, proving=proving)
        if found is None:
            return known
        if known and incumbent.rank_of(found.vector) <= f:
            return True
        incumbent.offer(found)


def _minimise(
    oracle: Oracle, score: LinearFraction, f: Fraction, incumbent: Incumbent, *, proving: bool
) -> Found | None:
    """A tree that beats the score f if any does; if stopped, and if `proving`, the incumbent's bound is lowered."""
    p, q = f.numerator, f.denominator
    weights = [q * fall + p * slope for fall, slope in zip(score.falls, score.slopes, strict=True)]
    scale = whole_scale(weights)
    # a sum of whole numbers is below this exactly if the score is above f
    below = math.ceil((q * score.top - p * score.base) * scale) if incumbent.found is not None else None
    try:
        return oracle.minimise([int(w * scale) for w in weights], below if any(score.slopes) else None)
    except Stop as stop:
        if stop.found is not None:
            incumbent.offer(stop.found)
        if proving and stop.lower is not None:
            excess = q * score.top - p * score.base - stop.lower / scale
            incumbent.bound = min(incumbent.bound, _bound(oracle, score, f, excess))
        raise


def whole_scale(numbers: list[Fraction | int]) -> Fraction:
    """The factor that makes the numbers whole and coprime."""
    common = math.lcm(*(Fraction(x).denominator for x in numbers))
    divisor = math.gcd(*(int(x * common) for x in numbers))
    return Fraction(common, max(divisor, 1))


def _bound(oracle: Oracle, score: LinearFraction, f: Fraction, excess: Fraction) -> Fraction | float:
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
    return f + max(Fraction(0), excess) / (f.denominator * least)
