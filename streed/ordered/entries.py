"""The native functions of this room that Python calls, and its work units, by name: importing this imports no compiler.

Each is explained where it is defined.
"""

from __future__ import annotations

from typing import Any

from streed.kernels.linking import Entry, unit_address

_UNITS = "streed.ordered.units"

search_tree = Entry(
    _UNITS,
    "search_tree",
    "(int64, int64, int64, int64, int64, int64, uint32[:, ::1], int64[::1], int64[::1], int64[::1], int64[::1])",
)
find_stump = Entry(_UNITS, "find_stump", "(int64, uint32[:, ::1], int64, int64, int64, int64[::1])")
split_rows = Entry(
    _UNITS,
    "split_rows",
    "(int64, uint32[:, ::1], int64, int64, int64[::1], int64, int64, uint8[::1], uint32[::1], int64[::1],"
    " uint32[::1], int64[::1])",
)


def score(kind: str, lane: Any, counts: bool) -> int:
    """The address of what scores splits; `counts`: leaves need several rows."""
    return unit_address(_UNITS, "score", kind, lane, counts)


def stump(kind: str, lane: Any, counts: bool) -> int:
    """The address of what finds the best single split."""
    return unit_address(_UNITS, "stump", kind, lane, counts)
