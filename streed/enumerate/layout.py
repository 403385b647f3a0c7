"""What this room and its native code agree on: the columns of an entry, and the words of its limits (`entries.py`)."""

from __future__ import annotations

from streed.kernels.records import SHALLOW

COST, VALUE, KEY = 0, 1, 2
"""The columns of an entry; those from KEY on are the key."""

MOST_KEY, MOST_VALUE, STAIRCASE, SPACE, FULL = range(5)

DEEPEST = SHALLOW + 1
"""The depth up to which work units tell what children cost."""
