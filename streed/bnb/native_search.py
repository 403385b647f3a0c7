"""The native search of a problem of any kind: set-up, threads, limits, the trace and the certificate of its tree.

How it is searched is in session.py. For a linear oracle, columns and memory are prepared once, and each solve brings
its own costs: a row's kind is its row group, so new costs are new multipliers of the groups, and nothing else.
`set_prices` writes them, the record of the engine is put back to how it began, and the search starts. What is left per
solve is the search itself, and the extraction of its tree.
"""

from __future__ import annotations

import functools
import operator
import time
from collections.abc import Mapping
from typing import Any

import attrs
import numpy as np

from streed.bnb import units
from streed.bnb.pricing_beside import PricingBeside
from streed.bnb.session import Session, link_units, make_workspaces, statistics
from streed.bnb.workspace import Workspace, limits_of
from streed.encoding.row_costs import Encoding, RowCosts, TooImprecise, encoding_of, floors_of
from streed.errors import TaskError
from streed.exact import Array, writable
from streed.kernels.counting.groups import Groups, place_groups, set_prices
from streed.kernels.packed import PackedProblem, narrowest_lane, pack
from streed.kernels.records import INFINITE, LOWEST, RAISED, UNLIMITED
from streed.kernels.stopping import ROW_PRICES, ROWS_OF_CONTROL, SHARED_UPPER, UPPER, Trace
from streed.problem import Outcome, Problem, SearchLimits, Solution
from streed.problem.linear_oracle import Answer, LinearOracle, RowSets
from streed.row_prices.prices import Leaves, leaves_of
from streed.task import Value
from streed.task.base import objective

DEPTH_FIRST, BEST_FIRST = "depth-first", "branches"
"""Orders of search. STreeD's: a node goes on with an edge until its bound has reached what the node's parent asked for.
AO*, Branches': a node turns to its next best edge as soon as the best one has become worse."""


def search_native(problem: Problem, search_limits: SearchLimits, order: str) -> Outcome | None:
    """The outcome; None if no kernels can be made for the task. Codes for wider values are tried one by one.

    `order`: DEPTH_FIRST or BEST_FIRST.
    """
    begin = time.perf_counter()
    with units.planned(problem.max_depth, problem.max_nodes):
        encoding = encoding_of(problem)
    if encoding is None:
        return None
    while encoding is not None:
        try:
            outcome = _search(problem, encoding, search_limits, order, begin)
        except TooImprecise as coarse:
            encoding = coarse.finer
            continue
        if outcome is not None:
            return outcome
        encoding = encoding.less_precise()
    raise TaskError("the task's costs differ too much in size to be searched; scale them")


def _search(
    problem: Problem, encoding: Encoding, search_limits: SearchLimits, order: str, begin: float
) -> Outcome | None:
    """The outcome; None if the codes of the encoding are too fine for the task's values."""
    target = INFINITE if search_limits.beat is None else min(encoding.target(search_limits.beat), INFINITE)
    session, workspaces = _session_below(target, problem, encoding, search_limits, order)
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
    target: int, problem: Problem, encoding: Encoding, search_limits: SearchLimits, order: str
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
    if limits[0] == UNLIMITED and search_limits.memory_limit is None:
        # a limited depth leaves little to charge, as pure leaves are short; and linear programs have no memory limit
        session.beside = PricingBeside(control, functools.partial(encoding.leaves, problem), len(packed.row_bits))
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
    found = Outcome(solutions, bound, stopped, stats, encoding.real, size=encoding.size)
    return attrs.evolve(found, stopped="rounding") if stopped is None and not found.is_proved else found


_WIDEST = np.int64


