"""Limited discrepancy search: good trees first, in waves (Harvey and Ginsberg, IJCAI 1995), over nodes and edges.

    for departures in 0, 1, 2, 4, ...:
        follow(root, departures), and then improve(root) for as many visits, which raises its lower bound
    follow(node, departures), up to a target as in improve.py:
        for its unsettled edges of rank 0 to departures, by rising upper bound:
            follow the sides of the edge with departures - rank; draw the conclusions as `improve` does

The upper bound of an edge is the heuristic: to take the edge of rank r is to depart from it r times. Wave 0 never
does, a greedy tree; wave k looks at every tree with at most k departures on each path. Nodes keep their bounds, so
what was settled is not done again. After a wave that leaves no edge out, or without room, `improve` proves the rest.
"""

from __future__ import annotations

from typing import final

from streed.bnb.procedure import Procedure
from streed.bnb.root import place
from streed.bnb.session import search_for
from streed.bnb.wave_kernels import search_wave
from streed.bnb.workspace import Workspace
from streed.kernels.compiled import ready
from streed.kernels.control import STOP
from streed.kernels.records import SHALLOW, UNLIMITED


@final
class Waves(Procedure):
    """Waves of ever more departures, and in turn with them `improve`: best-first unless splits cost nothing."""

    name = "discrepancy"
    best_first = True

    def compile(self, depth: int) -> None:
        ready(search_wave, "(int64, int64, int64, int64, int64)")

    def begin(self, workspace: Workspace, depth: int, budget: int) -> None:
        engine = workspace.engine
        engine["best_first"] = 1 - engine["relaxed"]
        departures, known = 0, 0
        goes_on = depth > SHALLOW or budget != UNLIMITED
        if not goes_on:
            place(engine.address, depth, budget)
        while goes_on:
            before = engine["visits"]
            left_out = search_wave(engine.address, depth, budget, departures, known)
            departures, known = max(1, 2 * departures), engine["node_count"]
            goes_on = left_out and engine["crowded"] == 0 and workspace.control[STOP] == 0
            goes_on = goes_on and search_for(workspace, depth, budget, engine["visits"] - before)
