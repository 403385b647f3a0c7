"""Random claims, pushed to the largest bound that the checkers accept: none is above the optimum of its rows.

    python -m tests.differential.proof_claims --count 4000 --seed 0

Rows, depths, anchors and columns of the claims are drawn, not made by the prover, about costs per row and label and
about squared errors. Optima are found by dynamic programming over sets of rows. The checker in numpy and the compiled
one must accept the same bounds. The exit code is 1 if something is wrong.
"""

from __future__ import annotations

import random
import re
import sys
from collections import Counter
from fractions import Fraction

import attrs
import numpy as np
import pytest

from streed.exact import Array
from streed.proof.check import UNLIMITED, Limits, Proof, Record, RejectedError, Sums
from streed.proof.check_squares import Goal, SquaredSums
from streed.proof.compiled import CompiledSums
from streed.proof.compiled_squares import CompiledSquares
from streed.proof.judge import Judge
from tests.differential import judging
from tests.differential.proofs import draw_problem
from tests.differential.volume.best import Best, LeafCosts, least_label

CLAIMS = 25
"""Of each problem."""

_SAID = re.compile(r"claim \d+: a tree may cost (\d+), less than \d+")


@attrs.frozen(eq=False)
class Case:
    """A problem as both checkers have it, and its truth."""

    X: Array
    limits: Limits
    proofs: tuple[Proof, Proof | Judge]
    """By numpy and by compiled code."""
    truth: Best

    @classmethod
    def of_costs(cls, draw: random.Random) -> Case:
        """One of costs per row and label."""
        problem = draw_problem(draw)
        regrets = problem.costs.costs - problem.costs.costs.min(axis=1)[:, None]
        given = problem.X, regrets, problem.costs.split, problem.limits
        return cls._of(problem.X, problem.limits, Sums(*given), CompiledSums(*given), least_label(regrets))

    @classmethod
    def of_squares(cls, draw: random.Random) -> Case:
        """One of squared errors, on their grid."""
        problem = draw_problem(draw)
        n, limits = len(problem.X), problem.limits
        most, heaviest = draw.choice((1, 9, 9, 1000)), draw.choice((1, 1, 3))
        targets = np.array([draw.randint(0, most) for _ in range(n)], np.int64)
        weights = np.array([draw.randint(0 if heaviest > 1 else 1, heaviest) for _ in range(n)], np.int64)
        price = Fraction(draw.choice((0, 1, 5)), draw.choice((1, 3)))
        goal = Goal(targets, weights, price, Fraction(1), Fraction(0), "")
        plain, compiled = SquaredSums(problem.X, goal, limits), CompiledSquares(problem.X, goal, limits)

        def leaf(sets: Array) -> Array:
            sums = [[int((weights * targets**k)[rows].sum()) for k in range(3)] for rows in sets]
            return np.array([plain.factor * (w * wyy - wy * wy) // max(w, 1) for w, wy, wyy in sums], object)

        return cls._of(problem.X, limits, plain, compiled, leaf)

    @classmethod
    def _of(cls, X: Array, limits: Limits, plain: Sums, compiled: Sums, leaf: LeafCosts) -> Case:
        price = int(plain.split)
        best = Best(X, np.ones(len(X), np.int64), leaf, lambda rows, path: [price] * X.shape[1], limits.min_leaf)
        other = Judge(compiled) if isinstance(compiled, CompiledSums) and compiled.is_compiled else Proof(compiled)
        return cls(X, limits, (Proof(plain), other), best)

    def draw_claim(self, draw: random.Random) -> Record:
        """A claim without a bound."""
        sums, made = self.proofs[0].sums, self.proofs[0].claims
        path = draw.sample(sorted(sums.literal), min(len(sums.literal), draw.choice((0, 0, 1, 1, 2, 3))))
        depth = draw.choice((3, 3, 4, 5, *([UNLIMITED, UNLIMITED] if sums.split > 0 else [])))
        least = depth - (3 < depth < UNLIMITED)
        fitting = [
            len(made) - a for a, claim in enumerate(made) if claim[1] >= least and (depth > 3 or claim[3] is not None)
        ]
        anchors = fitting if draw.random() < 0.4 else draw.sample(fitting, min(len(fitting), draw.randint(0, 3)))
        columns = draw.sample(sums.columns, draw.randint(0, len(sums.columns))) if depth == 3 else []
        if draw.random() < 0.02:
            anchors = [*anchors, draw.randint(0, 2)]
        return Record(path, depth, 0, anchors, columns)

    def push(self, record: Record) -> list[int | None]:
        """By each checker, the largest bound of a claim that it accepts, which is then known; None if it accepts none.

        A checker says how far it would go when it rejects more; that this is accepted, and no more, is tried.
        """
        return [_push(proof, record) for proof in self.proofs]


def _push(proof: Proof | Judge, record: Record) -> int | None:
    most = int(proof.sums.big / 2) - 1
    try:
        proof.add(record._replace(bound=most))
    except RejectedError as rejected:
        said = _SAID.fullmatch(str(rejected))
        if said is None:
            return None
        bound = int(said[1])
        with pytest.raises(RejectedError, match=_SAID):
            proof.add(record._replace(bound=bound + 1))
        proof.add(record._replace(bound=bound))
        return bound
    return most


def judge(seed: int, number: int) -> tuple[Counter[str], list[str]]:
    """(what was tried, what is wrong) of one problem."""
    draw = random.Random(f"{seed}/{number}")
    kind = draw.choice(("costs", "squares"))
    case = Case.of_costs(draw) if kind == "costs" else Case.of_squares(draw)
    seen, wrong = Counter[str](), []
    for claim in range(CLAIMS):
        record = case.draw_claim(draw)
        bound, other = case.push(record)
        if bound != other:
            wrong.append(f"{seed}/{number}, claim {claim}: numpy says {bound}, compiled code {other}")
            break
        if bound is None:
            seen[f"{kind}: refused"] += 1
            continue
        rows = case.proofs[0].sums.rows(record.path)
        optimum = case.truth.optimum(None if record.depth == UNLIMITED else record.depth, None, rows)
        seen[f"{kind}: the optimum" if bound == optimum else f"{kind}: below the optimum"] += 1
        if bound > optimum:
            wrong.append(f"{seed}/{number}, claim {claim}: {bound} is accepted, the optimum is {optimum}")
    return seen, wrong


def main(arguments: list[str] | None = None) -> int:
    """1 if something false was accepted or the checkers differ, else 0."""
    return judging.run("proof_claims", __doc__, judge, arguments)


if __name__ == "__main__":
    sys.exit(main())
