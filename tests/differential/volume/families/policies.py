"""Treatments: the estimated value of a policy by three methods, and by one of them under a capacity."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

import streed.tasks
from streed.errors import StreedError, TaskError
from streed.exact import Array
from tests.differential.volume.best import INFEASIBLE, Best, least_label, merged
from tests.differential.volume.draws import (
    Draw,
    draw_columns,
    draw_frequency,
    draw_limits,
    draw_options,
    draw_size,
    draw_weights,
)
from tests.differential.volume.families.row_costs import row_weights, without_support
from tests.differential.volume.families.scores import _alike, undominated
from tests.differential.volume.problem import Part, Problem, fractions
from tests.differential.volume.reachable import Reachable, whole
from tests.differential.volume.truth import Truth, Visits
from tests.searches import TOTAL_ONLY

NAME = "policies"

NAMES = dict(vars(streed.tasks))

__all__ = ["NAME", "NAMES", "draw_problem", "judge", "refused"]


def draw_problem(draw: Draw, rng: np.random.Generator) -> Problem:
    """A problem of treatments, all of which are given to some row."""
    capacity = draw.random() < 0.3
    K = draw.choice((2, 2, 2, 3, 4))
    size = draw_size(draw, least_rows=K, most_columns=4 if capacity else 6)
    if capacity and size.kind == "wide":
        size = size._replace(columns=min(size.columns, 40), depth=1)
    if capacity and (size.depth is None or size.depth > 2):
        size = size._replace(depth=2)
    X, categorical = draw_columns(draw, rng, size)
    n = size.rows
    treatment = rng.integers(0, K, n)
    treatment[rng.permutation(n)[:K]] = np.arange(K)
    predicted = rng.integers(0, 10, (n, K)) / 4 if capacity else rng.normal(0, 2, (n, K)).round(draw.randint(1, 12))
    row_data: dict[str, Any] = {"treatment": treatment.tolist(), "predicted": predicted.tolist()}
    if not capacity:
        row_data["outcome"] = rng.normal(0, 2, n).round(draw.randint(0, 12)).tolist()
        row_data["propensity"] = rng.choice([0.25, 0.5, 1.0, 0.1, 0.3], n).tolist()
    source = f"PolicyValue({draw.choice(('dm', 'ipw', 'dr'))!r})"
    if capacity:
        costs = {k: draw.choice((0, 1, 1, 2.5)) for k in range(1, K)}
        source = f"PolicyValue('dm').subject_to(TreatmentCosts({costs!r}) <= {draw.randint(0, n)})"
    elif draw.random() < 0.1:
        source = f"({source}).subject_to(MinSupport({draw.randint(1, 4)}))"
    options = draw_options(draw)
    if capacity and draw.random() < 0.9:
        options["search"] = "depth-first"
    return Problem(
        family=NAME,
        task=source,
        X=X,
        y=None,
        sample_weight=draw_weights(
            draw, rng, size, ("small", "zero") if capacity else ("many", "decimal", "zero", "real")
        ),
        frequency=draw_frequency(draw, rng, size),
        categorical=categorical,
        row_data=row_data,
        limits=draw_limits(draw, size),
        options=options,
    )


def judge(problem: Problem) -> Truth:
    """The best value of all policies."""
    if "TreatmentCosts" in problem.task:
        return _limited(problem)
    source, support = without_support(problem.task)
    gains = _estimates(problem, source)
    w = np.array([float(weight) for weight in row_weights(problem)])
    costs = -gains * w[:, None] / w.sum()
    copies = np.array(problem.copies)
    X, sums, counted = (problem.X, costs, copies) if problem.n_rows < 200 else merged(problem.X, costs, copies)
    prices = [0] * X.shape[1]
    best = Best(X, counted, least_label(sums), lambda _size, _path: prices, max(problem.limits["min_leaf"], support))
    found = best.optimum(problem.limits["max_depth"], problem.limits["max_nodes"])

    def worth(visits: Visits) -> float:
        return -float(sum(costs[part.rows, part.label].sum() for part in visits if isinstance(part, Part)))

    scale = float(np.abs(costs).max(axis=1).sum())
    return Truth(None if found == INFEASIBLE else -float(found), worth, exact=False, scale=scale)


def _estimates(problem: Problem, source: str) -> Array:
    """(n, K) the estimated outcome of every row under every treatment."""
    given = np.array(problem.row_data["treatment"])
    predicted = np.array(problem.row_data["predicted"], np.float64)
    estimated = np.zeros_like(predicted) if "ipw" in source else predicted.copy()
    if "dm" not in source:
        rows = np.arange(len(given))
        error = np.array(problem.row_data["outcome"]) - estimated[rows, given]
        estimated[rows, given] += error / np.array(problem.row_data["propensity"])
    return estimated


def _limited(problem: Problem) -> Truth:
    """The best value of the policies within a capacity, exactly."""
    costs, _, most = problem.task.partition("TreatmentCosts(")[2].partition(") <= ")
    limit = Fraction(most[:-1])
    weights, common = whole(row_weights(problem))
    gains = np.array(problem.row_data["predicted"]) * 4
    exact: Any = object
    K = gains.shape[1]
    used, shared = whole(fractions([eval(costs).get(k, 0) for k in range(K)]))
    w = np.array(weights, exact)
    lost = (gains.max(axis=1)[:, None] - gains).astype(np.int64).astype(exact)
    sums = np.stack([lost * w[:, None], np.array(used, exact)[None] * w[:, None]], axis=2)
    total = sum(weights)
    top = int((gains.max(axis=1).astype(np.int64).astype(exact) * w).sum())
    reach = Reachable(
        *_alike(problem, sums, np.array(problem.copies)),
        min_leaf=problem.limits["min_leaf"],
        counted=problem.limits["max_nodes"] is not None,
        most_nodes=problem.limits["max_nodes"],
    )
    vectors = reach.vectors(problem.limits["max_depth"])
    inside = [vector for vector in undominated(vectors) if Fraction(vector[1], shared * common) <= limit]

    def value(loss: int) -> Fraction:
        return Fraction(top - loss, 4 * total)

    def sums_of(visits: Visits) -> list[int]:
        parts = [visit for visit in visits if isinstance(visit, Part)]
        return [int(sum(sums[part.rows, part.label, at].sum() for part in parts)) for at in (0, 1)]

    return Truth(
        max((value(vector[0]) for vector in inside), default=None),
        lambda visits: value(sums_of(visits)[0]),
        feasible=lambda visits: Fraction(sums_of(visits)[1], shared * common) <= limit,
    )


def refused(problem: Problem, error: StreedError) -> bool:
    """Whether an error is right: best-first search takes no limits on values."""
    limited, best_first = "TreatmentCosts" in problem.task, problem.options["search"] in TOTAL_ONLY
    return limited and best_first and isinstance(error, TaskError)
