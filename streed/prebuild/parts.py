"""What a library is made of: all native functions that Python calls, and the work units of every kind of problem."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from streed.bnb import entries as bnb_entries
from streed.enumerate import native_entries as enumerate_entries
from streed.kernels import entries as kernel_entries
from streed.kernels.kinds import CLASSES, COUNTED, LABELS, SIGNED, SUMMED, TEST_COSTS
from streed.kernels.linking import Entry
from streed.ordered import entries as ordered_entries
from streed.ordered.layout import LABELLED, MATRIX
from streed.ordered.layout import SIGNED as SIGNED_ORDERED
from streed.pareto import entries as pareto_entries
from streed.rashomon.compiled import entries as rashomon_entries

ROOMS = (kernel_entries, bnb_entries, enumerate_entries, ordered_entries, pareto_entries, rashomon_entries)
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
    """The work units of problems of costs per row, and those of the engine that scores generated for a task need."""
    units: list[Unit] = [("streed.bnb.expand", "opening", ()), (_UNITS, "shallow", ()), (_UNITS, "load", ())]
    units.append((_UNITS, "weigh_pairs", ()))
    units += [(_UNITS, "push", (lane,)) for lane in (*LANES, np.float64)]
    makers = ("prepare", "solve_children", "expand")
    units += [
        (_UNITS, maker, (kind, lane))
        for maker, kind, lane in itertools.product(makers, (SIGNED, LABELS, TEST_COSTS), LANES)
    ]
    units += [(_UNITS, "expand", (CLASSES, lane)) for lane in LANES]
    # scores are counted in the wider lanes only
    units += [(_UNITS, maker, (COUNTED, lane)) for maker, lane in itertools.product(makers, LANES[1:])]
    # sums over rows are real, whatever is summed
    units += [(_UNITS, maker, (SUMMED, np.float64)) for maker in makers]
    units += [
        ("streed.ordered.units", maker, (kind, lane, counts))
        for maker, kind, lane, counts in itertools.product(
            ("score", "stump"), (SIGNED_ORDERED, LABELLED, MATRIX), LANES, (False, True)
        )
    ]
    return units
