"""The general route: any separable task, in Python and numpy, where the native kernels cannot take it."""

from __future__ import annotations

import contextlib
import numbers
import sys
import time
from collections.abc import Iterator
from typing import Any

from streed.dp.and_or import AndOrSearch
from streed.dp.recursion import Budgets, Recursion, StopMonitor
from streed.dp.solutions import Deepening, Front, Least, ideal_score, nondominated_at_root
from streed.dp.states import Found, States
from streed.errors import MismatchError
from streed.exact import close
from streed.problem import Outcome, Problem, SearchLimits, Solution, process_memory
from streed.problem.known_tree import broken_limit, with_costs
from streed.task import TOTAL, Task, Value
from streed.tree import Branch, Leaf, Node, Tree
from streed.tree.evaluation import Evaluation, Inspector

_ROUNDING = 1e-9
"""How much of the largest cost the sums of real data may differ by, added up in another order."""

_REAL = 2.0**-44
"""Part of the largest cost that the operations of one tree in float64 may lose: some hundred roundings."""

_FRAMES = 8
"""Calls that a level of the tree takes, generously."""


def search_general(problem: Problem, search_limits: SearchLimits, *, best_first: bool = False) -> Outcome:
    """The optimum of a totally ordered task, `best_first` or depth-first, or the front of any other."""
    begin = time.perf_counter()
    data, is_total = problem.data, problem.task.order == TOTAL
    search: Deepening | AndOrSearch | None = None

    def report(nodes: int) -> bool:
        if search is None:
            return False
        found = search.solutions if is_total else []
        return search_limits.tell(found[0][0] if found else None, search.bound(), nodes)

    monitor = StopMonitor(search_limits, report)
    budgets = Budgets(data.n_questions, data.most_children)
    stopped, complete, states = None, False, None
    best_first = best_first and is_total
    beat = search_limits.beat if is_total and not best_first else None
    prepared = time.perf_counter()
    with _deep(min(data.n_rows, data.n_questions + 1)):
        try:
            states = States(problem, monitor)
            recursion = Recursion(states, Least if is_total else Front, budgets, monitor)
            search = AndOrSearch(recursion, problem) if best_first else Deepening(recursion, problem, beat)
            prepared = time.perf_counter()
            complete = search.run()
            stopped = monitor.stopped
        except KeyboardInterrupt:
            stopped = "interrupt"
        searched = time.perf_counter()
        solutions = _measured(problem, [] if search is None else search.solutions, states)
    exact = states is not None and states.exact and all(_is_exact(each.value) for each in solutions)
    lower: Any = None
    if is_total and search is not None:
        lower = (solutions[0].value if solutions else beat) if complete else search.bound()
    size = None
    if isinstance(lower, numbers.Real) and not exact:
        size = max([abs(float(lower)), *(_largest_cost(each.root) for each in solutions)])
        lower = _widened(problem.task, lower, _REAL * size, states)
    if lower is not None and solutions and not isinstance(value := solutions[0].value, tuple):
        # sums of real numbers in another order
        lower = value if not _is_exact(value) and value < lower and _agree(lower, value, (value,)) else lower
    seconds = {"seconds_setup": prepared - begin, "seconds_search": searched - prepared}
    seconds["seconds_check"] = time.perf_counter() - searched
    stats = {"search": "general", "route": "general", "threads": 1, **seconds, "nodes": monitor.nodes}
    stats |= {"subproblems": 0 if states is None else len(states.cells), "peak_bytes": process_memory.peak()}
    stats |= {"columns": data.n_columns, "exact": exact, "rounding": 0.0 if size is None else _REAL * size}
    ideal = ideal_score(problem) if stopped is not None and not is_total else None
    if search is not None:  # cycles would keep all that was found in memory
        search.recursion.whole = None
        search = None
    return Outcome(solutions, lower, stopped, stats, score_bound=ideal, size=size)


@contextlib.contextmanager
def _deep(levels: int) -> Iterator[None]:
    """Room for a recursion of so many levels of a tree."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(limit + _FRAMES * levels)
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


def _measured(problem: Problem, found: list[Found], states: States | None) -> tuple[Solution, ...]:
    """The solutions, measured again from raw data; raises MismatchError if one is not what the search claimed."""
    if not found or states is None:
        return ()
    task, data = problem.task, problem.data
    inspector, labels = Inspector(task, data), tuple(task.labels(data))
    measured: list[Solution] = []
    for solution in found:
        bare = _grow(solution, states.root.rows, states)
        tree = Tree.grown(bare, data, labels)
        seen = inspector.inspect(tree)
        _check(problem, tree, solution[0], seen)
        measured.append(Solution(seen.value, with_costs(bare, seen)))
    if task.order != TOTAL:
        kept = nondominated_at_root(task, [each.value for each in measured])
        return tuple(measured[place] for place in kept)
    return tuple(measured)


def _check(problem: Problem, tree: Tree, claimed: Value, seen: Evaluation) -> None:
    """Raises MismatchError if the tree does not have the value that the search claimed, or breaks a limit."""
    if not _agree(claimed, seen.value, seen.leaf_costs):
        raise MismatchError(f"the tree's value is {seen.value!r}, the search claimed {claimed!r}; please report this")
    what = broken_limit(problem, tree, seen, _is_exact(seen.value))
    if what is not None:
        raise MismatchError(f"the tree has {what}, which the limits forbid; please report this")


def _agree(claimed: Value, value: Value, leaf_costs: tuple[Value, ...]) -> bool:
    """Whether two values are the same, but for the order in which real numbers were added."""
    if claimed == value:
        return True
    if isinstance(value, tuple):
        parts = [cost for cost in leaf_costs if isinstance(cost, tuple)]
        columns = zip(*parts, strict=True) if parts else [()] * len(value)
        same = isinstance(claimed, tuple) and len(claimed) == len(value)
        return same and all(map(_agree, claimed, value, columns))
    scale = max(abs(float(cost)) for cost in (value, *leaf_costs))
    return close(claimed, value, _ROUNDING, _ROUNDING * scale)


def _widened(task: Task, bound: Any, rounding: float, states: States | None) -> Any:
    """A bound that rounding cannot break, by the task's own bound where that is closer."""
    widened = bound - rounding if task.better(0, 1) else bound + rounding
    own = None if states is None else task.lower_bound(states.state(states.root))
    return widened if own is None or task.better(own, widened) else own


def _largest_cost(node: Node) -> float:
    """The largest size of what a leaf below the node costs."""
    if isinstance(node, Leaf):
        return abs(float(node.cost))
    return max(map(_largest_cost, node.children))


def _is_exact(value: Value) -> bool:
    return all(map(_is_exact, value)) if isinstance(value, tuple) else not isinstance(value, float)


def _grow(solution: Found, rows: int, states: States) -> Node:
    """The nodes of a solution on some rows, without costs; empty leaves bear the best label of their parent's rows."""
    _, action, parts = solution
    if parts is None:
        return Leaf(action, states.count(rows), 0)
    remaining = iter(parts)
    empty = None
    children: list[Node] = []
    for literal in states.literals(action):
        here = rows & literal
        if here:
            children.append(_grow(next(remaining), here, states))
        else:
            if empty is None:
                state, task = states.state_of_rows(states.members(rows)), states.task
                costs = [task.leaf_cost(state, k) for k in states.labels]
                best = (not any(task.better(other, cost) for other in costs) for cost in costs)
                empty = Leaf(list(best).index(True), 0, 0)
            children.append(empty)
    return Branch(states.columns[action], tuple(children), states.count(rows), states.cut_of(action))
