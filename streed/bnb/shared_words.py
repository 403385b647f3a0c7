"""The words of what several threads share beside a store, see shared_store.py."""

from __future__ import annotations

INDEX, NODES, EDGES, CHILDREN, SLOTS, FIRST_SLOTS, LOCKS = 0, 8, 16, 24, 32, 33, 40
"""Whether a thread writes to the index; how many nodes, edges and children were handed out; the slots of the index now,
and at first; then the locks of nodes. Words that are written often lie in cache lines of their own."""

NODE_CHUNK, EDGE_CHUNK, CHILD_CHUNK = 256, 4096, 8192
"""Entries that a thread is given at once, or as many as it asks for."""

N_LOCKS = 4096
"""A power of two; nodes share locks."""

WORDS = LOCKS + N_LOCKS
