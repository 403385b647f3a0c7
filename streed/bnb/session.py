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

A session has a workspace for each thread; once its search has ended, it is asked for the best tree and for what it did.
"""

from __future__ import annotations

import functools
import operator
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, final

from streed.bnb import units
from streed.bnb.depth_three import compile_terminal, extract_root, look_ahead, solve_root
from streed.bnb.extraction import EXTRACT, extract, extract_tree
from streed.bnb.layout import share_store
from streed.bnb.node_store import evict, make_room
from streed.bnb.root import Team, search_root
from streed.bnb.workspace import Workspace, is_terminal, space_for
from streed.exact import Array
from streed.kernels.compilation import clock
from streed.kernels.compiled import ready
from streed.kernels.packed import PackedProblem
from streed.kernels.records import ASKED, CHILD, EDGE, INFINITE, LOWEST, NODE, NONE, SHALLOW, UNLIMITED
from streed.kernels.stopping import OVER, STOP, run_stoppable
from streed.problem import SearchLimits, process_memory

if TYPE_CHECKING:
    from streed.bnb.pricing_beside import PricingBeside

_SHORT = 0.05
"""Seconds: a search that cannot take longer runs in the caller's thread."""

_MOST_REPAIRS = 16
"""Parts of a tree that are searched again because they were forgotten."""

_OF_ROOT = ("root_depth", "root_budget", "root_high", "root_low")
_OF_MISSING = ("missing_depth", "missing_budget", "missing_high", "missing_low")
"""What is left to such a part, and the branch that leads to it."""

_FEW_VISITS = 10_000
"""Of nodes: as many may settle ties, however short the search was."""

_COUNT, _SUM = 1e-12, 1.2e-11
"""Seconds per pair of columns, row and plane, a generous estimate: of rows that are counted, and that are summed."""

_SCORE, _CALL = 2e-10, 5e-8
"""Seconds per pair of columns to score it, likewise: by costs per row, and by the task's own methods."""


_TOLD = ("expansions", "repeats", "pair_passes", "pruned", "evictions")
_COUNTERS = (*_TOLD, "units", "node_count", "edge_count", "child_count", "branch_slots")
"""What a record counts, beside the nodes visited."""


def make_workspaces(
    packed: PackedProblem,
    search_limits: SearchLimits,
    best_first: bool,
    limits: tuple[int, int],
    control: Array,
    lane_type: Any,
) -> list[Workspace]:
    """A workspace for every thread, with all rows behind its (missing) last node, not linked to the kernels yet.

    `limits`: depth and branching nodes, as `limits_of` has them. Several threads are not worth their while where the
    search is over in a moment, or one call.
    """
    threads, memory_limit = search_limits.threads, search_limits.memory_limit
    if threads > 1 and (is_terminal(*limits) or is_short(packed, limits[0])):
        threads = 1
    space = space_for(packed, memory_limit, lane_type, threads, limits)
    if memory_limit is not None and not is_terminal(*limits):
        ready(evict, "(int64,)")  # not in the middle of the search
    if threads > 1:
        ready(share_store, "(int64,)")
    return [Workspace(packed, space, lane_type, control, limits, best_first, joins=k > 0) for k in range(threads)]


@final
class Session:
    """One search of a problem, by a workspace for each thread."""

    def __init__(self, workspaces: list[Workspace]) -> None:
        self._workspaces, self._first = workspaces, workspaces[0]
        self._is_short = is_short(self._first.problem, self._first.limits[0])
        self._deadline: float | None = None
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
            search(self._first)
        else:
            searches, end = self._searches(ahead and not is_terminal(*self._first.limits))
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
        if self.lower >= self.upper:
            settle(self._first, self.nodes, self._deadline, short=self._is_short)
        return extract_best(self._first)

    def _bounds(self) -> tuple[int, int, int]:
        return sum([each.engine["visits"] for each in self._workspaces]), *self._first.root_bounds

    def _searches(self, ahead: bool) -> tuple[list[Callable[[], None]], Callable[[], None]]:
        """What each thread runs; and what is to be called once all have ended."""
        if len(self._workspaces) == 1:
            return [functools.partial(begin if ahead else search, self._first)], lambda: None
        team = Team(self._workspaces, waves(self._first, reoptimises=True), search_fully)
        return [functools.partial(team.run, number) for number in range(len(self._workspaces))], team.dissolve


