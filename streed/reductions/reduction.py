"""The drivers of tasks of several sums: by another driver's scalar solves, or by its own way, with limits checked."""

from __future__ import annotations

import itertools
import time
from typing import Any, ClassVar, final

import attrs
import numpy as np

from streed.enumerate.vector_trees import Trees
from streed.errors import MismatchError, TaskError
from streed.exact import Array
from streed.problem import Driver, Outcome, Problem, SearchLimits, SearchStopped, Solution
from streed.problem.oracle_by_search import FixedCosts
from streed.reductions import dinkelbach, penalised, supported_points
from streed.reductions.oracle import Incumbent, Oracle
from streed.reductions.plan import make_plan
from streed.task import Task
from streed.task.algebra import Threshold
from streed.task.analysis.row_costs import row_sum
from streed.task.bounded_sums import SumLimit
from streed.task.objective import limited, record_of
from streed.task.sums import check_summed
from streed.tree.predictions import count_branches, predict_data


@final
@attrs.frozen(eq=False)
class Reduction(Driver):
    """Solves tasks of several sums by the scalar solves of another driver."""

    driver: Driver
    name: ClassVar[str] = "reduction"

    def knows_gap(self, task: Task) -> bool:
        return False

    def check(self, task: Task) -> None:
        first: Any = record_of(task).parts[0]
        check_summed(first, "a reduction adds up what trees cost")
        for limit in task.limits:
            if limit.support is None:
                raise TaskError(
                    f"a reduction enforces limits on the rows of leaves only, and {limit!r} has no support; use "
                    'MinSupport, or search="general"'
                )
        sums = None if first.components is None else first.rated.components
        if sums is not None and len(sums) != 2:
            raise TaskError(f'{type(first.rated).__name__} has {len(sums)} sums, not two; use search="general"')
        self.driver.check(limited(FixedCosts(np.zeros((1, 1), np.int64), 0), task.limits))

    def search(self, problem: Problem, search_limits: SearchLimits) -> Outcome:
        begin = time.perf_counter()
        plan = make_plan(problem)
        problem = plan.problem
        trees = Trees(problem, plan.parts, plan.splits, self.driver, search_limits)
        oracle = Oracle(trees, plan.intervals)
        incumbent = Incumbent(plan.rank_of, oracle.allows)
        trees.best = lambda: None if incumbent.found is None else plan.value(incumbent.found, trees.value_ranges)
        stopped, name = None, "supported points" if plan.fraction is None else "dinkelbach"
        try:
            if plan.price is not None:
                name = "penalized"
                penalised.maximise(oracle, plan.price, plan.fraction, incumbent)
            elif plan.fraction is not None:
                dinkelbach.maximise(oracle, plan.fraction, incumbent)
            else:
                supported_points.maximise(oracle, incumbent)
        except SearchStopped as stop:
            stopped = stop.reason
        except KeyboardInterrupt:
            stopped = "interrupt"
        finally:
            last = trees.close()
        counts = {"scalar_solves": trees.solves, "enumerations": trees.enumerations, "nodes": trees.nodes}
        seconds = {"seconds_scalar": trees.seconds, "seconds_search": time.perf_counter() - begin}
        stats: dict[str, Any] = {**last, "exact": plan.wide is None, "reduction": name, **counts, **seconds}
        lower, bound = plan.bounds(incumbent.bound)
        if incumbent.found is None:
            return Outcome((), lower, stopped, stats, score_bound=bound)
        weighed = trees.weigh(incumbent.found)
        root = plan.relabelled(incumbent.found, weighed)
        stats["limits"] = [
            check_limit(limit, problem, weighed.predicted, incumbent.found.branches) for limit in limits_of(problem)
        ]
        score = None if plan.shown is None else plan.shown(incumbent.rank)
        value = plan.exact_value(incumbent.found, weighed, trees.value_ranges)
        if plan.wide is not None:
            stats["rounding"] = plan.wide.rounding(incumbent.found.branches)
            if stopped is None and lower is not None and value[0] > lower[0]:
                stopped = "rounding"
        return Outcome((Solution(value, root, score=score),), lower, stopped, stats, score_bound=bound)


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
        limits = limits_of(problem)
        if not limits:
            return outcome
        found = []
        for solution in outcome.solutions:
            predicted, nodes = predict_data(solution.root, problem.data), count_branches(solution.root)
            found.append([check_limit(limit, problem, predicted, nodes) for limit in limits])
        return attrs.evolve(outcome, stats={**outcome.stats, "limits": found[0]}) if len(found) == 1 else outcome


def limits_of(problem: Problem) -> list[SumLimit | Threshold]:
    """The limits on sums of the whole tree, which can be counted from the raw rows."""
    record, data = record_of(problem.task), problem.data
    countable = [row_sum(part, data) is not None for part, _ in record.limited]
    thresholds = map(Threshold, record.unbound[1:], record.most)
    return [*record.sum_limits, *itertools.compress(thresholds, countable)]


def check_limit(limit: SumLimit | Threshold, problem: Problem, predicted: Array, nodes: int) -> dict[str, Any]:
    """What the limited quantity came to by predictions (n,) on the raw rows; raises MismatchError if too much."""
    found = limit.achieved(problem.data, predicted, nodes)
    if not found["holds"]:
        raise MismatchError(f"{limit!r} is broken by the tree found: {dict(found)}; please report this")
    return dict(found)
