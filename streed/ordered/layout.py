"""What the search and its native code agree on: kinds of costs, words of a plan, rows of the heap of intervals."""

from __future__ import annotations

SIGNED, LABELLED, MATRIX = "signed", "labelled", "matrix"
"""Kinds of costs: of two labels; the same for all labels but one; any."""

UNLIMITED = 2**40
"""Any number of splits."""

DEEP = 30
"""Depths from which on a number of splits is never as good as any."""

WORDS = 3
"""Of an entry of a plan."""

KEY, LENGTH, SLOT, COLUMN, BEGIN, END, BEGIN_LEFT, BEGIN_RIGHT, END_LEFT, END_RIGHT, FREE = range(11)
"""Rows of the heap: of its entries in order the bound, the length and where the interval is; of the intervals their
column, their ends (0 and n: no threshold), L and R at both ends; places of intervals that are free, which is a
permutation of all of them whenever the heap is empty."""

ROWS_OF_HEAP = 11

LOCK, BEST, CEILING, LOW, SHALLOWEST, LEADER, LEADER_COLUMN, LEADER_POSITION, LISTED, CHANGES = range(10)
"""Words of what threads share: its lock; what the best tree costs; of trees of depth two what any thread has found, a
bound, what the best that was told costs, whose it is, and its split; entries of the list; steps that changed who has
taken what."""

HEAD, TAKEN_WORDS, ENTRY_WORDS = 16, 3, 6
"""Words of the head, and for each thread and each entry of the list."""

MOST_PRICES = 64
"""Prices of splits that a tree may cost whose optimality is proved from below."""

NOTHING = -1
"""In place of a share or a column: none. Bounds that are kept are never below 0."""

ALONE, GROW, SHALLOW, TOGETHER = range(4)
"""What a call of the search does: all; find a tree of any depth; its part of all trees of depth two; the rest."""
