"""The steps of a solve: a known tree is made better, the rest searched, and what is found said in the caller's terms.

Subtrees of a few levels of a known tree are replaced by exact ones: it gets better or stays the same.
"""

from __future__ import annotations

import functools
import numbers
import operator
import time
from typing import Any, final

import attrs
import numpy as np

from streed import drivers as searches
from streed.data import Dataset
from streed.drivers.closing import checked
from streed.errors import InputError
from streed.exact import Array, Range, exact_number, readable, readable_bound
from streed.kernels.compilation import Compilation, clock
from streed.problem import Driver, Outcome, Problem, SearchLimits, Solution
from streed.problem.known_tree import adopt, beats, best_leaf, read_upper_bound, value_of_score, worth
from streed.reductions import reduced, within_limits
from streed.result import Progress, Reporter, Result, extent_text
from streed.task import Task, Totals
from streed.task.algebra import as_costs, gain_sign
from streed.task.analysis.extent import OVER_ALL, affordable, bound_over_all
from streed.task.analysis.facts import positive_class, reads
from streed.task.analysis.linear_form import adds
from streed.task.base import objective, scoring
from streed.task.contract import check_contract, is_shipped
from streed.tree import Branch, Claims, Node, Tree
from streed.tree.evaluation import check_declarations, count_rows, leaf_displays
from streed.tree.nodes import count_branches, depth_of, sides_in

_MOST, _LEAST = Range(0, whole=True, optional=True), Range(1, whole=True)


@attrs.frozen(eq=False)
class Asked:
    """What the caller of a solve asks for, beside the task and the data."""

    trees: tuple[Any, Any, Any]
    """max_depth, max_nodes and min_leaf, as given."""
    search: Any
    orders: SearchLimits
    gap: Any
    upper_bound: Any
    warm_start: Any


