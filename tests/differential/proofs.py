"""Random proofs, pushed and damaged: whatever the checker accepts is true by dynamic programming over sets of rows.

    python -m tests.differential.proofs --count 2000 --seed 0

Each problem is proved to its optimum, which must be accepted. Then every claim is pushed to the largest bound that the
checker accepts, one after the other, and random changes are made to the records: no accepted bound may be above the
optimum. The exit code is 1 if one is.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from fractions import Fraction

import attrs
import numpy as np

from streed.exact import Array
from streed.proof.check import UNLIMITED, Costs, Limits, Proof, Record, RejectedError, Sums, prove_bound, read_file
from streed.proof.compiled import CompiledSums
from streed.proof.format import to_bytes
from streed.proof.prover import Prover
from streed.proof.prover_sums import ProverSums
from tests.differential import judging
from tests.differential.volume.best import Best, least_label

MUTATIONS = 20
"""Of the records of each problem."""


class DisagreementError(Exception):
    """The checkers say different things of the same records."""


@attrs.frozen(eq=False)
class Problem:
    """Whole costs per row and label, and limits."""

    X: Array
    costs: Costs
    limits: Limits

    @property
    def least(self) -> int:
        """What every tree pays."""
        return int(self.costs.costs.min(axis=1).sum())

    def optimum(self) -> int:
        """The least cost of a tree."""
        best = Best(
            self.X,
            np.ones(len(self.X), np.int64),
            least_label(self.costs.costs),
            lambda rows, path: [self.costs.split] * self.X.shape[1],
            self.limits.min_leaf,
        )
        depth = None if self.limits.depth == UNLIMITED else self.limits.depth
        return int(best.optimum(depth, None))

    def sums(self) -> ProverSums:
        regrets = self.costs.costs - self.costs.costs.min(axis=1)[:, None]
        return ProverSums(self.X, regrets, self.costs.split, self.limits)

    def bound(self, records: list[Record]) -> int:
        """What the checkers accept of these records, written and read; raises RejectedError.

        Raises DisagreementError where the one in numpy and the compiled one differ.
        """
        body = read_file(to_bytes({}, records))[1]
        said: list[int | str] = []
        for sums in (Sums, CompiledSums):
            try:
                said.append(int(prove_bound(self.X, self.costs, self.limits, body, sums)[0]))
            except RejectedError as rejected:
                said.append(str(rejected))
        if said[0] != said[1]:
            raise DisagreementError(f"numpy says {said[0]}, compiled code {said[1]}")
        if isinstance(said[0], str):
            raise RejectedError(said[0])
        return said[0]


def draw_problem(draw: random.Random) -> Problem:
    """A problem small enough for dynamic programming over sets of rows."""
    n, p = draw.randint(1, 24), draw.randint(0, 5)
    wide = [draw.random() < 0.25 for _ in range(p)]
    X = np.array([[draw.randrange(3 if w else 2) for w in wide] for _ in range(n)], np.uint8).reshape(n, p)
    labels = draw.choice((1, 2, 2, 2, 3))
    factor = draw.choice((1, 1, 1, 1 << 22))
    costs = [[draw.choice((0, 0, 1, 1, draw.randint(-3, 9))) * factor for _ in range(labels)] for _ in range(n)]
    depth = draw.choice((0, 1, 2, 3, 3, 3, 4, 5, UNLIMITED, UNLIMITED))
    split = draw.choice((1, 2, 5) if depth == UNLIMITED else (0, 0, 1, 2)) * factor
    min_leaf = min(n, draw.choice((1, 1, 1, 2, 3)))
    return Problem(X, Costs(np.array(costs, np.int64), split, Fraction(1)), Limits(depth, min_leaf))


def prove(problem: Problem) -> list[Record]:
    """The records of a proof of the optimum."""
    if problem.limits.depth <= 2:
        return []
    prover = Prover(problem.sums())
    return prover.records(prover.prove(problem.limits, problem.optimum() - problem.least)[0])


def pushed(problem: Problem, records: list[Record]) -> list[Record]:
    """The records, each with the largest bound that the checker accepts behind those before it."""
    made: list[Record] = []
    for record in records:
        low, high = record.bound, record.bound + 64
        while low < high:
            middle = (low + high + 1) // 2
            if _accepted(problem, [*made, record._replace(bound=middle)]):
                low = middle
            else:
                high = middle - 1
        made.append(record._replace(bound=low))
    return made


def _accepted(problem: Problem, records: list[Record]) -> bool:
    proof = Proof(problem.sums())
    try:
        for record in records:
            proof.add(record)
    except RejectedError:
        return False
    return True


def mutated(draw: random.Random, problem: Problem, records: list[Record]) -> list[Record]:
    """The records with a random change."""
    made = list(records)
    at = draw.randrange(len(made))
    record = made[at]
    kind = draw.choice(("bound", "bound", "path", "depth", "anchors", "columns", "drop", "swap", "copy"))
    columns = max(1, problem.X.shape[1])
    if kind == "bound":
        made[at] = record._replace(bound=record.bound + draw.choice((1, 1, 2, 5, 1 << 20)))
    elif kind == "path" and record.path:
        made[at] = record._replace(path=record.path[: draw.randrange(len(record.path))])
    elif kind == "path":
        made[at] = record._replace(path=[(draw.randrange(columns), draw.randrange(2))])
    elif kind == "depth":
        made[at] = record._replace(depth=draw.choice((3, 4, 5, UNLIMITED)))
    elif kind == "anchors":
        made[at] = record._replace(anchors=[draw.randint(0, len(made)) for _ in range(draw.randint(1, 3))])
    elif kind == "columns":
        made[at] = record._replace(columns=[draw.randrange(columns) for _ in range(draw.randint(0, 3))])
    elif kind == "drop":
        del made[at]
    elif kind == "swap":
        other = draw.randrange(len(made))
        made[at], made[other] = made[other], made[at]
    else:
        made.insert(draw.randrange(len(made) + 1), record._replace(bound=record.bound + draw.randint(0, 3)))
    return made


def judge(seed: int, number: int) -> tuple[Counter[str], list[str]]:
    """(what was tried, what is wrong) of one problem."""
    try:
        return _judged(seed, number)
    except DisagreementError as apart:
        return Counter(), [f"{seed}/{number}: {apart}"]


def _judged(seed: int, number: int) -> tuple[Counter[str], list[str]]:
    draw = random.Random(f"{seed}/{number}")
    problem = draw_problem(draw)
    optimum, seen, wrong = problem.optimum(), Counter[str](), []
    records = prove(problem)
    found = problem.bound(records)
    seen["proved"] += 1
    if found != optimum:
        wrong.append(f"{seed}/{number}: {found} is proved, the optimum is {optimum}")
    if records:
        found = problem.bound(pushed(problem, records))
        seen["pushed"] += len(records)
        if found > optimum:
            wrong.append(f"{seed}/{number}: pushed to {found}, the optimum is {optimum}")
    for change in range(MUTATIONS if records else 0):
        changed = mutated(draw, problem, records)
        try:
            found = problem.bound(changed)
        except RejectedError:
            seen["mutations rejected"] += 1
            continue
        seen["mutations accepted"] += 1
        if found > optimum:
            wrong.append(f"{seed}/{number}, change {change}: {found} is accepted, the optimum is {optimum}")
    return seen, wrong


def main(arguments: list[str] | None = None) -> int:
    """1 if something false was accepted, or an optimum was not proved, else 0."""
    return judging.run("proofs", __doc__, judge, arguments)


if __name__ == "__main__":
    sys.exit(main())
