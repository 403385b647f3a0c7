"""solve(): from the caller's data and task to a proven tree."""

from __future__ import annotations

import difflib
import functools
import inspect
import numbers
import operator
import time
from collections.abc import Callable
from typing import Any

import attrs

from streed import drivers as searches
from streed.data import Dataset
from streed.drivers.closing import checked
from streed.errors import InputError
from streed.exact import Range, exact_number, readable, readable_bound
from streed.problem import Driver, Outcome, Problem, SearchLimits, Solution
from streed.problem.known_tree import adopt
from streed.problem.to_beat import beats, read_upper_bound, value_of_score
from streed.progress import Progress, reporter
from streed.reductions import reduced
from streed.reoptimise import reoptimised
from streed.result import Result, TightestLimit
from streed.task import Task, Totals
from streed.task.algebra import as_costs, gain_sign, objective
from streed.task.analysis.cut_loss import OVER_ALL, bound_over_all
from streed.task.analysis.extent import affordable
from streed.task.constrained import leaf_limits, limited
from streed.task.contract import check_contract, check_task, is_shipped
from streed.task.positive import positive_class
from streed.task.weighing import check_weights, in_copies
from streed.tree import Claims, Tree
from streed.tree.claims import extent_text
from streed.tree.declarations import check_declarations
from streed.tree.evaluation import count_rows, leaf_displays

MOST_THREADS = 64

_LARGEST_ORDER = 2**60
"""Seconds or bytes: more is no limit."""

LEAST_TIME = 1e-3
"""Seconds that a solve is given where those of the whole call are over."""


