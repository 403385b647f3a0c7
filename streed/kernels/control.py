"""The words that the search and the caller's thread share while a solve runs, and what row prices look like."""

from __future__ import annotations

STOP, NODES, LOWER, UPPER, SHARED_UPPER, MEMORY, ROW_PRICES = 0, 1, 2, 3, 4, 6, 7
"""Words of `control`: set to stop the search; nodes visited so far; bounds of the root; the best value that any thread
has found; set by the search when memory is short; the address of the prices of rows, zero if there are none
(bnb/row_prices.py)."""

ROWS_OF_CONTROL = 16

LONGEST = 62
"""Literals of a conjunction in conjunctions.py: no longer one is looked at, and an enumeration that meets one does not
end."""

EPOCH, SHIFT, DUE, HEAD = 0, 1, 2, 3
"""Words at the beginning of the array of row prices: which prices these are (1, 2, ...); units are 1 / 2^shift codes;
the due of a leaf in units; how many words these are. Then come the places that have a price, a bit each, and the prices
of all places."""
