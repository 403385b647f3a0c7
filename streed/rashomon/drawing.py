"""Random whole numbers below any bound, from whatever the caller draws with."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from streed.errors import InputError


def drawing(rng: Any) -> Any:
    """A function from m to a random whole number below m, however large m is."""
    if rng is None or isinstance(rng, (int, np.integer)):
        return random.Random(None if rng is None else int(rng)).randrange
    if isinstance(rng, random.Random):
        return rng.randrange
    if isinstance(rng, np.random.Generator):
        return lambda below: _from_generator(rng, below)
    raise InputError("rng", f"{rng!r} draws nothing", "give a seed, a random.Random or a numpy generator")


def _from_generator(rng: np.random.Generator, below: int) -> int:
    """A random whole number below `below`: bits are drawn until they make one."""
    bits = (below - 1).bit_length()
    while True:
        number = int.from_bytes(rng.bytes((bits + 7) // 8), "little") & ((1 << bits) - 1)
        if number < below:
            return number
