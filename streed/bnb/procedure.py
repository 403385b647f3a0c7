"""What a native driver brings of its own: how its search goes from all rows to bounds that meet.

Set-up, threads, time and memory limits, the trace and the certificate are the same for all (native_search.py), which
takes the procedure as an argument. All that a procedure learns stands in the nodes and edges of a workspace, so what
one part of it learns serves the next. The last part is `search_fully`, which proves the optimum; what comes before is
free.
"""

from __future__ import annotations

import abc
from typing import final

import attrs

from streed.bnb.greedy import grow_first
from streed.bnb.root import place
from streed.bnb.session import search_fully
from streed.bnb.workspace import Workspace
from streed.kernels.compiled import ready
from streed.kernels.records import UNLIMITED


class Procedure(abc.ABC):
    """The order of a native search. It keeps nothing between searches: all that is learnt stands in the workspace."""

    name: str
    """The driver's, in `stats`."""
    best_first: bool
    """How `improve` leaves an edge: as soon as another one is better, or once it has reached its goal."""

    @abc.abstractmethod
    def compile(self, depth: int) -> None:
        """Compiles, or loads, what `run` calls beyond what every search needs; before time is counted.

        A procedure compiles nothing for the others.
        """

    @abc.abstractmethod
    def begin(self, workspace: Workspace, depth: int, budget: int) -> None:
        """Places the rows behind the last node as the root, and does what comes before it is improved.

        It returns early when the control words say stop, and when memory is too small to go on.
        """

    def finish(self, workspace: Workspace, depth: int, budget: int) -> None:
        """Improves the root after `begin`, as `run` says."""
        search_fully(workspace, depth, budget, again=True)

    def run(self, workspace: Workspace, depth: int, budget: int) -> None:
        """Searches the rows behind the last node: until the root's bounds meet or no tree costs less than its target.

        It returns early when the control words say stop, and when memory is too small to go on. Of several threads, the
        first begins, and all finish together (threads.py).
        """
        self.begin(workspace, depth, budget)
        self.finish(workspace, depth, budget)


@final
@attrs.frozen
class Improvement(Procedure):
    """Branch and bound as in improve.py from the start; where the depth is not limited, after a greedy tree."""

    name: str
    best_first: bool

    def compile(self, depth: int) -> None:
        if depth == UNLIMITED:
            ready(grow_first, "(int64, int64, int64)")

    def begin(self, workspace: Workspace, depth: int, budget: int) -> None:
        place_rows = grow_first if depth == UNLIMITED else place
        place_rows(workspace.engine.address, depth, budget)


DEPTH_FIRST = Improvement("depth-first", best_first=False)
"""STreeD's order: a node goes on with an edge until its bound has reached what the node's parent asked for."""

BEST_FIRST = Improvement("branches", best_first=True)
"""AO*, Branches' order: a node turns to its next best edge as soon as the best one has become worse."""