_FAR, _PRICED, _GROWTH = 8, 32, 1.4
"""Levels from which on proofs are far: there the exact search first gets half as many visits as a wave, and four times
as many for each level less; how many times as many it gets where splits cost something, which bounds trees by itself;
and how much larger its share is after each wave that found nothing."""

_WIDE = 4
"""Where the sides of the root take the work of so many short searches, a lookahead of two levels is first."""

_EXACT = 5
"""Levels of the largest subtrees of the best tree that are searched exactly between waves."""


def search(workspace: Workspace) -> None:
    """Searches the rows behind the last node: until the root's bounds meet or no tree costs less than its target.

    It returns early when the control words say stop, and when memory is too small to go on.
    """
    if not is_terminal(*workspace.limits):
        # where trees may have any depth, the exact search is quicker than more waves
        in_turn = workspace.limits[0] != UNLIMITED
        for visits in waves(workspace, reoptimises=in_turn):
            if not (in_turn and _search_for(workspace, visits)):
                break
    search_fully(workspace)


def begin(workspace: Workspace) -> None:
    """Places the rows behind the last node as the root, and sends waves until one finds nothing better."""
    next(waves(workspace, reoptimises=False), None)


def waves(workspace: Workspace, *, reoptimises: bool) -> Iterator[int]:
    """Places the rows behind the last node as the root, and sends waves.

    After each that found nothing better, it gives the visits that the exact search takes before the next.
    `reoptimises`: subtrees of the best tree are searched in between, too.
    """
    engine = workspace.engine
    if workspace.limits[0] <= SHALLOW:
        _search_for(workspace, 0)
        return
    if engine["relaxed"] and not is_short(workspace.problem, SHALLOW, _WIDE):
        workspace.first = extract(workspace, look_ahead)
    departures = 0
    patience = _PRICED if engine["split_cost"] else 4 ** max(0, _FAR - min(workspace.limits)) / 2
    goes_on = True
    while goes_on:
        before, upper = engine["visits"], workspace.root_bounds[1] if departures else INFINITE
        goes_on = _follow(workspace, departures)
        is_better = departures > 0 and workspace.root_bounds[1] < upper
        if goes_on and reoptimises:
            goes_on = _reoptimise(workspace, engine["visits"] - before)
        if goes_on and not is_better:
            yield int(patience * (engine["visits"] - before))
            patience *= _GROWTH
        departures += 1


def _follow(workspace: Workspace, departures: int, exact_levels: int = 0) -> bool:
    """Sends a wave from the root; whether there is more to find and room for it."""
    engine = workspace.engine
    engine["departures"], engine["exact_levels"] = departures, exact_levels
    search_root(engine.address)
    engine["departures"], engine["exact_levels"] = NONE, 0
    return engine["left_out"] != 0 and engine["crowded"] == 0 and not workspace.control[STOP]


def _reoptimise(workspace: Workspace, visits: int) -> bool:
    """Searches subtrees of the best tree exactly, each time in about so many visits; whether there is more to find."""
    engine = workspace.engine
    for exact_levels in range(SHALLOW + 1, min(workspace.limits[0], _EXACT + 1)):
        is_better = goes_on = True
        while is_better and goes_on:
            upper = workspace.root_bounds[1]
            engine["pause"] = engine["visits"] + visits
            goes_on = _follow(workspace, 0, exact_levels)
            is_paused = engine["visits"] > engine["pause"]
            engine["pause"] = INFINITE
            is_better = workspace.root_bounds[1] < upper
            if is_paused:
                engine["crowded"] = 0
                return not workspace.control[STOP]
        if not goes_on:
            return False
    return True


def search_fully(workspace: Workspace) -> None:
    """Searches to the end, until stopped, or until forgetting makes no room any more or leads round in circles."""
    engine, seen = workspace.engine, set[int]()
    if is_terminal(*engine.read(("root_depth", "root_budget"))):
        solve_root(engine.address)
        return
    goes_on = True
    while goes_on:
        search_root(engine.address)
        goes_on = engine["crowded"] == 1 and make_room(workspace, seen)


