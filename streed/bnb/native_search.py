"""The native search of a problem of any kind: set-up, threads, limits, the trace and the certificate of its tree.

How it is searched is in session.py.
"""

from __future__ import annotations

import functools
import operator
import time
from typing import Any

import attrs
import numpy as np

from streed.bnb import units
from streed.bnb.pricing_beside import PricingBeside
from streed.bnb.session import Session, link_units, make_workspaces, statistics
from streed.bnb.workspace import Workspace, limits_of
from streed.encoding.row_costs import Encoding, TooImprecise, encoding_of
from streed.errors import TaskError
from streed.exact import Array
from streed.kernels.records import INFINITE, LOWEST, RAISED, UNLIMITED
from streed.kernels.stopping import ROWS_OF_CONTROL, SHARED_UPPER, UPPER, Trace
from streed.problem import Outcome, Problem, SearchLimits, Solution
from streed.task import Value
from streed.task.base import objective

DEPTH_FIRST, BEST_FIRST = "depth-first", "branches"
"""Orders of search. STreeD's: a node goes on with an edge until its bound has reached what the node's parent asked for.
AO*, Branches': a node turns to its next best edge as soon as the best one has become worse."""


def search_native(problem: Problem, search_limits: SearchLimits, order: str, row_prices: bool = True) -> Outcome | None:
    """The outcome; None if no kernels can be made for the task. Codes for wider values are tried one by one.

    `order`: DEPTH_FIRST or BEST_FIRST. `row_prices`: a search that takes long is helped by prices of its rows
    (bnb/pricing_beside.py).
    """
    begin = time.perf_counter()
    with units.planned(problem.max_depth, problem.max_nodes):
        encoding = encoding_of(problem)
    if encoding is None:
        return None
    while encoding is not None:
        try:
            outcome = _search(problem, encoding, search_limits, order, row_prices, begin)
        except TooImprecise as coarse:
            encoding = coarse.finer
            continue
        if outcome is not None:
            return outcome
        encoding = encoding.less_precise()
    raise TaskError("the task's costs differ too much in size to be searched; scale them")


def _search(
    problem: Problem,
    encoding: Encoding,
    search_limits: SearchLimits,
    order: str,
    row_prices: bool,
    begin: float,
) -> Outcome | None:
    """The outcome; None if the codes of the encoding are too fine for the task's values."""
    target = INFINITE if search_limits.beat is None else min(encoding.target(search_limits.beat), INFINITE)
    session, workspaces = _session_below(target, problem, encoding, search_limits, order, row_prices)
    trace = Trace()
    packed_at = time.perf_counter()

    def value_of(upper: int) -> Value | None:
        return None if upper >= INFINITE else encoding.most(upper)

    def bound_of(lower: int) -> Value | None:
        return encoding.bound(lower) if lower > LOWEST else None

    def worth(preorder: Any) -> Value:
        return encoding.solution(problem, preorder, INFINITE, LOWEST, False)[0].value

    measured: list[Value] = []  # a cached function takes as long to make as a few rows to search

    def first_worth() -> Value:
        if not measured:
            measured.append(worth(workspaces[0].first))
        return measured[0]

    def look(nodes: int, lower: int, upper: int) -> str | None:
        if workspaces[0].first is not None:
            upper = min(upper, encoding.target(first_worth()))
        trace.note(time.perf_counter() - packed_at, upper, lower, nodes)
        return "gap" if search_limits.tell(value_of(upper), bound_of(lower), nodes) else None

    try:
        session.run(search_limits.time_limit, look)
        searched_at = time.perf_counter()
        trace.note(searched_at - packed_at, session.upper, session.lower, session.nodes)
        preorder, upper, is_open = session.tree() if session.upper < target else None, session.upper, session.is_open()
        if is_open and workspaces[0].first is not None:
            beat = search_limits.beat if preorder is None else worth(preorder)
            if beat is None or problem.task.better(first_worth(), beat):
                preorder, upper = workspaces[0].first, encoding.target(first_worth())
                is_open = session.lower < upper and bound_of(session.lower) != first_worth()
        stats = {"search": order, **statistics(workspaces, begin, packed_at, searched_at)}
        if order == BEST_FIRST and stats["evictions"]:
            stats["frontier"] = max(each.engine["frontier"] for each in workspaces)
        if session.beside is not None:
            stats["row_prices"] = session.beside.statistics(bound_of)
        stats["trace"] = trace.decoded(value_of, bound_of)
    finally:
        for each in workspaces:
            each.close()
    if _overflowed(problem, workspaces):
        return None
    stats |= {"nodes": session.nodes, "exact": encoding.exact, "route": encoding.route}
    stopped = (session.reason or "memory") if is_open else None
    return certify(problem, encoding, preorder, (session.lower, upper), bound_of(session.lower), stopped, stats)


def _session_below(
    target: int, problem: Problem, encoding: Encoding, search_limits: SearchLimits, order: str, row_prices: bool
) -> tuple[Session, list[Workspace]]:
    """The search for trees below the target, and the workspaces of its threads, linked to their kernels."""
    packed = encoding.packed
    limits = limits_of(packed, problem)
    control = np.zeros(ROWS_OF_CONTROL, np.int64)
    control[UPPER] = INFINITE
    control[SHARED_UPPER] = target
    workspaces = make_workspaces(packed, search_limits, order == BEST_FIRST, limits, control, packed.lane_type())
    for each in workspaces:
        link_units(each)
        each.engine["root_target"] = target
    session = Session(workspaces)
    if row_prices and limits[0] == UNLIMITED and search_limits.memory_limit is None:
        # a limited depth leaves little to charge, as pure leaves are short; and linear programs have no memory limit
        session.beside = PricingBeside(control, functools.partial(encoding.leaves, problem), workspaces)
    return session, workspaces


def _overflowed(problem: Problem, workspaces: list[Workspace]) -> bool:
    """Whether some cost did not fit its code; raises TaskError if a method of the task raised an error."""
    overflow = functools.reduce(operator.or_, [each.engine["overflow"] for each in workspaces])
    if overflow & RAISED:
        raise TaskError(
            f"{type(objective(problem.task)).__name__} raised an error at some state\n"
            "let its methods return a number at every state of at least one row"
        )
    return overflow != 0


def certify(
    problem: Problem,
    encoding: Encoding,
    preorder: Array | None,
    codes: tuple[int, int],
    bound: Value | None,
    stopped: str | None,
    stats: dict[str, Any],
) -> Outcome:
    """The outcome of a search that ended with the root's bounds `codes`; its tree is measured from the raw data."""
    lower, upper = codes
    solutions: tuple[Solution, ...] = ()
    rounding = 0
    if preorder is not None:
        complete = stopped is None and stats["evictions"] == 0
        solution, is_whole = encoding.solution(problem, preorder, upper, lower, complete)
        solutions = (solution,)
        if not is_whole:
            stopped = stopped or "memory"
        if not encoding.exact:
            rounding = encoding.rounding(preorder, upper)
        if stopped is None and (encoding.exact or bound is None or not problem.task.better(bound, solution.value)):
            bound = solution.value
    stats["rounding"] = rounding
    found = Outcome(solutions, bound, stopped, stats, encoding.unit, encoding.real, size=encoding.size)
    return attrs.evolve(found, stopped="rounding") if stopped is None and not found.is_proved else found