@final
class Solving:
    """One solve: made, then `search`, then `answer`."""

    def __init__(self, task: Task, data: Dataset, asked: Asked, listener: Reporter, begin: float) -> None:
        """Checks all that can be checked before the search, and reads what is to beat."""
        self.asked, self.begin = asked, begin
        self._listener = listener
        self.task = as_costs(task)
        limits = tree_limits(*asked.trees, data)
        self.min_leaf = limits[2]
        self._own = not is_shipped(self.task)
        if self._own:
            data = check_contract(task, data)
        self._larger = self.task.larger_is_better
        data = self.data = affordable(self.task, data, *limits[:2], time_limit=asked.orders.time_limit)
        given = _driver(asked.search)
        driver = reduced(self.task, given, data)  # and a way to search ordered columns, where there are any
        self._driver = searches.OverOrdered(driver, given) if data.ordered else driver
        self._driver.check(self.task)
        if asked.gap is not None and not self._driver.knows_gap(self.task):
            raise InputError("gap", "the search for this task has no bound before its end", "leave it out")
        bound = self.task.bind(data)  # which says first what the task cannot take
        self._scoring = scoring(self.task, bound)
        self._positive = positive_class(task, data, warn=True)
        self._totals = Totals(self.task, data)
        self.problem = Problem(data, bound, *limits[:2], rows_needed(bound, limits[2], data))
        self.compilation = Compilation(functools.partial(_compiled, self.problem))
        self._orders, self._interrupted = asked.orders, False
        self._read_goal()

    def _read_goal(self) -> None:
        """Reads the value to beat, and the tree that is known, which is made better first."""
        asked, task = self.asked, self.task
        known = None if asked.warm_start is None else adopt(asked.warm_start, self.problem)
        goal = read_upper_bound(asked.upper_bound)
        if known is not None:
            with self.compilation:
                known, self._orders, self._interrupted = reoptimised(known, self.problem, self._driver, self._orders)
            reached = self._scoring.score(known.value, self._totals)
            beats(task, reached, reached)
            if goal is not None and not beats(task, reached, goal):
                known = None
            else:
                goal = reached
        self._known, self._goal = known, goal

    # -- the search ------------------------------------------------------------------------------------------------

    def search(self) -> Outcome:
        """What the driver found, checked, and compared with what was to beat."""
        limits = self._search_limits()
        with self.compilation:
            found = within_limits(self.problem, self._driver.search(self.problem, limits))
            outcome = checked(self.problem, found, limits.time_limit)
        if self._interrupted and outcome.stopped is not None:
            outcome = attrs.evolve(outcome, stopped="interrupt")
        if self._goal is not None:
            outcome = self._beating(outcome)
        elif outcome.stopped is not None and not outcome.solutions:
            leaf = best_leaf(self.problem, self._is_better)
            outcome = outcome if leaf is None else attrs.evolve(outcome, solutions=(leaf,))
        if self._own:
            for solution in outcome.solutions:
                check_declarations(self.problem.task, self.data, solution.root, lambda: self.problem.sums)
        return outcome

    def _search_limits(self) -> SearchLimits:
        asked, known, goal = self.asked, self._known, self._goal
        report = None if self._listener.silent else self._report
        within_gap = None if asked.gap is None else self._is_within_gap
        limits = self._orders
        if report is not None or within_gap is not None:
            limits = attrs.evolve(limits, report=report, within_gap=within_gap)
        if goal is None or not self._driver.knows_gap(self.task):
            return limits
        beat = known.value if known is not None else value_of_score(self._scoring, exact_number(goal), self._totals)
        return attrs.evolve(limits, beat=beat, hopeless=self._is_hopeless)

    def _shown(self, value: Any) -> Any:
        return None if value is None else readable(self._scoring.score(value, self._totals))

    def _report(self, best: Any, bound: Any, nodes: int, phase: str) -> None:
        if self._listener.due():
            self._listener.tell(self._progress(self._shown(best), self._shown(bound), nodes, phase))

    def _is_within_gap(self, best: Any, bound: Any) -> bool:
        """Whether a value and its bound differ by at most the asked part of the value."""
        value, limit = self._shown(best), self._shown(bound)
        known = isinstance(value, numbers.Real) and isinstance(limit, numbers.Real)
        return known and bool(abs(value - limit) <= self.asked.gap * abs(value))

    def _is_hopeless(self, value: Any) -> bool:
        return not beats(self.task, self._scoring.score(value, self._totals), self._goal)

    def _score(self, solution: Solution) -> Any:
        return self._scoring.score(solution.value, self._totals) if solution.score is None else solution.score

    def _is_better(self, a: Solution, b: Solution) -> bool:
        """Whether a has the better score, of scores that are no tuples."""
        x, y = self._score(a), self._score(b)
        return not isinstance(x, tuple) and bool(x > y if self._larger else x < y)

    def _beating(self, outcome: Outcome) -> Outcome:
        """The outcome without solutions that do not beat the goal; the known tree, which has its score, in their place.

        A search that was stopped because no tree can beat the goal has proved that, and so has one whose bound says so.
        """
        known, lower, stopped = self._known, outcome.lower, outcome.stopped
        if any(beats(self.task, self._score(each), self._goal) for each in outcome.solutions):
            return outcome
        if lower is not None and outcome.score_bound is None and self._is_hopeless(lower):
            stopped = None
        if known is None:
            return attrs.evolve(outcome, solutions=(), stopped=stopped)
        if stopped is None and outcome.score_bound is None:
            lower = known.value
        bound = known.score if outcome.score_bound is None or stopped is not None else self._goal
        bound = outcome.score_bound if stopped is not None else bound
        return attrs.evolve(outcome, solutions=(known,), lower=lower, stopped=stopped, score_bound=bound)

    # -- the answer ------------------------------------------------------------------------------------------------

    def answer(self, outcome: Outcome) -> Result:
        """The outcome in the caller's terms: values as scores, trees with what they claim."""
        larger, goal = self._larger, self._goal
        status = "optimal" if outcome.stopped is None else "feasible"
        if not outcome.solutions:
            status = ("infeasible" if goal is None else "no better") if outcome.stopped is None else "unknown"
        bound, score_bound = outcome.score_bound, None
        if bound is not None:
            bound = readable(bound)
        elif outcome.lower is not None:
            score_bound = self._scoring.score(outcome.lower, self._totals)
            if not outcome.solutions:
                bound = readable_bound(score_bound, None, upper=larger, real=outcome.real)
        extent, over_all = self.data.extent, self._bound_over_all(outcome)
        over = extent_text(extent, over_all, larger)
        front = []
        for solution in outcome.solutions:
            if self.data.frequency is not None:
                solution = attrs.evolve(solution, root=count_rows(solution.root, self.data))
            score = self._score(solution)
            value = readable(score, real=outcome.real)
            if score_bound is not None:
                bound = readable_bound(score_bound, score, upper=larger, real=outcome.real)
            front.append((value, self._tree(solution, (value, bound), status, over)))
        front.sort(key=operator.itemgetter(0), reverse=larger)
        best = front[0][0] if front else None
        if bound is None and status == "optimal" and isinstance(best, numbers.Real):
            bound = best  # a search for all nondominated values knows of no bound but that of its end
        if not self._listener.silent:
            self._listener.finish(self._progress(best, bound, int(outcome.stats["nodes"]), "done"))
        stats = self._stats(outcome, extent, over_all)
        if not front:
            lower, upper = (None, None) if status == "infeasible" else self._bounds(None, bound)
            return Result(None, None, status, lower, upper, stats, self.task)
        value, tree = front[0]
        return Result(value, tree, status, *self._bounds(value, bound), stats, self.task, tuple(front))

    def _bound_over_all(self, outcome: Outcome) -> Any:
        """What no tree over all thresholds is better than, where only some were tried; None where not known."""
        problem, data = self.problem, self.data
        known = outcome.solutions and outcome.score_bound is None and outcome.lower is not None
        if not (known and data.is_cut) or problem.min_leaf > 1:
            return None
        limits = (problem.max_depth, problem.max_nodes)
        least = bound_over_all(problem.task, data, outcome.lower, limits, self._totals)
        if least is None:
            return None
        score = self._scoring.score(least, self._totals)
        return readable_bound(score, None, upper=self._larger, real=outcome.real)

    def _tree(self, solution: Solution, known: tuple[Any, Any], status: str, over: str) -> Tree:
        """The tree of a solution, with what is claimed of it, and what its leaves show if it is not their labels.

        `known`: its value and the bound; `over`: among which splits it is the best.
        """
        task, data = self.problem.task, self.data
        cuts = data.max_cuts if isinstance(data.max_cuts, int) else None
        trees, gains, rows = self.asked.trees, gain_sign(self.task), solution.root.rows
        bounds = self._bounds(*known)
        claims = Claims(self.task, known[0], *bounds, status, rows, *trees, None, over, cuts, gains, self._positive)
        tree = Tree.grown(solution.root, data, tuple(task.labels(data)), shown=solution.shown, claims=claims)
        if solution.shown is not None or not task.overrides("leaf_label"):
            return tree
        return attrs.evolve(tree, shown=leaf_displays(tree, task, data, self.problem.sums))

    def _stats(self, outcome: Outcome, extent: str, over_all: Any) -> dict[str, Any]:
        trace = outcome.stats.get("trace", ())
        shown = [(at, self._shown(best), self._shown(low), nodes) for at, best, low, nodes in trace]
        return {
            **outcome.stats,
            **({"trace": shown} if shown else {}),
            "searched_over": extent,
            **({} if over_all is None else {OVER_ALL: over_all}),
            "stopped": outcome.stopped,
            "seconds_compile": self.compilation.seconds,
            "seconds_total": time.perf_counter() - self.begin,
        }

    def _bounds(self, value: Any, bound: Any) -> tuple[Any, Any]:
        """(lower bound, upper bound) of a value that is known; a maximised task's change places."""
        return (value, bound) if self._larger else (bound, value)

    def _progress(self, value: Any, bound: Any, nodes: int, phase: str) -> Progress:
        known = isinstance(value, numbers.Real) and isinstance(bound, numbers.Real)
        elapsed = time.perf_counter() - self.begin
        return Progress(value, bound, abs(value - bound) if known else None, nodes, elapsed, phase)


