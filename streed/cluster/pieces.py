"""A piece of work: one split of the root, improved by a process that may be anywhere.

A process keeps what it learnt of a problem (its store of subproblems) for the next piece that it is given, and takes
the newest best value and the bounds that others proved with every piece.
"""

from __future__ import annotations

import functools
import threading
import time
from typing import final

import attrs
import numpy as np

from streed.bnb import runner
from streed.bnb.eviction import evict
from streed.bnb.one_edge import search_edge
from streed.bnb.procedure import DEPTH_FIRST
from streed.bnb.session import depth_and_budget, extract_best, make_workspaces
from streed.bnb.workspace import MOST_KEPT
from streed.encoding.choice import encoding_of
from streed.encoding.encoding import Encoding
from streed.errors import TaskError
from streed.exact import Array
from streed.kernels.compilation import clock
from streed.kernels.compiled import ready
from streed.kernels.control import ROWS_OF_CONTROL, SHARED_UPPER, STOP, UPPER
from streed.kernels.records import INFINITE, UNLIMITED
from streed.problem import Problem, SearchLimits

Precision = tuple[float | None, ...]
"""How the codes of a problem came to be: None for a less precise encoding than before, a number for another grid."""


@final
@attrs.frozen
class Piece:
    """What a process is asked for."""

    problem_id: str
    precision: Precision
    edge: int
    """The number of the split at the root; -1 for none, which only opens the root."""
    goal: int
    """The code of the value to beat."""
    lowers: tuple[int, ...] = ()
    """What is known of all splits, in codes; empty for nothing."""
    seconds: float | None = None
    """The piece comes back after this long, whatever is done of it; None: when it is done."""
    memory_limit: int | None = None


@final
@attrs.frozen(eq=False)
class Progressed:
    """What became of a piece."""

    edge: int
    lowers: tuple[int, ...]
    """Codes: no tree with this split at the root costs less; of all splits, as far as this process knows."""
    splits: tuple[int, ...]
    """Which splits they are, to compare."""
    root_lower: int
    upper: int
    """The least code of a tree that is known here; INFINITE without one."""
    preorder: Array | None
    """That tree, if it is below the goal."""
    nodes: int
    seconds: float
    """CPU time."""
    overflow: bool
    """Whether a cost did not fit its code: nothing else holds then."""


def encoded(problem: Problem, precision: Precision) -> Encoding:
    """The problem as the search reads it, the same in every process; raises TaskError where no kernels can be made."""
    encoding = encoding_of(problem)
    for step in precision:
        if encoding is not None:
            encoding = encoding.less_precise() if step is None else encoding.on_grid(step)
    if encoding is None:
        raise TaskError("no native search takes the task, so it cannot be shared out; leave search= out")
    return encoding


@final
class Root:
    """A problem in this process: its workspace, with the root opened."""

    def __init__(self, problem: Problem, precision: Precision, memory_limit: int | None) -> None:
        self.encoding = encoded(problem, precision)
        packed = self.encoding.packed
        self.depth, self.budget = depth_and_budget(packed, problem.max_depth, problem.max_nodes)
        relaxed = packed.split_cost == 0 and self.depth != UNLIMITED and self.budget == UNLIMITED
        self.control = np.zeros(ROWS_OF_CONTROL, np.int64)
        self.control[[UPPER, SHARED_UPPER]] = INFINITE
        limits = SearchLimits(memory_limit=memory_limit)
        shape = (self.depth, self.budget, relaxed, self.control)
        self.workspace = make_workspaces(problem, packed, limits, DEPTH_FIRST, 1, *shape)[0]
        ready(search_edge, "(int64, int64, int64, boolean, int64, int64)")
        self._run(False, -1, INFINITE)

    def improve(self, piece: Piece) -> Progressed:
        """Works on a piece until it is done or its time is over."""
        workspace, engine = self.workspace, self.workspace.engine
        begin, before = time.process_time(), engine["visits"]
        self.control[STOP] = 0
        edges = workspace.root_edges
        if piece.lowers:
            edges["lower"] = np.maximum(edges["lower"], np.array(piece.lowers, np.int64))
        if piece.edge >= 0:
            deadline = None if piece.seconds is None else clock() + piece.seconds
            work = functools.partial(self._run, True, piece.edge, piece.goal)
            runner.run([work], self.control, deadline, lambda: None)
        lower, upper = workspace.root_bounds
        edges = workspace.root_edges
        lowers, splits = tuple(edges["lower"].tolist()), tuple(edges["split"].tolist())
        overflow, preorder = bool(engine["overflow"]), None
        if upper < piece.goal and not overflow:
            preorder = extract_best(workspace, self.encoding.packed, self.depth, self.budget)
        nodes, seconds = engine["visits"] - before, time.process_time() - begin
        return Progressed(piece.edge, lowers, splits, lower, upper, preorder, nodes, seconds, overflow)

    @property
    def is_reusable(self) -> bool:
        """Whether the store has all that it had: extracting a tree of which parts were forgotten moves the root."""
        return bool(self.workspace.engine["evictions"] == 0)

    def close(self) -> None:
        self.workspace.close()

    def _run(self, again: bool, edge: int, goal: int) -> None:
        """Improves the edge to the end, making room where there is none, until stopped or round in circles."""
        engine = self.workspace.engine
        seen: set[int] = set()
        while True:
            search_edge(engine.address, self.depth, self.budget, again, edge, goal)
            if engine["crowded"] == 0 or evict(engine.address) > MOST_KEPT * self.workspace.space.nodes:
                return
            if engine["kept"] in seen:
                return
            seen.add(engine["kept"])
            again = True


_kept: list[tuple[str, Root]] = []
"""Stores that nobody works with, of the newest problem: one for every thread that worked on it."""
_lock = threading.Lock()


def improve(problem: Problem, piece: Piece) -> Progressed:
    """What became of the piece in this process, which keeps its store for the next piece of the same problem."""
    with _lock:
        root = _kept.pop()[1] if _kept and _kept[-1][0] == piece.problem_id else None
    if root is None:
        forget()
        root = Root(problem, piece.precision, piece.memory_limit)
    found = root.improve(piece)
    if root.is_reusable:
        with _lock:
            _kept.append((piece.problem_id, root))
    else:
        root.close()
    return found


def forget() -> None:
    """Gives back what this process keeps of the problems that it worked on."""
    with _lock:
        while _kept:
            _kept.pop()[1].close()
