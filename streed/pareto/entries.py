"""The native functions of this room that Python calls, by name: importing this imports no compiler.

Each is explained where it is defined, and what it is given in `arrays.py`. Pair sums of keys are narrow or wide.
"""

from __future__ import annotations

from streed.kernels.linking import Entry
from streed.pareto.arrays import FrontRows, FrontStore, KeyLayout, Scratch

_VECTORS = "streed.pareto.packed_vectors"

merge_sets = Entry(
    _VECTORS, "merge_sets", "(KeyLayout, int64[::1], int32[::1], int64[::1], int64[::1], int64)", tuples=(KeyLayout,)
)
merge_buckets = Entry(
    _VECTORS,
    "merge_buckets",
    "(KeyLayout, int64[::1], int64[::1], int64, int64[::1], int32[::1])",
    tuples=(KeyLayout,),
)
empty_buckets = Entry(_VECTORS, "empty_buckets", "(KeyLayout, int64[::1], int32[::1])", tuples=(KeyLayout,))

_STORE = "streed.pareto.store"

front_of_three = Entry(
    _STORE,
    "front_of_three",
    "(FrontRows, Scratch, FrontStore, int64[::1], int64[::1], int32[::1], uint64[::1])",
    "(FrontRows, with_field(Scratch, 'pairs', int32[::1]), FrontStore,"
    " int64[::1], int64[::1], int32[::1], uint64[::1])",
    tuples=(FrontRows, Scratch, FrontStore),
)
front_of_node = Entry(
    _STORE,
    "front_of_node",
    "(FrontRows, Scratch, uint64[::1], int64)",
    "(FrontRows, with_field(Scratch, 'pairs', int32[::1]), uint64[::1], int64)",
    tuples=(FrontRows, Scratch),
)
kept_front = Entry(_STORE, "kept_front", "(FrontStore, uint64[::1])", tuples=(FrontStore,))
rehash = Entry(_STORE, "rehash", "(FrontStore,)", tuples=(FrontStore,))
