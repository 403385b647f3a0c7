"""Scores minus a price for every branching node, F(v) - price * k, by scalar solves with a cost per node.

A fraction F = N / D, both affine in the sums v: a tree of k nodes, a <= k <= b, beats the incumbent f if

    N - f D - price k D > 0

Then v lies in a box and D between lo and hi, where the product k D is at least a D + k lo - a lo and at least
b D + k hi - b hi (McCormick 1976); either makes the left side linear: one scalar solve with a cost per node. No tree
above zero: none of a to b nodes beats f. A better tree: f rises. Neither: the interval is cut, since the first form is
exact at k = a and the second at k = b. A single k is left to the best score of the trees of at most k nodes, which is
all there is for scores that are no fractions.
"""

from __future__ import annotations

import math
import operator
from fractions import Fraction
from typing import Any, NamedTuple, final

import attrs
import numpy as np

from streed.exact import in_whole
from streed.problem import SearchStopped
from streed.reductions import scores
from streed.reductions.scores import Oracle
from streed.tables.vector_trees import EvaluatedTree, Vector
from streed.task.bounded_sums import LinearFraction


def maximise(oracle: Oracle, price: Fraction, score: LinearFraction | None) -> None:
    """Raises the oracle's best tree to the optimum, and proves it as far as the search goes."""
    oracle.seed()
    search = Search(oracle, price, score)
    try:
        search.run()
    finally:
        search.tighten()


class Relaxed(NamedTuple):
    """Trees that may beat the incumbent are those of weights . (v, k) < below, in whole numbers."""

    weights: list[int]
    below: int
    scale: Fraction
    """The whole numbers in those of the score's numerator."""
    floor: int
    """No denominator of a tree that may beat the incumbent is smaller."""


