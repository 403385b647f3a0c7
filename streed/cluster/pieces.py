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
from streed.bnb.told_bounds import raise_bounds, read_bounds
from streed.bnb.workspace import MOST_KEPT, Workspace
from streed.cluster.told import LITERALS, Told
from streed.encoding.choice import encoding_of
from streed.encoding.encoding import Encoding
from streed.errors import TaskError
from streed.exact import Array
from streed.kernels.compilation import clock
from streed.kernels.compiled import ready
from streed.kernels.control import ROWS_OF_CONTROL, SHARED_UPPER, STOP, UPPER
from streed.kernels.records import EMPTY, INFINITE, UNLIMITED
from streed.problem import Problem, SearchLimits

Precision = tuple[float | None, ...]
"""How the codes of a problem came to be: None for a less precise encoding than before, a number for another grid."""

_KEPT = 2
"""Problems whose stores a process keeps."""

_MOST_TOLD = 2**17
"""Bounds of subproblems that come back with a piece, at most."""

_MOST_LOOKS = 2**26
"""Words of rows that may be looked at to find subproblems of three literals."""


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
    lowers: tuple[int, ...]
    """What is known of all splits, in codes; empty for nothing."""
    seconds: float | None
    """The piece comes back after this long, whatever is done of it; None: when it is done."""
    memory_limit: int | None = None
    part: int = 0
    parts: int = 1
    """Of several, the piece is a part of the splits below this one, whose bounds it proves and tells."""
    told: Told = attrs.field(factory=Told)
    """What others proved of subproblems below this split."""


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
    part: int = 0
    parts: int = 1
    """Those of the piece."""
    is_whole: bool = True
    """Whether the piece was worked on to its end, not until its time was over."""
    told: Told = attrs.field(factory=Told)
    """What was proved here of subproblems below this split."""
    literals: tuple[tuple[int, ...], ...] = ()
    """Those of the sides of every split, as in `Told`; empty where subproblems are not told of."""
    where: str = ""
    """The worker's address, where it has one."""


def encoded(problem: Problem, precision: Precision) -> Encoding:
    """The problem as the search reads it, the same in every process; raises TaskError where no kernels can be made."""
    encoding = encoding_of(problem)
    for step in precision:
        if encoding is None:
            break
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
        self.workspace: Workspace = make_workspaces(problem, packed, limits, DEPTH_FIRST, 1, *shape)[0]
        ready(search_edge, "(int64, int64, int64, boolean, int64, int64, int64, int64)")
        ready(read_bounds, "(int64, int64, boolean, int32[:, ::1], int64[::1])")
        ready(raise_bounds, "(int64, int32[:, ::1], int64[::1])")
        self._run(False, -1, INFINITE, 0, 1)

    def improve(self, piece: Piece) -> Progressed:
        """Works on a piece until it is done or its time is over."""
        begin, before = time.process_time(), self.workspace.engine["visits"]
        self.control[STOP] = 0
        workspace, engine = self.workspace, self.workspace.engine
        if piece.lowers:
            edges = workspace.root_edges
            edges["lower"] = np.maximum(edges["lower"], np.array(piece.lowers, np.int64))
        literals = self._literals()
        told, reason = Told(), None
        if piece.edge >= 0:
            raise_bounds(engine.address, piece.told.sets, piece.told.bounds)
            deadline = None if piece.seconds is None else clock() + piece.seconds
            work = functools.partial(self._run, True, piece.edge, piece.goal, piece.part, piece.parts)
            reason = runner.run([work], self.control, deadline, _nothing)
            if literals and not engine["overflow"]:
                told = self._tell(literals[piece.edge])
        lower, upper = workspace.root_bounds
        edges = workspace.root_edges
        lowers, splits = tuple(edges["lower"].tolist()), tuple(edges["split"].tolist())
        preorder = None
        if upper < piece.goal and not engine["overflow"]:
            preorder = extract_best(workspace, self.encoding.packed, self.depth, self.budget)
        return Progressed(
            piece.edge,
            lowers,
            splits,
            lower,
            upper,
            preorder,
            nodes=engine["visits"] - before,
            seconds=time.process_time() - begin,
            overflow=bool(engine["overflow"]),
            part=piece.part,
            parts=piece.parts,
            is_whole=reason is None,
            told=told,
            literals=literals if piece.edge < 0 else (),
            where=_address(),
        )

    def _literals(self) -> tuple[tuple[int, ...], ...]:
        """Those of the sides of every split; none where trees share a number of nodes, as bounds are then of shares."""
        if self.budget != UNLIMITED:
            return ()
        children = self.workspace.children
        found = []
        for edge in self.workspace.root_edges:
            sides = children[edge["children"] : edge["children"] + edge["n_children"]]
            sides = sides[sides["node"] != EMPTY]
            found.append(tuple((2 * sides["column"] + sides["without"]).tolist()))
        return tuple(found)

    def _tell(self, literals: tuple[int, ...]) -> Told:
        """What is known here of subproblems that have one of the literals."""
        packed, engine = self.encoding.packed, self.workspace.engine
        alone = (2 * packed.n_columns) ** 2 * engine["key_words"] > _MOST_LOOKS
        sets, bounds = np.zeros((_MOST_TOLD, LITERALS), np.int32), np.zeros(_MOST_TOLD, np.int64)
        count = 0
        for literal in literals:
            count += read_bounds(engine.address, literal, alone, sets[count:], bounds[count:])
        return Told(sets[:count].copy(), bounds[:count].copy())

    @property
    def is_reusable(self) -> bool:
        """Whether the store has all that it had: extracting a tree of which parts were forgotten moves the root."""
        return bool(self.workspace.engine["evictions"] == 0)

    def close(self) -> None:
        self.workspace.close()

    def _run(self, again: bool, edge: int, goal: int, part: int, parts: int) -> None:
        """Improves the edge to the end, making room where there is none, until stopped or round in circles."""
        engine = self.workspace.engine
        seen: set[int] = set()
        while True:
            search_edge(engine.address, self.depth, self.budget, again, edge, goal, part, parts)
            if engine["crowded"] == 0 or evict(engine.address) > MOST_KEPT * self.workspace.space.nodes:
                return
            if engine["kept"] in seen:
                return
            seen.add(engine["kept"])
            again = True


def _nothing() -> None:
    return None


_roots: dict[tuple[str, Precision], list[Root]] = {}
_lock = threading.Lock()


def improve(problem: Problem, piece: Piece) -> Progressed:
    """What became of the piece in this process, which keeps its store for the next piece of the same problem."""
    key = (piece.problem_id, piece.precision)
    with _lock:
        idle = _roots.pop(key, [])
        root = idle.pop() if idle else None
        _roots[key] = idle  # the newest problem is the last one
        for other in list(_roots)[:-_KEPT]:
            for each in _roots.pop(other):
                each.close()
    if root is None:
        root = Root(problem, piece.precision, piece.memory_limit)
    found = root.improve(piece)
    with _lock:
        if root.is_reusable and key in _roots:
            _roots[key].append(root)
        else:
            root.close()
    return found


def forget() -> None:
    """Gives back what this process keeps of the problems that it worked on."""
    with _lock:
        for key in list(_roots):
            for each in _roots.pop(key):
                each.close()


def _address() -> str:
    """That of the Dask worker that this runs in; empty elsewhere."""
    import sys

    distributed = sys.modules.get("distributed")
    if distributed is None:
        return ""
    try:
        return str(distributed.get_worker().address)
    except ValueError:
        return ""
