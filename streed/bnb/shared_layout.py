"""The words of an entry of the table that threads share, see shared_bounds.py."""

from __future__ import annotations

TAG, BOUND, THREADS, LIMITS, HEAD = 0, 1, 2, 3, 4
"""Words of an entry: 0 (empty), 1 (being written) or the hash; the bound; how many threads are in the node; the depth
and the branching nodes left; then the words of the key."""
