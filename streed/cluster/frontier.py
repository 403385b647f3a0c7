"""The splits of the root with their bounds: what is left to search, to be handed out, saved and resumed.

    while (piece := frontier.next()) is not None:
        frontier.settle(improve(frontier.problem, piece))  # here, or in any process of any machine

A bound of a split is settled once it has reached the best value. What is not settled has the bound that was proved so
far, at first that of the relaxation at the root, so that the frontier knows a gap at any time.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, final

import attrs
import numpy as np

from streed.cluster.pieces import Piece, Precision, Progressed, Root
from streed.cluster.told import KnownBounds, Told, read
from streed.data import Dataset
from streed.encoding.encoding import Encoding
from streed.errors import InputError
from streed.exact import Array
from streed.kernels.records import INFINITE, SHALLOW
from streed.problem import Problem
from streed.task import Task
from streed.task.weighing import check_weights, in_copies
from streed.tree import Tree

_VERSION = 1

PATIENCE = 0.5
"""Seconds after which a split that is worked on is helped with."""

_PARTS, _MOST_PARTS = 2, 256
"""Parts of a split for every process that is to help with it; and no split is taken into more of them."""


def frontier(
    task: Task,
    X: Any,
    y: Any = None,
    *,
    max_depth: int | None = None,
    max_nodes: int | None = None,
    min_leaf: int = 1,
    seconds: float | None = None,
    memory_limit: int | None = None,
    **given: Any,
) -> Frontier:
    """The splits of the root of a problem, to be searched by whatever hands out work; the data as `streed.solve` takes
    them.

    `seconds`: so long a piece is worked on before it comes back with what is known (None: until it is settled).
    `memory_limit`: bytes of each process that works on pieces. Raises TaskError for tasks that no native search takes,
    such as scores of several sums: these go through `streed.Distributed`, and InputError for ordered columns likewise.
    """
    data = Dataset.make(X, y, **given)
    check_weights(task, data)
    data = in_copies(task, data)
    if data.ordered:
        name = data.names[min(data.ordered)]
        remedy = "give questions, by streed.Binarizer, or use search=streed.Distributed(client)"
        raise InputError("X", f"column {name!r} is ordered, and a frontier is of 0/1 and categorical columns", remedy)
    bound = task.bind(data)
    supports = [limit.support for limit in bound.limits if limit.support is not None]
    problem = Problem(data, bound, max_depth, max_nodes, min(max([min_leaf, *supports]), data.size + 1))
    return Frontier(problem, seconds=seconds, memory_limit=memory_limit)


class Overflow(Exception):
    """Raised by `settle`: a cost did not fit its code, so the problem must be encoded for a wider range."""


@final
@attrs.define
class _Share:
    """A split that several processes work on at once, by parts of the splits below it."""

    parts: int
    todo: list[int]
    flying: int = 0


@final
class Frontier:
    """The splits of the root of a problem; made by `streed.frontier`, and by the driver `streed.Distributed`."""

    def __init__(
        self,
        problem: Problem,
        precision: Precision = (),
        *,
        seconds: float | None = None,
        memory_limit: int | None = None,
        beat: Any = None,
    ) -> None:
        self.problem = problem
        self.precision = precision
        self._seconds, self._memory_limit = seconds, memory_limit
        root = Root(problem, precision, memory_limit)
        try:
            self.encoding: Encoding = root.encoding
            self.target = INFINITE if beat is None else min(self.encoding.target(beat), INFINITE)
            opened = root.improve(Piece("", precision, -1, self.target, (), None))
        finally:
            root.close()
        self._overflowed = opened.overflow
        self.splits = opened.splits
        self.lowers: Array = np.array(opened.lowers, np.int64)
        self.root_lower = opened.root_lower
        self.upper = min(opened.upper, INFINITE)
        self.preorder: Array | None = opened.preorder
        self.problem_id = self._fingerprint(root)
        self.tries = np.zeros(len(self.lowers), np.int64)
        self.flying = np.zeros(len(self.lowers), np.int64)
        """Pieces of every split that are worked on."""
        self.known = KnownBounds()
        self._literals = opened.literals
        self._shares: dict[int, _Share] = {}
        self._begun: dict[int, float] = {}
        self.where: dict[int, str] = {}
        """The process that worked last on a split, and knows it best."""
        self.nodes, self.pieces, self.seconds = opened.nodes, 0, 0.0

    @property
    def goal(self) -> int:
        """The code that a tree has to be below."""
        return min(self.upper, self.target)

    @property
    def bounds(self) -> tuple[int, int]:
        """(lower, upper), in codes: no tree costs less; the best known tree costs that, INFINITE without one."""
        least = int(self.lowers.min(initial=self.goal))
        return min(self.goal, max(self.root_lower, least)), self.upper

    @property
    def lower_bound(self) -> Any:
        """No tree within the limits has a better value than this, in the bound task's units; None for not known."""
        lower = self.bounds[0]
        return None if lower >= INFINITE else self.encoding.bound(lower)

    @property
    def value(self) -> Any:
        """What the best known tree is worth; None without one."""
        return None if self.upper >= INFINITE else self.encoding.value(self.upper)

    @property
    def is_done(self) -> bool:
        """Whether no split can have a better tree."""
        return self.bounds[0] >= self.goal

    @property
    def unsettled(self) -> int:
        """How many splits may still have a better tree."""
        return int(np.count_nonzero(self.lowers < self.goal))

    def next(self, idle: int = 0, now: float = 0.0, worker: str = "", workers: Sequence[str] = ()) -> Piece | None:
        """The next piece of work, that of least bound among those least often tried; None if there is none to hand out.

        A piece is handed out again if it is not settled: `give_back` says that it was lost. Where all splits are in
        flight and so many processes are `idle`, it is a part of one that is in flight for `PATIENCE` seconds; `now` is
        by any clock. A `worker`, one of the `workers`, is given splits near those that it had (see `_own`).
        """
        if self._overflowed:
            raise Overflow
        if self.is_done:
            return None
        open_splits = np.flatnonzero(self.lowers < self.goal).tolist()
        free = [k for k in open_splits if not self.flying[k]]
        part, parts = 0, 1
        if free:
            own = self._own(free, worker, workers) if worker in workers else []
            edge = min(own or free, key=lambda k: (self.tries[k], k))
            self.tries[edge] += 1
            self._begun[edge] = now
        else:
            long = [k for k in open_splits if self._may_be_helped(k, now)] if idle > 0 else []
            if not long:
                return None
            edge = min(long, key=lambda k: (self.flying[k], k))
            part, parts = self._part_of(edge, -(-idle // len(long)), now)
        self.flying[edge] += 1
        told = self.known.about(self._literals[edge]) if self._literals else Told()
        lowers = tuple(self.lowers.tolist())
        about = (self.problem_id, self.precision, edge, self.goal, lowers, self._seconds, self._memory_limit)
        return Piece(*about, part, parts, told)

    def _own(self, free: list[int], worker: str, workers: Sequence[str]) -> list[int]:
        """Those splits that a worker is to have: the ones that it knows, and its share of the new ones.

        The new ones are shared out by their columns' numbers, as neighbouring columns often are of one feature: what a
        process learnt of a subproblem bounds those of similar rows, but only its own.
        """
        known = [k for k in free if self.where.get(k) == worker]
        new = sorted((k for k in free if self.where.get(k) not in workers), key=lambda k: self.splits[k])
        return known + [k for rank, k in enumerate(new) if workers[rank * len(workers) // len(new)] == worker]

    def _may_be_helped(self, edge: int, now: float) -> bool:
        """Whether there is a part of a split to hand out, or it is in flight for long."""
        share = self._shares.get(edge)
        if share is not None and (share.todo or share.flying):
            return bool(share.todo)
        depth = self.problem.max_depth
        if depth is not None and depth <= SHALLOW + 1:
            return False  # its sides are solved at once
        return now >= self._begun[edge] + PATIENCE and (share is None or 2 * share.parts <= _MOST_PARTS)

    def _part_of(self, edge: int, helpers: int, now: float) -> tuple[int, int]:
        """(part, parts) of a split, for one of so many processes that are to work on it beside."""
        share = self._shares.get(edge)
        if share is None or not (share.todo or share.flying):
            parts = min(_MOST_PARTS, max(_PARTS * helpers, 2 if share is None else 2 * share.parts))
            share = self._shares[edge] = _Share(parts, list(range(parts)))
            self._begun[edge] = now  # the next parts are made after some time, too
        share.flying += 1
        return share.todo.pop(0), share.parts

    def _return_part(self, edge: int, part: int, parts: int, is_done: bool) -> None:
        """Notes that a piece is not worked on any more, and that its part is to be done again if it is not done."""
        self.flying[edge] -= 1
        share = self._shares.get(edge)
        if parts > 1 and share is not None and share.parts == parts:
            share.flying -= 1
            if not is_done:
                share.todo.append(part)

    def give_back(self, piece: Piece) -> None:
        """Notes that a piece was lost, with its worker."""
        self._return_part(piece.edge, piece.part, piece.parts, False)

    def settle(self, found: Progressed) -> None:
        """Takes what became of a piece: bounds of all splits, and a better tree if there is one.

        Raises Overflow where a cost did not fit its code, and InputError for an answer to another problem.
        """
        if found.overflow:
            raise Overflow
        if found.splits != self.splits:
            raise InputError("found", "it is of another problem", "settle what `next` handed out")
        self._return_part(found.edge, found.part, found.parts, found.is_whole)
        self.lowers = np.maximum(self.lowers, np.array(found.lowers, np.int64))
        self.root_lower = max(self.root_lower, min(found.root_lower, found.upper))
        if found.upper < self.upper and found.preorder is not None:
            self.upper, self.preorder = found.upper, found.preorder
        if found.parts == 1:
            self.where[found.edge] = found.where
        self.known.add(found.told)
        self.nodes += found.nodes
        self.pieces += 1
        self.seconds += found.seconds

    def tree(self) -> Tree | None:
        """The best known tree, measured again from the raw data; None without one."""
        if self.preorder is None:
            return None
        complete = self.is_done
        solution, _ = self.encoding.solution(self.problem, self.preorder, self.upper, self.bounds[0], complete)
        data, task = self.problem.data, self.problem.task
        return Tree.grown(solution.root, data, tuple(task.labels(data)), unit=self.encoding.unit, shown=solution.shown)

    # -- on disk ---------------------------------------------------------------------------------------------------

    def save(self, path: str | Path) -> None:
        """Writes what is known, whole or not at all."""
        tree = None if self.preorder is None else self.preorder.tolist()
        document = {
            "streed frontier": _VERSION,
            "problem": self.problem_id,
            "lowers": self.lowers.tolist(),
            "tries": self.tries.tolist(),
            "root_lower": self.root_lower,
            "upper": self.upper,
            "tree": tree,
            "nodes": self.nodes,
            "pieces": self.pieces,
            "seconds": self.seconds,
            "told": self.known.written(),
        }
        aside = Path(f"{path}.{os.getpid()}.part")
        aside.write_text(json.dumps(document), encoding="utf-8")
        aside.replace(path)

    def load(self, path: str | Path) -> None:
        """Takes what `save` wrote; raises InputError for a file that is none, or is of another problem."""
        try:
            document = json.loads(Path(path).read_text(encoding="utf-8"))
            lowers = np.array(document["lowers"], np.int64)
            known = document["streed frontier"] == _VERSION and document["problem"] == self.problem_id
            tree = None if document["tree"] is None else np.array(document["tree"], np.int64)
            tries = np.array(document["tries"], np.int64)
            numbers = [int(document[key]) for key in ("root_lower", "upper", "nodes", "pieces")]
            seconds = float(document["seconds"])
            told = Told()
            if known and "told" in document:  # what was saved before bounds were has none
                told = read(document["told"], 2 * self.encoding.packed.n_columns)
        except OSError as error:
            raise InputError("path", f"it cannot be read ({error.strerror})", "check the path") from None
        except (KeyError, TypeError, ValueError, OverflowError):
            raise InputError("path", f"{str(path)!r} holds no frontier", "give a file that `save` wrote") from None
        if not known or lowers.shape != self.lowers.shape or tries.shape != self.tries.shape:
            raise InputError("path", f"{str(path)!r} is of another problem", "give the data, task and limits of then")
        if numbers[1] < self.upper and tree is not None:
            self.upper, self.preorder = numbers[1], tree
        self.lowers, self.tries = np.maximum(self.lowers, lowers), tries
        self.root_lower = max(self.root_lower, numbers[0])
        self.known.add(told)
        self.nodes, self.pieces, self.seconds = numbers[2], numbers[3], seconds

    def _fingerprint(self, root: Root) -> str:
        """A hash of all that the codes of the problem depend on."""
        packed = self.encoding.packed
        digest = hashlib.sha256()
        arrays = [packed.column, packed.flipped, packed.column_rows, packed.groups.profits, packed.groups.words]
        arrays += [] if packed.row_values is None else [packed.row_values]
        arrays += [] if packed.scoring is None else [packed.scoring.numbers]
        arrays += [] if packed.prices is None else [packed.prices.full, packed.prices.given]
        for array in arrays:
            digest.update(repr((array.shape, array.dtype.str)).encode())
            digest.update(np.ascontiguousarray(array).tobytes())
        limits = (root.depth, root.budget, packed.min_leaf, packed.split_cost, packed.n_labels, self.target)
        digest.update(repr((repr(self.problem.task), self.precision, limits, self.splits)).encode())
        return digest.hexdigest()


def remove(path: Path) -> None:
    """Deletes a file, if it is there."""
    with contextlib.suppress(FileNotFoundError):
        path.unlink()
