"""Random proofs and claims, pushed: whatever the checker accepts is true by dynamic programming.

Costs and amounts of all trees of each small problem are enumerated. Each problem is proved to its optimum, which must
be accepted. Then claims are drawn behind those of the proof, and each is pushed to the largest bound that the checker
accepts, which may not be above the optimum.
"""

from __future__ import annotations

import functools
import itertools
import random
import re
from fractions import Fraction
from typing import Any

import attrs
import numpy as np

from streed.exact import Array
from streed.proof import check, find_records, to_bytes
from streed.proof.check import BIG, UNLIMITED, Amount, Costs, Limits, Record, RejectedError, Sums, Tests

CLAIMS = 15
"""That are drawn for each problem."""

_SAID = re.compile(r"claim \d+: a tree may cost (-?\d+), less than \d+")

Point = tuple[int, ...]
"""A tree's cost and amounts."""


@attrs.frozen(eq=False)
class Problem:
    """Whole costs per row and label, sums that are kept in intervals, and limits."""

    X: Array
    costs: Costs
    amounts: list[Amount]
    limits: Limits

    @functools.cached_property
    def _known(self) -> dict[Any, set[Point]]:
        return {}

    def points(self, rows: Array, depth: int, asked: frozenset[int] = frozenset()) -> set[Point]:
        """Costs and amounts of all trees for some rows (n,) bool; of those with equal amounts the least cost."""
        depth = min(depth, self.X.shape[1])
        key = rows.tobytes(), depth, asked if self.costs.tests.of else None
        if key not in self._known:
            tables = [self.costs.costs, *(amount.of_rows for amount in self.amounts)]
            found: set[Point] = set()
            if rows.sum() >= self.limits.min_leaf or not rows.any():
                found = {tuple(int(t[rows, k].sum()) for t in tables) for k in range(self.costs.costs.shape[1])}
            for column, codes in enumerate(self.X.T if depth else ()):
                sides = [side for code in set(codes.tolist()) if (side := rows & (codes == code)).any()]
                if len(sides) > 1:
                    test = self.costs.tests.price(column, asked) * int(rows.sum())
                    price = (self.costs.split + test, *(amount.of_split for amount in self.amounts))
                    below = [self.points(side, depth - 1, asked | {column}) for side in sides]
                    found |= {tuple(map(sum, zip(price, *parts, strict=True))) for parts in itertools.product(*below)}
            least: dict[Point, int] = {}
            for cost, *amounts in found:
                least[tuple(amounts)] = min(cost, least.get(tuple(amounts), cost))
            self._known[key] = {(cost, *amounts) for amounts, cost in least.items()}
        return self._known[key]

    def optimum(self) -> int | None:
        """The least cost of a tree within all limits, None if there is none."""
        within = [p for p in self.points(np.ones(len(self.X), np.bool_), self.limits.depth) if self.holds(p)]
        return min((point[0] for point in within), default=None)

    def holds(self, point: Point) -> bool:
        """Whether a tree of this cost and these amounts is within the limits."""
        return all(
            (a.least is None or a.least <= x) and (a.most is None or x <= a.most)
            for a, x in zip(self.amounts, point[1:], strict=True)
        )

    def relaxed(self, multipliers: list[Fraction], records: list[Record]) -> Sums:
        """The checker's problem with these claims; raises RejectedError."""
        made = Sums(self.X, self.costs, self.limits, self.amounts, multipliers)
        for record in records:
            made.add(record)
        return made

    def bound(self, multipliers: list[Fraction], records: list[Record], reached: int) -> int:
        """What the checker accepts of a proof, written and read; raises RejectedError."""
        _, multipliers, records = check.read_file(to_bytes({}, multipliers, records))
        return check.prove(self.relaxed(multipliers, records), self.amounts, reached)