def _search_for(workspace: Workspace, visits: int) -> bool:
    """Goes on with a search for so many visits of nodes; whether they were used up before anything else ended it."""
    engine = workspace.engine
    engine["pause"] = engine["visits"] + visits
    search_root(engine.address)
    is_paused = engine["visits"] > engine["pause"]
    engine["pause"] = INFINITE
    return is_paused


def settle(workspace: Workspace, visits: int, deadline: float | None = None, *, short: bool) -> None:
    """Settles the ties of the best tree (extraction.py) of a search that is over, after so many visits of nodes.

    Its bounds have met, and that is done where values are added, and nothing was forgotten. It is left if it is
    stopped, if there is no room, and if it takes more visits than the search did: where prices of rows proved the root,
    little is known of the edges. The tree is the best one all the same. One work unit has an order of its own, and is
    asked again.
    """
    engine, control = workspace.engine, workspace.control
    if engine["evictions"] or engine["combine"]:
        return
    if is_terminal(*workspace.limits):
        engine["settled"] = 1
        return

    def run() -> None:
        engine["pause"] = engine["visits"] + max(_FEW_VISITS, visits)
        engine["settled"] = ASKED
        search_root(engine.address)
        engine["pause"] = INFINITE

    if short:
        run()
        return
    control[STOP] = 0
    run_stoppable([run], control, deadline, lambda: None)
    control[STOP] = 0


def extract_best(workspace: Workspace) -> Array:
    """The best tree in preorder; what was forgotten of it is searched again, as long as that gets on."""
    if workspace.control[STOP]:
        workspace.control[STOP] = OVER
    if is_terminal(*workspace.limits):
        return extract(workspace, extract_root)
    engine = workspace.engine
    for _ in range(_MOST_REPAIRS):
        preorder = extract(workspace, extract_tree)
        if engine["missing"] == 0:
            return preorder
        if engine["node_count"] + 2 >= workspace.space.nodes:
            engine["level"] = 0
            evict(engine.address)
        missing = zip(_OF_ROOT, engine.read(_OF_MISSING), strict=True)
        engine.write({**dict(missing), "root": NONE})
        search_fully(workspace)
        lower, upper = workspace.root_bounds
        if lower < upper:
            break
    # stopped, or without room for the whole tree: what is known has to do
    workspace.control[STOP] = OVER
    return extract(workspace, extract_tree)


def link_units(workspace: Workspace) -> None:
    """Gives the record the addresses of the kernels that will be called; compiles them if need be."""
    engine, kind, terminal = workspace.engine, workspace.problem.kind, is_terminal(*workspace.limits)
    engine.write(units.addresses(kind, workspace.lane_type))
    if engine["fixed_costs"]:
        engine.write(units.further("count_splits", "count_more_splits"))
    if terminal:
        compile_terminal()
    else:
        if not engine["relaxed"]:
            engine["expand"] = units.expander(*workspace.expansion(kind)).address
        ready(search_root, "(int64,)")
    # the last first: another process compiles them from the first on
    engine.write(units.further(*reversed(units.shared(deep=not terminal))))
    if not terminal:
        ready(extract_tree, EXTRACT)


def is_short(packed: PackedProblem, depth: int, times: int = 1) -> bool:
    """Whether a search of this size must be over in a moment, or so many of them, however bad its bounds."""
    per_row = _COUNT if packed.row_values is None else _SUM
    per_pair = _SCORE if packed.scoring is None else _CALL
    if depth > 8:
        return False
    # the columns of the last two levels, after every split above them, whose sides share all rows
    pairs = float(packed.n_columns) ** max(2, depth)
    return pairs * (len(packed.row_bits) * per_row * (packed.n_labels + 1) + per_pair) < times * _SHORT


def statistics(workspaces: list[Workspace], begin: float, packed_at: float, end: float) -> dict[str, Any]:
    """What was done, by all threads together."""
    packed = workspaces[0].problem
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
