"""How a native search goes from all rows to bounds that meet: good trees first, in waves, and then, in turn, the proof.

    for departures in 0, 1, 2, 3, ...:
        follow a wave of so many departures               limited discrepancies (Harvey and Ginsberg, IJCAI 1995)
        search the subtrees of the best tree exactly, of four levels and of five, while that makes it better
        unless the wave found a better tree:
            improve the root for `patience` times as many visits as the wave took; patience grows
    improve the root to the end

Where all sides of the root take long, a rolling lookahead of two levels is first, which waves do not build upon.
Wave 0 is one of three: below every node, the split that is best if its sides are solved as shallow trees, and
exact trees at the last levels. Wave k looks at every tree whose departures from that cost at most k on each path
(root.py). Waves follow each other as long as each finds a better tree; then the exact search takes over by ever larger
shares. All that either learns stands in the nodes and edges of one store, so nothing is done twice, and a wave that
leaves no edge out is the proof. Subproblems that one work unit solves, and short searches, need no waves.

Set-up, threads, limits, the trace and the certificate are the same for any procedure.
"""

from __future__ import annotations

import functools
import operator
import time
from collections.abc import Iterator
from typing import Any, final

import attrs
import numpy as np

from streed.bnb import units
from streed.bnb.depth_three import is_terminal, look_ahead, solve_root
from streed.bnb.extraction import extract
from streed.bnb.pricing_beside import PricingBeside
from streed.bnb.root import place, search_root
from streed.bnb.session import (
    Session,
    depth_and_budget,
    is_short,
    make_workspaces,
    search_for,
    search_fully,
    statistics,
)
from streed.bnb.workspace import Workspace
from streed.encoding.row_costs import Encoding, TooImprecise, encoding_of
from streed.errors import TaskError
from streed.exact import Array
from streed.kernels.records import INFINITE, LOWEST, NONE, RAISED, SHALLOW, UNLIMITED
from streed.kernels.stopping import ROWS_OF_CONTROL, SHARED_UPPER, STOP, UPPER, Trace
from streed.problem import Outcome, Problem, SearchLimits, Solution
from streed.task import Value
from streed.task.base import objective

_FAR, _PRICED, _GROWTH = 8, 32, 1.4
"""Levels from which on proofs are far: there the exact search first gets half as many visits as a wave, and four times
as many for each level less; how many times as many it gets where splits cost something, which bounds trees by itself;
and how much larger its share is after each wave that found nothing."""

_WIDE = 4
"""Where the sides of the root take the work of so many short searches, a lookahead of two levels is first."""

_EXACT = 5
"""Levels of the largest subtrees of the best tree that are searched exactly between waves."""


@final
@attrs.frozen
class Procedure:
    """The order of a native search. It keeps nothing between searches: all that is learnt stands in the workspace."""

    name: str
    """The driver's, in `stats`."""
    best_first: bool
    """How `improve` leaves an edge: as soon as another one is better, or once it has reached its goal."""

    def run(self, workspace: Workspace, depth: int, budget: int) -> None:
        """Searches the rows behind the last node: until the root's bounds meet or no tree costs less than its target.

        It returns early when the control words say stop, and when memory is too small to go on. Of several threads, the
        first sends the waves, and all search exactly (root.py).
        """
        if is_terminal(depth, budget):
            solve_root(workspace.engine.address, depth)
            return
        # with prices of rows beside it, the search takes turns with them in place of waves
        alone = workspace.turns is None
        for visits in self.waves(workspace, depth, budget, alone=alone):
            if not (alone and search_for(workspace, depth, budget, visits)):
                break
        self.finish(workspace, depth, budget)

    def finish(self, workspace: Workspace, depth: int, budget: int) -> None:
        """Improves the root, once placed, as `run` says."""
        search_fully(workspace, depth, budget, again=True)

    def begin(self, workspace: Workspace, depth: int, budget: int) -> None:
        """Places the rows behind the last node as the root, and sends waves until one finds nothing better."""
        next(self.waves(workspace, depth, budget, alone=False), None)

    def waves(self, workspace: Workspace, depth: int, budget: int, *, alone: bool) -> Iterator[int]:
        """Places the rows behind the last node as the root, and sends waves.

        After each that found nothing better, it gives the visits that the exact search takes before the next. `alone`:
        nothing takes turns with them, so that subtrees of the best tree are searched, too.
        """
        engine = workspace.engine
        if depth <= SHALLOW:
            place(engine.address, depth, budget)
            return
        if engine["relaxed"] and not is_short(workspace.problem, SHALLOW, _WIDE):
            workspace.first = extract(workspace, workspace.problem, look_ahead, depth, budget)
        departures, known = 0, 0
        patience = _PRICED if engine["split_cost"] else 4 ** max(0, _FAR - min(depth, budget)) / 2
        goes_on = True
        while goes_on:
            before, upper = engine["visits"], workspace.root_bounds[1] if departures else INFINITE
            goes_on = _follow(workspace, depth, budget, departures, known)
            is_better = departures > 0 and workspace.root_bounds[1] < upper
            known = engine["node_count"]
            if goes_on and alone:
                goes_on = _reoptimise(workspace, depth, budget, engine["visits"] - before)
            if goes_on and not is_better:
                yield int(patience * (engine["visits"] - before))
                patience *= _GROWTH
            departures += 1


