"""The driver of the native search over shared subproblems (see `improve.py`), and STreeD's order: depth-first."""

from __future__ import annotations

import abc
import functools
import time
from typing import Any, ClassVar, final

import attrs
import numpy as np
from numba import boolean, int64

from streed.constrained import objective
from streed.engine import kernels
from streed.engine.control import ROWS_OF_CONTROL, SHARED_UPPER, STOP, UPPER
from streed.engine.eviction import evict
from streed.engine.packed import PackedProblem
from streed.engine.records import CHILD, EDGE, INFINITE, LOWEST, NODE, NONE, RAISED, UNLIMITED
from streed.engine.workspace import Workspace
from streed.errors import TaskError
from streed.exact import Array
from streed.search import memory, warmup, watch
from streed.search.compilation import clock
from streed.search.dive import grow_first
from streed.search.driver import Driver, Orders, Outcome, Problem, Solution
from streed.search.expand import opening
from streed.search.extract import extract_tree
from streed.search.measure import Measure, TooCoarse
from streed.search.parallel import search_share
from streed.search.repricing import Repricing
from streed.search.root import search_root
from streed.search.routes import measure_of, search_otherwise
from streed.search.trace import Trace
from streed.task import Task, Value

_SHORT = 0.05
"""Seconds: a search that cannot take longer runs in the caller's thread."""

_MOST_KEPT = 0.9
"""Of the nodes: if more than this remains after forgetting, memory is too small to go on."""

_MOST_REPAIRS = 16
"""Parts of a tree that are searched again because they were forgotten."""

_COUNT, _SUM = 1e-12, 1.2e-11
"""Seconds per pair of columns, row and plane, a generous estimate: of rows that are counted, and that are summed."""

_SCORE, _CALL = 2e-10, 5e-8
"""Seconds per pair of columns to score it, likewise: by costs per row, and by the task's own methods."""


_COUNTERS = (
    *("expansions", "repeats", "units", "pair_passes", "pruned", "evictions"),
    *("node_count", "edge_count", "child_count", "branch_slots"),
)
"""What a record counts, beside the nodes visited."""


@attrs.frozen
class Native(Driver):
    """The native search, in one of two orders."""

    best_first: ClassVar[bool]

    def search(self, problem: Problem, orders: Orders) -> Outcome:
        begin = time.perf_counter()
        warmup.begin()
        measure = measure_of(problem)
        if measure is None:
            return self.without_kernels(problem, orders)
        while measure is not None:
            try:
                outcome = self._search(problem, measure, orders, begin)
            except TooCoarse as coarse:
                measure = coarse.finer
                continue
            if outcome is not None and outcome.stopped == "rounding":
                left = None if orders.time_limit is None else orders.time_limit - (time.perf_counter() - begin)
                return measure.closed(problem, outcome, left)
            if outcome is not None:
                return outcome
            measure = measure.coarser()
        raise TaskError("the task's costs differ too much in size to be searched; scale them")

    @abc.abstractmethod
    def without_kernels(self, problem: Problem, orders: Orders) -> Outcome:
        """The outcome for a task of which no kernels can be made; raises TaskError if there is none."""

    def reprice(self, problem: Problem, kinds: Array, n_labels: int, splits: bool, orders: Orders) -> Repricing | None:
        """Takes problems of few kinds of rows, for one thread."""
        from streed.search.repriced import MOST_KINDS, RepricedEngine

        if orders.threads > 1 or int(kinds.max(initial=0)) >= MOST_KINDS:
            return None
        return RepricedEngine(problem, kinds, n_labels, splits, orders, self.best_first)

    def _search(self, problem: Problem, measure: Measure, orders: Orders, begin: float) -> Outcome | None:
        """The outcome; None if the codes of the measure are too fine for the task's values."""
        packed = measure.packed
        depth = UNLIMITED if problem.max_depth is None else problem.max_depth
        budget = UNLIMITED if problem.max_nodes is None else problem.max_nodes
        if depth == 0 or budget == 0:
            depth, budget = 0, UNLIMITED
        elif packed.n_binary == packed.n_columns and depth < 30 and budget >= 2**depth - 1:
            budget = UNLIMITED
        free = packed.split_cost == 0
        relaxed = free and depth != UNLIMITED and budget == UNLIMITED
        control = np.zeros(ROWS_OF_CONTROL, np.int64)
        control[UPPER] = control[SHARED_UPPER] = INFINITE
        threads = 1 if is_short(packed, depth) else orders.threads
        workspaces = _workspaces(problem, packed, orders, threads, depth, budget, relaxed, control)
        for each in workspaces:
            each.engine["best_first"] = self.best_first
        trace = Trace()
        packed_at = time.perf_counter()

        def best_of(upper: int) -> Value | None:
            return None if upper >= INFINITE else measure.value(upper)

        def bound_of(lower: int) -> Value | None:
            return measure.bound(lower) if lower > LOWEST else None

        def look() -> str | None:
            nodes, lower, upper = _bounds(workspaces)
            trace.note(time.perf_counter() - packed_at, upper, lower, nodes)
            best, bound = best_of(upper), bound_of(lower)
            if orders.report is not None:
                orders.report(best, bound, nodes, "searching")
            return "gap" if lower < upper and orders.is_enough(best, bound) else None

        try:
            searches = [functools.partial(search_fully, each, depth, budget, threads > 1) for each in workspaces]
            reason = None
            if is_short(packed, depth):
                searches[0]()
            else:
                deadline = None if orders.time_limit is None else clock() + orders.time_limit
                reason = watch.run(searches, control, deadline, look)
            searched_at = time.perf_counter()
            nodes, lower, upper = _bounds(workspaces)
            trace.note(searched_at - packed_at, upper, lower, nodes)
            best = min(workspaces, key=lambda each: each.root_bounds[1])
            preorder = None
            if upper < INFINITE:
                preorder = extract_best(best, packed, depth, budget)
            stats = {"search": self.name, **statistics(workspaces, packed, begin, packed_at, searched_at)}
            if self.best_first and stats["evictions"]:
                stats["frontier"] = max(each.engine["frontier"] for each in workspaces)
            stats["trace"] = trace.decoded(best_of, bound_of)
        finally:
            for each in workspaces:
                each.close()
        if any(each.engine["overflow"] & RAISED for each in workspaces):
            raise TaskError(
                f"{type(objective(problem.task)).__name__} raised an error at some state\n"
                "let its methods return a number at every state of at least one row"
            )
        if any(each.engine["overflow"] for each in workspaces):
            return None
        stopped = (reason or "memory") if lower < upper else None
        solutions: tuple[Solution, ...] = ()
        if preorder is not None:
            complete = stopped is None and stats["evictions"] == 0
            solution, is_whole = measure.solution(problem, preorder, upper, lower, complete)
            solutions = (solution,)
            if not is_whole:
                stopped = stopped or "memory"
        bound, rounding = bound_of(lower), 0
        if solutions and preorder is not None and not measure.exact:
            rounding = measure.rounding(preorder)
        if solutions and stopped is None:
            value = solutions[0].value
            if measure.settles and bound is not None and problem.task.better(bound, value):
                stopped = "rounding"
            else:
                bound = value
        stats = {**stats, "nodes": nodes, "exact": measure.exact, "rounding": rounding, "route": measure.route}
        return Outcome(solutions, bound, stopped, stats, measure.unit, measure.real)