def _compiled(problem: Problem) -> str:
    """What kernels are compiled for."""
    n_labels = len(problem.task.labels(problem.data))
    return f"{type(objective(problem.task)).__name__} with {n_labels} label{'' if n_labels == 1 else 's'}"


def _driver(search: Any) -> Any:
    """The driver of a name, or the driver itself."""
    known = searches.drivers()
    if isinstance(search, str) and search in known:
        return known[search]()
    if isinstance(search, Driver):
        return search
    if isinstance(search, type) and issubclass(search, Driver):
        return search()
    raise InputError("search", f"{search!r} is no driver", f"use one of {', '.join(sorted(known))}, or a Driver")


def tree_limits(max_depth: Any, max_nodes: Any, min_leaf: Any, data: Dataset) -> tuple[Any, Any, int]:
    """The three limits on trees for the data, None for none; raises InputError for what is no such number."""
    n, depth, nodes = data.n_rows, _MOST.read("max_depth", max_depth), _MOST.read("max_nodes", max_nodes)
    depth, nodes = [None if most is None or most >= n else most for most in (depth, nodes)]
    rows: int = _LEAST.read("min_leaf", min_leaf)
    if rows > data.size:
        raise InputError("min_leaf", f"{min_leaf} rows, and the data has {data.size}", "lower it")
    return depth, nodes, rows


