"""Finds a proof that no tree is better than a value, as claims and what each rests on.

The prover need not be trusted: whatever it writes, `check.py` judges. It is lazier than a search, as it knows the value
that is to be reached: a claim is improved until its bound is large enough for the claim that asks for it.
"""

from __future__ import annotations

import time
from typing import Any, final

import attrs
import numpy as np

from streed.exact import Array
from streed.proof.check import UNLIMITED, Limits, Record, Sums

_SIMILAR = 6
"""How many earlier claims of depth three may lend the bounds of their sides."""

_RECENT = 256
"""Among how many of the last ones they are looked for."""


@final
class StoppedError(Exception):
    """The time is over; claims hold what was shown so far."""


@attrs.define(eq=False)
class Claim:
    """That every tree of a depth costs at least `lower` on some rows, while it is being improved."""

    path: tuple[int, ...]
    """The literals that lead to its rows."""
    mask: Array
    """(n,) bool."""
    rows: Array
    """Their numbers."""
    depth: int
    lower: float
    """Shown so far."""
    upper: float = np.inf
    """What some tree costs."""
    leaf: float = np.inf
    sides: Array = attrs.field(factory=lambda: np.zeros(0))
    """(Q,) bounds of its sides at one depth less."""
    at_first: Array = attrs.field(factory=lambda: np.zeros(0))
    """(Q,) those that rest on nothing else."""
    reached: Array = attrs.field(factory=lambda: np.zeros(0))
    """(Q,) what some tree costs on each side."""
    splits: Array = attrs.field(factory=lambda: np.zeros(0, np.bool_))
    """(P,) whether a column may split its rows."""
    anchors: list[tuple[Any, Array]] = attrs.field(factory=list)
    """A claim, or at depth three a column, and the bounds (Q,) of the sides that follow from it."""
    kept: list[Any] = attrs.field(factory=list)
    """Those of the anchors that the bound needs."""


