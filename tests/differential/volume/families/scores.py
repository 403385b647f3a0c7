"""Scores of the errors in two classes: F1, F-beta, Matthews, balanced accuracy and one's own; nodes may cost some."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from streed.errors import StreedError
from streed.exact import Array
from tests.differential.volume.best import merged
from tests.differential.volume.draws import (
    MODERATE,
    Draw,
    draw_columns,
    draw_frequency,
    draw_labels,
    draw_limits,
    draw_options,
    draw_size,
    draw_weights,
)
from tests.differential.volume.families.row_costs import row_weights, too_fine, without_support
from tests.differential.volume.families.two_classes import NAMES, RANKS, ROOTS, positive_of, shown
from tests.differential.volume.problem import Part, Problem
from tests.differential.volume.reachable import Reachable, whole
from tests.differential.volume.truth import Truth, Visits

NAME = "scores"

PRICES = ("0.005", "0.01", "0.05", "0.1", "0.3")

__all__ = ["NAME", "NAMES", "draw_problem", "judge", "refused"]


def draw_problem(draw: Draw, rng: np.random.Generator) -> Problem:
    """A problem with a score of two classes."""
    size = draw_size(draw, least_rows=2)
    X, categorical = draw_columns(draw, rng, size)
    y = draw_labels(draw, rng, X, 2)
    source = draw.choice([*RANKS, "F1()", "F1()"])
    if draw.random() < 0.2 and source not in ROOTS:
        source = f"({source} - {draw.choice(PRICES)} * Splits())"
    if draw.random() < 0.1:
        source = f"({source}).subject_to(MinSupport({draw.randint(1, 4)}))"
    return Problem(
        family=NAME,
        task=source,
        X=X,
        y=y,
        sample_weight=draw_weights(draw, rng, size, MODERATE),
        frequency=draw_frequency(draw, rng, size),
        categorical=categorical,
        limits=draw_limits(draw, size),
        options=draw_options(draw),
    )


def judge(problem: Problem) -> Truth:
    """The best rank of all pairs of errors that trees have."""
    source, support = without_support(problem.task)
    base, _, priced = source.strip("()").partition(" - ") if source.startswith("(") else (source, "", "")
    base = base + ")" if base.count("(") > base.count(")") else base
    price = Fraction(priced.partition(" * ")[0] or 0)
    errors, unit = _errors(problem, positive_of(base))
    sizes = errors.sum(axis=0)
    p, n = int(sizes[:, 0].sum()) * unit, int(sizes[:, 1].sum()) * unit
    copies = np.array(problem.copies)
    found = Reachable(
        *_alike(problem, errors, copies),
        min_leaf=max(problem.limits["min_leaf"], support),
        counted=price > 0 or problem.limits["max_nodes"] is not None,
        most_nodes=problem.limits["max_nodes"],
    ).vectors(problem.limits["max_depth"])
    rank = RANKS[base]

    def ranked(fn: int, fp: int, nodes: int) -> Any:
        return rank(fn * unit, fp * unit, p, n) - price * nodes

    def worth(visits: Visits) -> Any:
        parts = [visit for visit in visits if isinstance(visit, Part)]
        fn, fp = sum(errors[part.rows, part.label].sum(axis=0) for part in parts)
        return ranked(int(fn), int(fp), len(visits) - len(parts))

    ranks = [ranked(*vector) for vector in undominated(found)]
    best: Any = max(ranks) if ranks else None
    return Truth(best, worth, shown=lambda value: shown(base, value))


def undominated(vectors: Array) -> list[tuple[int, int, int]]:
    """The rows (false negatives, false positives, nodes) that none before them, by the first two, beats."""
    kept = []
    for nodes in sorted(set(vectors[:, 2].tolist())):
        least = None
        for fn, fp in sorted(vectors[vectors[:, 2] == nodes][:, :2].tolist()):
            if least is None or fp < least:
                kept.append((fn, fp, nodes))
                least = fp
    return kept


def _errors(problem: Problem, positive: int) -> tuple[Array, Fraction]:
    """((n, 2, 2) whole weights, by label and (false negatives, false positives), and what one of them is worth)."""
    weights, common = whole(row_weights(problem))
    exact: Any = np.int64 if sum(weights) < 2**62 else object
    w, y = np.array(weights, exact), np.array(problem.y)
    errors = np.zeros((len(w), 2, 2), exact)
    errors[:, 1 - positive, 0] = np.where(y == positive, w, 0)
    errors[:, positive, 1] = np.where(y == positive, 0, w)
    return errors, Fraction(1, common)


def _alike(problem: Problem, sums: Array, copies: Array) -> tuple[Array, Array, Array]:
    """(X, copies, sums) with rows alike put together where there are many."""
    if problem.n_rows < 200:
        return problem.X, copies, sums
    X, total, counted = merged(problem.X, sums.reshape(len(sums), -1), copies)
    return X, counted, total.reshape(-1, *sums.shape[1:])


def refused(problem: Problem, error: StreedError) -> bool:
    """Whether an error is right: a class without rows, or of no weight, has no score."""
    assert problem.y is not None
    if too_fine(problem, error):
        return True
    weigh = {0: 0.0, 1: 0.0}
    for label, weight in zip(problem.y, problem.weights, strict=True):
        weigh[label] += weight
    return min(weigh.values()) == 0