def draw_problem(draw: random.Random) -> Problem:
    """A problem of which all trees can be enumerated."""
    limited = draw.random() < 0.35
    n, p = (draw.randint(1, 14), draw.randint(0, 3)) if limited else (draw.randint(1, 22), draw.randint(0, 5))
    wide = [draw.random() < 0.25 for _ in range(p)]
    X = np.array([[draw.randrange(3 if w else 2) for w in wide] for _ in range(n)], np.uint8).reshape(n, p)
    labels, factor = draw.choice((1, 2, 2, 2, 3)), draw.choice((1, 1, 1, 1 << 22, 1 << 40))
    costs = [[draw.choice((0, 0, 1, 1, draw.randint(-3, 9))) * factor for _ in range(labels)] for _ in range(n)]
    depth = draw.choice((0, 1, 2, 3, 3, 3, 4, 5, UNLIMITED, UNLIMITED))
    tests = Tests({}, [])
    if p and draw.random() < 0.3:
        prices = [(full, draw.randint(0, full), draw.choice(("-", "g", "h"))) for full in draw.choices(range(4), k=3)]
        tests = Tests(
            {c: draw.randint(0, 2) for c in range(p) if draw.random() < 0.8},
            [(a * factor, b * factor, g) for a, b, g in prices],
        )
    split = draw.choice((1, 2, 5) if depth == UNLIMITED else (0, 0, 1, 2)) * factor
    amounts = []
    for _ in range(draw.choice((0, 1, 1, 2)) if limited else 0):
        of_rows = np.array([[draw.choice((0, 0, 1, draw.randint(-4, 4))) for _ in range(labels)] for _ in range(n)])
        middle, width = draw.randint(-4, 8), draw.randint(0, 6)
        ends = draw.choice(((middle, middle + width), (None, middle + width), (middle, None)))
        amounts.append(Amount(of_rows.astype(np.int64), 0, *ends))
    if limited and (not amounts or draw.random() < 0.4):
        amounts.append(Amount(np.zeros((n, labels), np.int64), 1, None, draw.randint(0, 4)))
    min_leaf = min(n, draw.choice((1, 1, 1, 2, 3)))
    return Problem(X, Costs(np.array(costs, np.int64), split, Fraction(1), tests), amounts, Limits(depth, min_leaf))


def wrong_claims(draw: random.Random, problem: Problem, made: Sums) -> list[str]:
    """Claims drawn behind those of a proof and pushed as far as the checker accepts, that are above the truth."""
    wrong = []
    for _ in range(CLAIMS):
        path = draw.sample(list(made.literal), min(len(made.literal), draw.randrange(3)))
        depth = draw.choice((0, 1, 2, 3, 3, 4, 5, UNLIMITED))
        back = [draw.randint(1, len(made.claims)) for _ in range(draw.randrange(5))] if made.claims else []
        try:
            made.add(Record(path, depth, BIG - 1, back))
            most = BIG - 1
        except RejectedError as rejected:
            said = _SAID.fullmatch(str(rejected))
            if said is None or int(said[1]) < 0:
                continue
            most = int(said[1])
            made.add(Record(path, depth, min(most, BIG - 1), back))
        mask = made.claims[-1][0]
        of_class = np.unpackbits(mask, count=made.m).view(bool)
        points = problem.points(of_class[made.of_row], depth, frozenset(c for c, _ in path))
        least = min((int(made.value(np.array(point))) for point in points), default=2 * BIG) - int(
            made.floor @ of_class
        )
        if most > least:  # where no leaf may be so small there is no tree, and any bound is true
            wrong.append(f"{path}, depth {depth}: pushed to {most}, the optimum is {least}")
    return wrong


def wrong(seed: int, number: int) -> list[str]:
    """What is accepted of one problem and not true, or is true and not proved."""
    draw = random.Random(f"{seed}/{number}")
    problem = draw_problem(draw)
    optimum = problem.optimum()
    if optimum is None:
        return []
    multipliers = [Fraction(draw.randint(-3, 3), draw.randint(1, 3)) for _ in problem.amounts]
    multipliers = [
        (abs(m) if a.least is None else -abs(m) if a.most is None else m)
        for m, a in zip(multipliers, problem.amounts, strict=True)
    ]
    told = []
    records = find_records(problem.relaxed(multipliers, []), optimum, None, lambda *_: None)
    found = problem.bound(multipliers, records, optimum)
    if found != optimum and (problem.limits.depth < UNLIMITED or not problem.amounts):
        told.append(f"{found} is proved, the optimum is {optimum}")
    return told + wrong_claims(draw, problem, problem.relaxed(multipliers, records))
