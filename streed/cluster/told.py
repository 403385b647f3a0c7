"""What processes tell each other of subproblems: lower bounds, named by up to three literals of their branches.

A process that is asked for a split of the root meets subproblems that others met below other splits, as branches reach
them in any order. It is therefore told what is known of those that have a literal of its split, and tells what it
proved of them itself.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterable
from typing import final

import attrs
import numpy as np

from streed.exact import Array

LITERALS = 3
"""Literals of a subproblem that is told of, at most."""

_MOST = 2**20
"""Bounds that are kept, at most; later ones are not."""

_MOST_AT_ONCE = 2**15
"""Bounds that go with a piece, at most; those of fewer literals come first."""

_BASE = 2**21
"""Above the number of any literal: three of them make a key."""


def _sets(n: int = 0) -> Array:
    return np.zeros((n, LITERALS), np.int32)


@final
@attrs.frozen(eq=False)
class Told:
    """Lower bounds of subproblems."""

    sets: Array = attrs.field(factory=_sets)
    """(n, 3) int32: the literals of each in ascending order, -1 for those that are missing.

    2 c is bit column c, 2 c + 1 its complement.
    """
    bounds: Array = attrs.field(factory=lambda: np.zeros(0, np.int64))
    """(n,) int64, in codes."""

    def __len__(self) -> int:
        return len(self.bounds)


@final
class KnownBounds:
    """The greatest lower bound that any process told of each subproblem."""

    def __init__(self) -> None:
        self._keys: Array = np.zeros(0, np.int64)
        """In ascending order."""
        self._sets = _sets()
        self._bounds: Array = np.zeros(0, np.int64)

    def __len__(self) -> int:
        return len(self._keys)

    def add(self, told: Told) -> None:
        """Takes bounds over, as far as there is room."""
        if not len(told):
            return
        wide = told.sets.astype(np.int64) + 1
        keys = (wide[:, 0] * _BASE + wide[:, 1]) * _BASE + wide[:, 2]
        keys, first, which = np.unique(keys, return_index=True, return_inverse=True)
        bounds = told.bounds[first]
        np.maximum.at(bounds, which, told.bounds)
        at: Array = np.asarray(np.searchsorted(self._keys, keys))
        old = np.zeros(len(keys), np.bool_)
        inside = at < len(self._keys)
        old[inside] = self._keys[at[inside]] == keys[inside]
        self._bounds[at[old]] = np.maximum(self._bounds[at[old]], bounds[old])
        new = np.flatnonzero(~old)[: _MOST - len(self._keys)]
        self._keys = np.insert(self._keys, at[new], keys[new])
        self._sets = np.insert(self._sets, at[new], told.sets[first[new]], axis=0)
        self._bounds = np.insert(self._bounds, at[new], bounds[new])

    def about(self, literals: Iterable[int]) -> Told:
        """What is known of subproblems that have one of the literals."""
        has: Array = np.zeros(len(self), np.bool_)
        for literal in literals:
            for column in self._sets.T:
                has |= column == literal
        return self._first(np.flatnonzero(has))

    def written(self) -> str:
        """As much as goes with a piece, as text that `read` reads."""
        told = self._first(np.arange(len(self)))
        words = np.column_stack([told.sets.astype("<i8"), told.bounds.astype("<i8")])
        return base64.b64encode(zlib.compress(words.tobytes(), 1)).decode("ascii")

    def _first(self, chosen: Array) -> Told:
        """The chosen ones, as far as they may be sent at once."""
        if len(chosen) > _MOST_AT_ONCE:
            chosen = chosen[np.argsort(self._sets[chosen, 2] >= 0, kind="stable")[:_MOST_AT_ONCE]]
        return Told(np.ascontiguousarray(self._sets[chosen]), self._bounds[chosen])


def read(text: str, literals: int) -> Told:
    """What `KnownBounds.written` wrote of a problem of so many literals; raises ValueError for anything else."""
    stream = zlib.decompressobj()
    try:
        # a short text may stand for gigabytes: no more is unpacked than is ever written
        content = stream.decompress(base64.b64decode(text, validate=True), _MOST_AT_ONCE * (LITERALS + 1) * 8 + 1)
    except zlib.error:
        raise ValueError from None
    if not stream.eof:
        raise ValueError
    words = np.frombuffer(content, "<i8").reshape(-1, LITERALS + 1)
    sets = words[:, :LITERALS]
    # the first is there, and those that are missing come last
    missing = sets < 0
    if missing[:, 0].any() or (missing[:, 1] & ~missing[:, 2]).any() or (sets < -1).any() or (sets >= literals).any():
        raise ValueError
    return Told(np.ascontiguousarray(sets, np.int32), np.ascontiguousarray(words[:, LITERALS], np.int64))
