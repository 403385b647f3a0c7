"""The MONK's problems: three rules on six attributes, all 432 cases each, without noise."""

from __future__ import annotations

import itertools
from collections.abc import Callable

from streed.datasets.bundle import Bundled

_SIZES = {"a1": 3, "a2": 3, "a3": 2, "a4": 3, "a5": 4, "a6": 2}
"""Attribute a takes the values 1 to its size."""

_RULES: dict[str, tuple[str, Callable[[tuple[int, ...]], bool]]] = {
    "monks-1": ("a1 = a2 or a5 = 1", lambda a: a[0] == a[1] or a[4] == 1),
    "monks-2": ("exactly two attributes have their first value", lambda a: a.count(1) == 2),
    "monks-3": (
        "(a5 = 3 and a4 = 1) or (a5 != 4 and a2 != 3)",
        lambda a: (a[4] == 3 and a[3] == 1) or (a[4] != 4 and a[1] != 3),
    ),
}


def make(name: str) -> Bundled:
    """One row per case; the class is 1 where the problem's rule holds, else 0."""
    text, rule = _RULES[name]
    cases = list(itertools.product(*(range(1, size + 1) for size in _SIZES.values())))
    table: dict[str, list[int]] = {attribute: [case[i] for case in cases] for i, attribute in enumerate(_SIZES)}
    table["class"] = [int(rule(case)) for case in cases]
    return Bundled(
        name=name,
        description=f"MONK's problem {name[-1]}: the class is 1 where {text}",
        source=(
            "S. B. Thrun and others (1991): The MONK's problems: a performance comparison of different learning "
            "algorithms, CMU-CS-91-197; all cases, without the noise of the third training set"
        ),
        table=table,
        target="class",
    )
