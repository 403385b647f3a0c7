"""What users of limits on fairness should know: margins for the sample, constant trees, what holds on other rows."""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold
from sklearn.utils import Bunch, _safe_indexing

from streed.errors import InputError
from streed.exact import Range
from streed.tasks.fairness import RATES

Interval = tuple[float, float]


def fairness_margin(sizes: Sequence[float], confidence: float) -> float:
    """What to subtract from a limit on a gap for groups of such sizes, so that a sample of them tells of others.

    z sqrt(1 / (4 a) + 1 / (4 b)), for the two smallest groups, a and b, and the one-sided quantile z of the normal
    distribution: the standard error of a difference of two shares where it is largest, at shares of a half. It is meant
    for a tree that was chosen on other rows; the tree is chosen on these, so that the chance that it keeps the limit is
    below `confidence`, and the more so the larger trees are. `cross_validate_fair` tells.
    """
    Range(0.5, below=1, meaning="a probability").read("confidence", confidence)
    a, b = sorted(sizes)[:2]
    if not a > 0:
        raise InputError("sensitive_features", "a group has no rows over which its rate is taken", "leave it out")
    return statistics.NormalDist().inv_cdf(confidence) * math.sqrt(1 / (4 * a) + 1 / (4 * b))


def wilson(hits: float, size: float, confidence: float) -> Interval:
    """Wilson's interval of a share (1927), two-sided."""
    z = statistics.NormalDist().inv_cdf((1 + confidence) / 2)
    share, extra = hits / size, z * z / size
    middle = (share + extra / 2) / (1 + extra)
    half = z * math.sqrt(share * (1 - share) / size + extra / (4 * size)) / (1 + extra)
    return max(0.0, middle - half), min(1.0, middle + half)


def difference(first: tuple[float, float], second: tuple[float, float], confidence: float) -> Interval:
    """Newcombe's interval of the first share minus the second (1998, method 10), each as (hits, size)."""
    p, q = first[0] / first[1], second[0] / second[1]
    (low_p, high_p), (low_q, high_q) = wilson(*first, confidence), wilson(*second, confidence)
    below = math.sqrt((p - low_p) ** 2 + (high_q - q) ** 2)
    above = math.sqrt((high_p - p) ** 2 + (q - low_q) ** 2)
    return max(-1.0, p - q - below), min(1.0, p - q + above)


def cross_validate_fair(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    sensitive_features: Any,
    cv: int = 5,
    confidence: float = 0.95,
    random_state: int = 0,
) -> Bunch:
    """What a fair estimator's limit is worth on rows that it was not fitted on, from `cv` folds by label and group.

    `accuracy` and `gaps` hold a number for each fold. `rates[kind][group]` is (rate, (low, high)) with Wilson's
    interval of the held-out rows of all folds, and `gap` (difference, (low, high)) of the two groups that are furthest
    apart, with Newcombe's. `kept`: in how many folds the held-out gap is within the limit. Intervals treat the folds'
    trees as one and take no account of the choice of the two groups: read them as a lower bound on what is not known.
    """
    labels = np.asarray(y)
    groups = np.array([str(row) for row in np.asarray(sensitive_features).tolist()])
    strata = np.array([f"{group} {label}" for group, label in zip(groups, labels.tolist(), strict=True)])
    folds = StratifiedKFold(cv, shuffle=True, random_state=random_state)
    accuracy, gaps, kept = [], [], 0
    totals: dict[str, dict[str, list[float]]] = {}
    for train, test in folds.split(np.zeros(len(labels)), strata):
        model = clone(estimator).fit(
            _safe_indexing(X, train), labels[train], sensitive_features=_safe_indexing(sensitive_features, train)
        )
        rows, truth = _safe_indexing(X, test), labels[test]
        accuracy.append(float((model.predict(rows) == truth).mean()))
        counts = model.group_counts(rows, truth, sensitive_features=_safe_indexing(sensitive_features, test))
        found = max(_spread(of) for of in counts.values())
        gaps.append(found)
        kept += model.limit is None or found <= model.limit
        for kind, of in counts.items():
            for name, each in of.items():
                held = totals.setdefault(kind, {}).setdefault(name, [0.0, 0.0])
                held[0] += each[0]
                held[1] += each[1]
    kind, a, b = _furthest(totals)
    first, second = ((totals[kind][name][0], totals[kind][name][1]) for name in (a, b))
    return Bunch(
        accuracy=np.array(accuracy),
        gaps=np.array(gaps),
        kept=int(kept),
        rates={
            kind: {name: (k / n, wilson(k, n, confidence)) for name, (k, n) in of.items()}
            for kind, of in totals.items()
        },
        gap=(first[0] / first[1] - second[0] / second[1], difference(first, second, confidence)),
        groups=(kind, a, b),
    )


def verdict(model: Any) -> str:
    """What was asked for of a fitted fair estimator, and what holds."""
    notion = model.notion_
    margin = "" if model.limit_ == model.limit else f", tightened from {model.limit} by a margin for the sample"
    asked = [] if model.limit_ is None else [f"{notion} <= {model.limit_:.6g}{margin}"]
    asked += [] if model.ratio is None else [f"{notion}.ratio >= {model.ratio}"]
    given = model.limits if isinstance(model.limits, (list, tuple)) else [model.limits]
    asked += [*map(str, given), *([f"min_leaf {model.min_leaf}"] if model.min_leaf > 1 else [])]
    proof = "proved optimal" if model.optimal_ else "stopped early, not proved"
    lines = [f"{proof} over {model.searched_over_} under {', '.join(asked)}"]
    if notion.rates != ("errors",):
        favourable = model.classes_.tolist()[-1] if notion.positive is None else notion.positive
        lines.append(f"favourable label: {favourable!r}")
    for kind, of in model.group_counts_.items():
        told = ", ".join(f"{name} {k / n:.4f} ({k:g} of {n:g})" for name, (k, n) in of.items())
        lines.append(f"{RATES[kind]}: {told}")
    lines.append(f"gap {model.gap_between_groups_:.4f}, ratio {model.ratio_between_groups_:.4f}")
    if model.is_constant_:
        only = model.tree_.shows()[0]
        lines.append(f"all rows get {only!r}: no tree of that size that keeps the limits is better")
    lines.append("this holds on the rows of the fit and is no promise on others: see cross_validate_fair")
    return "\n".join(lines)


def _spread(of: Mapping[str, tuple[float, float]]) -> float:
    rates = [k / n for k, n in of.values()]
    return max(rates) - min(rates)


def _furthest(totals: Mapping[str, Mapping[str, Sequence[float]]]) -> tuple[str, str, str]:
    """(kind of rate, group of the largest, group of the smallest) of the largest gap."""
    pairs = [
        (of[a][0] / of[a][1] - of[b][0] / of[b][1], kind, a, b)
        for kind, of in totals.items()
        for a, b in itertools.permutations(of, 2)
    ]
    _, kind, a, b = max(pairs)
    return kind, a, b
