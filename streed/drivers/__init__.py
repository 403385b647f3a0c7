"""The searches: procedures over subproblems that ask the engine's work units and prove the optimum."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from streed.problem import Driver


@functools.cache
def drivers() -> Mapping[str, type[Driver]]:
    """All drivers by name; importing them imports numba."""
    from streed.drivers.native import Auto, Branches, DepthFirst, Fronts, General

    return MappingProxyType({each.name: each for each in (DepthFirst, Branches, Auto, Fronts, General)})
