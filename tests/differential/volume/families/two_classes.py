"""Scores of two classes as exact fractions of false negatives, false positives and class sizes, written down anew."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import streed.tasks

Rank = Callable[[Any, Any, Any, Any], Any]
"""From (false negatives, false positives, positives, negatives) to what is maximised."""


def worse_rate(fn: Any, fp: Any, positives: Any, negatives: Any) -> Fraction:
    """A monotone score of a user's own."""
    worse: Fraction = max(Fraction(fn) / positives, Fraction(fp) / negatives)
    return -worse


def squares(fn: Any, fp: Any, positives: Any, negatives: Any) -> Any:
    """Another one."""
    return -(3 * fn * fn + fp * fp)


NAMES = {**vars(streed.tasks), "worse_rate": worse_rate, "squares": squares}


def _f_beta(beta: Fraction) -> Rank:
    b = beta * beta
    return lambda fn, fp, p, n: Fraction((1 + b) * (p - fn)) / ((1 + b) * (p - fn) + b * fn + fp)


def _kappa(fn: Any, fp: Any, p: Any, n: Any) -> Any:
    tp, tn = p - fn, n - fp
    return Fraction(2 * (tp * tn - fn * fp)) / ((tp + fp) * n + (tn + fn) * p)


def _matthews(fn: Any, fp: Any, p: Any, n: Any) -> Any:
    tp, tn = p - fn, n - fp
    above = tp * tn - fp * fn
    return Fraction(above * above) / (p * n * (tp + fp) * (tn + fn)) if above > 0 else Fraction(0)


def _mean_rate(errors: list[tuple[Any, Any]]) -> Fraction:
    """The mean rate of errors of the classes that weigh something."""
    rates = [Fraction(wrong) / total for wrong, total in errors if total]
    return sum(rates, Fraction(0)) / len(rates)


RANKS: dict[str, Rank] = {
    "F1()": _f_beta(Fraction(1)),
    "F1(positive=0)": _f_beta(Fraction(1)),
    "FBeta(0.5)": _f_beta(Fraction(1, 2)),
    "FBeta(1.5)": _f_beta(Fraction(3, 2)),
    "FBeta(2)": _f_beta(Fraction(2)),
    "Jaccard()": lambda fn, fp, p, n: Fraction(p - fn) / (p + fp),
    "CohenKappa()": _kappa,
    "MatthewsCorrelation()": _matthews,
    "GMean()": lambda fn, fp, p, n: Fraction((p - fn) * (n - fp)) / (p * n),
    "BalancedAccuracy()": lambda fn, fp, p, n: 1 - _mean_rate([(fn, p), (fp, n)]),
    "MonotoneMetric(worse_rate)": worse_rate,
    "MonotoneMetric(squares, positive=0)": squares,
}

ROOTS = ("MatthewsCorrelation()", "GMean()")
"""Those of which the square is ranked."""


def shown(source: str, rank: Any) -> float | int:
    """What a user sees of a rank."""
    if source in ROOTS:
        return math.sqrt(rank)
    rank = Fraction(rank)
    return int(rank) if rank.denominator == 1 else float(rank)


def positive_of(source: str) -> int:
    """The positive class, 0 or 1."""
    return 0 if "positive=0" in source else 1