def rows_needed(bound: Task, leaf_rows: int, data: Dataset) -> int:
    """The rows that a leaf needs, by `min_leaf` and by the limits of the bound task."""
    supports = [limit.support for limit in bound.limits if limit.support is not None]
    # more rows than there are: no leaf has them, however many more
    return min(max([leaf_rows, *supports]), data.size + 1)


_LEVELS = 3  # subtrees of so many levels are solved exactly
_SHARE = 0.25  # part of a time limit that this may take
_AT_ONCE = 1e-3  # seconds of a search that is to end


def reoptimised(
    known: Solution, problem: Problem, driver: Driver, search_limits: SearchLimits
) -> tuple[Solution, SearchLimits, bool]:
    """(a tree at least as good, by exact solves of parts of the known one; what is left; whether Ctrl-C ended that).

    Parts are as good as what they add to the value, so this is for tasks of one sum whose branching costs do not depend
    on the path; others are returned as they are.
    """
    if not adds(problem.task) or reads(problem.task, "path"):
        return known, search_limits, False
    begin, seconds, interrupted = clock(), search_limits.time_limit, False
    end = None if seconds is None else begin + _SHARE * seconds

    def improved(node: Node, rows: Array, depth: int) -> Node:
        """The node with better subtrees; bottom up."""
        nonlocal interrupted
        if not len(rows) or interrupted or (end is not None and clock() > end):
            return node
        if isinstance(node, Branch) and depth > _LEVELS:
            sides, below = sides_in(problem.data, node, rows), enumerate(node.children)
            return attrs.evolve(node, children=tuple(improved(x, rows[sides == k], depth - 1) for k, x in below))
        nodes = None if problem.max_nodes is None else count_branches(node)
        part = Problem(problem.data.subset(rows), problem.task, min(depth, _LEVELS), nodes, problem.min_leaf)
        outcome = driver.search(part, SearchLimits(time_limit=None if end is None else max(end - clock(), _AT_ONCE)))
        interrupted |= outcome.stopped == "interrupt"
        return outcome.solutions[0].root if outcome.solutions else node

    depth = depth_of(known.root) if problem.max_depth is None else problem.max_depth
    found = worth(improved(known.root, np.arange(problem.data.n_rows), depth), problem)
    if seconds is not None:
        seconds = max(seconds - (clock() - begin), _AT_ONCE)
    left = attrs.evolve(search_limits, time_limit=_AT_ONCE if interrupted else seconds)
    return found if problem.task.better(found.value, known.value) else known, left, interrupted
