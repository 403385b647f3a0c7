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

MOST_PRICES = 64
"""Prices of splits that a tree may cost whose optimality is proved from below."""
