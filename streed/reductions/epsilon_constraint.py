"""The front of an objective and one gap, by limits on the gap that fall from point to point.

    e_1 = the best of all trees, with gap g_1;  e_2 = the best of the trees with gap < g_1;  and so on

Every point of the front is met, since no tree of gap < g_i is better than e_(i+1), and a point that the next one equals
or beats in the objective goes. Gaps are fractions, and "less than g" is kept exactly: |z| <= ceil(g * size) - 1. It is
the epsilon-constraint method of Y. Y. Haimes, L. S. Lasdon, D. A. Wismer (1971), without an epsilon.
"""

from __future__ import annotations

import time
from fractions import Fraction
from typing import Any, ClassVar, final

import attrs

from streed.dp.dominance import nondominated_at_root
from streed.dp.ideal_point import ideal_score
from streed.kernels.compilation import clock
from streed.problem import Driver, Outcome, Problem, SearchLimits, Solution
from streed.reductions.reduction import Reduction, check_limit
from streed.task import Task
from streed.task.objective import Objective, record_of
from streed.tree.predictions import count_branches, predict_data


@final
@attrs.frozen(eq=False)
class TradeOff(Driver):
    """Finds the front of an objective and a gap by scalar solves of another driver."""

    driver: Driver
    name: ClassVar[str] = "trade-off"

    def check(self, task: Task) -> None:
        Reduction(self.driver).check(task)

    def search(self, problem: Problem, search_limits: SearchLimits) -> Outcome:
        begin, started = time.perf_counter(), clock()
        trade = record_of(problem.task)
        solutions: list[Solution] = []
        below: Fraction | None = None
        counts: dict[str, Any] = {"scalar_solves": 0, "enumerations": 0, "nodes": 0, "limited_solves": 0}
        stopped = None
        last: Outcome | None = None
        first: Any = None
        try:
            while below is None or below > 0:
                left = None if search_limits.time_limit is None else search_limits.time_limit - (clock() - started)
                if left is not None and left <= 0:
                    stopped = "time"
                    break
                scalar = attrs.evolve(problem, task=trade.with_gap_below(below))
                last = Reduction(self.driver).search(scalar, attrs.evolve(search_limits, time_limit=left))
                counts["limited_solves"] += 1
                if below is None:
                    first = _first_bound(trade, last)
                for key in ("scalar_solves", "enumerations", "nodes"):
                    counts[key] += last.stats[key]
                if last.stopped is not None:
                    stopped = last.stopped
                    solutions.extend(last.solutions)
                    break
                if not last.solutions:
                    break
                solution = last.solutions[0]
                below = trade.gaps_of(solution.value)[0]
                predicted, nodes = predict_data(solution.root, problem.data), count_branches(solution.root)
                check_limit(trade.gaps[0] <= below, problem, predicted, nodes)
                solutions.append(solution)
        except KeyboardInterrupt:
            stopped = "interrupt"
        kept = nondominated_at_root(problem.task, [each.value for each in solutions])
        stats = {
            "route": "trade-off",
            "reduction": "trade-off",
            "threads": search_limits.threads,
            "exact": last is None or last.stats["exact"],
            **({} if last is None else {key: last.stats[key] for key in ("peak_bytes",) if key in last.stats}),
            **counts,
            "seconds_search": time.perf_counter() - begin,
        }
        if stopped is not None:
            most = None if below is None else float(below)
            stats["missing"] = {"gap_below": most, "score_bound": _bound(trade, last)}
        # a limited solve knows the score of the objective only
        found = tuple(attrs.evolve(solutions[at], score=None) for at in kept)
        ideal = None
        if stopped is not None:
            ideal = ideal_score(problem) if first is None else (first, *[0.0] * len(trade.gaps))
        return Outcome(found, None, stopped, stats, score_bound=ideal)


def _first_bound(trade: Objective, unlimited: Outcome) -> Any:
    """A score that the objective of no tree is better than, by a solve of any gap; None if nothing is known."""
    if unlimited.stopped is None and unlimited.solutions:
        return trade.first_score(trade.objective_of(unlimited.solutions[0].value))
    if unlimited.score_bound is not None:
        return unlimited.score_bound
    if unlimited.lower is None:
        return None
    return trade.first_score(unlimited.lower[0])


def _bound(trade: Objective, last: Outcome | None) -> float | None:
    """No tree of a smaller gap has a better score, by a search that was stopped; None if nothing is known."""
    if last is None:
        return None
    if last.score_bound is not None:
        return float(last.score_bound)
    return None if last.lower is None else float(trade.first_score(last.lower[0]))
