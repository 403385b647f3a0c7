"""Numbers to predict and survival times: squared, absolute and quantile errors, Poisson deviance, relative risk."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import attrs
import numpy as np

import streed.tasks
from streed.errors import InputError, StreedError
from streed.exact import Array
from tests.differential.volume.best import INFEASIBLE, Best, LeafCosts, merged
from tests.differential.volume.draws import (
    Draw,
    draw_columns,
    draw_frequency,
    draw_limits,
    draw_options,
    draw_size,
    draw_weights,
)
from tests.differential.volume.families.row_costs import best_of_costs, row_weights, without_support
from tests.differential.volume.problem import Part, Problem, fractions
from tests.differential.volume.reachable import whole
from tests.differential.volume.truth import TINY, Truth, Visits

NAME = "regression"

NAMES = dict(vars(streed.tasks))

KINDS = ("SquaredError", "AbsoluteError", "QuantileError", "PoissonDeviance", "RelativeRisk")

_ROUNDINGS = 8
"""Of what is computed of sums, in last digits of them."""

__all__ = ["NAME", "NAMES", "draw_problem", "judge", "refused"]


def draw_problem(draw: Draw, rng: np.random.Generator) -> Problem:
    """A problem of any of the kinds."""
    kind = draw.choice(KINDS)
    size = draw_size(draw, large=kind in ("SquaredError", "PoissonDeviance"))
    if kind in ("AbsoluteError", "QuantileError"):  # every target is a label to the judge
        size = size._replace(rows=min(size.rows, 65), columns=min(size.columns, 12))
    X, categorical = draw_columns(draw, rng, size)
    n = size.rows
    row_data: dict[str, Any] = {}
    y, source = _targets(draw, rng, n), f"{kind}()"
    if kind == "SquaredError":
        price = draw.choice((0, 0, 0.01, 0.5, 3))
        source = f"SquaredError({price}{draw.choice(('', '', ', normalized=True'))})"
    elif kind == "QuantileError":
        source = f"QuantileError({draw.choice((0.5, 0.9, 0.25, 0.1))})"
    elif kind == "PoissonDeviance":
        y = rng.choice([0, 0, 1, 2, 5], n).tolist() if draw.random() < 0.7 else (rng.random(n) * 4).round(2).tolist()
        if draw.random() < 0.5:
            row_data["exposure"] = rng.choice([0.1, 0.5, 1.0, 2.0, 3.7], n).tolist()
    elif kind == "RelativeRisk":
        y = rng.integers(0, 9, n).tolist() if draw.random() < 0.5 else (rng.random(n) * 9).round(2).tolist()
        row_data["event"] = (rng.random(n) < draw.choice((0.2, 0.6, 1))).astype(int).tolist()
        row_data["event"][0] = 1
    if kind != "SquaredError" and draw.random() < 0.2:
        source = f"{source} + {draw.choice(('0.01', '0.5'))} * Splits()"
    if draw.random() < 0.1:
        source = f"({source}).subject_to(MinSupport({draw.randint(1, 4)}))"
    return Problem(
        family=NAME,
        task=source,
        X=X,
        y=y,
        sample_weight=draw_weights(draw, rng, size),
        frequency=draw_frequency(draw, rng, size),
        categorical=categorical,
        row_data=row_data,
        limits=draw_limits(draw, size),
        options=draw_options(draw),
    )


def _targets(draw: Draw, rng: np.random.Generator, n: int) -> list[Any]:
    kind = draw.choice(("whole", "decimal", "real", "few", "far"))
    if kind == "whole":
        return [int(y) for y in rng.integers(-9, 10, n)]
    if kind == "decimal":
        return [float(y) for y in rng.normal(0, 3, n).round(2)]
    if kind == "real":
        return [float(y) for y in rng.normal(0, 3, n)]
    if kind == "few":
        return [int(y) for y in rng.choice([0, 0, 0, 1, 10], n)]
    return [float(y) for y in rng.normal(1e6, 2, n).round(1)]


def judge(problem: Problem) -> Truth:
    """The optimum by dynamic programming on sums, or on a cost for every target as a label."""
    source, support = without_support(problem.task)
    base, _, priced = source.partition(" + ")
    name, _, given = base[:-1].partition("(")
    price = Fraction(priced.partition(" * ")[0] or 0)
    if name == "SquaredError":
        return _squares(problem, given, support)
    weights = row_weights(problem)
    # 64 bits of mantissa, as one row may weigh 10^18 times what another does
    w = np.array([np.longdouble(weight.numerator) / np.longdouble(weight.denominator) for weight in weights])
    y = np.array(problem.y, np.longdouble)
    if name == "PoissonDeviance":
        exposure = np.array(problem.row_data.get("exposure", np.ones(len(y))), np.longdouble)
        return _of_sums(problem, _events(w, y, exposure), lambda s: 2 * _deviance(s), float(price), support)
    if name == "RelativeRisk":
        events = np.array(problem.row_data["event"], np.longdouble)
        hazard = _hazard(y, events, w)
        return _of_sums(
            problem, _events(w, events, hazard), lambda s: _deviance(s) / w.sum(), float(price), support, 1 / w.sum()
        )
    quantile = Fraction(given) if name == "QuantileError" else None
    return _of_targets(problem, weights, quantile, price, support)


def _squares(problem: Problem, given: str, support: int) -> Truth:
    """The truth for squared errors about the mean, exact but for many rows."""
    price, _, normalized = given.partition(", ")
    weights = row_weights(problem)
    exact = problem.n_rows < 200
    y: list[Any] = fractions(problem.y or ()) if exact else np.array(problem.y, np.float64).tolist()
    middle = y[0] if exact else float(np.average(y, weights=[float(weight) for weight in weights]))
    w: list[Any] = [*weights] if exact else [float(weight) for weight in weights]
    z: list[Any] = [target - middle for target in y]
    unit: Any = 1
    if exact:
        (w, common), (z, shared) = whole(weights), whole(z)
        unit = Fraction(1, common * shared * shared)
    sums = np.array([[a, a * b, a * b * b] for a, b in zip(w, z, strict=True)], object if exact else np.float64)

    def squared(found: Array) -> Array:
        if not exact:
            weight = np.where(found[:, 0] > 0, found[:, 0], 1.0)
            least: Array = np.maximum(found[:, 2] - found[:, 1] ** 2 / weight, 0.0)
            return least
        costs = [unit * Fraction(q * n - s * s, n) if n else Fraction(0) for n, s, q in found.tolist()]
        return np.array(costs, object)

    everything = squared(sums.sum(axis=0)[None])[0]
    divisor = everything if normalized and everything > 0 else 1
    cost: Any = Fraction(price) if exact else float(price)
    return _of_sums(problem, sums, lambda found: squared(found) / divisor, cost, support)


def _events(w: Array, events: Array, exposure: Array) -> Array:
    """(n, 3) events, exposure, and y log(y / e), weighted."""
    with np.errstate(divide="ignore", invalid="ignore"):
        saturated = np.where((events > 0) & (exposure > 0), events * np.log(events / exposure), 0.0)
    return np.stack([w * events, w * exposure, w * saturated], axis=1)


def _deviance(sums: Array) -> Array:
    """(m,) half the deviance of sums (m, 3)."""
    events, exposure, saturated = sums.T
    with np.errstate(divide="ignore", invalid="ignore"):
        best = np.where((events > 0) & (exposure > 0), saturated - events * np.log(events / exposure), 0.0)
    return np.maximum(best, 0.0)


def _hazard(times: Array, events: Array, w: Array) -> Array:
    """(n,) Nelson and Aalen's cumulative hazard until every row's time."""
    total, found = 0.0, {}
    for time in np.unique(times):
        at_risk = w[times >= time].sum()
        total += (w * events)[times == time].sum() / at_risk if at_risk > 0 else 0.0
        found[float(time)] = total
    return np.array([found[float(time)] for time in times])


def _of_sums(problem: Problem, sums: Array, cost: LeafCosts, price: Any, support: int, divisor: float = 1.0) -> Truth:
    """The truth for leaves whose cost is a function of sums (m, q), in units of 1 / divisor."""
    copies = np.array(problem.copies)
    X, total, counted = (problem.X, sums, copies) if problem.n_rows < 200 else merged(problem.X, sums, copies)
    least = max(problem.limits["min_leaf"], support)
    prices = [price] * X.shape[1]
    best = Best(X, counted, lambda sets: cost(sets.astype(sums.dtype) @ total), lambda _size, _path: prices, least)
    found = best.optimum(problem.limits["max_depth"], problem.limits["max_nodes"])

    def worth(visits: Visits) -> Any:
        parts = [visit for visit in visits if isinstance(visit, Part)]
        leaves = cost(np.stack([sums[part.rows].sum(axis=0) for part in parts]))
        return sum(leaves.tolist()) + price * (len(visits) - len(parts))

    scale = float(cost(sums.sum(axis=0)[None])[0])
    if sums.dtype != object:  # what cancels in costs is known to some last digits of these sums only
        scale = max(scale, float(np.abs(sums).sum() * divisor * 2 * np.finfo(sums.dtype).eps) * _ROUNDINGS / TINY)
    return Truth(None if found == INFEASIBLE else found, worth, shown=float, exact=False, scale=max(scale, 1e-12))


def _of_targets(
    problem: Problem, weights: list[Fraction], quantile: Fraction | None, price: Fraction, support: int
) -> Truth:
    """The truth for leaves that predict a target of theirs: a cost for every row and target, exact."""
    each, common = whole(weights)
    targets, shared = whole(fractions(problem.y or ()))
    labels = np.array(sorted(set(targets)), object)
    above = np.array(targets, object)[:, None] - labels
    up, down = (1, 1) if quantile is None else (quantile.numerator, quantile.denominator - quantile.numerator)
    over = 1 if quantile is None else quantile.denominator
    losses = np.where(above > 0, above * up, -above * down) * np.array(each, object)[:, None] * price.denominator
    unit = Fraction(1, common * shared * over * price.denominator)
    prices = [int(price / unit)] * problem.X.shape[1]
    truth = best_of_costs(problem, losses, unit, lambda _size, _path: prices, support)

    def worth(visits: Visits) -> Any:
        parts = [visit for visit in visits if isinstance(visit, Part)]
        total = sum(int(losses[part.rows].sum(axis=0).min()) for part in parts)
        return total * unit + price * (len(visits) - len(parts))

    whole_numbers = all(isinstance(y, int) for y in problem.y or ()) and problem.sample_weight is None
    return attrs.evolve(truth, worth=worth, exact=whole_numbers)


def refused(problem: Problem, error: StreedError) -> bool:
    """Whether an error is right: no event that weighs anything has no hazard."""
    if "RelativeRisk" not in problem.task or not isinstance(error, InputError):
        return False
    return not any(w * e for w, e in zip(problem.weights, problem.row_data["event"], strict=True))
