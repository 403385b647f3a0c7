"""Random proofs under limits on sums: whatever the checkers accept is true by enumeration.

    python -m tests.differential.proofs_within --count 2000 --seed 0

Costs and amounts of all trees of each small problem are enumerated. The optimum within the limits must be proved; what
is proved of a tree that costs more, or from multipliers and records that were changed, must not be above the optimum.
The exit code is 1 if something false was accepted, or an optimum was not proved.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from fractions import Fraction
from itertools import product

import attrs
import numpy as np

from streed.exact import Array
from streed.proof.check import Costs, Limits, RejectedError, Sums
from streed.proof.check_limits import Amount, prove_within
from streed.proof.compiled import CompiledSums
from streed.proof.planes import find_planes
from tests.differential import judging

MUTATIONS = 10
"""Of the planes of each problem."""

Point = tuple[int, ...]
"""A tree's cost and amounts."""

Planes = list[tuple[list[Fraction], list[int]]]


@attrs.frozen(eq=False)
class Problem:
    """Whole costs per row and label, sums that are kept in intervals, and limits."""

    X: Array
    costs: Costs
    amounts: list[Amount]
    limits: Limits

    def points(self) -> set[Point]:
        """Costs and amounts of all trees within the limits on depth and leaves."""
        known: dict[tuple[bytes, int], set[Point]] = {}
        tables = [self.costs.costs, *(amount.of_rows for amount in self.amounts)]
        price = (self.costs.split, *(amount.of_split for amount in self.amounts))

        def trees(rows: Array, depth: int) -> set[Point]:
            key = rows.tobytes(), depth
            if key not in known:
                found: set[Point] = set()
                if rows.sum() >= self.limits.min_leaf:
                    found = {tuple(int(t[rows, k].sum()) for t in tables) for k in range(self.costs.costs.shape[1])}
                for column in self.X.T if depth else ():
                    sides = [rows & (column == code) for code in range(int(self.X.max()) + 1)]
                    sides = [side for side in sides if side.any()]
                    if len(sides) > 1:
                        for parts in product(*(trees(side, depth - 1) for side in sides)):
                            found.add(tuple(map(sum, zip(price, *parts, strict=True))))
                known[key] = found
            return known[key]

        return trees(np.ones(len(self.X), np.bool_), self.limits.depth)

    def optimum(self) -> int | None:
        """The least cost of a tree within all limits, None if there is none."""
        return min((point[0] for point in self.points() if self.holds(point)), default=None)

    def holds(self, point: Point) -> bool:
        """Whether a tree of this cost and these amounts is within the limits."""
        return all(
            (a.least is None or a.least <= x) and (a.most is None or x <= a.most)
            for a, x in zip(self.amounts, point[1:], strict=True)
        )

    def bound(self, planes: Planes, reached: int) -> int | str:
        """What both checkers say; raises AssertionError where they differ."""
        said: list[int | str] = []
        for sums in (Sums, CompiledSums):
            try:
                said.append(prove_within(self.X, self.costs, self.amounts, self.limits, planes, reached, sums))
            except RejectedError as rejected:
                said.append(str(rejected))
        assert said[0] == said[1], said
        return said[0]


def draw_problem(draw: random.Random) -> Problem:
    """A problem of which all trees can be enumerated."""
    n, p, labels = draw.randint(1, 14), draw.randint(0, 3), draw.choice((2, 2, 2, 3))
    X = np.array([[draw.randrange(3 if draw.random() < 0.1 else 2) for _ in range(p)] for _ in range(n)], np.uint8)
    costs = np.array([[draw.choice((0, 1, 1, draw.randint(-2, 5))) for _ in range(labels)] for _ in range(n)], np.int64)
    amounts = []
    for _ in range(draw.choice((0, 1, 1, 2))):
        of_rows = np.array([[draw.choice((0, 0, 1, draw.randint(-4, 4))) for _ in range(labels)] for _ in range(n)])
        middle, width = draw.randint(-4, 8), draw.randint(0, 6)
        ends = draw.choice(((middle, middle + width), (None, middle + width), (middle, None)))
        amounts.append(Amount(of_rows.astype(np.int64), 0, *ends))
    if not amounts or draw.random() < 0.4:
        amounts.append(Amount(np.zeros((n, labels), np.int64), 1, None, draw.randint(0, 4)))
    limits = Limits(draw.choice((0, 1, 2, 2, 3, 3)), min(n, draw.choice((1, 1, 2))))
    return Problem(X.reshape(n, p), Costs(costs, draw.choice((0, 0, 1)), Fraction(1)), amounts, limits)


def changed(draw: random.Random, planes: Planes) -> Planes:
    """The planes with other multipliers, or other numbers of records."""
    made = [([*multipliers], [*numbers]) for multipliers, numbers in planes]
    multipliers, numbers = draw.choice(made)
    if numbers and draw.random() < 0.5:
        numbers[draw.randrange(len(numbers))] += draw.choice((1, 2, 5))
    else:
        at = draw.randrange(len(multipliers))
        multipliers[at] = multipliers[at] * draw.randint(-1, 3) + Fraction(draw.randint(-4, 4), draw.randint(1, 3))
    return [*made, *made[:1]] if draw.random() < 0.2 else made


def judge(seed: int, number: int) -> tuple[Counter[str], list[str]]:
    """(what was tried, what is wrong) of one problem."""
    draw = random.Random(f"{seed}/{number}")
    problem = draw_problem(draw)
    optimum, seen, wrong = problem.optimum(), Counter[str](), []
    if optimum is None:
        return Counter({"without a tree": 1}), []
    seen["proved"] += 1
    for reached in (optimum, optimum + draw.randint(1, 4)):
        found = find_planes(problem.X, problem.costs, problem.amounts, problem.limits, reached, None)
        planes = [plane.given() for plane in found]
        bound = problem.bound(planes, reached)
        if bound != optimum:
            wrong.append(f"{seed}/{number}: {bound} is proved of a tree that costs {reached}, the optimum is {optimum}")
    for change in range(MUTATIONS):
        bound = problem.bound(changed(draw, planes), reached)
        seen["changes rejected" if isinstance(bound, str) else "changes accepted"] += 1
        if not isinstance(bound, str) and bound > optimum:
            wrong.append(f"{seed}/{number}, change {change}: {bound} is accepted, the optimum is {optimum}")
    return seen, wrong


def main(arguments: list[str] | None = None) -> int:
    """1 if something false was accepted, or an optimum was not proved, else 0."""
    return judging.run("proofs_within", __doc__, judge, arguments)


if __name__ == "__main__":
    sys.exit(main())
