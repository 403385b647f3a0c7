"""How bad the k-th best tree is: budgets that double until they hold k trees, counted no further than to the k-th.

Where the value rises with the key, every histogram on the way is cut after its k-th tree, ties included. Nothing is
lost, if trivial splits count: a tree among the k best has subtrees among the k best of theirs, or exchanging one for a
better one would give k trees that are better.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from streed.dp.stop_monitor import StopMonitor
from streed.rashomon.counting import Budget, Counted, budget_of
from streed.rashomon.question import Question

_STEPS, _STEPS_OF_SUMS = 40, 400
"""Budgets that are tried; each allows twice as much beyond the optimum.

Of one sum there may be more, as its unit may be tiny: they end where every tree is within the budget.
"""


def budget_of_first(question: Question, k: int, best: Any, limits: Callable[[], StopMonitor]) -> Budget | Counted:
    """The budget of the value of the k-th best tree, of the worst one if there are fewer; a count that was stopped.

    `best`: the score of the best tree, exactly.
    """
    sums = question.sums
    rises = not sums or (len(sums) == 1 and not question.limits and question.max_nodes is None)
    # without trivial splits, pairs of subtrees are left out, so that k of each may make fewer than k trees
    cuts = rises and question.trivial
    unit = Fraction(sums[0].unit) if len(sums) == 1 else Fraction(1, 64)
    least = sums[0].split // 64 if len(sums) == 1 else 0
    slack = max(abs(Fraction(best)) / 64, abs(unit) * max(1, least))
    sign = -1 if question.task.larger_is_better else 1
    for _ in range(_STEPS_OF_SUMS if len(sums) == 1 else _STEPS):
        budget = budget_of(question, best + sign * slack)
        counted = Counted.of(question, budget, monitor=limits(), enough=k if cuts else None)
        if counted.stopped is not None:
            return counted
        if counted.histogram.total >= k or counted.has_every_tree:
            break
        slack *= 2
    return budget_of(question, _rank_of_number(counted, k, sign))


def _rank_of_number(counted: Counted, k: int, sign: int) -> Any:
    """The score of the k-th best tree that was counted, of the worst one if there are fewer."""
    seen = 0
    ranks = sorted(counted.by_rank().items(), key=lambda each: sign * each[0])
    for rank, count in ranks:
        seen += count
        if seen >= k:
            return rank
    return ranks[-1][0]