def solve(
    task: Task,
    X: Any,
    y: Any = None,
    *,
    max_depth: int | None = None,
    max_nodes: int | None = None,
    min_leaf: int = 1,
    search: Any = "depth-first",
    sample_weight: Any = None,
    frequency: Any = None,
    time_limit: float | None = None,
    memory_limit: int | None = None,
    progress: bool | Callable[[Progress], object] | None = None,
    threads: int = 1,
    gap: float | None = None,
    upper_bound: Any = None,
    warm_start: Any = None,
    categorical: Any = None,
    max_cuts: int | str | None = None,
    proof: Any = None,
    **row_data: Any,
) -> Result:
    """The best tree for the task, with proof, or the best one found before a limit with bounds on the optimum.

    `X`: an array (n, p), a table (pandas, polars, dict of columns), or a `Dataset`, of binary, categorical and ordered
    columns. X = 1 goes right; numbers of more than two values and dates are ordered, and a branch on them reads `x <=
    t`, for which the rows go left. They may have gaps (None, NaN). `categorical` names the columns that are to have one
    child per value. `max_cuts`: "all" thresholds of ordered columns are tried, or at most so many of each, at
    quantiles; "auto", the default (None), is all where the search is expected to end soon or a time limit ends it, else
    as many as will, by the rule of `streed.task.analysis.extent`, which shell and estimators follow too;
    `stats["searched_over"]` says which it was.
    `y`: n labels of any kind. Trees have at most `max_depth` levels of branching nodes and at most `max_nodes` of them
    (None: any), and every leaf has at least `min_leaf` rows. `sample_weight`: n weights, none below 0. `frequency`: n
    whole numbers >= 0, how many equal rows each row stands for, in costs, in `min_leaf` and wherever else rows are
    counted; rows of frequency 0 are as absent. `search`: the name of a driver, or "auto", or a driver.
    `time_limit` is in seconds of search, `memory_limit` in bytes of this process; on either, and on Ctrl-C, the result
    is the best tree so far with its bounds. (What must be compiled first does not count as search, and is said on
    standard error; Ctrl-C before the search begins raises KeyboardInterrupt. Signal handlers stay as they are.) `gap`:
    the search may stop, too, when the best tree's value and the bound differ by at most this part of the value.
    `upper_bound`: a value to beat, in the task's own units: trees that are no better need not be found, and where none
    is better the status is "no better", with the bound that was proved. `warm_start`: a tree that is known already, as
    of a solve with tighter limits or of scikit-learn, on columns of these names; it is measured on these data and re-
    optimised (`improve`), searches begin with its value, and it is the answer unless a better one is found. `progress`:
    True for a live line, or a callable that is given `Progress` records. `proof`: the name of a file; behind the search
    a proof is written that others can check, as `streed.proof.prove` makes it, with its table beside it (the same name,
    `.csv`), and `stats["proof"]` says what it shows: None where there is no tree, or Ctrl-C ended it; `time_limit`
    holds for the prover apart. `row_data`: what the task asks for, one entry per row.

    Raises InputError for arguments that are not usable, TaskError for tasks that the driver cannot search or whose tree
    refutes a bound that they declare, MismatchError if the tree, measured again on the raw data, does not cost what the
    search claimed.
    """
    begin = time.perf_counter()
    check_task(task)
    _check_names(row_data)
    given, task = task, as_costs(task)
    data = Dataset.make(
        X, y, sample_weight=sample_weight, frequency=frequency, categorical=categorical, max_cuts=max_cuts, **row_data
    )
    check_weights(task, data)
    data = in_copies(task, data)
    most_depth = whole_limit("max_depth", max_depth, 0, data.n_rows)
    most_nodes = whole_limit("max_nodes", max_nodes, 0, data.n_rows)
    leaf_rows = whole_limit("min_leaf", min_leaf, 1, None)
    if leaf_rows > data.size:
        raise InputError("min_leaf", f"{min_leaf} rows, and the data has {data.size}", "lower it")
    check_stops(time_limit, memory_limit, threads)
    Range(0, optional=True, meaning="a part of the value").read("gap", gap)
    files = None
    with reporter(progress) as listener:
        shipped = is_shipped(task)
        if not shipped:
            check_contract(given, data)
        data = affordable(task, data, most_depth, most_nodes, timed=time_limit is not None)
        if proof is not None:
            from streed.proof.files import ProofFiles

            files = ProofFiles.of(proof, task, data, (max_depth, leaf_rows, max_nodes), time_limit)
        driver = _over(task, _driver(search), data)
        driver.check(task)
        if gap is not None and not driver.knows_gap(task):
            raise InputError("gap", "the search for this task has no bound before its end", "leave it out")
        from streed.kernels.compilation import Compilation

        bound, positive = task.bind(data), positive_class(given, data, warn=True)
        totals = Totals(task, data)
        problem = Problem(data, bound, most_depth, most_nodes, rows_needed(bound, leaf_rows, data))
        compilation = Compilation(functools.partial(_kind, task, bound, data))
        known = None if warm_start is None else adopt(warm_start, problem)
        orders = SearchLimits(_capped(time_limit), _capped(memory_limit), threads)
        interrupted = False
        if known is not None:
            with compilation:
                known, orders, interrupted = reoptimised(known, problem, driver, orders)
        goal = read_upper_bound(upper_bound)
        if known is not None:
            reached = task.score(known.value, totals)
            beats(task, reached, reached)
            if goal is not None and not beats(task, reached, goal):
                known = None
            else:
                goal = reached

        def shown(value: Any) -> Any:
            return None if value is None else readable(task.score(value, totals))

        def report(best: Any, bound: Any, nodes: int, phase: str) -> None:
            if listener.due():
                listener.tell(_progress(shown(best), shown(bound), nodes, time.perf_counter() - begin, phase))

        def close(best: Any, bound: Any) -> bool:
            return within_gap(shown(best), shown(bound), gap)

        def hopeless(value: Any) -> bool:
            return not beats(task, task.score(value, totals), goal)

        told, stops = None if listener.silent else report, None if gap is None else close
        search_limits = attrs.evolve(orders, report=told, within_gap=stops)
        if goal is not None and driver.knows_gap(task):
            beat = known.value if known is not None else value_of_score(task, exact_number(goal), totals)
            search_limits = attrs.evolve(search_limits, beat=beat, hopeless=hopeless)
        with compilation:
            outcome = checked(problem, driver.search(problem, search_limits), search_limits.time_limit)
        if interrupted and outcome.stopped is not None:
            outcome = attrs.evolve(outcome, stopped="interrupt")
        if goal is not None:
            outcome = _beating(task, outcome, goal, known, hopeless, totals)
        if not shipped:
            for solution in outcome.solutions:
                check_declarations(bound, data, solution.root, problem.sums)
        bound_score, score_bound = readable(outcome.score_bound), None
        if bound_score is None and outcome.lower is not None:
            score_bound = task.score(outcome.lower, totals)
            bound_score = readable_bound(score_bound, None, upper=task.larger_is_better, real=outcome.real)
        if not outcome.solutions:
            status = ("infeasible" if goal is None else "no better") if outcome.stopped is None else "unknown"
        else:
            status = "optimal" if outcome.stopped is None else "feasible"
        over_all = _over_all(task, problem, outcome, totals) if outcome.solutions else None
        over = extent_text(data.extent, over_all, task.larger_is_better)
        cuts = data.max_cuts if isinstance(data.max_cuts, int) else None
        asked = (max_depth, max_nodes, min_leaf, None, over, cuts, gain_sign(task), positive)
        front = []
        for solution in outcome.solutions:
            if data.frequency is not None:
                solution = attrs.evolve(solution, root=count_rows(solution.root, data))
            score = task.score(solution.value, totals) if solution.score is None else solution.score
            value = readable(score, real=outcome.real)
            if score_bound is not None:
                bound_score = readable_bound(score_bound, score, upper=task.larger_is_better, real=outcome.real)
            lower, upper = _bounds(task, value, bound_score)
            n_rows = solution.root.rows
            claims = Claims(task, value, lower, upper, status, n_rows, *asked)
            front.append((value, _tree(solution, problem, outcome.unit, claims)))
        if not listener.silent:
            elapsed = time.perf_counter() - begin
            nodes = int(outcome.stats["nodes"])
            listener.finish(_progress(front[0][0] if front else None, bound_score, nodes, elapsed, "done"))
        stats = {**outcome.stats}
        if "trace" in stats:
            stats["trace"] = [(at, shown(best), shown(bound), nodes) for at, best, bound, nodes in stats["trace"]]
        stats["searched_over"] = data.extent
        if over_all is not None:
            stats[OVER_ALL] = over_all
        stats |= {
            "stopped": outcome.stopped,
            "seconds_compile": compilation.seconds,
            "seconds_total": time.perf_counter() - begin,
        }
        if files is not None:
            stats["proof"] = None
    if not front:
        tightest: tuple[TightestLimit, ...] = ()
        if status == "infeasible":
            limits = {"max_depth": max_depth, "max_nodes": max_nodes, "min_leaf": min_leaf}
            until = None if time_limit is None else begin + compilation.seconds + time_limit
            more = {"memory_limit": memory_limit, "threads": threads}
            tightest = _tightest_limits(task, data, until, search=search, **limits, **more)
        lower, upper = (None, None) if status == "infeasible" else _bounds(task, None, bound_score)
        return Result(None, None, status, lower, upper, stats, task, tightest=tightest)
    value, tree = (max if task.larger_is_better else min)(front, key=operator.itemgetter(0))
    if files is not None:
        try:
            stats["proof"] = files.write(tree)
        except KeyboardInterrupt:  # the tree is not lost
            stats["proof"] = None
    lower, upper = _bounds(task, value, bound_score)
    return Result(value, tree, status, lower, upper, stats, task, tuple(front))


