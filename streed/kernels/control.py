"""The words that the search and the caller's thread share while a solve runs."""

from __future__ import annotations

STOP, NODES, LOWER, UPPER, SHARED_UPPER, NEXT_EDGE, MEMORY = 0, 1, 2, 3, 4, 5, 6
"""Words of `control`: set to stop the search; nodes visited so far; bounds of the root; for several threads the best
value found by any of them, and the next root split that nobody has taken; set by the search when memory is short."""

ROWS_OF_CONTROL = 16
