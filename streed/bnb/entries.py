"""The native functions of this room that Python calls, and its work units, by name: importing this imports no compiler.

Each is explained where it is defined.
"""

from __future__ import annotations

from typing import Any

from streed.kernels.linking import Entry, unit_address

lay_out = Entry("streed.bnb.layout", "lay_out", "(int64, int64, int64, boolean)")
link_problem = Entry(
    "streed.bnb.layout",
    "link_problem",
    "(int64, int32[:, ::1], uint64[:, ::1], int64[::1], int64[:, ::1], int64[:, ::1], int64[::1], int64[::1],"
    " uint8[::1], int64[::1])",
)
empty_caches = Entry("streed.bnb.layout", "empty_caches", "(int64, uint64[::1])")

search_root = Entry("streed.bnb.root", "search_root", "(int64, int64, int64, boolean)")
place = Entry("streed.bnb.root", "place", "(int64, int64, int64)")
join_store = Entry("streed.bnb.layout", "join_store", "(int64, int64, int64)")
search_edge = Entry("streed.bnb.one_edge", "search_edge", "(int64, int64, int64, boolean, int64, int64, int64, int64)")
read_bounds = Entry("streed.bnb.told_bounds", "read_bounds", "(int64, int64, boolean, int32[:, ::1], int64[::1])")
raise_bounds = Entry("streed.bnb.told_bounds", "raise_bounds", "(int64, int32[:, ::1], int64[::1])")
search_wave = Entry("streed.bnb.wave_kernels", "search_wave", "(int64, int64, int64, int64, int64)")
grow_first = Entry("streed.bnb.greedy", "grow_first", "(int64, int64, int64)")
evict = Entry("streed.bnb.eviction", "evict", "(int64,)")
extract_tree = Entry(
    "streed.bnb.extraction", "extract_tree", "(int64, int64[::1], uint8[::1], uint64[::1], int64, int64)"
)

solve_short = Entry(
    "streed.bnb.short",
    "solve_short",
    "(uint8[:, ::1], int64[::1], int64[:, ::1], int64, int64[::1], int64[:, ::1], int64, int64, int64[:, ::1], int64,"
    " int64)",
)
solve_short_each = Entry(
    "streed.bnb.short",
    "solve_short_each",
    "(uint8[::1], int64[::1], int64[:, ::1], int64[::1], int64, int64, int64[:, :, ::1], int64, int64, int64[:, ::1])",
)

_UNITS = "streed.bnb.units"


def opening() -> int:
    """The address of what opens a node."""
    return unit_address("streed.bnb.expand", "opening")


def shallow() -> int:
    """The address of what solves subproblems of depth three."""
    return unit_address(_UNITS, "shallow")


def load() -> int:
    """The address of what makes a node the one at hand."""
    return unit_address(_UNITS, "load")


def weigh_pairs() -> int:
    """The address of what adds up pairs of columns under multipliers of any kind."""
    return unit_address(_UNITS, "weigh_pairs")


def push(lane: Any) -> int:
    """The address of what pushes the bounds of pairs of this numpy type."""
    return unit_address(_UNITS, "push", lane)


def prepare(kind: str, lane: Any) -> int:
    """The address of what adds up and scores the pairs of a node."""
    return unit_address(_UNITS, "prepare", kind, lane)


def solve_children(kind: str, lane: Any) -> int:
    """The address of what solves the sides of a node's splits."""
    return unit_address(_UNITS, "solve_children", kind, lane)


def expand(kind: str, lane: Any) -> int:
    """The address of what finds the best splits of a node's sides."""
    return unit_address(_UNITS, "expand", kind, lane)