def improve(tree: Any, task: Task, X: Any, y: Any = None, *, max_depth: int | None = None, **arguments: Any) -> Result:
    """A tree at least as good as the given one, with a bound on the best: what `solve` makes of it as `warm_start`.

    `tree`: a tree or a result of streed's, a fitted estimator of streed's, or a decision tree of scikit-learn's, fitted
    to the same columns. Exact solves replace its parts until a quarter of the `time_limit` is over, then the search
    goes on from there. `max_depth`: None is the depth of the tree. `arguments` are those of `solve`, and so are the
    errors.
    """
    if max_depth is None:
        known = getattr(tree, "tree_", getattr(tree, "tree", tree))
        depth = getattr(known, "max_depth", None) if hasattr(known, "children_left") else getattr(known, "depth", None)
        max_depth = None if depth is None else int(depth)
    return solve(task, X, y, max_depth=max_depth, warm_start=tree, **arguments)


def _over_all(task: Task, problem: Problem, outcome: Outcome, totals: Totals) -> Any:
    """What no tree over all thresholds is better than, where only some were tried; None where that is not known."""
    data, limits = problem.data, (problem.max_depth, problem.max_nodes)
    if not data.is_cut or problem.min_leaf > 1 or outcome.score_bound is not None or outcome.lower is None:
        return None
    least = bound_over_all(problem.task, data, outcome.lower, limits, totals)
    if least is None:
        return None
    return readable_bound(task.score(least, totals), None, upper=task.larger_is_better, real=outcome.real)


def _beating(
    task: Task, outcome: Outcome, goal: Any, known: Solution | None, hopeless: Callable[[Any], bool], totals: Totals
) -> Outcome:
    """The outcome without solutions that do not beat the goal; the known tree, which has its score, in their place.

    A search that was stopped because no tree can beat the goal has proved that, and so has one whose bound says so.
    """

    def score(solution: Solution) -> Any:
        return task.score(solution.value, totals) if solution.score is None else solution.score

    better = tuple(each for each in outcome.solutions if beats(task, score(each), goal))
    lower, stopped = outcome.lower, outcome.stopped
    if better:
        return outcome
    if lower is not None and outcome.score_bound is None and hopeless(lower):
        stopped = None
    if known is None:
        return attrs.evolve(outcome, solutions=(), stopped=stopped)
    if stopped is None and outcome.score_bound is None:
        lower = known.value
    bound = known.score if outcome.score_bound is None or stopped is not None else goal
    bound = outcome.score_bound if stopped is not None else bound
    return attrs.evolve(outcome, solutions=(known,), lower=lower, stopped=stopped, unit=1, score_bound=bound)


