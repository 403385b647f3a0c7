"""solve(): from the caller's data and task to a proven tree."""

from __future__ import annotations

import contextlib
import difflib
import functools
import inspect
import time
from collections.abc import Callable
from typing import Any

import attrs

from streed.data import Dataset
from streed.errors import InputError, argument_names, errors_of_methods
from streed.exact import Range
from streed.problem import SearchLimits
from streed.problem.known_tree import held_tree
from streed.result import Progress, Reporter, Result, TightestLimit
from streed.solving import Asked, Solving
from streed.task import Limit, Task
from streed.task.contract import check_task
from streed.task.objective import limited, record_of

_SECONDS, _BYTES = (Range(above=0, optional=True, meaning=unit) for unit in ("seconds", "bytes"))
_THREADS = Range(1, 64, whole=True)
_GAP = Range(0, optional=True, meaning="a part of the value")

_LARGEST_ORDER = 2**60  # seconds or bytes: more is no limit

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
    for name in row_data:
        _check_name(name)
    data = Dataset.make(
        X, y, sample_weight=sample_weight, frequency=frequency, categorical=categorical, max_cuts=max_cuts, **row_data
    )
    check_stops(time_limit, memory_limit, threads)
    _GAP.read("gap", gap)
    asked = Asked(
        trees=(max_depth, max_nodes, min_leaf),
        search=search,
        orders=SearchLimits(_capped(time_limit), _capped(memory_limit), threads),
        gap=gap,
        upper_bound=upper_bound,
        warm_start=warm_start,
    )
    with Reporter(progress) as listener, errors_of_methods(Task, Limit):
        solving = Solving(task, data, asked, listener, begin)
        if proof is not None:
            from streed.proof import proof_paths, write_proof
            from streed.proof.statement import Statement

            paths = proof_paths(proof)
            statement = Statement.of(solving.task, solving.data, max_depth, solving.min_leaf, max_nodes)
        result = solving.answer(solving.search())
    if result.status == "infeasible":
        return attrs.evolve(result, tightest=_tightest_limits(solving))
    if proof is not None:
        shown = None
        if result.tree is not None:
            with contextlib.suppress(KeyboardInterrupt):  # the tree is not lost
                shown = write_proof(paths, statement, result.tree, time_limit)
        result = attrs.evolve(result, stats={**result.stats, "proof": shown})
    return result


def improve(tree: Any, task: Task, X: Any, y: Any = None, *, max_depth: int | None = None, **arguments: Any) -> Result:
    """A tree at least as good as the given one, with a bound on the best: what `solve` makes of it as `warm_start`.

    `tree`: a tree or a result of streed's, a fitted estimator of streed's, or a decision tree of scikit-learn's, fitted
    to the same columns. Exact solves replace its parts until a quarter of the `time_limit` is over, then the search
    goes on from there. `max_depth`: None is the depth of the tree. `arguments` are those of `solve`, and so are the
    errors.
    """
    if tree is None:
        raise InputError("tree", "None is no tree", "give one, or call streed.solve")
    if max_depth is None:
        known = held_tree(tree)
        depth = getattr(known, "max_depth", None) if hasattr(known, "children_left") else getattr(known, "depth", None)
        max_depth = None if depth is None else int(depth)
    with argument_names(warm_start="tree"):
        return solve(task, X, y, max_depth=max_depth, warm_start=tree, **arguments)


def _tightest_limits(solving: Solving) -> tuple[TightestLimit, ...]:
    """What is known of the limits on values of an infeasible task, in the time that its solve has left.

    Every limit costs a solve of its own, under the limits on leaves but under none of the others.
    """
    task, asked, found = solving.task, solving.asked, []
    max_depth, max_nodes, min_leaf = asked.trees
    seconds, memory_limit = asked.orders.time_limit, asked.orders.memory_limit
    until = None if seconds is None else solving.begin + solving.compilation.seconds + seconds
    orders: dict[str, Any] = {"memory_limit": memory_limit, "threads": asked.orders.threads}
    record = record_of(task)
    for part, limit in record.limited:
        orders["time_limit"] = None if until is None else max(until - time.perf_counter(), LEAST_TIME)
        trees: dict[str, Any] = {"max_depth": max_depth, "max_nodes": max_nodes, "min_leaf": min_leaf}
        result = solve(limited(part, record.leaf_limits), solving.data, search=asked.search, **trees, **orders)
        found.append(TightestLimit(part, limit, result.value if result.status == "optimal" else None))
    return tuple(found)


def _capped(order: Any) -> Any:
    """The order, or None where it is so large that it is none."""
    return None if order is None or float(order) >= _LARGEST_ORDER else order


@functools.cache
def _check_name(name: str) -> None:
    """Raises InputError for row data whose name looks like a misspelt argument."""
    parameters = [known for known in inspect.signature(solve).parameters if known not in ("task", "X", "y", "row_data")]
    for close in difflib.get_close_matches(name, parameters, n=1, cutoff=0.75):
        raise InputError(name, "there is no such argument", f"write {close}=, or rename the row data")


def check_stops(time_limit: Any, memory_limit: Any, threads: Any) -> None:
    """Raises InputError for limits of a search that are none."""
    _SECONDS.read("time_limit", time_limit)
    _BYTES.read("memory_limit", memory_limit)
    _THREADS.read("threads", threads)