@final
@attrs.frozen
class DepthFirst(Native):
    """Depth-first branch and bound with depth-three work units, shared subproblems and similarity bounds."""

    name: ClassVar[str] = "depth-first"
    best_first: ClassVar[bool] = False

    def check(self, task: Task) -> None:
        """Takes every task: what no kernel can be made for is searched by the general route."""

    def without_kernels(self, problem: Problem, orders: Orders) -> Outcome:
        return search_otherwise(problem, orders)


def _workspaces(
    problem: Problem,
    packed: PackedProblem,
    orders: Orders,
    threads: int,
    depth: int,
    budget: int,
    relaxed: bool,
    control: Any,
) -> list[Workspace]:
    """A workspace for every thread, with all rows behind its (missing) last node, linked to the kernels."""
    lane_type = packed.lane_type()
    limit = min(depth, budget)
    space = memory.space_for(
        packed,
        orders.memory_limit,
        scratch_bytes(packed, lane_type),
        threads,
        None if limit >= UNLIMITED else limit,
        budget != UNLIMITED,
        relaxed,
    )
    workspaces = []
    for _ in range(threads):
        workspace = Workspace(packed, space, lane_type, control, relaxed)
        link_units(workspace, packed.kind, relaxed, threads > 1, depth)
        if orders.memory_limit is not None and not evict.signatures:
            evict.compile((int64,))  # not in the middle of the search
        workspace.engine["frontier"] = UNLIMITED
        workspace.engine["taken"] = NONE
        workspaces.append(workspace)
    return workspaces


def _bounds(workspaces: list[Workspace]) -> tuple[int, int, int]:
    """(nodes visited, lower, upper) of the root, by all threads together.

    Of several threads, each edge was taken by one, whose lower bound of it is the largest. A thread that was stopped
    while it opened the root, or is looked at then, has some of its edges only, and has taken none.
    """
    if len(workspaces) == 1:
        return workspaces[0].engine["visits"], *workspaces[0].root_bounds
    nodes = sum(each.engine["visits"] for each in workspaces)
    lowers, uppers = zip(*(each.root_bounds for each in workspaces), strict=True)
    lower, upper = max(lowers), min(uppers)
    opened = [each for each in workspaces if each.engine["taken"] != NONE]
    if lower < upper and len({int(each.root["n_edges"]) for each in opened}) == 1:
        edges = np.max([each.root_edges["lower"] for each in opened], axis=0)
        lower = max(lower, min(upper, int(edges.min(initial=upper))))
    return nodes, lower, upper


