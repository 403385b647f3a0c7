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
        counts = dict.fromkeys(("scalar_solves", "enumerations", "nodes", "limited_solves"), 0)
        stopped, bound, first, known = None, None, None, {"exact": True}
        try:
            while stopped is None and (below is None or below > 0):
                limits = search_limits.after(clock() - started)
                if limits.time_limit == 0:
                    stopped = "time"
                    break
                scalar = attrs.evolve(problem, task=trade.with_gap_below(below))
                last = Reduction(self.driver).search(scalar, limits)
                stopped, bound = last.stopped, _bound(trade, last)
                first = bound if below is None else first
                known = {key: last.stats[key] for key in ("exact", "peak_bytes") if key in last.stats}
                for key in counts:
                    counts[key] += last.stats.get(key, 1)
                solutions.extend(last.solutions)
                if stopped is None:
                    if not last.solutions:
                        break
                    (solution,) = last.solutions
                    below = trade.gaps_of(solution.value)[0]
                    predicted, nodes = predict_data(solution.root, problem.data), count_branches(solution.root)
                    check_limit(trade.gaps[0] <= below, problem, predicted, nodes)
        except KeyboardInterrupt:
            stopped = "interrupt"
        stats: dict[str, Any] = {"route": self.name, "reduction": self.name, "threads": search_limits.threads}
        stats |= known | counts | {"seconds_search": time.perf_counter() - begin}
        ideal = None
        if stopped is not None:
            missing = None if below is None else float(below), None if bound is None else float(bound)
            stats["missing"] = dict(zip(("gap_below", "score_bound"), missing, strict=True))
            ideal = ideal_score(problem) if first is None else (first, *[0.0] * len(trade.gaps))
        kept = nondominated_at_root(problem.task, [each.value for each in solutions])
        # a limited solve knows the score of the objective only
        found = tuple(attrs.evolve(solutions[at], score=None) for at in kept)
        return Outcome(found, None, stopped, stats, score_bound=ideal)


def _bound(trade: Objective, last: Outcome) -> Any:
    """A score that the objective of no tree within the limits of a solve is better than; None if nothing is known."""
    if last.stopped is None and last.solutions:
        return trade.first_score(trade.objective_of(last.solutions[0].value))
    if last.score_bound is not None or last.lower is None:
        return last.score_bound
    return trade.first_score(last.lower[0])
