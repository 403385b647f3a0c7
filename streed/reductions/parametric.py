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
from fractions import Fraction

from streed.reductions.oracle import Incumbent, Oracle
from streed.reductions.trees import Stop
from streed.sums import LinearFraction


def maximise(oracle: Oracle, score: LinearFraction, incumbent: Incumbent) -> None:
    """Raises the incumbent to the optimum and proves it; raises Stop with what is known so far in the incumbent."""
    oracle.seed(incumbent)
    incumbent.bound = incumbent.rank_of(tuple(low for low, _ in oracle.spreads()))
    while True:
        f = incumbent.rank if incumbent.found is not None else Fraction(0)
        p, q = f.numerator, f.denominator
        weights = [q * fall + p * slope for fall, slope in zip(score.falls, score.slopes, strict=True)]
        target = q * score.top - p * score.base
        scale = _scale([*weights, target])
        whole = [int(w * scale) for w in weights]
        try:
            found = oracle.minimise(whole)
        except Stop as stop:
            if stop.found is not None:
                incumbent.offer(stop.found)
            if stop.lower is not None:
                incumbent.bound = min(incumbent.bound, _bound(oracle, score, f, target - stop.lower / scale))
            raise
        if found is None:
            return
        if not any(score.slopes):
            incumbent.offer(found)
            incumbent.bound = incumbent.rank
            return
        if (
            incumbent.found is not None
            and sum(w * x for w, x in zip(whole, found.vector, strict=False)) >= target * scale
        ):
            incumbent.bound = incumbent.rank
            return
        incumbent.offer(found)


def _scale(numbers: list[Fraction | int]) -> Fraction:
    """The factor that makes the numbers whole and coprime."""
    common = math.lcm(*(Fraction(x).denominator for x in numbers))
    divisor = math.gcd(*(int(x * common) for x in numbers))
    return Fraction(common, max(divisor, 1))


def _bound(oracle: Oracle, score: LinearFraction, f: Fraction, excess: Fraction) -> Fraction | float:
    """A bound on the score of trees with q N - p D <= excess, where f = p / q: N / D <= f + excess / (q D).

    D is at least what the labels that give it least make of it.
    """
    least = score.base + sum(
        min(slope * low, slope * high) for slope, (low, high) in zip(score.slopes, oracle.spreads(), strict=True)
    )
    if least <= 0:
        return math.inf
    return f + max(Fraction(0), excess) / (f.denominator * least)
