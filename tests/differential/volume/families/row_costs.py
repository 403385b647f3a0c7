"""Costs per row and label: errors, weighted errors, cost matrices, costs of instances; nodes may cost something too."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import attrs
import numpy as np

import streed.tasks
from streed.errors import InputError, StreedError
from streed.exact import Array
from streed.tasks.cost_tables import CostTable
from tests.differential.volume.best import INFEASIBLE, Best, least_label, merged, narrow
from tests.differential.volume.draws import (
    Draw,
    Size,
    draw_classes,
    draw_columns,
    draw_frequency,
    draw_labels,
    draw_limits,
    draw_number,
    draw_options,
    draw_size,
    draw_weights,
)
from tests.differential.volume.problem import Part, Problem, fractions
from tests.differential.volume.reachable import whole
from tests.differential.volume.truth import Truth, Visits, as_shown

NAME = "costs"

NAMES = {**vars(streed.tasks), "CostTable": CostTable}

PRICES = ("0", "0.005", "0.01", "0.25", "0.5", "1", "1.5")

KINDS = ("Accuracy", "Misclassifications", "SparseAccuracy", "WeightedAccuracy", "BalancedAccuracy", "InstanceCosts",
         "MisclassificationCosts")  # fmt: skip


def draw_problem(draw: Draw, rng: np.random.Generator, size: Size | None = None) -> Problem:
    """A problem of any kind of costs per row, of the size that is given or of any."""
    size = size or draw_size(draw)
    X, categorical = draw_columns(draw, rng, size)
    K = draw_classes(draw, size)
    y = draw_labels(draw, rng, X, K)
    K = len(set(y))
    kind = draw.choice(KINDS)
    row_data: dict[str, Any] = {}
    source = f"{kind}()"
    if kind == "Misclassifications":
        source = f"Misclassifications() + {draw.choice(PRICES)} * Splits()"
    elif kind == "SparseAccuracy":
        source = f"SparseAccuracy({draw.choice(PRICES[:3])})"
    elif kind == "WeightedAccuracy":
        weights = {k: draw.choice((0, 1, 2, 5, 0.5, 0.25, 1.2)) for k in sorted(set(y))[:3]}
        source = f"WeightedAccuracy({weights!r})"
    elif kind == "InstanceCosts":
        shape = (size.rows, draw.randint(1, 4))
        row_data["costs"] = _costs(draw, rng, shape)
        source = draw.choice(("InstanceCosts()", f"InstanceCosts() + {draw.choice(PRICES)} * Splits()"))
    elif kind == "MisclassificationCosts":
        matrix = [[0 if j == k and draw.random() < 0.9 else draw_number(draw) for k in range(K)] for j in range(K)]
        source = f"MisclassificationCosts(CostTable.of({matrix!r}, classes={sorted(set(y))!r}))"
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


def _costs(draw: Draw, rng: np.random.Generator, shape: tuple[int, int]) -> list[list[float]]:
    """(n, K) whole numbers, decimals, gains or large numbers beside small ones."""
    kind = draw.choice(("whole", "decimal", "gains", "large"))
    costs: Array
    if kind == "whole":
        costs = rng.integers(0, 10, shape)
    elif kind == "decimal":
        costs = rng.integers(0, 10_000, shape) / 1000
    elif kind == "gains":
        costs = rng.integers(-30, 50, shape) / 10
    else:
        costs = rng.integers(0, 10, shape) * rng.choice([1, 10**6, 10**9], shape)
    listed: list[list[float]] = costs.tolist()
    return listed


def judge(problem: Problem) -> Truth:
    """The optimum by dynamic programming on exact sums."""
    source, support = without_support(problem.task)
    costs, price, unit = _in_units(problem, source)
    truth = best_of_costs(problem, costs, unit, lambda _size, _path: [price] * problem.X.shape[1], support)
    return attrs.evolve(truth, shown=_as_accuracy) if source.startswith("BalancedAccuracy") else truth


def _as_accuracy(error: Any) -> Any:
    return as_shown(1 - error)


def best_of_costs(
    problem: Problem, costs: Array, unit: Fraction, prices: Any, support: int = 1, by_path: bool = False
) -> Truth:
    """The truth for whole costs (n, K) and prices, all multiples of the unit; `costs` count the copies of rows."""
    copies = np.array(problem.copies)
    costs = narrow(costs)
    n_labels = costs.shape[1]
    X, sums, counted = (problem.X, costs, copies) if problem.n_rows < 200 else merged(problem.X, costs, copies)
    least = max(problem.limits.get("min_leaf", 1), support)
    best = Best(X, counted, least_label(sums), prices, least, by_path)
    found = best.optimum(problem.limits.get("max_depth"), problem.limits.get("max_nodes"))

    def worth(visits: Visits) -> Any:
        total: Any = 0
        for visit in visits:
            if isinstance(visit, Part):
                assert visit.label < n_labels
                total += Fraction(costs[visit.rows, visit.label].sum())
            else:
                total += prices(int(copies[visit.rows].sum()), visit.path)[visit.column]
        return Fraction(total) * unit

    scale = float(unit * sum(map(int, np.abs(costs).max(axis=1)))) if costs.size else 1.0
    return Truth(None if found == INFEASIBLE else Fraction(found) * unit, worth, scale=scale)


def without_support(source: str) -> tuple[str, int]:
    """(the source without its last limit, the rows that this wants of a leaf)."""
    head, limit, rest = source.partition(".subject_to(MinSupport(")
    return (head[1:-1], int(rest[:-2])) if limit else (source, 1)


def _in_units(problem: Problem, source: str) -> tuple[Array, int, Fraction]:
    """((n, K) whole costs of rows under each label, the whole price of a node, what a unit is worth)."""
    weights = row_weights(problem)
    base, _, priced = source.partition(" + ")
    price = Fraction(priced.partition(" * ")[0] or 0)
    unit = Fraction(1)
    assert problem.y is not None
    classes = sorted(set(problem.y))
    place = {label: k for k, label in enumerate(classes)}
    y = [place[label] for label in problem.y]
    name, _, given = base.partition("(")
    by_class: list[list[Fraction]] | None = [[Fraction(j != k) for k in classes] for j in classes]
    if name == "SparseAccuracy":
        unit = 1 / sum(weights, Fraction(0))
        price = Fraction(given[:-1]) / unit
    elif name == "WeightedAccuracy":
        factor = dict(zip(classes, fractions([eval(given[:-1]).get(label, 1) for label in classes]), strict=True))
        by_class = [[factor[j] * (j != k) for k in classes] for j in classes]
    elif name == "BalancedAccuracy":
        totals = [sum((w for w, k in zip(weights, y, strict=True) if k == j), Fraction(0)) for j in range(len(classes))]
        share = Fraction(1, sum(total > 0 for total in totals))  # classes that weigh nothing do not count
        each = [share / total if total > 0 else Fraction(0) for total in totals]
        by_class = [[each[j] * (j != k) for k in range(len(classes))] for j in range(len(classes))]
    elif name == "MisclassificationCosts":
        table = eval(base, dict(NAMES)).costs
        by_class = [list(map(Fraction, table.matrix[table.classes.index(label)])) for label in classes]
    if name == "InstanceCosts":
        return _of_rows(weights, [fractions(row) for row in problem.row_data["costs"]], price)
    assert by_class is not None
    return _of_classes(weights, y, by_class, price, unit)


def _of_classes(
    weights: list[Fraction], y: list[int], by_class: list[list[Fraction]], price: Fraction, unit: Fraction
) -> tuple[Array, int, Fraction]:
    """The same of a cost by class and label, times the row's weight."""
    each, common = whole(weights)
    flat, shared = whole([cost for row in by_class for cost in row])
    table = np.array(flat, object).reshape(len(by_class), -1)
    price = price * common * shared
    costs = (table * price.denominator)[y] * np.array(each, object)[:, None]
    return costs, price.numerator, unit / (common * shared * price.denominator)


def _of_rows(weights: list[Fraction], costs: list[list[Fraction]], price: Fraction) -> tuple[Array, int, Fraction]:
    """The same of a cost by row and label, times the row's weight."""
    each, common = whole(weights)
    flat, shared = whole([*itertools.chain.from_iterable(costs), price])
    table = np.array(flat[:-1], object).reshape(len(costs), -1)
    return table * np.array(each, object)[:, None], flat[-1] * common, Fraction(1, common * shared)


def row_weights(problem: Problem) -> list[Fraction]:
    """(n,) what all copies of each row weigh."""
    weights = fractions(problem.weights)
    if problem.frequency is None:
        return weights
    return [copies * weight for copies, weight in zip(problem.frequency, weights, strict=True)]


def too_fine(problem: Problem, error: StreedError) -> bool:
    """Whether an error says that the weights are too fine or too large for sums of products, and they are."""
    if not isinstance(error, InputError) or error.argument != "sample_weight" or problem.sample_weight is None:
        return False
    total: int = sum(whole(row_weights(problem))[0])
    products = "Splits" in problem.task or "CohenKappa" in problem.task
    return total > (10**5 if products else 10**7)


def refused(problem: Problem, error: StreedError) -> bool:
    """No error is right here."""
    return False
