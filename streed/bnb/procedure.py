"""How a native search goes from all rows to bounds that meet: good trees first, in waves, and then, in turn, the proof.

    for departures in 0, 1, 2, 4, ...:
        follow a wave of so many departures               limited discrepancies (Harvey and Ginsberg, IJCAI 1995)
        search the subtrees of the best tree exactly, of four levels and of five, while that makes it better
        unless the wave found a better tree:
            improve the root for `patience` times as many visits as the wave took; patience doubles
    improve the root to the end

Wave 0 is a rolling lookahead: below every node, the split that is best if its sides are solved as shallow trees, and
exact trees at the last levels. Wave k looks at every tree with at most k departures from that on each path (root.py).
Waves follow each other as long as each finds a better tree; then the exact search takes over by ever larger shares. All
that either learns stands in the nodes and edges of one store, so nothing is done twice, and a wave that leaves no edge
out is the proof. Subproblems that one work unit solves, and searches that are short, need no waves.

Set-up, threads, limits, the trace and the certificate are those of native_search.py, which takes this as an argument.
"""

from __future__ import annotations

from typing import Any, final

import attrs

from streed.bnb.depth_three import is_terminal, solve_root
from streed.bnb.root import place, search_root
from streed.bnb.session import search_for, search_fully
from streed.bnb.workspace import Workspace
from streed.kernels.records import INFINITE, NONE, SHALLOW
from streed.kernels.stopping import STOP

_FAR, _PRICED = 10, 32
"""Levels from which on proofs are far: there the exact search first gets as many visits as a wave, and twice as many
for each level less; and how many times as many it gets where splits cost something, which bounds trees by itself."""

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
        first begins, and all finish together (threads.py).
        """
        if is_terminal(depth, budget):
            solve_root(workspace.engine.address, depth)
            return
        # with prices of rows beside it, the search takes turns with them in place of waves
        self.begin(workspace, depth, budget, alone=workspace.turns is None)
        self.finish(workspace, depth, budget)

    def begin(self, workspace: Workspace, depth: int, budget: int, *, alone: bool = False) -> None:
        """Places the rows behind the last node as the root, and sends waves.

        `alone`: in turn with the exact search; else the first one only.
        """
        engine = workspace.engine
        if depth <= SHALLOW:
            place(engine.address, depth, budget)
            return
        departures, known, patience = 0, 0, _patience(engine, min(depth, budget))
        goes_on = True
        while goes_on:
            before, upper = engine["visits"], workspace.root_bounds[1] if departures else INFINITE
            goes_on = _follow(workspace, depth, budget, departures, known)
            is_better = departures > 0 and workspace.root_bounds[1] < upper
            known = engine["node_count"]
            if goes_on and alone:
                goes_on = _reoptimise(workspace, depth, budget, engine["visits"] - before)
            if goes_on and not is_better:
                goes_on = alone and search_for(workspace, depth, budget, patience * (engine["visits"] - before))
                patience *= 2
            departures = max(1, 2 * departures)

    def finish(self, workspace: Workspace, depth: int, budget: int) -> None:
        """Improves the root after `begin`, as `run` says."""
        search_fully(workspace, depth, budget, again=True)


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


def _patience(engine: Any, levels: int) -> int:
    """Visits of the exact search for each of the first wave that found nothing better."""
    return _PRICED if engine["split_cost"] else 1 << max(0, _FAR - levels)


DEPTH_FIRST = Procedure("depth-first", best_first=False)
"""STreeD's order: a node goes on with an edge until its bound has reached what the node's parent asked for."""

BEST_FIRST = Procedure("branches", best_first=True)
"""AO*, Branches' order: a node turns to its next best edge as soon as the best one has become worse."""
