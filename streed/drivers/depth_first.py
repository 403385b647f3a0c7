"""The depth-first driver, STreeD's order (NeurIPS 2023): a part of the tree is finished before the next one begins."""

from __future__ import annotations

from typing import ClassVar, final

import attrs

from streed.bnb.procedure import DEPTH_FIRST, Procedure
from streed.drivers.native import Native


@final
@attrs.frozen
class DepthFirst(Native):
    """Depth-first branch and bound with depth-three work units, shared subproblems and similarity bounds."""

    name: ClassVar[str] = DEPTH_FIRST.name
    procedure: ClassVar[Procedure] = DEPTH_FIRST