@final
class Prover:
    """Claims about one problem; `deadline` is a time of `time.monotonic`."""

    def __init__(self, sums: Sums, deadline: float | None = None) -> None:
        self.sums = sums
        self.deadline = deadline
        self.claims: dict[tuple[bytes, int], Claim] = {}
        self.similar: list[Claim] = []

    def prove(self, limits: Limits, target: int) -> tuple[Claim, int]:
        """The claim about all rows, improved to `target` or to what is true, and the whole number that it shows."""
        root = self.claim(np.ones(self.sums.n, np.bool_), limits.depth, ())
        try:
            self.improve(root, float(target))
        except StoppedError:
            self._settle(root)
        return root, int(root.lower)

    # -- claims ------------------------------------------------------------------------------------------------------

    def claim(self, mask: Array, depth: int, path: tuple[int, ...]) -> Claim:
        """The claim about some rows, made once."""
        key = np.packbits(mask).tobytes(), depth
        if key not in self.claims:
            rows = np.flatnonzero(mask)
            made = Claim(path, mask, rows, depth, float(self.sums.floor[rows].sum()))
            self._open(made)
            self.claims[key] = made
        return self.claims[key]

    def _open(self, claim: Claim) -> None:
        sums, i = self.sums, claim.rows
        claim.leaf = claim.upper = float(sums.leaf(i))
        if not len(sums.starts) or not len(i):
            claim.lower = claim.leaf
            return
        floors = sums.floor[i] @ sums.L[i]
        claim.splits = sums.by_column(floors, i) < sums.big
        _, leaves, ones, _ = sums.sides(i)
        claim.reached = np.minimum(leaves, ones)
        claim.sides = claim.at_first = sums.lookahead(i, floors) if claim.depth == UNLIMITED else floors
        if claim.depth == 3:
            two = sums.transfer(claim.mask, i, claim.mask, sums.optimum(i, 2))
            claim.sides = claim.at_first = np.maximum(floors, two)
            self._borrow(claim)
        claim.upper = min(claim.upper, float(self._by_column(claim, claim.reached).min()))
        self._settle(claim)

    def _borrow(self, claim: Claim) -> None:
        """Bounds of the sides of similar claims of the same depth."""
        recent = self.similar[-_RECENT:]
        self.similar.append(claim)
        if not recent:
            return
        lost = np.stack([each.mask for each in recent]) & ~claim.mask
        away = lost @ self.sums.w
        for a in np.argsort(away, kind="stable")[:_SIMILAR]:
            if away[a] >= recent[a].sides.max(initial=0):
                break
            self._raise(claim, recent[a], self.sums.transfer(claim.mask, claim.rows, recent[a].mask, recent[a].sides))

    def _raise(self, claim: Claim, anchor: Any, known: Array) -> bool:
        """Whether a side's bound rises by what follows from an anchor."""
        better = np.maximum(claim.sides, known)
        rises = bool((better > claim.sides)[np.repeat(claim.splits, np.diff([*self.sums.starts, len(better)]))].any())
        if rises:
            claim.anchors.append((anchor, known))
            claim.sides = better
        return rises

    def _by_column(self, claim: Claim, sides: Array) -> Array:
        """(P,) what a split by each column costs by its sides, infinite where it may not split."""
        sums = self.sums
        total = sums.split + np.add.reduceat(sides.astype(np.float64), sums.starts)
        return np.where(claim.splits, total, np.inf)

    def _settle(self, claim: Claim) -> float:
        """The least bound of a split; the claim's own bound follows."""
        least = float(self._by_column(claim, claim.sides).min(initial=np.inf))
        claim.lower = max(claim.lower, min(least, claim.leaf))
        return least

    # -- improving ---------------------------------------------------------------------------------------------------

    def improve(self, claim: Claim, target: float) -> None:
        """Afterwards the claim's bound is `target` at least, or the optimum."""
        while True:
            if self.deadline is not None and time.monotonic() > self.deadline:
                raise StoppedError
            goal = min(target, claim.upper)
            least = self._settle(claim)
            if least >= goal or claim.lower >= goal:
                return
            column = self._choose(claim, goal)
            if claim.depth == 3:
                self._count(claim, column)
            else:
                self._descend(claim, column, goal)

    def _choose(self, claim: Claim, goal: float) -> int:
        """The column to look at: of those below the goal the one with the best tree, or with the least bound."""
        totals, reached = self._by_column(claim, claim.sides), self._by_column(claim, claim.reached)
        below = np.flatnonzero(totals < goal)
        first = (reached[below],) if claim.depth < UNLIMITED else (reached[below], totals[below])
        return int(below[np.lexsort(first)[0]])

    def _count(self, claim: Claim, column: int) -> None:
        """Solves the sides of a column at depth two; what follows for the others, too."""
        sums = self.sums
        known = np.zeros(len(claim.sides))
        for literal in sums.literals_of[sums.columns[column]]:
            known = np.maximum(known, sums.from_side(claim.mask, claim.rows, literal))
            claim.reached[literal] = sums.optimum(np.flatnonzero(claim.mask & (sums.L[:, literal] == 1)), 2)
        claim.upper = min(claim.upper, float(self._by_column(claim, claim.reached)[column]))
        self._raise(claim, sums.columns[column], known)

    def _descend(self, claim: Claim, column: int, goal: float) -> None:
        """Improves the claims about the sides of a column as far as the goal needs it."""
        sums = self.sums
        literals = sums.literals_of[sums.columns[column]]
        depth = claim.depth - (claim.depth < UNLIMITED)
        moved = False
        for literal in sorted(literals, key=lambda q: -claim.reached[q]):
            others = sums.split + sum(claim.sides[q] for q in literals if q != literal)
            wanted = goal - float(others)
            if claim.sides[literal] >= wanted:
                break
            side = claim.mask & (sums.L[:, literal] == 1)
            if not side.any():
                continue
            below = self.claim(side, depth, (*claim.path, literal))
            self.improve(below, wanted)
            if below.lower > claim.sides[literal]:
                known = sums.transfer(claim.mask, claim.rows, below.mask, int(below.lower))
                moved = self._raise(claim, below, known) or moved
            claim.reached[literal] = min(claim.reached[literal], below.upper)
        claim.upper = min(claim.upper, float(self._by_column(claim, claim.reached)[column]))
        # else the same column would be chosen for ever
        assert moved or self._by_column(claim, claim.sides)[column] >= min(goal, claim.upper)

    # -- writing -----------------------------------------------------------------------------------------------------

    def records(self, root: Claim) -> list[Record]:
        """The claims that the root's bound needs, each after those that it rests on."""
        self._trim(root)
        order: list[Claim] = []
        place: dict[int, int] = {}
        stack = [(root, False)]
        while stack:
            claim, ready = stack.pop()
            if id(claim) in place:
                continue
            if ready:
                place[id(claim)] = len(order)
                order.append(claim)
                continue
            stack.append((claim, True))
            stack += [(a, False) for a in claim.kept if isinstance(a, Claim)]
        names = {literal: name for name, literal in self.sums.literal.items()}
        return [
            Record(
                [names[q] for q in claim.path],
                claim.depth,
                int(claim.lower),
                [number - place[id(a)] for a in claim.kept if isinstance(a, Claim)],
                [a for a in claim.kept if not isinstance(a, Claim)],
            )
            for number, claim in enumerate(order)
        ]

    def _trim(self, root: Claim) -> None:
        """Leaves every claim the anchors that it needs; those that lend bounds of sides keep all."""
        whole: set[int] = set()
        done: set[tuple[int, bool]] = set()
        todo = [root]
        while todo:
            claim = todo.pop()
            state = id(claim), id(claim) in whole
            if state in done:
                continue
            done.add(state)
            claim.kept = [anchor for anchor, _ in (claim.anchors if state[1] else self._needed(claim))]
            for anchor in claim.kept:
                if isinstance(anchor, Claim):
                    if claim.depth == 3:
                        whole.add(id(anchor))
                    todo.append(anchor)

    def _needed(self, claim: Claim) -> list[tuple[Any, Array]]:
        """Few of a claim's anchors that its bound follows from."""
        if claim.lower <= float(self.sums.floor[claim.rows].sum()) or claim.lower <= 0:
            return []
        kept = list(claim.anchors)
        for each in sorted(claim.anchors, key=lambda anchor: isinstance(anchor[0], Claim)):
            rest = [other for other in kept if other is not each]
            sides = np.max([claim.at_first, *(known for _, known in rest)], axis=0)
            if self._by_column(claim, sides).min(initial=np.inf) >= claim.lower:
                kept = rest
        return kept