def search_fully(workspace: Workspace, depth: int, budget: int, shared: bool, again: bool = False) -> None:
    """Searches to the end, until stopped, or until forgetting makes no room any more or leads round in circles.

    What best-first search looks at next may just have been forgotten, so it turns to depth-first search, which needs no
    more than a path, below a frontier that moves up whenever something is forgotten.
    """
    engine = workspace.engine
    search = search_share if shared else search_root
    if depth == UNLIMITED and not shared and not again:
        grow_first(engine.address, depth, budget)
        again = True
    seen: set[int] = set()
    while True:
        search(engine.address, depth, budget, again)
        if engine["crowded"] == 0 or evict(engine.address) > _MOST_KEPT * workspace.space.nodes:
            return
        if engine["kept"] in seen:
            if engine["best_first"] == 0 or engine["frontier"] == 0:
                return
            engine["frontier"] = 0
            seen.clear()
        engine["frontier"] = min(engine["frontier"], engine["level"]) // 2
        seen.add(engine["kept"])
        again = True


def extract_best(workspace: Workspace, packed: PackedProblem, depth: int, budget: int) -> Any:
    """The best tree in preorder; what was forgotten of it is searched again, as long as that gets on."""
    engine, rows = workspace.engine, workspace.rows
    for _ in range(_MOST_REPAIRS):
        preorder = extract_tree(engine.address, packed.column, packed.flipped, rows, depth, budget)
        if engine["missing"] == 0:
            return preorder
        if engine["node_count"] + 2 >= workspace.space.nodes:
            engine["level"] = 0
            evict(engine.address)
        engine["root_high"], engine["root_low"] = engine["missing_high"], engine["missing_low"]
        search_fully(workspace, engine["missing_depth"], engine["missing_budget"], False)
        lower, upper = workspace.root_bounds
        if lower < upper:
            break
    # stopped, or without room for the whole tree: what is known has to do
    workspace.control[STOP] = 1
    return extract_tree(engine.address, packed.column, packed.flipped, rows, depth, budget)


def link_units(workspace: Workspace, kind: str, relaxed: bool, shared: bool, depth: int) -> None:
    """Gives the record the addresses of the work units that the search will call; compiles them if need be."""
    engine, lane = workspace.engine, workspace.lane_type
    engine["solve_shallow"] = kernels.shallow().address
    engine["prepare"] = kernels.prepare(kind, lane).address
    engine["solve_children"] = kernels.solve_children(kind, lane).address
    engine["push_bounds"] = kernels.push(lane).address
    if not relaxed:
        engine["expand"] = kernels.expand(kind, lane).address
    warmup.finish()
    warmup.compile_search()
    engine["load"] = kernels.load().address
    engine["open_node"] = opening().address
    if shared and not search_share.signatures:
        search_share.compile((int64, int64, int64, boolean))
    if depth == UNLIMITED and not shared and not grow_first.signatures:
        grow_first.compile((int64, int64, int64))


def scratch_bytes(packed: PackedProblem, lane_type: Any) -> int:
    """Roughly what the work units need besides caches."""
    lane: int = np.dtype(lane_type).itemsize
    width = packed.n_columns + 32
    planes = 2 if packed.signed else 3 * (packed.n_labels + 2)
    summed = packed.row_values
    table = 0 if summed is None else width * width * summed.shape[1] * 8 + 2 * len(packed.row_bits) * width
    return planes * width * width * lane + table + 3 * len(packed.row_bits) * width // 4 + 2**20


def is_short(packed: PackedProblem, depth: int) -> bool:
    """Whether a search of this size must be over in a moment, however bad its bounds."""
    if depth > 8:
        return False
    per_row = (_COUNT if packed.row_values is None else _SUM) * (packed.n_labels + 1)
    per_pair = _SCORE if packed.scoring is None else _CALL
    # the columns of the last two levels, after every split above them, whose sides share all rows
    pairs = float(packed.n_columns) ** max(2, depth)
    return pairs * (len(packed.row_bits) * per_row + per_pair) < _SHORT


def statistics(
    workspaces: list[Workspace], packed: PackedProblem, begin: float, packed_at: float, end: float
) -> dict[str, Any]:
    """What was done, by all threads together."""
    engines = [each.engine for each in workspaces]
    done = dict(
        zip(_COUNTERS, map(sum, zip(*(engine.read(_COUNTERS) for engine in engines), strict=True)), strict=True)
    )
    key_words, branch_words = engines[0].read(("key_words", "branch_words"))
    cache = (
        done["node_count"] * (key_words * 8 + NODE.itemsize + 16)
        + done["edge_count"] * EDGE.itemsize
        + done["child_count"] * CHILD.itemsize
        + done["branch_slots"] * branch_words * 8
    )
    return {
        "threads": len(workspaces),
        "seconds_setup": packed_at - begin,
        "seconds_search": end - packed_at,
        "expansions": done["expansions"],
        "repeats": done["repeats"],
        "work_units": done["units"],
        "pair_passes": done["pair_passes"],
        "subproblems": done["node_count"],
        "pruned": done["pruned"],
        "evictions": done["evictions"],
        "cache_bytes": cache,
        "peak_bytes": memory.peak(),
        "columns": packed.n_columns,
        "lane": workspaces[0].lane_type.__name__,
        "kernel": packed.kind,
    }
