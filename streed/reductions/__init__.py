"""Tasks with several sums, solved by scalar solves on any driver, where the facts that they declare allow it.

A reduction asks a driver only for trees of least weighted cost per row, so it runs on all of them, and it reads what
`streed.task.bounded_sums` lets a task declare, never which task it is. Scores of two sums are in `scores.py`, minus a
price for every branching node in `penalised.py`, limits on sums over the whole tree (fairness) in `lagrangian.py`.
"""

from __future__ import annotations

import itertools
import time
from fractions import Fraction
from typing import Any, ClassVar, final

import attrs
import numpy as np

from streed.data import Dataset
from streed.dp.solutions import ideal_score, nondominated_at_root
from streed.drivers.closing import NEAR_OPTIMAL, Further, best_within_rounding, shortened
from streed.errors import InputError, MismatchError, TaskError
from streed.exact import LARGEST_TOTAL, Array
from streed.kernels.compilation import clock
from streed.problem import Driver, Outcome, Problem, SearchLimits, SearchStopped, Solution
from streed.problem.linear_oracle import FixedCosts
from streed.reductions import penalised, scores
from streed.reductions.plan import Plan, make_plan
from streed.reductions.scores import Oracle
from streed.tables.vector_trees import EvaluatedTree, Trees
from streed.task import Task
from streed.task.algebra import Threshold
from streed.task.analysis.linear_form import row_cost_form
from streed.task.bounded_sums import SumLimit, exact_costs, integer_weights, row_sum
from streed.task.objective import Objective, check_summed, limited, record_of
from streed.tree.nodes import count_branches, predict_data

_NOT_FINE = 2**31
"""Of a limited sum: it is multiplied by numbers about as large."""

_SCALAR = FixedCosts(np.zeros((1, 1), np.int64), 0)
"""What drivers are asked for, whatever the costs."""


def reduced(task: Task, driver: Driver, data: Dataset) -> Driver:
    """The driver itself, or one that asks it for scalar solves, if it `reduces` and the task has several sums.

    Of more than two sums, only those of limits are reduced. Of one sum, under limits on values, the fronts are
    searched, unless its costs are too fine for that.
    """
    record = record_of(task)
    several = driver.reduces and (record.of_sums or (record.most and _is_fine(record, data)))
    if not several or not _is_reducible(record, data):
        return driver
    return TradeOff(driver) if record.gaps else Reduction(driver)


def _is_fine(record: Objective, data: Dataset) -> bool:
    """Whether the first part is a cost per row too fine for exact sums of 64 bits, and limited sums are not."""
    form = row_cost_form(record.parts[0].bind(data), data)
    if form is None or exact_costs(form, data).wide is None:
        return False
    try:
        integer_weights(data)
    except InputError:
        return False
    sums = [row_sum(part.bind(data), data) for part, _ in record.limited]
    return all(each is not None and max(map(abs, each.spread)) < _NOT_FINE for each in sums)


def _is_reducible(record: Objective, data: Dataset) -> bool:
    """Whether the record is a cost per row or a score of two sums, with one gap and limited sums of whole costs."""
    found = [row_sum(part.bind(data), data) for part, _ in record.limited]
    whole = [each is not None and each.costs.dtype != object and 0 <= each.split < LARGEST_TOTAL for each in found]
    first: Any = record.parts[0].bind(data)
    if len(record.gaps) > 1 or not all(whole):
        return False
    return row_cost_form(first, data) is not None if first.components is None else len(first.rated.components) == 2


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
                found = f"a reduction enforces limits on the rows of leaves only, and {limit!r} has no support"
                raise TaskError(f'{found}; use MinSupport, or search="general"')
        self.driver.check(limited(_SCALAR, task.limits))

    def search(self, problem: Problem, search_limits: SearchLimits) -> Outcome:
        begin, started = time.perf_counter(), clock()
        plan = make_plan(problem)
        problem = plan.problem
        trees = Trees(problem, plan.parts, plan.splits, self.driver, search_limits.after(clock() - started), plan.kind)
        oracle = Oracle(trees, plan.intervals, plan.rank_of)
        trees.best = lambda: None if oracle.found is None else plan.value(oracle.found, trees)
        stopped, name = None, "supported points" if plan.fraction is None else "dinkelbach"
        try:
            if plan.price is not None:
                name = "penalized"
                penalised.maximise(oracle, plan.price, plan.fraction)
            else:
                scores.maximise(oracle, plan.fraction)
        except SearchStopped as stop:
            stopped = stop.reason
        except KeyboardInterrupt:
            stopped = "interrupt"
        finally:
            last = trees.close()
        stats: dict[str, Any] = {**last, "exact": plan.wide is None, "reduction": name, **trees.tally}
        stats["seconds_search"] = time.perf_counter() - begin
        lower, bound = plan.bounds(oracle.bound)
        if oracle.found is None:
            return Outcome((), lower, stopped, stats, score_bound=bound)
        weighed = trees.weigh(oracle.found)
        value = plan.exact_value(oracle.found, weighed, trees)
        if plan.wide is not None:
            stats["rounding"] = plan.wide.rounding(oracle.found.branches)
            if stopped is None and lower is not None and value[0] > lower[0]:
                closed, stopped = self._within_rounding(plan, oracle, value[0], search_limits, begin)
                if closed is not None:
                    oracle.found = trees.labelled(closed.preorder, closed.labels)
                    weighed = trees.weigh(oracle.found)
                    value = plan.exact_value(oracle.found, weighed, trees)
                if stopped is None:
                    lower, stats = value, {**stats, "exact": True, "rounding": 0, "closed": NEAR_OPTIMAL}
        root = plan.measured_root(oracle.found, weighed)
        stats["limits"] = [
            check_limit(limit, problem, weighed.predicted, oracle.found.branches) for limit in limits_of(problem)
        ]
        score = None if plan.shown is None else plan.shown(oracle.rank)
        return Outcome((Solution(value, root, score=score),), lower, stopped, stats, score_bound=bound)

    def _within_rounding(
        self, plan: Plan, oracle: Oracle, value: Any, search_limits: SearchLimits, begin: float
    ) -> tuple[EvaluatedTree | None, str | None]:
        """(a tree of less exact cost than the best one by rounded costs, if any; why that is not known)."""
        took = time.perf_counter() - begin
        limits = shortened(search_limits.after(took), took)
        if plan.costs is None or limits.time_limit == 0:
            return None, "rounding"
        scale, multipliers = oracle.scaled
        sums = map(Further, plan.parts[1:][:, plan.kind], plan.splits[1:], multipliers, plan.intervals)
        given = plan.problem, plan.costs, value, self.driver, limits
        try:
            return best_within_rounding(*given, tuple(sums), scale), None
        except SearchStopped as stop:
            return None, stop.reason if stop.reason == "interrupt" else "rounding"


def within_limits(problem: Problem, outcome: Outcome) -> Outcome:
    """What any driver found, with `stats["limits"]` if it is one tree; raises MismatchError for a broken limit on sums.

    Reductions look at their own trees.
    """
    record = problem.task
    asked = type(record) is Objective and record.of_sums and "reduction" not in outcome.stats
    limits, found = limits_of(problem) if asked else [], []
    for solution in outcome.solutions if limits else ():
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


@final
@attrs.frozen(eq=False)
class TradeOff(Driver):
    """Finds the front of an objective and a gap by scalar solves of another driver.

    The best of all trees has a gap g, then the best of the trees of gap < g another one, and so on: every point of the
    front is met. It is the epsilon-constraint method of Y. Y. Haimes, L. S. Lasdon, D. A. Wismer (1971).
    """

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
