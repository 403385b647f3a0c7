"""The splits of the root with their bounds: what is left to search, to be handed out, saved and resumed.

A bound of a split is settled once it has reached the best value. What is not settled has the bound that was proved so
far, at first that of the relaxation at the root, so that the frontier knows a gap at any time.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any, final

import attrs
import numpy as np

from streed.cluster.pieces import Piece, Progressed, Root, Shared
from streed.errors import InputError
from streed.kernels.records import INFINITE


class Overflow(Exception):
    """Raised by `settle`: a cost did not fit its code, so the problem must be encoded for a wider range."""


@final
class Frontier:
    """The splits of the root of a problem."""

    def __init__(self, shared: Shared, beat: Any = None) -> None:
        root = Root(shared)
        self.encoding = root.encoding
        self._target = INFINITE if beat is None else min(self.encoding.target(beat), INFINITE)
        try:
            opened = root.progress(-1, self._target)
        finally:
            root.workspace.close()
        self._opened, self.lowers = opened, np.array(opened.lowers, np.int64)
        self.root_lower, self.upper, self.preorder = opened.root_lower, min(opened.upper, INFINITE), opened.preorder
        self._tries = np.zeros(len(self.lowers), np.int64)
        self._flying: set[int] = set()
        self.counts: dict[str, Any] = {"nodes": opened.nodes, "pieces": 0, "seconds_workers": 0.0}
        """Nodes that were visited, pieces that came back, and processor seconds that they took."""
        self.problem = attrs.evolve(shared, name=self._fingerprint(root.limits, shared))
        """As `improve` takes it; it can be pickled."""

    @property
    def goal(self) -> int:
        """The code that a tree has to be below."""
        return min(self.upper, self._target)

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

    def next(self) -> Piece | None:
        """The next piece of work, that of least bound among those least often tried; None if there is none to hand out.

        A piece is handed out again if it is not settled, unless memory was too small to get on with it; `give_back`
        says that it was lost.
        """
        if self._opened.overflow:
            raise Overflow
        free = [k for k in np.flatnonzero(self.lowers < self.goal).tolist() if k not in self._flying]
        if self.is_done or not free:
            return None
        edge = min(free, key=lambda k: (self._tries[k], self.lowers[k]))
        self._tries[edge] += 1
        self._flying.add(edge)
        return Piece(edge, self.goal, tuple(self.lowers.tolist()))

    def give_back(self, piece: Piece) -> None:
        """Notes that a piece was lost, with its worker."""
        self._flying.discard(piece.edge)

    def settle(self, found: Progressed) -> None:
        """Takes what became of a piece: bounds of all splits, and a better tree if there is one.

        Raises Overflow where a cost did not fit its code.
        """
        if found.overflow:
            raise Overflow
        before = self.goal, int(self.lowers[found.edge])
        self.lowers = np.maximum(self.lowers, np.array(found.lowers, np.int64))
        self.root_lower = max(self.root_lower, min(found.root_lower, found.upper))
        if found.upper < self.upper and found.preorder is not None:
            self.upper, self.preorder = found.upper, found.preorder
        if not found.full or before != (self.goal, int(self.lowers[found.edge])):
            self._flying.discard(found.edge)  # else memory is too small to get on
        for key, more in (("nodes", found.nodes), ("pieces", 1), ("seconds_workers", found.seconds)):
            self.counts[key] += more

    def save(self, path: str | Path) -> None:
        """Writes what is known, whole or not at all."""
        tree = None if self.preorder is None else self.preorder.tolist()
        known = [self.problem.name, self.lowers.tolist(), self.root_lower, self.upper, tree, self.counts]
        aside = Path(f"{path}.{os.getpid()}.part")
        aside.write_text(json.dumps({"streed frontier": known}), encoding="utf-8")
        aside.replace(path)

    def load(self, path: str | Path) -> None:
        """Takes what `save` wrote; raises InputError for a file that is none, or is of another problem."""
        try:
            name, lowers, root_lower, upper, tree, counts = json.loads(Path(path).read_bytes())["streed frontier"]
            codes, root_lower, upper = np.array(lowers, np.int64), int(root_lower), int(upper)
            preorder = None if tree is None else np.array(tree, np.int64)
            counts = {key: type(old)(counts[key]) for key, old in self.counts.items()}
        except OSError as error:
            raise InputError("path", f"it cannot be read ({error.strerror})", "check the path") from None
        except (LookupError, TypeError, ValueError, OverflowError):
            raise InputError("path", f"{str(path)!r} holds no frontier", "give a file that `save` wrote") from None
        if name != self.problem.name or codes.shape != self.lowers.shape:
            raise InputError("path", f"{str(path)!r} is of another problem", "give the data, task and limits of then")
        if upper < self.upper and preorder is not None:
            self.upper, self.preorder = upper, preorder
        self.lowers, self.root_lower = np.maximum(self.lowers, codes), max(self.root_lower, root_lower)
        self.counts = counts

    def _fingerprint(self, limits: tuple[int, int], shared: Shared) -> str:
        """A hash of all that the codes of the problem depend on."""
        packed = self.encoding.packed
        arrays: list[Any] = [packed.column, packed.flipped, packed.column_rows]
        arrays += [
            packed.groups.profits,
            packed.groups.words,
            packed.row_values,
            getattr(packed.scoring, "numbers", None),
        ]
        arrays += [getattr(packed.prices, name, None) for name in ("full", "given")]
        asked = (*limits, packed.min_leaf, packed.split_cost, packed.n_labels, self._target, shared.precision)
        digest = hashlib.sha256(repr((shared.problem.task, asked, self._opened.splits)).encode())
        for array in arrays:
            if array is not None:
                digest.update(repr((array.shape, array.dtype.str)).encode() + array.tobytes())
        return digest.hexdigest()
