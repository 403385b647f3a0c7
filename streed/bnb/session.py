"""A session of the native search: its workspaces, how it is run to the end, its best tree, and what it counted."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from streed.bnb import cache_sizes, entries, runner, warmup
from streed.bnb.entries import evict, extract_tree, grow_first, search_root, search_share, settle_ties
from streed.bnb.shared_layout import HEAD
from streed.bnb.workspace import Space, Workspace
from streed.kernels.control import LEADERS_UPPER, PROVED, STOP
from streed.kernels.packed import PackedProblem
from streed.kernels.records import CHILD, EDGE, INFINITE, LOWEST, NODE, SHALLOW, UNLIMITED
from streed.problem import Problem, SearchLimits, process_memory

if TYPE_CHECKING:
    from streed.bnb.procedure import Procedure

_SHORT = 0.05
"""Seconds: a search that cannot take longer runs in the caller's thread."""

MOST_KEPT = 0.9
"""Of the nodes: if more than this remains after forgetting, memory is too small to go on."""

_MOST_REPAIRS = 16
"""Parts of a tree that are searched again because they were forgotten."""

_SHARED = 2**26
"""Bytes for the bounds that threads share, at most,"""

_SHARE_OF_LIMIT = 32
"""and of a limit of the memory one for so many."""

_COUNT, _SUM = 1e-12, 1.2e-11
"""Seconds per pair of columns, row and plane, a generous estimate: of rows that are counted, and that are summed."""

_SCORE, _CALL = 2e-10, 5e-8
"""Seconds per pair of columns to score it, likewise: by costs per row, and by the task's own methods."""


_COUNTERS = (
    *("expansions", "repeats", "units", "pair_passes", "pruned", "similar", "evictions"),
    *("node_count", "edge_count", "child_count", "branch_slots"),
)
"""What a record counts, beside the nodes visited."""


def make_workspaces(
    problem: Problem,
    packed: PackedProblem,
    search_limits: SearchLimits,
    procedure: Procedure,
    threads: int,
    depth: int,
    budget: int,
    relaxed: bool,
    control: Any,
) -> list[Workspace]:
    """A workspace for every thread, with all rows behind its (missing) last node, linked to the kernels.

    What the procedure calls is compiled, too.
    """
    lane_type = packed.lane_type()
    limit = min(depth, budget)
    spaces = cache_sizes.spaces_for(
        packed,
        search_limits.memory_limit,
        scratch_bytes(packed, lane_type),
        threads,
        None if limit >= UNLIMITED else limit,
        budget != UNLIMITED,
        relaxed,
    )
    shared = shared_table(packed, spaces[0], search_limits.memory_limit) if threads > 1 else None
    workspaces = []
    for space in spaces:
        workspace = Workspace(packed, space, lane_type, control, relaxed, shared)
        workspace.forget_root()
        link_units(workspace, packed.kind, relaxed)
        procedure.compile(depth)
        if search_limits.memory_limit is not None:
            evict.make_ready()  # not in the middle of the search
        workspace.engine["frontier"] = UNLIMITED
        workspaces.append(workspace)
    set_roles(workspaces, procedure)
    return workspaces


