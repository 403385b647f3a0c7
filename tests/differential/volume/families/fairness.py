"""Errors and scores under limits on gaps between the rates of two to four groups, and on rates; several limits."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import numpy as np

from streed.errors import InputError, StreedError
from streed.exact import Array
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
from tests.differential.volume.families.row_costs import row_weights, too_fine
from tests.differential.volume.families.scores import _alike, undominated
from tests.differential.volume.families.two_classes import NAMES, RANKS, positive_of, shown
from tests.differential.volume.problem import Part, Problem
from tests.differential.volume.reachable import Reachable, whole
from tests.differential.volume.truth import Truth, Visits, as_shown

NAME = "fairness"

NOTIONS = {
    "DemographicParity()": ((0, 1),),
    "EqualOpportunity()": ((1,),),
    "PredictiveEquality()": ((0,),),
    "EqualizedOdds()": ((0,), (1,)),
}
"""The classes among whose rows the rates of a notion are taken."""

RATES = ("Recall()", "Precision()", "Specificity()")

GAPS = ("0", "0.01", "0.05", "0.1", "0.2", "0.3", "0.5")

__all__ = ["NAME", "NAMES", "draw_problem", "judge", "refused"]


def draw_problem(draw: Draw, rng: np.random.Generator) -> Problem:
    """A problem with limits on rates of groups or of all rows."""
    size = draw_size(draw, least_rows=4, most_columns=4)
    if size.kind == "wide":
        size = size._replace(columns=min(size.columns, 40), depth=1)
    if size.depth is None or size.depth > 2:
        size = size._replace(depth=3 if size.columns <= 2 else 2)
    X, categorical = draw_columns(draw, rng, size)
    y = draw_labels(draw, rng, X, 2)
    n_groups = min(draw.choice((2, 2, 2, 3, 4)), size.rows // 2)
    groups = rng.integers(0, n_groups, size.rows)
    if draw.random() < 0.3:
        groups = np.where(rng.random(size.rows) < 0.3, groups, X[:, 0] % n_groups)
    if draw.random() < 0.95:  # every group has rows of both classes
        for place, row in enumerate(rng.permutation(size.rows)[: 2 * n_groups].tolist()):
            groups[row], y[row] = place // 2, place % 2
    limits = [f"{draw.choice(list(NOTIONS))} <= {draw.choice(GAPS)}" for _ in range(draw.choice((1, 1, 1, 2)))]
    if draw.random() < 0.25:
        limits[-1] = f"{draw.choice(RATES)} >= {draw.choice(GAPS)}"
    score = draw.choice(("Accuracy()",) * 4 + ("F1()", "CohenKappa()", "FBeta(2)", "SparseAccuracy(0.02)", *RANKS))
    return Problem(
        family=NAME,
        task=f"{score}.subject_to({', '.join(limits)})",
        X=X,
        y=y,
        sample_weight=draw_weights(draw, rng, size, MODERATE),
        frequency=draw_frequency(draw, rng, size),
        categorical=categorical,
        row_data={"sensitive_features": groups.tolist()},
        limits=draw_limits(draw, size),
        options=draw_options(draw),
    )


def judge(problem: Problem) -> Truth:
    """The best rank of all trees whose rates are within the limits."""
    base, _, limits = problem.task[:-1].partition(".subject_to(")
    chosen = [limit.split() for limit in limits.split(", ")]
    positive = positive_of(base)
    weights, common = whole(row_weights(problem))
    groups = sorted(set(problem.row_data["sensitive_features"]))
    cell = [
        2 * groups.index(g) + k for g, k in zip(problem.row_data["sensitive_features"], problem.y or (), strict=True)
    ]
    exact: Any = np.int64 if sum(weights) < 2**62 else object
    cells = np.zeros((len(cell), 2 * len(groups)), exact)
    cells[np.arange(len(cell)), cell] = weights
    sums = np.zeros((len(cell), 2, cells.shape[1]), exact)
    sums[:, 1] = cells
    counted = base.startswith("SparseAccuracy") or problem.limits["max_nodes"] is not None
    copies = np.array(problem.copies)
    reach = Reachable(
        *_alike(problem, sums, copies),
        min_leaf=problem.limits["min_leaf"],
        counted=counted,
        most_nodes=problem.limits["max_nodes"],
    )
    sizes = [int(size) for size in cells.sum(axis=0)]
    total = sum(sizes)
    vectors = reach.vectors(problem.limits["max_depth"])
    rank, unit = RANKS.get(base), Fraction(1, common)

    def errors_of(found: Array) -> Array:
        """(m, 3) what is wrong of class 1 and of class 0, and the nodes."""
        return np.stack(
            [sum(sizes[1::2]) - found[:, 1:-1:2].sum(axis=1), found[:, 0:-1:2].sum(axis=1), found[:, -1]], 1
        )

    def ranked(missed: int, false: int, nodes: int) -> Any:
        if rank is None:
            share = (missed + false) * unit
            return share if base == "Accuracy()" else share / (total * unit) + Fraction(2, 100) * nodes
        fn, fp, p, n = missed, false, sum(sizes[1::2]), sum(sizes[0::2])
        if positive == 0:
            fn, fp, p, n = fp, fn, n, p
        return -rank(fn * unit, fp * unit, p * unit, n * unit)

    def vector_of(visits: Visits) -> Array:
        parts = [visit for visit in visits if isinstance(visit, Part)]
        found = sum((cells[part.rows].sum(axis=0) for part in parts if part.label == 1), np.zeros(len(sizes), exact))
        return np.append(found, len(visits) - len(parts))[None]

    inside = vectors[_within(vectors, chosen, sizes)]
    ranks = [ranked(*vector) for vector in undominated(errors_of(inside))]
    best: Any = min(ranks) if ranks else None
    return Truth(
        best,
        lambda visits: ranked(*errors_of(vector_of(visits))[0].tolist()),
        shown=(lambda value: shown(base, -value)) if rank is not None else as_shown,
        scale=float(total * unit),
        feasible=lambda visits: bool(_within(vector_of(visits), chosen, sizes)[0]),
    )


def _within(vectors: Array, limits: list[list[str]], sizes: list[int]) -> Array:
    """(m,) bool: whether the weights predicted positive by cell (m, 2 G + 1) keep the limits."""
    inside = np.ones(len(vectors), np.bool_)
    cells = vectors[:, :-1].astype(object)
    p, n = sum(sizes[1::2]), sum(sizes[0::2])
    for on, _, text in limits:
        limit = Fraction(text)
        up, down = limit.numerator, limit.denominator
        if on in RATES:
            hits, false = cells[:, 1::2].sum(axis=1), cells[:, 0::2].sum(axis=1)
            above, below = {
                "Recall()": (hits, p),
                "Precision()": (hits, hits + false),
                "Specificity()": (n - false, n),
            }[on]
            inside &= (above * down >= below * up).astype(np.bool_)
            continue
        for kinds in NOTIONS[on]:
            for a, b in itertools.combinations(range(len(sizes) // 2), 2):
                of_a, of_b = (sum(cells[:, 2 * g + k] for k in kinds) for g in (a, b))
                all_a, all_b = (sum(sizes[2 * g + k] for k in kinds) for g in (a, b))
                inside &= (abs(of_a * all_b - of_b * all_a) * down <= up * all_a * all_b).astype(np.bool_)
    return inside


def refused(problem: Problem, error: StreedError) -> bool:
    """Whether an error is right: a class, a group, or a group's rows of a class that weigh nothing have no rate."""
    if too_fine(problem, error):
        return True
    if not isinstance(error, InputError) or error.argument not in (
        "sensitive_features",
        "y",
        "sample_weight",
        "positive",
    ):
        return False
    groups, y = problem.row_data["sensitive_features"], problem.y
    assert y is not None
    weigh: dict[Any, float] = dict.fromkeys(itertools.product(set(groups), (0, 1)), 0.0)
    for group, label, weight in zip(groups, y, problem.weights, strict=True):
        weigh[group, label] += weight
    return len(set(groups)) < 2 or min(weigh.values()) == 0
