"""The searches: procedures over subproblems that ask the engine's work units and prove the optimum."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from streed.search.driver import Driver


@functools.cache
def drivers() -> Mapping[str, type[Driver]]:
    """All drivers by name; importing them imports numba."""
    from streed.search.auto import Auto
    from streed.search.branches import Branches
    from streed.search.depth_first import DepthFirst
    from streed.search.front_driver import Fronts
    from streed.search.general import General

    return MappingProxyType({driver.name: driver for driver in (DepthFirst, Branches, Auto, Fronts, General)})
