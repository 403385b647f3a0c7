"""Balance scale: which side of a scale goes down, by weight times distance on either side."""

from __future__ import annotations

import itertools

from streed.datasets.bundle import Bundled

_ATTRIBUTES = ("left-weight", "left-distance", "right-weight", "right-distance")


def make(name: str) -> Bundled:
    """One row per setting of the four attributes in 1..5, 625 of them; the class is L, B (balanced) or R."""
    cases = list(itertools.product(range(1, 6), repeat=4))
    table: dict[str, list[int] | list[str]] = {
        attribute: [case[i] for case in cases] for i, attribute in enumerate(_ATTRIBUTES)
    }
    table["class"] = [_side(*case) for case in cases]
    return Bundled(
        name=name,
        description="Balance scale: the side that goes down (L, R), or B where weight times distance is the same",
        source="R. S. Siegler (1976): Three aspects of cognitive development, Cognitive Psychology 8, 481-520",
        table=table,
        target="class",
    )


def _side(left_weight: int, left_distance: int, right_weight: int, right_distance: int) -> str:
    turn = left_weight * left_distance - right_weight * right_distance
    return "L" if turn > 0 else "R" if turn < 0 else "B"
