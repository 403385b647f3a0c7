"""Lower bounds of trees for many rows, by the best trees of disjoint samples of them.

A tree for all rows serves each sample, and where costs are added over rows, or splitting rows never raises them, it
costs at least what it costs on each sample, added up. So, for disjoint samples S_i of the rows D,

    opt(D) >= sum of opt(S_i),

where each sample pays its share of the price of a split, and leaves may be of any size. A sample need not be solved:
that nothing costs less than a target on it is shown much sooner than what its optimum is. The nearer the target is to
the optimum the longer that takes, so that the target follows the time that is left for each sample. Where even the
least target of the smallest samples takes longer, some samples are given the time of others, which then add nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import final

import attrs
import numpy as np

from streed.exact import Array
from streed.kernels.compilation import clock
from streed.ordered.problem import SearchedRows
from streed.ordered.session import OrderedSession

ROWS = 3_000
"""Of the first sample. On fewer, trees learn much by heart, so that they cost less."""

_FEWEST_ROWS, _MOST_ROWS = 200, 10_000
"""Of a sample."""

FEWEST = 20_000
"""Rows from which on samples are worth it: fewer are soon searched themselves."""

_TARGETS = (1 / 4, 3 / 8, 1 / 2, 5 / 8, 3 / 4, 7 / 8, 1.0)
"""Of a sample's share of what the best tree known costs; the last is for its optimum."""

_FIRST = 2

_SPARE = 4
"""A sample may take so many times the seconds that are left for each."""

_SEED = 1


@final
@attrs.frozen(eq=False)
class Samples:
    """Disjoint samples of some rows, and the trees that are asked for."""

    rows: SearchedRows
    max_depth: int | None
    max_nodes: int | None
    size: int
    """Rows of the first sample."""
    threads: int = 1

    def bound(self, cost: int, seconds: float, look: Callable[[int], str | None]) -> tuple[int, str | None]:
        """(lower, stopped): no tree for all rows costs less, as `OrderedAnswer` says of both.

        `cost`: of a tree. `look` is told the bound after each sample, and gives a reason to stop or None.
        """
        rows = self.rows
        deadline = clock() + seconds
        order = np.random.default_rng(_SEED).permutation(rows.n_rows)
        excess = (cost - rows.base) // rows.divisor
        lower, target, size, at = rows.base, _FIRST, min(self.size, rows.n_rows), 0
        patience = 1
        try:
            while at < len(order):
                now = clock()
                left = deadline - now
                if left <= 0:
                    return lower, "time"
                share = patience * left * size / (len(order) - at)
                found, stopped = self._solve(order[at : at + size], _TARGETS[target], excess, min(_SPARE * share, left))
                at += size
                lower += found
                reason = "interrupt" if stopped == "interrupt" else look(lower)
                if reason is not None:
                    return lower, reason
                if stopped is not None:
                    if size <= _FEWEST_ROWS and target == 0:
                        patience *= 2
                    size = max(_FEWEST_ROWS, size // 2)
                target, size = _next(target, size, (clock() - now) / share)
        except KeyboardInterrupt:
            return lower, "interrupt"
        return lower, None

    def _solve(self, chosen: Array, target: float, excess: int, seconds: float) -> tuple[int, str | None]:
        """(how much more than its base a sample costs at least, what stopped its search).

        Trees that cost the target or more, as a share of what the sample's share of `excess` is, are not asked for.
        """
        rows = self.rows.sample(np.sort(chosen))
        most = target * excess * self.rows.divisor * len(chosen) / self.rows.n_rows
        below = None if target == _TARGETS[-1] else rows.base + int(most)
        session = OrderedSession(rows)
        answer = session.solve(self.max_depth, self.max_nodes, below=below, time_limit=seconds, threads=self.threads)
        return max(0, answer.lower - rows.base), answer.stopped


def _next(target: int, size: int, spent: float) -> tuple[int, int]:
    """The target and the size of the sample after one that spent so much of its share of the time."""
    if spent > 1:
        return max(target - 1, 0), size
    if spent < 0.5:
        return (target + 1, size) if target < len(_TARGETS) - 1 else (target, min(_MOST_ROWS, 2 * size))
    return target, size