def _tightest_limits(task: Task, data: Dataset, until: Any, **arguments: Any) -> tuple[TightestLimit, ...]:
    """What is known of the limits on values of an infeasible task; `arguments` are those of its solve.

    `until`: when that ends at the latest, by `time.perf_counter`. Every limit costs a solve of its own, under the
    limits on leaves but under none of the others.
    """
    found = []
    for part, limit in objective(task).value_limits:
        left = None if until is None else max(until - time.perf_counter(), LEAST_TIME)
        result = solve(limited(part, leaf_limits(task)), data, time_limit=left, **arguments)
        found.append(TightestLimit(part, limit, result.value if result.status == "optimal" else None))
    return tuple(found)


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


def _over(task: Task, driver: Driver, data: Dataset) -> Driver:
    """The driver with the reduction that the task allows, and a way to search ordered columns where there are any."""
    if not data.ordered:
        return reduced(task, driver, data)
    from streed.drivers.general import General
    from streed.drivers.ordered import GeneralOf, OverOrdered

    plain = reduced(task, GeneralOf(driver), data)
    return OverOrdered(plain if isinstance(driver, General) else reduced(task, driver, data), plain)


def _kind(task: Task, bound: Task, data: Dataset) -> str:
    """What is solved, as far as the compiled code depends on it, for those who wait for the compiler."""
    return f"{type(objective(task)).__name__} with {len(bound.labels(data))} labels"


def whole_limit(name: str, value: Any, least: int, rows: int | None) -> Any:
    """A whole number >= least, or None where that is allowed or where the number of rows is no limit at all.

    A tree on n rows has at most n - 1 branching nodes, so larger limits are none.
    """
    number = Range(least, whole=True, optional=rows is not None).read(name, value)
    return None if number is None or (rows is not None and number >= rows) else number


def rows_needed(bound: Task, leaf_rows: int, data: Dataset) -> int:
    """The rows that a leaf needs, by `min_leaf` and by the limits of the bound task."""
    supports = [limit.support for limit in bound.limits if limit.support is not None]
    # more rows than there are: no leaf has them, however many more
    return min(max([leaf_rows, *supports]), data.size + 1)


def _capped(order: Any) -> Any:
    """The order, or None where it is so large that it is none."""
    return None if order is None or order >= _LARGEST_ORDER else order


def _check_names(row_data: dict[str, Any]) -> None:
    """Raises InputError for row data whose name looks like a misspelt argument."""
    if not row_data:
        return
    for name in row_data:
        close = _parameter_like(name)
        if close is not None:
            raise InputError(name, "there is no such argument", f"write {close}=, or rename the row data")


@functools.cache
def _parameter_like(name: str) -> str | None:
    """The parameter of `solve` that a name looks like, if there is one."""
    parameters = [known for known in inspect.signature(solve).parameters if known not in ("task", "X", "y", "row_data")]
    return next(iter(difflib.get_close_matches(name, parameters, n=1, cutoff=0.75)), None)


def check_stops(time_limit: Any, memory_limit: Any, threads: Any) -> None:
    """Raises InputError for limits of a search that are none."""
    Range(above=0, optional=True, meaning="seconds").read("time_limit", time_limit)
    Range(above=0, optional=True, meaning="bytes").read("memory_limit", memory_limit)
    Range(1, MOST_THREADS, whole=True).read("threads", threads)


def within_gap(value: Any, bound: Any, gap: Any) -> bool:
    """Whether a value and its bound differ by at most this part of the value."""
    if not isinstance(value, numbers.Real) or not isinstance(bound, numbers.Real):
        return False
    return bool(abs(value - bound) <= gap * abs(value))


def _tree(solution: Solution, problem: Problem, unit: Any, claims: Claims) -> Tree:
    """The tree of a solution, with what its leaves show if it is not their labels."""
    task, data = problem.task, problem.data
    tree = Tree.grown(solution.root, data, tuple(task.labels(data)), unit=unit, shown=solution.shown, claims=claims)
    if solution.shown is not None or task.shows_labels:
        return tree
    return attrs.evolve(tree, shown=leaf_displays(tree, task, data, problem.sums))


def _bounds(task: Task, value: Any, bound: Any) -> tuple[Any, Any]:
    """(lower bound, upper bound) of a value that is known; a maximised task's change places."""
    return (value, bound) if task.larger_is_better else (bound, value)


def _progress(value: Any, bound: Any, nodes: int, elapsed: float, phase: str) -> Progress:
    known = isinstance(value, numbers.Real) and isinstance(bound, numbers.Real)
    return Progress(value, bound, abs(value - bound) if known else None, nodes, elapsed, phase)
