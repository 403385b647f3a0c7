"""A session of the native search: its workspaces, how it is run to the end, its best tree, and what it counted."""

from __future__ import annotations

import functools
import operator
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, final

import attrs
import numpy as np

from streed.bnb import units, workspace
from streed.bnb.depth_three import compile_terminal, extract_root, is_terminal, solve_root
from streed.bnb.extraction import EXTRACT, extract, extract_tree
from streed.bnb.layout import share_store
from streed.bnb.node_store import evict, make_room
from streed.bnb.root import Team, search_root
from streed.bnb.shared_store import CHILD_CHUNK, EDGE_CHUNK, NODE_CHUNK
from streed.bnb.workspace import SHORT_PATH, Space, Workspace
from streed.exact import Array
from streed.kernels.compilation import clock
from streed.kernels.compiled import ready
from streed.kernels.packed import PackedProblem
from streed.kernels.records import ASKED, CHILD, EDGE, INFINITE, LOWEST, NODE, UNLIMITED
from streed.kernels.stopping import STOP, run_stoppable
from streed.problem import SearchLimits, process_memory

if TYPE_CHECKING:
    from streed.bnb.native_search import Procedure
    from streed.bnb.pricing_beside import PricingBeside

_SHORT = 0.05
"""Seconds: a search that cannot take longer runs in the caller's thread."""

_MOST_REPAIRS = 16
"""Parts of a tree that are searched again because they were forgotten."""

_SHARED = 2**29
"""Bytes for the branch cache that threads share, at most,"""

_SHARE_OF_LIMIT = 8
"""and of a limit of the memory one for so many."""

_FEW_VISITS = 10_000
"""Of nodes: as many may settle ties, however short the search was."""

_COUNT, _SUM = 1e-12, 1.2e-11
"""Seconds per pair of columns, row and plane, a generous estimate: of rows that are counted, and that are summed."""

_SCORE, _CALL = 2e-10, 5e-8
"""Seconds per pair of columns to score it, likewise: by costs per row, and by the task's own methods."""


_TOLD = ("expansions", "repeats", "pair_passes", "pruned", "similar", "evictions")
_COUNTERS = (*_TOLD, "units", "node_count", "edge_count", "child_count", "branch_slots")
"""What a record counts, beside the nodes visited."""


def make_workspaces(
    packed: PackedProblem,
    search_limits: SearchLimits,
    procedure: Procedure,
    threads: int,
    limits: tuple[int, int],
    control: Any,
) -> list[Workspace]:
    """A workspace for every thread, with all rows behind its (missing) last node, linked to the kernels.

    `limits`: depth and branching nodes, as `depth_and_budget` has them.
    """
    lane_type = packed.lane_type()
    terminal, (depth, budget) = is_terminal(*limits), limits
    relaxed = packed.split_cost == 0 and depth != UNLIMITED and budget == UNLIMITED
    space, branches = space_of(packed, search_limits, lane_type, threads, limits, relaxed)
    workspaces = []
    for number in range(threads):
        workspace = Workspace(packed, space, lane_type, control, relaxed, branches, joins=number > 0)
        link_units(workspace, packed.kind, relaxed, terminal)
        if search_limits.memory_limit is not None and not terminal:
            ready(evict, "(int64,)")  # not in the middle of the search
        workspace.engine.write({"frontier": UNLIMITED, "best_first": procedure.best_first})
        workspaces.append(workspace)
    if threads > 1:
        ready(share_store, "(int64,)")
    return workspaces


