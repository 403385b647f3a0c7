"""What the reductions ask: a tree of least weighted sum among those that keep the limits; and the best tree so far."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, final

import attrs

from streed.enumerate.vector_trees import EvaluatedTree, Trees, Vector, Window
from streed.problem import SearchStopped
from streed.reductions.lagrangian import Relaxation


@final
@attrs.define(eq=False)
class Incumbent:
    """The best tree so far by a rank of its vector, larger is better, and what no tree's rank exceeds."""

    rank_of: Callable[[Vector], Any]
    allows: Callable[[Vector], bool]
    found: EvaluatedTree | None = None
    rank: Any = None
    bound: Any = None
    """None where nothing is known."""

    def offer(self, found: EvaluatedTree) -> bool:
        """Whether the tree is allowed and better; takes it if so."""
        if not self.allows(found.vector):
            return False
        rank = self.rank_of(found.vector)
        if self.found is not None and rank <= self.rank:
            return False
        self.found, self.rank = found, rank
        return True


@final
@attrs.frozen(eq=False)
class Oracle:
    """Trees under intervals on the last components of their vectors; the others are those of the objective."""

    trees: Trees
    intervals: tuple[Window, ...]

    def allows(self, vector: Vector) -> bool:
        """Whether a tree of this vector keeps the limits."""
        last = vector[len(vector) - len(self.intervals) :]
        return all(least <= x <= most for x, (least, most) in zip(last, self.intervals, strict=True))

    def minimise(self, weights: Sequence[int], below: int | None = None) -> EvaluatedTree | None:
        """An allowed tree of least weights . vector, by the objective's components; None if no tree is allowed.

        Trees whose sum is not below `below` need not be found. Raises SearchStopped, with a bound on that least sum
        where there is one, and the best tree so far.
        """
        if not self.intervals:
            return self.trees.cheapest(weights, below)
        relaxation = Relaxation(self.trees, weights, self.intervals, below)
        try:
            if self.trees.shallow is not None:
                relaxation.learn(self.trees.shallow)
            return relaxation.solve()
        except SearchStopped as stop:
            raise SearchStopped(stop.reason, relaxation.lower, relaxation.best) from stop

    def seed(self, incumbent: Incumbent) -> None:
        """Offers the trees that are a leaf."""
        if self.trees.problem.min_leaf <= self.trees.data.size:
            for found in self.trees.constants:
                incumbent.offer(found)

    def value_ranges(self) -> list[Window]:
        """The least and the largest sum of each of the objective's components that any labels give."""
        value_ranges = self.trees.value_ranges
        return value_ranges[: len(value_ranges) - len(self.intervals)]