def _follow(workspace: Workspace, depth: int, budget: int, departures: int, known: int, exact_levels: int = 0) -> bool:
    """Sends a wave from the root; whether there is more to find and room for it. `known`: the nodes of waves before."""
    engine = workspace.engine
    engine["departures"], engine["followed_nodes"], engine["exact_levels"] = departures, known, exact_levels
    search_root(engine.address, depth, budget, departures + exact_levels > 0)
    engine["departures"], engine["exact_levels"] = NONE, 0
    return engine["left_out"] != 0 and engine["crowded"] == 0 and not workspace.control[STOP]


def _reoptimise(workspace: Workspace, depth: int, budget: int, visits: int) -> bool:
    """Searches subtrees of the best tree exactly, each time in about so many visits; whether there is more to find."""
    engine = workspace.engine
    for exact_levels in range(SHALLOW + 1, min(depth, _EXACT + 1)):
        is_better = goes_on = True
        while is_better and goes_on:
            upper = workspace.root_bounds[1]
            engine["pause"] = engine["visits"] + visits
            goes_on = _follow(workspace, depth, budget, 0, engine["node_count"], exact_levels)
            is_paused = engine["visits"] > engine["pause"]
            engine["pause"] = INFINITE
            is_better = workspace.root_bounds[1] < upper
            if is_paused:
                engine["crowded"] = 0
                return not workspace.control[STOP]
        if not goes_on:
            return False
    return True


DEPTH_FIRST = Procedure("depth-first", best_first=False)
"""STreeD's order: a node goes on with an edge until its bound has reached what the node's parent asked for."""

BEST_FIRST = Procedure("branches", best_first=True)
"""AO*, Branches' order: a node turns to its next best edge as soon as the best one has become worse."""


def search_native(
    problem: Problem, search_limits: SearchLimits, procedure: Procedure, row_prices: bool = True
) -> Outcome | None:
    """The outcome; None if no kernels can be made for the task. Codes for wider values are tried one by one.

    `row_prices`: a search that takes long is helped by prices of its rows (bnb/pricing_beside.py).
    """
    begin = time.perf_counter()
    with units.planned(problem.max_depth, problem.max_nodes):
        encoding = encoding_of(problem)
    if encoding is None:
        return None
    while encoding is not None:
        try:
            outcome = _search(problem, encoding, search_limits, procedure, row_prices, begin)
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
    procedure: Procedure,
    row_prices: bool,
    begin: float,
) -> Outcome | None:
    """The outcome; None if the codes of the encoding are too fine for the task's values."""
    packed = encoding.packed
    depth, budget = depth_and_budget(packed, problem.max_depth, problem.max_nodes)
    control = np.zeros(ROWS_OF_CONTROL, np.int64)
    control[UPPER] = INFINITE
    threads = search_limits.threads
    if threads > 1 and (is_short(packed, depth) or is_terminal(depth, budget)):
        threads = 1
    target = INFINITE if search_limits.beat is None else min(encoding.target(search_limits.beat), INFINITE)
    control[SHARED_UPPER] = target
    workspaces = make_workspaces(packed, search_limits, procedure, threads, (depth, budget), control)
    for each in workspaces:
        each.engine["root_target"] = target
    session = Session(procedure, packed, workspaces, (depth, budget))
    if row_prices and depth == UNLIMITED and search_limits.memory_limit is None:
        # a limited depth leaves little to charge, as pure leaves are short; and linear programs have no memory limit
        session.beside = PricingBeside(control, functools.partial(encoding.leaves, problem), workspaces)
    trace = Trace()
    packed_at = time.perf_counter()

    def value_of(upper: int) -> Value | None:
        return None if upper >= INFINITE else encoding.value(upper)

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
        stats = {"search": procedure.name, **statistics(workspaces, packed, begin, packed_at, searched_at)}
        if procedure.best_first and stats["evictions"]:
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


def _overflowed(problem: Problem, workspaces: list[Workspace]) -> bool:
    """Whether some cost did not fit its code; raises TaskError if a method of the task raised an error."""
    overflow = functools.reduce(operator.or_, (each.engine["overflow"] for each in workspaces))
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