def space_of(
    packed: PackedProblem,
    search_limits: SearchLimits,
    lane_type: Any,
    threads: int,
    limits: tuple[int, int],
    relaxed: bool,
) -> tuple[Space, int]:
    """The caches' sizes; and the slots of the branch cache that threads share, a power of two, 0 for a single one."""
    limit, budget, memory_limit = min(limits), limits[1], search_limits.memory_limit
    space = workspace.space_for(
        packed,
        memory_limit,
        scratch_bytes(packed, lane_type) * threads,
        None if limit >= UNLIMITED else limit,
        budget != UNLIMITED,
        relaxed,
    )
    if threads == 1:
        return space, 0
    space = attrs.evolve(
        space,
        nodes=space.nodes + (threads + 2) * NODE_CHUNK,
        edges=space.edges + threads * EDGE_CHUNK,
        children=space.children + threads * CHILD_CHUNK,
    )
    words = 2 if space.path <= SHORT_PATH else 3
    room = _SHARED if memory_limit is None else min(_SHARED, memory_limit // _SHARE_OF_LIMIT)
    slots = min(room // (8 * words), 4 * space.branches)
    return space, 1 << max(4, slots.bit_length() - 1)


def depth_and_budget(packed: PackedProblem, max_depth: int | None, max_nodes: int | None) -> tuple[int, int]:
    """(depth, branching nodes), UNLIMITED without a limit, or where the other one already allows no more."""
    depth = UNLIMITED if max_depth is None else max_depth
    budget = UNLIMITED if max_nodes is None else max_nodes
    if depth == 0 or budget == 0:
        return 0, UNLIMITED
    if packed.n_binary == packed.n_columns and depth < 30 and budget >= 2**depth - 1:
        budget = UNLIMITED
    return depth, budget


@final
class Session:
    """One search of a problem, by a workspace for each thread."""

    def __init__(
        self, procedure: Procedure, packed: PackedProblem, workspaces: list[Workspace], limits: tuple[int, int]
    ) -> None:
        """`limits`: depth and branching nodes, as `depth_and_budget` has them."""
        self._procedure, self._packed, self._workspaces = procedure, packed, workspaces
        self._depth, self._budget = limits
        self._is_short = is_short(packed, self._depth)
        self._deadline: float | None = None
        self._first = workspaces[0]
        self.beside: PricingBeside | None = None
        """What makes prices of rows beside the search, if anything does."""
        self.reason: str | None = None
        """What stopped the search, as `run_stoppable` says."""
        self.target: int = self._first.engine["root_target"]
        """Only trees that cost less are searched for, a code."""
        self.nodes, self.lower, self.upper = 0, LOWEST, INFINITE
        """How many nodes were visited by all threads together, and the root's bounds."""

    def run(
        self, time_limit: float | None, look: Callable[[int, int, int], str | None], *, ahead: bool = False
    ) -> None:
        """Runs the search to its end; `look` is given (nodes, lower, upper) now and then, and may say why to stop.

        `ahead`: only its beginning, of one thread.
        """
        control = self._first.control
        if self._is_short:
            self._procedure.run(self._first, self._depth, self._budget)
        else:
            searches, end = self._searches(ahead and not is_terminal(self._depth, self._budget))
            self._deadline = None if time_limit is None else clock() + time_limit
            begin = time.perf_counter()

            def looked() -> str | None:
                nodes, lower, upper = self._bounds()
                if self.beside is not None:
                    lower = self.beside.raise_bound(lower, upper, time.perf_counter() - begin)
                reason = look(nodes, lower, upper)
                return "proved" if lower >= min(upper, self.target) else reason

            try:
                self.reason = run_stoppable(searches, control, self._deadline, looked)
            finally:
                if self.beside is not None:
                    self.beside.finish()
            control[STOP] = self.reason not in (None, "proved")
            end()
        self.nodes, self.lower, self.upper = self._bounds()
        if self.beside is not None:
            self._first.root["lower"] = self.lower = self.beside.raised(self.lower, self.upper)

    def is_open(self) -> bool:
        """Whether a better tree than the one that was found may cost less than the target."""
        return self.lower < min(self.upper, self.target)

    def tree(self) -> Array:
        """The best tree in preorder, once ties are settled."""
        for each in self._workspaces:
            each.engine["root_target"] = INFINITE
        settle(self._first, self._depth, self._budget, self.nodes, self._deadline, short=self._is_short)
        preorder: Array = extract_best(self._first, self._packed, self._depth, self._budget)
        return preorder

    def _bounds(self) -> tuple[int, int, int]:
        return sum(each.engine["visits"] for each in self._workspaces), *self._first.root_bounds

    def _searches(self, ahead: bool) -> tuple[list[Callable[[], None]], Callable[[], None]]:
        """What each thread runs; and what is to be called once all have ended."""
        asked = self._depth, self._budget
        if len(self._workspaces) == 1:
            run = self._procedure.begin if ahead else self._procedure.run
            return [functools.partial(run, self._first, *asked)], lambda: None
        team = Team(self._workspaces, self._procedure, *asked)
        return [functools.partial(team.run, number) for number in range(len(self._workspaces))], team.dissolve


def search_fully(workspace: Workspace, depth: int, budget: int, *, again: bool = False) -> None:
    """Searches to the end, until stopped, or until forgetting makes no room any more or leads round in circles."""
    if is_terminal(depth, budget):
        solve_root(workspace.engine.address, depth)
        return
    engine = workspace.engine
    turns = workspace.turns
    seen: set[int] = set()
    if turns is not None:
        turns.begin()
    while True:
        search_root(engine.address, depth, budget, again)
        if turns is not None and turns.take():
            again = True
            continue
        if engine["crowded"] == 0 or not make_room(workspace, seen):
            return
        again = True


def search_for(workspace: Workspace, depth: int, budget: int, visits: int) -> bool:
    """Goes on with a search for so many visits of nodes; whether they were used up before anything else ended it."""
    engine = workspace.engine
    engine["pause"] = engine["visits"] + visits
    search_root(engine.address, depth, budget, True)
    is_paused = engine["visits"] > engine["pause"]
    engine["pause"] = INFINITE
    return is_paused


def settle(
    workspace: Workspace, depth: int, budget: int, visits: int, deadline: float | None = None, *, short: bool
) -> None:
    """Settles the ties of the best tree (extraction.py) of a search that is over, after so many visits of nodes.

    That is where the root is solved, values are added, and nothing was forgotten. It is left if it is stopped, if there
    is no room, and if it takes more visits than the search did: where prices of rows proved the root, little is known
    of the edges. The tree is the best one all the same. One work unit has an order of its own, and is asked again.
    """
    lower, upper = workspace.root_bounds
    engine, control = workspace.engine, workspace.control
    if lower < upper or engine["evictions"] or engine["combine"]:
        return
    if is_terminal(depth, budget):
        engine["settled"] = 1
        return

    def run() -> None:
        engine["pause"] = engine["visits"] + max(_FEW_VISITS, visits)
        engine["settled"] = ASKED
        search_root(engine.address, depth, budget, True)
        engine["pause"] = INFINITE

    if short:
        run()
        return
    control[STOP] = 0
    run_stoppable([run], control, deadline, lambda: None)
    control[STOP] = 0


def extract_best(workspace: Workspace, packed: PackedProblem, depth: int, budget: int) -> Any:
    """The best tree in preorder; what was forgotten of it is searched again, as long as that gets on."""
    if is_terminal(depth, budget):
        return extract(workspace, packed, extract_root, depth, budget)
    engine = workspace.engine
    for _ in range(_MOST_REPAIRS):
        preorder = extract(workspace, packed, extract_tree, depth, budget)
        if engine["missing"] == 0:
            return preorder
        if engine["node_count"] + 2 >= workspace.space.nodes:
            engine["level"] = 0
            evict(engine.address)
        engine["root_high"], engine["root_low"] = engine["missing_high"], engine["missing_low"]
        search_fully(workspace, engine["missing_depth"], engine["missing_budget"])
        lower, upper = workspace.root_bounds
        if lower < upper:
            break
    # stopped, or without room for the whole tree: what is known has to do
    workspace.control[STOP] = 1
    return extract(workspace, packed, extract_tree, depth, budget)


def link_units(workspace: Workspace, kind: str, relaxed: bool, terminal: bool) -> None:
    """Gives the record the addresses of the kernels that will be called; compiles them if need be.

    `terminal`: there will be no search beyond what the terminal solver does.
    """
    engine = workspace.engine
    engine.write(units.addresses(kind, workspace.lane_type))
    if engine["fixed_costs"]:
        engine.write(units.further("count_splits", "count_more_splits"))
    if terminal:
        compile_terminal()
    else:
        if not relaxed:
            engine["expand"] = units.expander(*workspace.expansion(kind)).address
        ready(search_root, "(int64, int64, int64, boolean)")
    # the last first: another process compiles them from the first on
    engine.write(units.further(*reversed(units.shared(deep=not terminal))))
    if not terminal:
        ready(extract_tree, EXTRACT)


def scratch_bytes(packed: PackedProblem, lane_type: Any) -> int:
    """Roughly what the work units need besides caches."""
    lane: int = np.dtype(lane_type).itemsize
    width = packed.n_columns + 32
    planes = 2 if packed.signed else 3 * (packed.n_labels + 2)
    return planes * width * width * lane + 3 * len(packed.row_bits) * width // 4 + 2**20


def is_short(packed: PackedProblem, depth: int, times: int = 1) -> bool:
    """Whether a search of this size must be over in a moment, or so many of them, however bad its bounds."""
    per_row = _COUNT if packed.row_values is None else _SUM
    per_pair = _SCORE if packed.scoring is None else _CALL
    if depth > 8:
        return False
    # the columns of the last two levels, after every split above them, whose sides share all rows
    pairs = float(packed.n_columns) ** max(2, depth)
    return pairs * (len(packed.row_bits) * per_row * (packed.n_labels + 1) + per_pair) < times * _SHORT


def statistics(
    workspaces: list[Workspace], packed: PackedProblem, begin: float, packed_at: float, end: float
) -> dict[str, Any]:
    """What was done, by all threads together."""
    engine, *others = [each.engine for each in workspaces]
    counts = engine.read(_COUNTERS)
    for other in others:
        counts = list(map(operator.add, counts, other.read(_COUNTERS)))
    *told, units, nodes, edges, children, branches = counts
    entries = nodes * (engine["key_words"] * 8 + NODE.itemsize + 16) + branches * engine["branch_words"] * 8
    return {
        "threads": len(workspaces),
        "seconds_setup": packed_at - begin,
        "seconds_search": end - packed_at,
        **dict(zip(_TOLD, told, strict=True)),
        "work_units": units,
        "subproblems": nodes,
        "settled": bool(engine["settled"]),
        "cache_bytes": entries + edges * EDGE.itemsize + children * CHILD.itemsize,
        "peak_bytes": process_memory.peak(),
        "columns": packed.n_columns,
        "lane": workspaces[0].lane_type.__name__,
        "kernel": packed.kind,
    }