def shared_table(packed: PackedProblem, space: Space, memory_limit: int | None) -> Any:
    """(slots, words) int64: an empty table of the bounds that threads share, a power of two of slots."""
    words = HEAD + packed.key_bytes // 8
    room = _SHARED if memory_limit is None else min(_SHARED, memory_limit // _SHARE_OF_LIMIT)
    slots = min(room // (8 * words), 2 * space.nodes)
    return np.zeros((1 << max(4, slots.bit_length() - 1), words), np.int64)


def depth_and_budget(packed: PackedProblem, max_depth: int | None, max_nodes: int | None) -> tuple[int, int]:
    """(depth, branching nodes), UNLIMITED without a limit, or where the other one already allows no more."""
    depth = UNLIMITED if max_depth is None else max_depth
    budget = UNLIMITED if max_nodes is None else max_nodes
    if depth == 0 or budget == 0:
        return 0, UNLIMITED
    if packed.n_binary == packed.n_columns and depth < 30 and budget >= 2**depth - 1:
        budget = UNLIMITED
    return depth, budget


def set_roles(workspaces: list[Workspace], procedure: Procedure) -> None:
    """Says to the workspaces of one problem's threads which of them leads, the first, and that the others help."""
    first, *others = workspaces
    first.engine.write({"best_first": procedure.best_first, "leads": 1})
    for each in others:
        # depth-first: what it settles is settled for good
        each.engine.write({"best_first": 0, "leads": 0})
    if others:
        search_share.make_ready()
        first.control[[LEADERS_UPPER, PROVED]] = INFINITE, LOWEST


def searches_of(procedure: Procedure, workspaces: list[Workspace], depth: int, budget: int) -> list[Callable[[], None]]:
    """What each thread runs, a workspace each: the first one the procedure, the others what helps it."""
    first, *others = workspaces
    if not others:
        return [functools.partial(procedure.run, first, depth, budget)]
    helping = [functools.partial(search_fully, each, depth, budget, helps=True) for each in others]
    return [functools.partial(_lead, procedure, first, depth, budget), *helping]


def _lead(procedure: Procedure, workspace: Workspace, depth: int, budget: int) -> None:
    procedure.run(workspace, depth, budget)
    lower, upper = workspace.root_bounds
    if lower >= min(upper, workspace.engine["root_target"]):
        workspace.control[STOP] = 1


def is_over(workspaces: list[Workspace], lower: int) -> bool:
    """Whether a search is over of which `lower` is proved: of several threads, the first has a tree of this value."""
    first = workspaces[0]
    upper = first.root_bounds[1] if len(workspaces) == 1 else int(first.control[LEADERS_UPPER])
    target: int = first.engine["root_target"]
    return lower >= min(upper, target)


def best_of(workspaces: list[Workspace], lower: int) -> Workspace:
    """The workspace of the best tree, of equal ones the first; what all threads proved of the root is written there."""
    best = min(workspaces, key=lambda each: each.root_bounds[1])
    best.raise_root(lower)
    best.control[PROVED] = LOWEST
    return best


def bounds_of(workspaces: list[Workspace]) -> tuple[int, int, int]:
    """(nodes visited, lower, upper) of the root, by all threads together."""
    if len(workspaces) == 1:
        return workspaces[0].engine["visits"], *workspaces[0].root_bounds
    nodes = sum(each.engine["visits"] for each in workspaces)
    lowers, uppers = zip(*(each.root_bounds for each in workspaces), strict=True)
    upper = min(uppers)
    return nodes, min(max(lowers), upper), upper


def search_fully(workspace: Workspace, depth: int, budget: int, *, helps: bool = False, again: bool = False) -> None:
    """Searches to the end, until stopped, or until forgetting makes no room any more or leads round in circles.

    `helps`: beside a thread that leads.

    What best-first search looks at next may just have been forgotten, so it turns to depth-first search, which needs no
    more than a path, below a frontier that moves up whenever something is forgotten.
    """
    engine = workspace.engine
    search = search_share if helps else search_root
    turns = None if helps else workspace.turns
    if depth == UNLIMITED and not again:
        grow_first(engine.address, depth, budget)
        again = True
    seen: set[int] = set()
    if turns is not None:
        turns.begin()
    while True:
        search(engine.address, depth, budget, again)
        if turns is not None and turns.take():
            again = True
            continue
        if engine["crowded"] == 0 or evict(engine.address) > MOST_KEPT * workspace.space.nodes:
            return
        if engine["kept"] in seen:
            if engine["best_first"] == 0 or engine["frontier"] == 0:
                return
            engine["frontier"] = 0
            seen.clear()
        engine["frontier"] = min(engine["frontier"], engine["level"]) // 2
        seen.add(engine["kept"])
        again = True


def search_for(workspace: Workspace, depth: int, budget: int, visits: int) -> bool:
    """Goes on with a search for so many visits of nodes; whether they were used up before anything else ended it."""
    engine = workspace.engine
    engine["pause"] = engine["visits"] + visits
    search_root(engine.address, depth, budget, True)
    is_paused = engine["visits"] > engine["pause"]
    engine["pause"] = INFINITE
    return is_paused


def settle(workspace: Workspace, depth: int, budget: int, deadline: float | None = None, *, short: bool) -> None:
    """Settles the ties of the best tree (ties.py) of a search that is over.

    That is where the root is solved, values are added, nothing was forgotten, and it is not one work unit; and as far
    as the search is not stopped and there is room. The tree is the best one all the same.
    """
    lower, upper = workspace.root_bounds
    engine, control = workspace.engine, workspace.control
    if lower < upper or engine["evictions"] or engine["combine"] or is_one_unit(depth, budget):
        return

    def run() -> None:
        engine["settled"] = settle_ties(engine.address)

    if short:
        run()
        return
    settle_ties.make_ready()
    control[STOP] = 0
    runner.run([run], control, deadline, lambda: None)
    control[STOP] = 0


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
        search_fully(workspace, engine["missing_depth"], engine["missing_budget"])
        lower, upper = workspace.root_bounds
        if lower < upper:
            break
    # stopped, or without room for the whole tree: what is known has to do
    workspace.control[STOP] = 1
    return extract_tree(engine.address, packed.column, packed.flipped, rows, depth, budget)


def link_units(workspace: Workspace, kind: str, relaxed: bool) -> None:
    """Gives the record the addresses of the work units that the search will call; compiles them if need be."""
    engine, lane = workspace.engine, workspace.lane_type
    engine["solve_shallow"] = entries.shallow()
    engine["prepare"] = entries.prepare(kind, lane)
    engine["solve_children"] = entries.solve_children(kind, lane)
    engine["push_bounds"] = entries.push(lane)
    if not relaxed:
        engine["expand"] = entries.expand(*workspace.expansion(kind))
    warmup.finish()
    warmup.compile_search()
    engine["load"] = entries.load()
    engine["open_node"] = entries.opening()


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
    per_row = _COUNT if packed.row_values is None else _SUM
    per_pair = _SCORE if packed.scoring is None else _CALL
    return is_short_of(packed.n_columns, len(packed.row_bits), packed.n_labels, depth, per_row, per_pair)


def is_short_of(
    columns: int, places: int, labels: int, depth: int, per_row: float = _COUNT, per_pair: float = _SCORE
) -> bool:
    """As `is_short`, of a problem with at most so many bit columns and places of rows."""
    return depth <= 8 and most_seconds(columns, places, labels, depth, per_row, per_pair) < _SHORT


def most_seconds(
    columns: int, places: int, labels: int, depth: int, per_row: float = _COUNT, per_pair: float = _SCORE
) -> float:
    """How long a search takes at most, however bad its bounds, generously estimated."""
    # the columns of the last two levels, after every split above them, whose sides share all rows
    pairs = float(columns) ** max(2, depth)
    return pairs * (places * per_row * (labels + 1) + per_pair)


def is_one_unit(depth: int, budget: int) -> bool:
    """Whether the whole problem is solved by one work unit, which threads do not share."""
    return depth <= SHALLOW and budget == UNLIMITED


def statistics(
    workspaces: list[Workspace], packed: PackedProblem, begin: float, packed_at: float, end: float
) -> dict[str, Any]:
    """What was done, by all threads together."""
    engines = [each.engine for each in workspaces]
    done = dict(
        zip(_COUNTERS, map(sum, zip(*(engine.read(_COUNTERS) for engine in engines), strict=True)), strict=True)
    )
    key_words, branch_words = engines[0].read(("key_words", "branch_words"))
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
        "similar": done["similar"],
        "evictions": done["evictions"],
        "cache_bytes": cache_bytes(done, key_words, branch_words),
        "peak_bytes": process_memory.peak(),
        "columns": packed.n_columns,
        "lane": workspaces[0].lane_type.__name__,
        "kernel": packed.kind,
    }


def cache_bytes(done: Mapping[str, int], key_words: int, branch_words: int) -> int:
    """The bytes of the caches' entries, by the record's counters."""
    return (
        done["node_count"] * (key_words * 8 + NODE.itemsize + 16)
        + done["edge_count"] * EDGE.itemsize
        + done["child_count"] * CHILD.itemsize
        + done["branch_slots"] * branch_words * 8
    )