@final
class Search:
    """The intervals of numbers of nodes that are still open."""

    def __init__(self, oracle: Oracle, price: Fraction, score: LinearFraction | None) -> None:
        self.oracle, self.price, self.score = oracle, price, score
        self._highest = _highest(oracle, score)
        self._open: list[tuple[int, int]] = [(0, oracle.trees.problem.most_branches)]
        """By falling numbers of nodes."""
        self._looser: Any = None
        """A bound on the scores of the last open interval, by solves for it: one may have been stopped."""

    def run(self) -> None:
        """Closes all intervals, or raises SearchStopped."""
        oracle = self.oracle
        if oracle.found is None:
            found = oracle.minimise([1] * (len(oracle.trees.splits) - len(oracle.intervals)))
            if found is None:
                self._open = []
                return
            oracle.offer(found)
        while self._open:
            a, b = before = self._open[-1]
            most = b
            if oracle.found is not None and self.price:  # trees of more nodes cannot beat the incumbent
                most = min(b, math.ceil((self._highest - oracle.rank) / self.price) - 1)
            if a > most:
                self._open.pop()
            elif self.score is not None:
                self._look_into(a, most)
            else:
                self._search_budget(*((a, a) if self.price else (oracle.trees.problem.max_nodes, 0)))
                self._open[-1:] = [(a + 1, b)] if self.price and a < b else []
            if before not in self._open[-1:]:
                self._looser = None

    def tighten(self) -> None:
        """Sets the incumbent's bound to what is proved."""
        known = [] if self.oracle.found is None else [self.oracle.rank]
        opened = [self._highest - self.price * a for a, b in self._open]
        if self._looser is not None and opened:
            opened[-1] = min(opened[-1], self._looser)
        self.oracle.bound = max(known + opened, default=None)

    # -- fractions -------------------------------------------------------------------------------------------------

    def _look_into(self, a: int, b: int) -> None:
        """Closes the interval of a to b nodes, the last one open, or splits it, or raises the incumbent."""
        nodes, before = [], self.oracle.rank
        for form in (0, 1):
            found = self._improve(a, b, form)
            if found is None:
                self._open.pop()
                return
            if self.oracle.rank > before:
                return
            nodes.append(found.vector[len(found.vector) - len(self.oracle.intervals) - 1])
        if a == b:
            self._search_budget(a, a)
        cut = min(max(nodes[0], a + 1), b)
        self._open[-1:] = [(cut, b), (a, cut - 1)] if a < b else []

    def _improve(self, a: int, b: int, form: int) -> EvaluatedTree | None:
        """A tree that may beat the incumbent by the form that is exact at a (0) or b (1) nodes; None if none may."""
        rank = self.oracle.rank
        ends = self._ends(rank + self.price * a)
        if ends is None:
            return None
        at = (a, b)[form]
        relaxed = self._question(rank + self.price * at, ends[form] * self.price, at, ends[0], form)
        try:
            found = self.oracle.minimise(relaxed.weights, relaxed.below)
        except SearchStopped as stop:
            if stop.lower is not None:
                self._loosen(relaxed, stop.lower, rank)
            raise
        if found is None:
            return None
        cost = sum(map(operator.mul, relaxed.weights, found.vector))
        if cost >= relaxed.below:
            return None
        self._loosen(relaxed, cost, rank)
        self.oracle.offer(found)
        return found

    def _loosen(self, relaxed: Relaxed, least: int, rank: Any) -> None:
        """Takes what a solve says of the last open interval: no tree costs less, where the incumbent scored `rank`."""
        if relaxed.floor > 0:
            excess = max(Fraction(0), (relaxed.below - least) / relaxed.scale)
            bound = rank + excess / relaxed.floor
            self._looser = bound if self._looser is None else min(self._looser, bound)

    def _question(self, s: Fraction, per_node: Fraction, at: int, floor: int, form: int) -> Relaxed:
        """N - s D - per_node (k - at) > 0 in whole numbers, of 64 bits.

        To fit, s is rounded down, and per_node down or, where k <= at (form 1), up: that asks for less, as D > 0.
        """
        score = self.score
        assert score is not None
        for bits in (None, 40, 30, 20, 10):
            if bits is not None:
                s = Fraction(math.floor(s * 2**bits), 2**bits)
                per_node = Fraction(math.ceil(per_node) if form else math.floor(per_node))
            weights, scale = in_whole([*score.weights_at(s), per_node])
            if self.oracle.trees.is_summable(weights):
                break
        return Relaxed(weights, math.ceil((score.top - s * score.base + per_node * at) * scale), scale, floor)

    def _ends(self, s: Fraction) -> tuple[int, int] | None:
        """Whole numbers between which D is for all trees with N > s D; None if there are none."""
        assert self.score is not None
        score = self.score
        weights = score.weights_at(s)
        box = self.oracle.value_ranges()[: len(weights)]
        slack = score.top - s * score.base - sum(min(w * x for x in side) for w, side in zip(weights, box, strict=True))
        if slack <= 0:
            return None
        least, most = Fraction(score.base), Fraction(score.base)
        for w, slope, (low, high) in zip(weights, score.slopes, box, strict=True):
            end = min(high, low + math.floor(Fraction(slack) / w)) if w > 0 else high
            least += min(slope * low, slope * end)
            most += max(slope * low, slope * end)
        return max(0, math.floor(least)), math.ceil(most)

    # -- trees of at most so many nodes ----------------------------------------------------------------------------

    def _search_budget(self, max_nodes: int | None, charged: int) -> None:
        """Offers the best tree of at most `max_nodes` nodes, if its score beats the incumbent's and `charged` nodes."""
        trees = self.oracle.trees
        place = len(trees.splits) - len(self.oracle.intervals) - 1
        kept = [j for j in range(len(trees.splits)) if j != place]

        def rank_of(vector: Vector) -> Any:
            return self.oracle.rank_of((*vector[:place], 0, *vector[place:]))

        def whole(found: EvaluatedTree) -> EvaluatedTree:
            return attrs.evolve(found, vector=(*found.vector[:place], found.branches, *found.vector[place:]))

        with trees.restricted(kept, max_nodes=max_nodes) as inner:
            best = Oracle(inner, self.oracle.intervals, rank_of)
            if self.oracle.found is not None:
                rank, vector = self.oracle.rank + self.price * charged, self.oracle.found.vector
                # from nothing where the numbers of score and price are too large: those of scores alone are smaller
                if self.score is None or inner.is_summable(in_whole(self.score.weights_at(rank))[0]):
                    best.found = attrs.evolve(self.oracle.found, vector=(*vector[:place], *vector[place + 1 :]))
                    best.rank = rank
            start = best.found
            try:
                scores.maximise(best, self.score)
            finally:
                if best.found is not None and best.found is not start:
                    self.oracle.offer(whole(best.found))


def _highest(oracle: Oracle, score: LinearFraction | None) -> Any:
    """No tree scores more, were nodes free: of fractions, what a label for every distinct row would."""
    best = oracle.rank_of(tuple(least for least, _ in oracle.value_ranges()))
    if score is None:
        return best
    sums = np.moveaxis(oracle.trees.merged(oracle.trees.vectors), 2, 0)[: len(score.falls)]
    rank, f = Fraction(0), Fraction(-1)
    while rank > f:
        f = rank
        weights, _ = in_whole(score.weights_at(f))
        costs = sum(w * part.astype(object) for w, part in zip(weights, sums, strict=True))
        labels = np.asarray(costs).argmin(axis=1)
        rank = score.at(tuple(int(part[np.arange(len(labels)), labels].sum()) for part in sums))
    return min(best, f)
