"""Finds a proof that no tree is better than a value: claims about sets of rows, each improved as far as others ask.

It forms its sums by `check.Sums`, is lazier than a search, as it knows the value to reach, and need not be trusted.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import final

import attrs
import numpy as np

from streed.exact import Array
from streed.proof.check import BIG, UNLIMITED, Part, Record, Sums


@final
class StoppedError(Exception):
    """The time is over; claims hold what was shown so far."""


@attrs.define(eq=False)
class Claim:
    """That every tree of a depth costs at least `lower` on some rows, while it is being improved."""

    part: Part
    path: tuple[int, ...]
    """The literals that lead to its rows."""
    depth: int
    lower: int = 0
    """Shown so far."""
    upper: int = BIG
    """What some tree costs."""
    leaf: int = 0
    price: Array | None = None
    """(P,) what a split by each column costs without its sides, BIG where it may not be; None until it is improved."""
    sides: Array = attrs.field(factory=lambda: np.zeros(0, np.int64))
    """(Q,) bounds of its sides at one depth less."""
    reached: Array = attrs.field(factory=lambda: np.zeros(0, np.int64))
    """(Q,) what some tree costs on each side."""
    used: dict[Claim, None] = attrs.field(factory=dict)
    """The claims about sides that raised a bound, in order."""
    below: dict[int, Claim] = attrs.field(factory=dict)
    """Claims about its sides, by literal."""


@final
class Prover:
    """Claims about one problem; `deadline` is a time of `time.monotonic`, `tell` hears the root's bound."""

    def __init__(self, sums: Sums, deadline: float | None, tell: Callable[[int, int], None] | None) -> None:
        self.sums, self.deadline, self.tell = sums, deadline, tell
        self.claims: dict[tuple[bytes, int], Claim] = {}
        self.root = self.claim(sums.root, sums.depth, ())

    def claim(self, part: Part, depth: int, path: tuple[int, ...]) -> Claim:
        """The claim about some rows, made once; of depth two or less it is counted."""
        key = self.sums.key(part), depth
        if key not in self.claims:
            made = self.claims[key] = Claim(part, path, depth)
            if depth <= 2 or not len(self.sums.starts) or not part.mask.any():
                made.lower = made.upper = self.sums.lower(part, min(depth, 2))
        return self.claims[key]

    def side(self, claim: Claim, q: int) -> Claim:
        """The claim about a side of another one."""
        if q not in claim.below:
            depth = claim.depth - (claim.depth < UNLIMITED)
            claim.below[q] = self.claim(self.sums.side(claim.part, q), depth, (*claim.path, q))
        return claim.below[q]

    def improve(self, claim: Claim, target: int) -> None:
        """Afterwards the claim's bound is `target` at least, or the optimum; raises StoppedError at the deadline."""
        while claim.lower < min(target, claim.upper):
            if self.deadline is not None and time.monotonic() > self.deadline:
                raise StoppedError
            if claim.price is None:
                self._open(claim)
                continue
            goal = min(target, claim.upper)
            totals, best = self._by_column(claim, claim.sides), self._by_column(claim, claim.reached)
            open_columns = (totals < goal).nonzero()[0]
            column = int(open_columns[np.lexsort((totals[open_columns], best[open_columns]))[0]])
            literals = (self.sums.of_column == column).nonzero()[0]
            literals = literals[claim.reached[literals] > claim.sides[literals]]
            # the side whose bound is nearest to its best tree: what is soon shown need not be asked of the others
            q = int(literals[np.argmin((claim.reached - claim.sides)[literals])])
            wanted = goal - int(totals[column]) + int(claim.sides[q])
            side = self.side(claim, q)
            try:
                self.improve(side, wanted)
            finally:
                claim.reached[q] = min(claim.reached[q], side.upper)
                known = self.sums.transfer(claim.part, side.part, side.lower)
                if (known > claim.sides).any():
                    claim.used[side] = None
                    claim.sides = np.maximum(claim.sides, known)
                self._settle(claim)

    def _open(self, claim: Claim) -> None:
        sums, part = self.sums, claim.part
        claim.leaf = sums.leaf(part)
        claim.reached = sums.counted(part, 1)
        claim.sides = np.minimum(claim.reached, 2 * sums.split if claim.depth == UNLIMITED else 0)
        claim.price = sums.by_column(part, np.zeros_like(claim.sides))
        self._settle(claim)

    def _settle(self, claim: Claim) -> None:
        """The claim's bounds, as they follow from those of the sides."""
        claim.upper = min(claim.upper, claim.leaf, int(self._by_column(claim, claim.reached).min()))
        claim.lower = max(claim.lower, min(claim.leaf, int(self._by_column(claim, claim.sides).min())))
        if claim is self.root and self.tell is not None:
            self.tell(claim.lower, len(self.claims))

    def _by_column(self, claim: Claim, sides: Array) -> Array:
        """(P,) what a split by each column costs by its sides."""
        assert claim.price is not None
        return np.asarray(np.where(claim.price < BIG, claim.price + np.add.reduceat(sides, self.sums.starts), BIG))

    def records(self, roots: Iterable[Claim]) -> list[Record]:
        """The claims that the roots' bounds need, each after those that it rests on."""
        place: dict[Claim, int] = {}
        made: list[Record] = []
        names = list(self.sums.literal)
        stack = list(roots)[::-1]
        while stack:
            claim = stack[-1]
            needed = list(claim.used) if claim.lower else []
            ahead = [anchor for anchor in needed if anchor not in place]
            stack += ahead
            if ahead or stack.pop() in place:
                continue
            place[claim] = len(made)
            back = [len(made) - place[anchor] for anchor in needed]
            made.append(Record([names[q] for q in claim.path], claim.depth, int(claim.lower), back))
        return made
