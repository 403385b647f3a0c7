"""The sums that the prover needs beside those of the compiled checker."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

import numpy as np

from streed.exact import Array
from streed.proof.check import Sums
from streed.proof.compiled import CompiledSums
from streed.proof.compiled_squares import CompiledSquares
from streed.proof.counting import compiled, count_column, count_ones, scratch_for

if TYPE_CHECKING:
    from streed.proof.prover import Claim


@compiled
def improve_by_columns(c, sides, reached, allowed, leaf, upper, lower, target, known_by):  # type: ignore[no-untyped-def]
    """Counts column after column, the best tree's first, until the bound of a claim of depth three is `target`.

    `sides` and `reached` (Q,) are raised and lowered, `known_by` (P, Q) says what followed from the columns that raised
    a side; returned are these columns, the bound, and the cost of the best tree.
    """
    n_columns, n_literals = len(allowed), len(sides)
    used = np.empty(n_columns, np.int64)
    scratch = scratch_for(c)
    known, cost = np.empty(n_literals, np.int64), np.empty(n_literals, np.int64)
    count = 0
    while True:
        goal = min(target, upper)
        least, best, chosen = np.inf, np.inf, -1
        q = 0
        for column in range(n_columns):
            total, found = np.float64(c.price // c.unit), np.float64(c.price // c.unit)
            for _ in range(c.firsts[column + 1] - c.firsts[column] + 1):
                total += sides[q]
                found += reached[q]
                q += 1
            if allowed[column]:
                least = min(least, total)
                if total < goal and (found < best or chosen < 0):
                    best, chosen = found, column
        lower = max(lower, min(least, leaf))
        if chosen < 0 or least >= goal or lower >= goal:
            return used[:count], lower, upper
        known[:] = 0
        count_column(c, chosen, scratch, cost, known)
        found = np.float64(c.price // c.unit)
        for q in range(c.firsts[chosen] + chosen, c.firsts[chosen + 1] + chosen + 1):
            reached[q] = cost[q]
            found += cost[q]
        upper = min(upper, found)
        q, rises = 0, False
        for column in range(n_columns):
            for _ in range(c.firsts[column + 1] - c.firsts[column] + 1):
                rises |= allowed[column] and known[q] > sides[q]
                q += 1
        if not rises:
            return used[:count], lower, upper
        for q in range(n_literals):
            sides[q] = max(sides[q], np.float64(known[q]))
            known_by[count, q] = known[q]
        used[count] = chosen
        count += 1


@compiled
def needed_of(first, known, splits, firsts, price, bound):  # type: ignore[no-untyped-def]
    """(m,) whether a bound needs what follows from each of some claims or columns (m, Q), the last ones left out first.

    `first` (Q,) are the bounds of sides that rest on nothing, `splits` (P,) says which columns count.
    """
    kept = np.ones(len(known), np.bool_)
    for left_out in range(len(known) - 1, -1, -1):
        kept[left_out] = False
        least, q = np.inf, 0
        sides = first.copy()
        for a in range(len(known)):
            if kept[a]:
                for other in range(len(sides)):
                    sides[other] = max(sides[other], known[a, other])
        for column in range(len(splits)):
            total = price
            for _ in range(firsts[column + 1] - firsts[column] + 1):
                total += sides[q]
                q += 1
            if splits[column]:
                least = min(least, total)
        kept[left_out] = least < bound
    return kept


@compiled
def weigh_outside(others, packed, kind_of_word, worst):  # type: ignore[no-untyped-def]
    """(m,) the weight of the rows of each of some packed rows (m, W) that are not among others (W,)."""
    found = np.zeros(len(others))
    for a in range(len(others)):
        for w in range(len(packed)):
            found[a] += worst[kind_of_word[w], 0] * count_ones(others[a, w] & ~packed[w])
    return found


class Searched(Sums):
    """What the prover asks of sums beside what the checkers do, where nothing of it is compiled."""

    firsts: Array
    is_compiled = False

    def packed(self, i: Array) -> Array:
        """The rows i as (n,) bool."""
        among = np.zeros(self.n, np.bool_)
        among[i] = True
        return among

    def shallow(self, i: Array) -> tuple[Any, Any, Array, Array]:
        """The least costs of a leaf and of depth two or less, and (Q,) of every side's leaf and tree of one split."""
        _, leaves, stumps, _ = self.sides(i)
        best = min(self.leaf(i), self.by_column(np.minimum(leaves, stumps), i).min())
        return self.leaf(i), best, leaves, stumps

    def weights_outside(self, others: Array, packed: Array) -> Array:
        """(m,) the weight of the rows of each of `others`, packed (m, W), that are not among the packed ones."""
        return np.asarray((others & ~packed).astype(np.float64) @ self.w)

    def needed(self, claim: Claim, known: Array) -> Array:
        """(m,) whether the bound of a claim needs each of its columns and anchors, by what follows from it (m, Q)."""
        first, price = claim.at_first.astype(np.float64), float(self.split)
        found: Array = needed_of(first, known.astype(np.float64), claim.splits, self.firsts, price, claim.lower)
        return found


@final
class ProverSquares(CompiledSquares, Searched):
    """Grid costs for claims that are being improved."""


@final
class ProverSums(CompiledSums, Searched):
    """Sums for claims that are being improved."""

    def weights_outside(self, others: Array, packed: Array) -> Array:
        if not self.is_compiled:
            return super().weights_outside(others, packed)
        found: Array = weigh_outside(others, packed, self.kind_of_word, self.worst)
        return found

    def improve_by_columns(self, claim: Claim, target: float) -> tuple[Array, Array, float]:
        """Counts columns of a claim of depth three, of the prover, until its bound is the target.

        Raises its sides and lowers what is reached; returned are the columns that raised a side, by their places, what
        followed from each (m, Q), and the cost of the best tree.
        """
        claim.sides, claim.reached = claim.sides.astype(np.float64), claim.reached.astype(np.float64)
        known = np.empty((len(self.starts), len(claim.sides)), np.int64)
        used, _, upper = improve_by_columns(
            self.counts(claim.rows),
            claim.sides,
            claim.reached,
            claim.splits,
            claim.leaf,
            claim.upper,
            claim.lower,
            target,
            known,
        )
        return used, known[: len(used)].copy(), float(upper)
