"""Finds proofs by compiled code (`improving.py`), where rows are of few kinds and leaves of any size.

The claims are those of `check.py`: what is found here need not be trusted.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence
from typing import Any, final

import numpy as np

from streed.exact import Array
from streed.proof.check import Limits
from streed.proof.collecting import order_claims, write_numbers
from streed.proof.compiled import CompiledSums
from streed.proof.improving import (
    CLAIMS,
    COLUMNS,
    DONE,
    LEVEL,
    LINKS,
    PAUSED,
    SIMILAR,
    STEPS,
    THREES,
    Found,
    claim_of,
    fill_table,
    improve,
    unwind,
)
from streed.proof.prover import StoppedError

_STEPS = 4000
"""Between two looks at the clock."""


@final
class NativeProver:
    """Claims about one problem, by their numbers; `deadline` is a time of `time.monotonic`."""

    def __init__(self, sums: CompiledSums, deadline: float | None = None) -> None:
        self.sums, self.problem, self.deadline = sums, sums.problem, deadline
        p = self.problem
        n_sets, n_literals, n_columns = len(p.everything), len(p.literals), len(p.firsts) - 1
        number: Any = np.int64
        sets: Array = np.empty((64, n_sets), np.uint64)
        each, links = [np.empty(64, number) for _ in range(9)], [np.empty((64, 2), number) for _ in range(2)]
        sides = [np.empty((64, n_literals), number) for _ in range(3)]
        of_frames = [np.empty((8, size), number) for size in (6, n_literals, n_literals)]
        table, allowed, counts = np.full(256, -1), np.empty((8, n_columns), np.bool_), np.zeros(6, number)
        threes = np.empty(64, number)
        arrays = [sets, *each, np.empty(64, np.bool_), *links, sides[0], threes, *sides[1:], table, *of_frames]
        self.found = Found._make([*arrays, allowed, counts])
        self._make_room()

    def prove(self, limits: Limits, target: int) -> int:
        """The number of the claim about all rows, improved to `target`, to what is true, or until the deadline."""
        root = self.claim(limits.depth)
        with contextlib.suppress(StoppedError):
            self.improve(root, target)
        return root

    def claim(self, depth: int, parent: int = -1, literal: int = -1) -> int:
        """The number of the claim about all rows, or about a side of another claim's."""
        self._make_room()
        p, found = self.problem, self.found
        rows = p.everything if parent < 0 else found.rows[parent] & p.literals[literal]
        return int(claim_of(p, found, rows, depth, parent, literal))

    def lower(self, claim: int) -> int:
        """What is shown of a claim."""
        return int(self.found.lower[claim])

    def improve(self, claim: int, target: int) -> None:
        """Afterwards the claim's bound is `target` at least, or the optimum; raises StoppedError at the deadline."""
        counts = self.found.counts
        counts[LEVEL] = 0
        self.found.frames[0, :3] = claim, target, 0
        while True:
            said = improve(self.problem, self.found, int(counts[STEPS]) + _STEPS)
            if said == DONE:
                return
            if said == PAUSED and self.deadline is not None and time.monotonic() > self.deadline:
                unwind(self.problem, self.found)
                raise StoppedError
            self._make_room()

    def _make_room(self) -> None:
        """Doubles the arrays that are short."""
        found, counts = self.found, self.found.counts.tolist()
        columns = len(self.problem.firsts) - 1
        wanted = {
            "claims": (counts[CLAIMS] + 2, ("rows", "depths", "lower", "upper", "weights", "parents", "literals")),
            "more": (counts[CLAIMS] + 2, ("anchors", "columns", "places", "lent")),
            "links": (counts[LINKS] + SIMILAR + 1, ("links",)),
            "columns": (counts[COLUMNS] + columns + 1, ("column_links", "known")),
            "threes": (counts[THREES] + 2, ("threes", "sides", "reached")),
            "frames": (counts[LEVEL] + 3, ("frames", "frame_sides", "frame_reached", "frame_allowed")),
        }
        made: dict[str, Array] = {}
        for size, names in wanted.values():
            for name in names:
                array = getattr(found, name)
                if len(array) < size:
                    made[name] = np.empty((2 * size, *array.shape[1:]), array.dtype)
                    made[name][: len(array)] = array
        self.found = found._replace(**made)
        if 2 * len(self.found.rows) > len(self.found.table):
            self.found = self.found._replace(table=np.empty(4 * _power(len(self.found.rows)), np.int64))
            fill_table(self.found)

    def numbers(self, roots: Sequence[int]) -> tuple[Array, int]:
        """(the numbers of the records that the roots' bounds need, how many records they are)."""
        sums = self.sums
        order, place, begins, kept = order_claims(self.problem, self.found, np.array(roots, np.int64))
        literals = np.array(list(sums.literal), np.int64)
        names = np.array(sums.columns, np.int64)
        return write_numbers(self.found, order, place, begins, kept, literals[:, 0], literals[:, 1], names), len(order)


def _power(size: int) -> int:
    return 1 << (size - 1).bit_length()
