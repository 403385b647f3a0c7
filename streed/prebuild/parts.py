"""What a library is made of: all native functions that Python calls, and the work units of every kind of problem."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from streed.bnb import entries as bnb_entries
from streed.kernels import entries as kernel_entries
from streed.kernels.kinds import LABELS, SIGNED, TEST_COSTS
from streed.kernels.linking import Entry

ROOMS = (kernel_entries, bnb_entries)
"""The modules that name the entries of their rooms."""

Unit = tuple[str, str, tuple[Any, ...]]
"""The module of a work unit, its maker there, and what the maker is called with."""

LANES = (np.int16, np.int32, np.int64)

_UNITS = "streed.bnb.units"


def all_entries() -> list[Entry]:
    """The entries of all rooms, each once."""
    found = {
        (each.module, each.name): each for room in ROOMS for each in vars(room).values() if isinstance(each, Entry)
    }
    return [found[name] for name in sorted(found)]


def all_units() -> list[Unit]:
    """The work units of problems of costs per row, and those that problems with a score of their own share."""
    units: list[Unit] = [("streed.bnb.expand", "opening", ()), (_UNITS, "shallow", ()), (_UNITS, "load", ())]
    units += [(_UNITS, "push", (lane,)) for lane in LANES]
    for maker, kind, lane in itertools.product(
        ("prepare", "solve_children", "expand"), (SIGNED, LABELS, TEST_COSTS), LANES
    ):
        # the pair lookahead of two labels is that of many
        units.append((_UNITS, maker, (kind, lane)))
    return units
