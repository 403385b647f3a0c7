"""A piece of work: one split of the root, improved by a process that may be anywhere.

A process keeps what it learnt of a problem (its store of subproblems) for the next piece that it is given, and takes
the newest best value and the bounds that others proved with every piece.
"""

from __future__ import annotations

import functools
import threading
import time
from typing import Any, NamedTuple, final

import attrs
import numpy as np

from streed.bnb import runner
from streed.bnb.procedure import DEPTH_FIRST
from streed.bnb.session import depth_and_budget, extract_best, make_workspaces, search_fully
from streed.encoding.choice import encoding_of
from streed.encoding.encoding import Encoding
from streed.errors import TaskError
from streed.exact import Array
from streed.kernels.compilation import clock
from streed.kernels.control import ROWS_OF_CONTROL, SHARED_UPPER, STOP, UPPER
from streed.kernels.records import INFINITE, NONE, UNLIMITED
from streed.problem import Problem, SearchLimits


@final
@attrs.frozen(eq=False)
class Shared:
    """A problem as all processes have it."""

    problem: Problem
    precision: tuple[float | None, ...] = ()
    """How its codes came to be: None for a less precise encoding than before, a number for another grid."""
    seconds: float | None = None
    """A piece comes back after this long, whatever is done of it; None: when it is done."""
    memory_limit: int | None = None
    name: str = ""
    """A hash of all that the codes depend on."""

    def encoded(self) -> Encoding:
        """The problem as the search reads it, everywhere the same; raises TaskError where no kernels can be made."""
        encoding = encoding_of(self.problem)
        for step in self.precision:
            if encoding is not None:
                encoding = encoding.less_precise() if step is None else encoding.on_grid(step)
        if encoding is None:
            raise TaskError("no native search takes the task, so it cannot be shared out; leave search= out")
        return encoding


class Known(NamedTuple):
    """What a process knows, in codes: no tree with a split at the root costs less than its `lowers`."""

    lowers: Array
    root_lower: int
    upper: int
    """The least of a tree that is known; INFINITE without one."""
    preorder: Array | None
    """That tree, if it is below the goal."""
    nodes: int = 0
    seconds: float = 0.0
    """Processor time."""
    overflow: bool = False
    """Whether a cost did not fit its code: nothing else holds then."""
    full: bool = False
    """Whether memory ended a piece, not its time."""


@final
class Root:
    """A problem in this process: its workspace, with the root opened."""

    def __init__(self, shared: Shared) -> None:
        self.encoding, self.seconds = shared.encoded(), shared.seconds
        packed, problem = self.encoding.packed, shared.problem
        self.limits = depth, budget = depth_and_budget(packed, problem.max_depth, problem.max_nodes)
        relaxed = packed.split_cost == 0 and depth != UNLIMITED and budget == UNLIMITED
        self.control = np.zeros(ROWS_OF_CONTROL, np.int64)
        self.control[[UPPER, SHARED_UPPER]] = INFINITE
        memory = SearchLimits(memory_limit=shared.memory_limit)
        self.workspace = make_workspaces(packed, memory, DEPTH_FIRST, 1, self.limits, relaxed, self.control)[0]
        self._search(INFINITE, INFINITE, again=False)

    def improve(self, edge: int, goal: int, lowers: Array) -> Known:
        """Works on a split of the root until it is done or its time is over, for a tree below the goal."""
        nodes, edges = self.workspace.engine["visits"], self.workspace.root_edges
        self.control[STOP] = 0
        edges["lower"] = np.maximum(edges["lower"], lowers)
        deadline = None if self.seconds is None else clock() + self.seconds
        runner.run([functools.partial(self._search, edge, goal)], self.control, deadline, lambda: None)
        found = self.known(goal)
        full = found.lowers[edge] < min(goal, found.upper) and not self.control[STOP]
        return found._replace(nodes=found.nodes - nodes, full=bool(full))

    def known(self, goal: int) -> Known:
        """What is known here, with a tree if it is below the goal."""
        workspace, overflow = self.workspace, bool(self.workspace.engine["overflow"])
        lower, upper = workspace.root_bounds
        found = upper < goal and not overflow
        preorder = extract_best(workspace, self.encoding.packed, *self.limits) if found else None
        lowers = np.array(workspace.root_edges["lower"], np.int64)
        return Known(lowers, lower, upper, preorder, workspace.engine["visits"], overflow=overflow)

    def _search(self, edge: int, goal: int, again: bool = True) -> None:
        self.workspace.engine.write({"root_edge": edge, "root_target": goal})
        search_fully(self.workspace, *self.limits, again=again)
        self.workspace.engine.write({"root_edge": NONE, "root_target": INFINITE})


_kept: list[tuple[str, Root]] = []
"""Stores that nobody works with, of the newest problem: one for every thread that worked on it."""
_lock = threading.Lock()


def improve(shared: Shared, *piece: Any) -> Known:
    """What became of the piece in this process, which keeps its store for the next piece of the same problem."""
    begin = time.process_time()
    with _lock:
        root = _kept.pop()[1] if _kept and _kept[-1][0] == shared.name else None
    if root is None:
        forget()
        root = Root(shared)
    found = root.improve(*piece)
    if root.workspace.engine["evictions"]:
        root.workspace.close()  # extracting a tree of which parts were forgotten moves the root
    else:
        with _lock:
            _kept.append((shared.name, root))
    return found._replace(seconds=time.process_time() - begin)


def forget() -> None:
    """Gives back what this process keeps of the problems that it worked on."""
    with _lock:
        while _kept:
            _kept.pop()[1].workspace.close()
