"""Finds a proof that no tree is better than a value, as claims and what each rests on.

The prover need not be trusted: whatever it writes, `check.py` judges. It is lazier than a search, as it knows the value
that is to be reached: a claim is improved until its bound is large enough for the claim that asks for it.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import compress
from typing import final

import attrs
import numpy as np

from streed.exact import Array
from streed.proof.check import UNLIMITED, Limits, Record
from streed.proof.prover_sums import ProverSums, Searched

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
    packed: Array
    """They, as the sums have them."""
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
    anchors: list[Claim] = attrs.field(factory=list)
    """Claims that raised a side."""
    from_anchors: list[Array] = attrs.field(factory=list)
    """(Q,) the bounds of the sides that follow from each."""
    columns: list[int] = attrs.field(factory=list)
    """At depth three the columns that raised a side."""
    from_columns: list[Array] = attrs.field(factory=list)
    """(m, Q) what follows from some of them."""
    kept: tuple[list[Claim], list[int]] = ([], [])
    """Those of the anchors and columns that the bound needs."""


@final
class Prover:
    """Claims about one problem; `deadline` is a time of `time.monotonic`."""

    def __init__(self, sums: Searched, deadline: float | None = None) -> None:
        self.sums = sums
        self.deadline = deadline
        self.claims: dict[tuple[bytes, int], Claim] = {}
        self.similar: list[Claim] = []
        self.packed: Array | None = None
        """(m, W) their rows."""
        self.written = 0
        """How many there were; the last ones take the places of the first."""

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
            made = Claim(path, mask, rows, self.sums.packed(rows), depth, float(self.sums.floor[rows].sum()))
            self._open(made)
            self.claims[key] = made
        return self.claims[key]

    def _open(self, claim: Claim) -> None:
        sums, i = self.sums, claim.rows
        if not len(sums.starts) or not len(i):
            claim.lower = claim.leaf = claim.upper = float(sums.leaf(i))
            return
        leaf, shallow, leaves, stumps = sums.shallow(i)
        claim.leaf = claim.upper = float(leaf)
        floors = sums.floors(i)
        claim.splits = sums.by_column(floors, i) < sums.big
        claim.reached = np.minimum(leaves, stumps)
        claim.sides = claim.at_first = sums.lookahead(i, floors) if claim.depth == UNLIMITED else floors
        if claim.depth == 3:
            two = sums.transfer(claim.mask, i, claim.mask, shallow)
            claim.sides = claim.at_first = np.maximum(floors, two)
            self._borrow(claim)
        claim.upper = min(claim.upper, float(self._by_column(claim, claim.reached).min()))
        self._settle(claim)

    def _borrow(self, claim: Claim) -> None:
        """Bounds of the sides of similar claims of the same depth."""
        if self.packed is None:
            self.packed = np.zeros((_RECENT, len(claim.packed)), claim.packed.dtype)
        recent = self.similar[-_RECENT:]
        away = self.sums.weights_outside(self.packed[: len(recent)], claim.packed)
        if len(self.similar) < _RECENT:
            self.similar.append(claim)
        else:
            self.similar[self.written % _RECENT] = claim
        self.packed[self.written % _RECENT] = claim.packed
        self.written += 1
        for a in np.argsort(away, kind="stable")[:_SIMILAR]:
            if away[a] >= recent[a].sides.max(initial=0):
                break
            known = self.sums.transfer(claim.mask, claim.rows, recent[a].mask, recent[a].sides)
            self._raise(claim, recent[a], known)

    def _raise(self, claim: Claim, anchor: Claim | int, known: Array) -> bool:
        """Whether a side's bound rises by what follows from an anchor, a claim or a column."""
        better = np.maximum(claim.sides, known)
        rises = bool((better > claim.sides)[np.repeat(claim.splits, np.diff([*self.sums.starts, len(better)]))].any())
        if rises:
            if isinstance(anchor, Claim):
                claim.anchors.append(anchor)
                claim.from_anchors.append(known)
            else:
                claim.columns.append(anchor)
                claim.from_columns.append(known[None])
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
                self._count(claim, column, target)
            else:
                self._descend(claim, column, goal)

    def _choose(self, claim: Claim, goal: float) -> int:
        """The column to look at: of those below the goal the one with the best tree, or with the least bound."""
        totals, reached = self._by_column(claim, claim.sides), self._by_column(claim, claim.reached)
        below = np.flatnonzero(totals < goal)
        first = (reached[below],) if claim.depth < UNLIMITED else (reached[below], totals[below])
        return int(below[np.lexsort(first)[0]])

    def _count(self, claim: Claim, column: int, target: float) -> None:
        """Solves the sides of a column at depth two; what follows for the others, too.

        Compiled code goes on with other columns until the claim's bound is the target.
        """
        sums = self.sums
        if isinstance(sums, ProverSums) and sums.is_compiled:
            used, known, claim.upper = sums.improve_by_columns(claim, target)
            claim.columns += [sums.columns[place] for place in used.tolist()]
            claim.from_columns.append(known)
            return
        name = sums.columns[column]
        known = sums.from_columns(claim.mask, claim.rows, [name])
        for literal in sums.literals_of[name]:
            claim.reached[literal] = sums.optimum(np.flatnonzero(claim.mask & sums.held[literal]), 2)
        claim.upper = min(claim.upper, float(self._by_column(claim, claim.reached)[column]))
        self._raise(claim, name, known)

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
            side = claim.mask & sums.held[literal]
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

    def records(self, *roots: Claim) -> list[Record]:
        """The claims that the roots' bounds need, each after those that it rests on."""
        self._trim(roots)
        order: list[Claim] = []
        place: dict[int, int] = {}
        stack = [(root, False) for root in reversed(roots)]
        while stack:
            claim, ready = stack.pop()
            if id(claim) in place:
                continue
            if ready:
                place[id(claim)] = len(order)
                order.append(claim)
                continue
            stack.append((claim, True))
            stack += [(a, False) for a in claim.kept[0]]
        names = {literal: name for name, literal in self.sums.literal.items()}
        return [
            Record(
                [names[q] for q in claim.path],
                claim.depth,
                int(claim.lower),
                [number - place[id(a)] for a in claim.kept[0]],
                claim.kept[1],
            )
            for number, claim in enumerate(order)
        ]

    def _trim(self, roots: Sequence[Claim]) -> None:
        """Leaves every claim the anchors that it needs; those that lend bounds of sides keep all."""
        whole: set[int] = set()
        done: set[tuple[int, bool]] = set()
        todo = list(roots)
        while todo:
            claim = todo.pop()
            state = id(claim), id(claim) in whole
            if state in done:
                continue
            done.add(state)
            claim.kept = (claim.anchors, claim.columns) if state[1] else self._needed(claim)
            if claim.depth == 3:
                whole.update(map(id, claim.kept[0]))
            todo += claim.kept[0]

    def _needed(self, claim: Claim) -> tuple[list[Claim], list[int]]:
        """Few of a claim's anchors and columns that its bound follows from: claims are left out before columns."""
        if claim.lower <= float(self.sums.floor[claim.rows].sum()) or not (claim.anchors or claim.columns):
            return [], []
        known = np.concatenate([*claim.from_columns, *(each[None] for each in claim.from_anchors)])
        kept = self.sums.needed(claim, known).tolist()
        count = len(claim.columns)
        return list(compress(claim.anchors, kept[count:])), list(compress(claim.columns, kept[:count]))
