"""What native code of this room is given: the layout of keys, the rows of a problem, memory.

A field that is an array says of what type and how many dimensions it is, and native code is built for that.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np  # noqa: TC002 - what the fields are is read at run time

LEAF = -1
"""In place of a column: label k is LEAF - k."""

DIRECTIONS = 5
"""In which a front is bounded, see `staircases.py`."""


class KeyLayout(NamedTuple):
    """Where the components are, and what is added or forbidden everywhere."""

    shifts: np.ndarray[tuple[int], np.dtype[np.int64]]
    """(m,) the lowest bit of each component."""
    guards: int
    cap: int
    """The largest components allowed, with guards."""
    split: int
    """What a branching node costs."""
    buckets: int
    """Of two components, one more than the first can be, if that is few; else 0."""


class FrontRows(NamedTuple):
    """The rows of a problem in the padded order, as `pack_columns` gives them, and what they cost."""

    column_rows: np.ndarray[tuple[int, int], np.dtype[np.uint64]]
    """(F, W): the rows that have each column."""
    row_bits: np.ndarray[tuple[int, int], np.dtype[np.int32]]
    """(64 W, F / 32): the columns that each row has."""
    group_words: np.ndarray[tuple[int], np.dtype[np.int64]]
    """(G + 1,) where each group of rows begins, in words of 64."""
    costs: np.ndarray[tuple[int, int], np.dtype[np.int64]]
    """(G, K) the key of a row by its label, or (G, K + 1) if rows are counted: 1 last."""
    differences: np.ndarray[tuple[int, int], np.dtype[np.int64]]
    """Of two labels and few buckets, (G, 2): by how much label 0 costs a row more than label 1, by component;
    (G, 3) if rows are counted. Else empty."""
    labels: int
    min_leaf: int
    layout: KeyLayout


class Scratch(NamedTuple):
    """Memory of one search."""

    rows: np.ndarray[tuple[int], np.dtype[np.int32]]
    all_words: np.ndarray[tuple[int, int], np.dtype[np.int16]]
    words: np.ndarray[tuple[int], np.dtype[np.int16]]
    units: np.ndarray[tuple[int, int], np.dtype[np.int8]]
    """Room for what words are split into where rows are counted by tables (`kernels/counting/look_up.py`)."""
    pairs: np.ndarray[tuple[int], np.dtype[np.int64]]
    """Flat, int32 where all keys fit."""
    popcounts: np.ndarray[tuple[int, int], np.dtype[np.int16]]
    begins: np.ndarray[tuple[int], np.dtype[np.int64]]
    totals: np.ndarray[tuple[int], np.dtype[np.int64]]
    active: np.ndarray[tuple[int], np.dtype[np.int64]]
    ones: np.ndarray[tuple[int], np.dtype[np.int64]]
    sums: np.ndarray[tuple[int, int], np.dtype[np.int64]]
    """(planes, columns): what the rows that have a column cost by label."""
    bounds: np.ndarray[tuple[int, int], np.dtype[np.int64]]
    """(directions + 1, columns): see `staircases.py`."""
    buckets: np.ndarray[tuple[int, int], np.dtype[np.int64]]
    """(3, B): of one side, of the other, of the node."""
    origins: np.ndarray[tuple[int], np.dtype[np.int32]]
