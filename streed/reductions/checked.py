"""Limits on sums that another way than a reduction has kept: counted anew from the raw rows."""

from __future__ import annotations

from typing import ClassVar, final

import attrs

from streed.problem import Driver, Outcome, Problem, SearchLimits
from streed.reductions.reduction import check_limit
from streed.task import Task
from streed.task.algebra import objective
from streed.tree.predictions import count_branches, predict_data


@final
@attrs.frozen(eq=False)
class Checked(Driver):
    """Another driver, all of whose trees are asked whether they keep the limits on sums."""

    driver: Driver
    name: ClassVar[str] = "checked"

    def knows_gap(self, task: Task) -> bool:
        return self.driver.knows_gap(task)

    def check(self, task: Task) -> None:
        self.driver.check(task)

    def search(self, problem: Problem, search_limits: SearchLimits) -> Outcome:
        """What the driver finds, with `stats["limits"]` if it is one tree; raises MismatchError for a broken limit."""
        outcome = self.driver.search(problem, search_limits)
        limits = objective(problem.task).vector_form.limits
        if not limits:
            return outcome
        found = []
        for solution in outcome.solutions:
            predicted, nodes = predict_data(solution.root, problem.data), count_branches(solution.root)
            found.append([check_limit(limit, problem, predicted, nodes) for limit in limits])
        return attrs.evolve(outcome, stats={**outcome.stats, "limits": found[0]}) if len(found) == 1 else outcome
