"""The least of the lines that trees are in a multiplier: how low it is, and where it is highest."""

from __future__ import annotations

import operator
from collections.abc import Sequence

Height = tuple[float, int]
"""(e, h) of a tree: its relaxed value is e + a h in a single multiplier of size a."""


def lowest(lines: Sequence[Height], a: float) -> float:
    """The least of the lines e + a h."""
    return min([e + a * h for e, h in lines])


def highest(lines: Sequence[Height]) -> float:
    """The a >= 0 where the least of the lines e + a h is highest; some line falls or is flat."""
    rising = min(lines)
    falling = min((line for line in lines if line[1] <= 0), key=operator.itemgetter(0))
    if rising[1] <= 0:
        return 0.0
    a = 0.0
    for _ in lines:
        a = (falling[0] - rising[0]) / (rising[1] - falling[1])
        lowest = min((e + a * h, h, e) for e, h in lines)
        if lowest[0] >= rising[0] + a * rising[1]:
            break
        if lowest[1] > 0:
            rising = lowest[2], lowest[1]
        else:
            falling = lowest[2], lowest[1]
    return a
