"""Cost matrices with tests that cost something: features of several columns, groups whose later tests are cheaper."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

import streed.tasks
from streed.errors import StreedError
from streed.tasks.cost_tables import CostTable, TestCost
from tests.differential.volume.best import Prices
from tests.differential.volume.draws import (
    Draw,
    draw_columns,
    draw_frequency,
    draw_labels,
    draw_limits,
    draw_number,
    draw_options,
    draw_size,
)
from tests.differential.volume.families.row_costs import best_of_costs, without_support
from tests.differential.volume.problem import Problem
from tests.differential.volume.reachable import whole
from tests.differential.volume.truth import Truth

NAME = "discounts"

NAMES = {**vars(streed.tasks), "CostTable": CostTable, "TestCost": TestCost, "Fraction": Fraction}

__all__ = ["NAME", "NAMES", "draw_problem", "judge", "refused"]


def draw_problem(draw: Draw, rng: np.random.Generator) -> Problem:
    """A problem with a cost matrix and tests; rows have no weights, which branching costs cannot count."""
    size = draw_size(draw, most_columns=5)
    if size.kind == "wide":
        size = size._replace(columns=min(size.columns, 100))
    X, categorical = draw_columns(draw, rng, size)
    K = max(1, min(draw.choice((2, 2, 2, 2, 3, 3, 12)), size.rows))
    y = draw_labels(draw, rng, X, K)
    classes = sorted(set(y))
    matrix = [[0 if j == k and draw.random() < 0.9 else draw_number(draw) for k in classes] for j in classes]
    features: dict[int, list[int]] = {}
    for column in range(size.columns):
        features.setdefault(draw.randrange(size.columns), []).append(column)
    tests = []
    for name, columns in features.items():
        if draw.random() < 0.15:
            continue
        full = Fraction(repr(draw.choice((0, draw_number(draw), draw_number(draw))))) / 4
        share = draw.choice((0, Fraction(1, 4), Fraction(1, 2), 1))
        group = draw.choice((None, "a", "a", "b"))
        tests.append(f"TestCost('t{name}', {full!r}, {full * share!r}, {group!r}, {tuple(columns)!r})")
    source = f"CostSensitive(CostTable.of({matrix!r}, [{', '.join(tests)}], classes={classes!r}))"
    if draw.random() < 0.2:
        source = f"{source} + {draw.choice(('0.5', '0.25', '2'))} * Splits()"
    if draw.random() < 0.1:
        source = f"({source}).subject_to(MinSupport({draw.randint(1, 4)}))"
    return Problem(
        family=NAME,
        task=source,
        X=X,
        y=y,
        frequency=draw_frequency(draw, rng, size),
        categorical=categorical,
        limits=draw_limits(draw, size),
        options=draw_options(draw),
    )


def judge(problem: Problem) -> Truth:
    """The optimum by dynamic programming whose states hold the columns asked above."""
    source, support = without_support(problem.task)
    base, _, priced = source.partition(" + ")
    table: CostTable = eval(base[len("CostSensitive(") : -1], dict(NAMES))
    node = Fraction(priced.partition(" * ")[0] or 0)
    p, K = problem.X.shape[1], len(table.matrix)
    exact = [Fraction(cost) for row in table.matrix for cost in row]
    exact += [Fraction(cost) for test in table.tests for cost in (test.cost, test.discounted)]
    flat, common = whole([*exact, node])
    assert table.classes is not None
    place = {label: k for k, label in enumerate(table.classes)}
    y = np.array([place[label] for label in problem.y or ()])
    matrix = np.array(flat[: K * K], object).reshape(K, K)
    costs = matrix[y] * np.array(problem.copies, object)[:, None]
    owner: list[int | None] = [None] * p
    for number, test in enumerate(table.tests):
        for column in test.columns or ():
            assert isinstance(column, int)
            owner[column] = number
    prices = _prices(table, owner, flat[K * K : -1], flat[-1])
    return best_of_costs(problem, costs, Fraction(1, common), prices, support, by_path=True)


def _prices(table: CostTable, owner: list[int | None], costs: list[int], node: int) -> Prices:
    """What each column costs after others, for so many rows."""
    known: dict[tuple[int, ...], list[int]] = {}

    def each(path: tuple[int, ...]) -> list[int]:
        made = {owner[column] for column in path}
        groups = {table.tests[test].group for test in made if test is not None} - {None}
        found = []
        for test in owner:
            if test is None or test in made:
                found.append(0)
            else:
                found.append(costs[2 * test + (table.tests[test].group in groups)])
        return found

    def prices(size: int, path: tuple[int, ...]) -> list[Any]:
        asked = tuple(sorted(path))
        if asked not in known:
            known[asked] = each(asked)
        return [size * price + node for price in known[asked]]

    return prices


def refused(problem: Problem, error: StreedError) -> bool:
    """No error is right here."""
    return False
