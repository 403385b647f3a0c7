"""Rows that cost the same: kinds of rows, of each its copies and its keys by label, and the set of its rows."""

from __future__ import annotations

from typing import final

import attrs
import numpy as np

from streed.exact import Array
from streed.kernels.counting.equal_rows import find_classes
from streed.rashomon.splits import packed_sets

_AT_ONCE = 256
"""Kinds whose sets are made at once."""


@final
@attrs.frozen(eq=False)
class Kinds:
    """Rows by what they cost by label and how many copies each is."""

    of_row: Array
    """(n,) the kind of each row."""
    copies: list[int]
    keys: list[tuple[int, ...]]

    @classmethod
    def of(cls, costs: Array, frequency: Array | None) -> Kinds:
        """The kinds of rows of costs (n, K) int64."""
        copies = np.ones(len(costs), np.int64) if frequency is None else frequency
        told_apart = np.ascontiguousarray(np.column_stack([copies, costs]))
        first, member = find_classes(told_apart.view(np.uint8))
        kinds = told_apart[first].tolist()
        return cls(member, [each[0] for each in kinds], [tuple(each[1:]) for each in kinds])

    def members(self) -> Array:
        """(g, words) uint64: the rows of each kind; bit i is row i."""
        parts = []
        for at in range(0, len(self.copies), _AT_ONCE):
            numbers = np.arange(at, min(at + _AT_ONCE, len(self.copies)))
            parts.append(packed_sets(self.of_row[:, None] == numbers))
        return parts[0] if len(parts) == 1 else np.concatenate(parts)
