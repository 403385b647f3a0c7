"""Room for the nodes of a path: each takes what it needs from the arena, and gives it back when it is left."""

from __future__ import annotations

from numba import int64

from streed.kernels.control import STOP
from streed.kernels.views import native, vector


@native
def reserve(e, size):  # type: ignore[no-untyped-def]
    """The address of as many bytes of the arena; 0 if it has no room, which stops the search."""
    begin = (e.arena_used + 63) & ~63
    if begin + size > e.arena_space:
        e.full = 1
        vector(e.control, STOP + 1, int64)[STOP] = 1
        return int64(0)
    e.arena_used = begin + size
    return e.arena + begin
