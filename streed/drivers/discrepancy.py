"""The limited discrepancy driver: good trees first, wave by wave (see bnb/discrepancy.py)."""

from __future__ import annotations

from typing import ClassVar, final

import attrs

from streed.bnb.discrepancy import Waves
from streed.bnb.procedure import Procedure
from streed.drivers.native import Native


@final
@attrs.frozen
class LimitedDiscrepancy(Native):
    """Limited discrepancy search: the tree of best upper bounds first, then trees that depart from it ever more."""

    name: ClassVar[str] = "discrepancy"
    procedure: ClassVar[Procedure] = Waves()