class NativeOracle(LinearOracle):
    """The workspace of a problem, one more for each further thread, and its record as each solve begins with it."""

    def __init__(
        self, problem: Problem, kinds: Array, n_labels: int, splits: bool, search_limits: SearchLimits, order: str
    ) -> None:
        """`order`: as `search_native` takes it."""
        self.problem = problem
        self._takes_prices = search_limits.memory_limit is None
        self._order = order
        self._kinds = kinds
        self.sizes = np.bincount(kinds)
        with units.planned(problem.max_depth, problem.max_nodes):
            self.packed = pack_kinds(problem, kinds, len(self.sizes), n_labels, splits)
        self.control = np.zeros(ROWS_OF_CONTROL, np.int64)
        limits = limits_of(self.packed, problem)
        self._workspaces = make_workspaces(
            self.packed, search_limits, order == BEST_FIRST, limits, self.control, _WIDEST
        )
        self._used = self._workspaces
        """Those of the last solve."""
        self.workspace = self._workspaces[0]
        self.rows = self.workspace.rows
        self._floors: Any = None
        self._seconds = 0.0
        self._price_stats: dict[str, Any] = {}
        self.costs_of: RowSets | None = None
        """The sets of rows whose costs are in the workspace, if they are."""

    def solve(
        self, costs: Array, split: int, search_limits: SearchLimits, *, below: int | None = None, ahead: bool = False
    ) -> Answer:
        base, divisor = self.set_costs(costs, split)
        target = INFINITE if below is None else min(-((base - below) // divisor), INFINITE)
        if target <= 0:
            return Answer(below, None, None, None, 0)
        self.workspace.engine["root_target"] = target
        used = self._used = self._workspaces[:1] if ahead else self._workspaces
        for each in used[1:]:
            each.begin(self.workspace.lane_type, link_units)
            each.take_costs(self.workspace)
        session = Session(used)
        if self._takes_prices and not ahead and self.workspace.limits[0] == UNLIMITED:
            split_cost = self.workspace.engine["split_cost"]

            def find_leaves() -> tuple[Leaves, Array] | None:
                return leaves_of(self.problem, self.packed, costs[self._kinds], divisor, split_cost)

            session.beside = PricingBeside(self.control, find_leaves, len(self.packed.row_bits))

        def look(nodes: int, lower: int, upper: int) -> None:
            if search_limits.report is not None:
                search_limits.report(
                    base + divisor * upper if upper < INFINITE else None,
                    base + divisor * lower if lower > LOWEST else None,
                    nodes,
                    "searching",
                )

        begin = time.perf_counter()
        session.run(search_limits.time_limit, look, ahead=ahead)
        self._seconds = time.perf_counter() - begin
        self._price_stats = {}
        if session.beside is not None:
            self._price_stats = session.beside.statistics(lambda code: base + divisor * code)
            self.control[ROW_PRICES] = 0  # the array there goes with `beside`
        lower, upper, nodes = session.lower, session.upper, session.nodes
        stopped = (session.reason or (None if ahead else "memory")) if session.is_open() else None
        bound = None if lower <= LOWEST else base + divisor * lower
        if upper >= (INFINITE if stopped else target):
            return Answer(bound, None, None, stopped, nodes)
        return Answer(bound, base + divisor * upper, session.tree(), stopped, nodes)

    def stats(self) -> Mapping[str, Any]:
        found = statistics(self._used, 0.0, 0.0, self._seconds)
        nodes = sum(each.engine["visits"] for each in self._used)
        found |= {"search": self._order, "nodes": nodes, "exact": True, "route": RowCosts.route}
        return found | {"row_prices": self._price_stats} if self._price_stats else found

    def close(self) -> None:
        self.costs_of = None
        for each in self._workspaces:
            each.close()

    def set_costs(self, costs: Array, split: int, owner: RowSets | None = None) -> tuple[int, int]:
        """(what every tree pays, the unit of the engine's codes); the workspace is as new, with these costs."""
        workspace, engine = self.workspace, self.workspace.engine
        self.costs_of = owner
        base, worst, divisor, accuracy = set_prices(costs, self.sizes, split, workspace.profits, workspace.signed_costs)
        packed = self.packed
        split_cost = min(split // divisor, worst + 1)
        lane_type = narrowest_lane(worst, split_cost, packed.min_leaf, packed.most_rows)
        workspace.begin(lane_type, link_units)
        self.control[:] = 0
        self.control[[UPPER, SHARED_UPPER]] = INFINITE
        engine["split_cost"] = split_cost
        engine["class_bound"] = accuracy
        self._floors = floors_of(self.problem, packed, costs, divisor, self._kinds)
        if self._floors is not None:
            engine["floor_mask"], engine["floors"] = (each.ctypes.data for each in self._floors)
        return int(base), int(divisor)


def pack_kinds(problem: Problem, kinds: Array, n_kinds: int, n_labels: int, splits: bool) -> PackedProblem:
    """The problem's columns with a row group for each kind of row, whose costs are all zero as yet."""
    places, words = place_groups(kinds, n_kinds)
    profits = np.zeros((n_kinds, n_labels + 2), np.int64)
    counted = 0
    profits[:, n_labels + 1] = 1
    if problem.data.frequency is not None and problem.min_leaf > 1:
        profits[kinds, n_labels + 1] = problem.data.frequency
        counted = problem.data.size
    groups = Groups(places, words, profits, 0, 0, counted=counted)
    codes = writable(problem.data.X)
    if problem.data.frequency is not None:
        # which columns are turned round is told by all rows that these stand for, so that their trees are the same
        ones = 2 * (problem.data.frequency @ (codes != 0))
        flips = (ones > problem.data.size) | ((ones == problem.data.size) & (codes[0] != 0))
        groups = attrs.evolve(groups, flips=flips.astype(np.int8))
    return pack(codes, problem.data.category_counts, groups, n_labels, int(splits), problem.min_leaf)
