"""All near-optimal trees of a task (its Rashomon set): counted exactly, listed in order of value, drawn at random.

`question.py` takes the task apart, `tables/packing.py` puts its sums in one key, the recursion of `dp/` counts trees by
key (`counting.py`, with the kernels of `tables/`) over the sets of rows of `cells.py`, `unranking.py` finds the i-th
tree again, and `rashomon_set.py` is what users see.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from streed.data import Dataset
from streed.dp.recursion import StopMonitor
from streed.errors import InputError, MismatchError, errors_of_methods
from streed.exact import Range
from streed.kernels.compilation import Compilation, clock
from streed.problem import SearchLimits
from streed.rashomon.counting import Budget, Counted, budget_of, count_first
from streed.rashomon.question import Question
from streed.rashomon.rashomon_set import RashomonSet
from streed.solve import check_stops, solve
from streed.solving import tree_limits
from streed.task import Limit, Task
from streed.task.algebra import as_costs
from streed.task.analysis.extent import affordable
from streed.task.analysis.facts import positive_class
from streed.task.contract import check_task
from streed.tree.evaluation import inspect

__all__ = ["RashomonSet", "rashomon"]


def rashomon(
    task: Task,
    X: Any,
    y: Any = None,
    *,
    max_depth: int | None = None,
    max_nodes: int | None = None,
    min_leaf: int = 1,
    epsilon: Any = None,
    slack: Any = None,
    budget: Any = None,
    n_best: int | None = None,
    columns: str = "distinct",
    labels: str = "all",
    trivial: bool = True,
    sample_weight: Any = None,
    frequency: Any = None,
    categorical: Any = None,
    max_cuts: int | str | None = None,
    threads: int = 1,
    time_limit: float | None = None,
    memory_limit: int | None = None,
    **row_data: Any,
) -> RashomonSet:
    """All trees whose value is near the optimum, as a set that counts, lists and draws them.

    How near says one of: `epsilon`, a part of the optimal value, such as 0.05 (the default): of a value that is to be
    small all up to (1 + epsilon) times the optimum, of a score all down to (1 - epsilon) times it, prices of splits
    included; `slack`, so much beyond the optimum, in the task's own unit; `budget`, the worst value itself, for which
    no optimum need be known; `n_best`, how many trees, the best ones, with all that tie with the last of them.
    `columns`: "distinct", equal and complementary columns are one, or "all", a tree
    counts for each of them. `labels`: "all", a leaf may have any label, or "best", the one that costs it least (the
    first of these). `trivial`: whether splits into leaves of one label count. Everything else is as in `streed.solve`;
    `threads` search for the optimum.

    Without a limit on the depth, splits must cost something, as in SparseAccuracy. On `time_limit` (seconds),
    `memory_limit` (bytes) and Ctrl-C the count is None, no trees are known, and the status is "stopped".

    Raises InputError for arguments that are not usable, and for tasks whose trees cannot be counted exactly, with the
    reason; TaskError as `streed.solve` does.
    """
    check_task(task)
    task = as_costs(task)
    near = _nearness(epsilon=epsilon, slack=slack, budget=budget, n_best=n_best)
    if not isinstance(trivial, bool):
        raise InputError("trivial", f"{trivial!r}", "give True or False")
    data = Dataset.make(
        X, y, sample_weight=sample_weight, frequency=frequency, categorical=categorical, max_cuts=max_cuts, **row_data
    )
    depth, nodes, _ = shape = tree_limits(max_depth, max_nodes, min_leaf, data)
    check_stops(time_limit, memory_limit, threads)
    data = affordable(task, data, depth, nodes, time_limit=None)
    question = Question.of(task, data, shape, labels, trivial, columns)
    if "budget" in near or not question.sums:  # else `solve` says it
        positive_class(task, data, warn=True)
    price = question.sums[0].split if question.sums else question.split
    if max_depth is None and nodes is None and (question.fraction is not None or price <= 0):
        raise InputError("max_depth", "where splits are free, trees have no end", "give max_depth=4, say")

    began, search_limits = clock(), SearchLimits(time_limit, memory_limit)
    limits = functools.partial(StopMonitor, search_limits)  # of a count that begins when it is called

    def rest() -> StopMonitor:
        """What is left of them."""
        return StopMonitor(search_limits.after(clock() - began))

    best, known = None, None
    within: Budget | Callable[[Any], Budget]
    if "budget" in near:
        within = budget_of(question, near["budget"])
    elif question.sums:
        result = solve(
            task, data, max_depth=max_depth, max_nodes=max_nodes, min_leaf=min_leaf, time_limit=time_limit,
            memory_limit=memory_limit, threads=threads,
        )  # fmt: skip
        if result.status not in ("optimal", "infeasible"):
            return RashomonSet(Counted(question, stopped=result.stats["stopped"] or "time"), limits)
        if result.tree is None:
            return RashomonSet(Counted(question), limits)
        best, known = question.rank(question.bound.objective_of(inspect(result.tree, task, data).value)), result.value
        within = _budget(question, best, **near)
    else:
        # leaves that are asked one by one are remembered by the count, which finds the optimum as it goes
        def within(least: Any) -> Budget:
            return _budget(question, question.rank(least), **near)

    with Compilation(lambda: f"near-optimal trees of {type(task).__name__}"), errors_of_methods(Task, Limit):
        counted = Counted.of(question, within, monitor=rest())
        if "n_best" in near and counted.stopped is None and counted.histogram.total:
            first = RashomonSet(counted, limits)
            known, counted = first.optimum, count_first(question, near["n_best"], first.best_rank, rest)
    trees = RashomonSet(counted, limits, None if counted.stopped is None else known)
    if best is not None and counted.stopped is None and trees.best_rank != best:
        raise MismatchError(f"the best counted value is {trees.optimum}, the optimum {known}; please report this")
    return trees


def _nearness(**given: Any) -> dict[str, Any]:
    """What of epsilon, slack, budget and n_best is given, an exact number by its name; epsilon = 0.05 if nothing is."""
    named = {name: each for name, each in given.items() if each is not None} or {"epsilon": 0.05}
    if len(named) > 1:
        raise InputError(next(iter(named)), f"given together with {', '.join(list(named)[1:])}", "give one of them")
    name, value = next(iter(named.items()))
    if name == "n_best":
        return {name: Range(1, whole=True).read(name, value)}
    return {name: Range(None if name == "budget" else 0).read(name, value)}


def _budget(question: Question, best: Any, epsilon: Any = 0, slack: Any = 0, n_best: Any = None) -> Budget:
    """The budget, of the best score; of so many trees that of the best ones."""
    beyond = abs(best) * epsilon + slack
    return budget_of(question, best - beyond if question.task.larger_is_better else best + beyond)
