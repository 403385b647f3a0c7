"""One processor for a search and for the prices of its rows, which are made beside it: they take turns.

Where there is a processor for each, they run at once. Where there is one, the search rests for as long as it has run,
while the prices promise to come close to the best tree (`Generation.promises`): such a bound ends the search within
moments. New prices that raise the bound of all rows above what the search has proved also change what is best to look
at next, so that a depth-first search goes best-first for some visits after them.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, final

from streed.kernels.beside import processors
from streed.kernels.records import INFINITE

if TYPE_CHECKING:
    from streed.bnb.pricing_beside import PricingBeside
    from streed.bnb.workspace import Workspace

_TURN = 1.0
"""Seconds of the search, and then of its rest."""

_BEST_FIRST = 30_000
"""Visits, after prices that raised the bound of all rows."""


@final
class Turns:
    """The turns of a search by one thread: asked for by others (`ask`), taken by the search's own thread (`take`)."""

    def __init__(self, workspace: Workspace, beside: PricingBeside) -> None:
        self._engine: Any = workspace.engine
        self._beside = beside
        self._is_crowded = processors() == 1
        self._since = time.perf_counter()
        self._epoch = 0
        self._best_first = False
        self._best_first_until = 0
        self._has_begun = False

    def begin(self) -> None:
        """From now on the search may be asked to pause; called by its thread."""
        self._best_first = bool(self._engine["best_first"])
        self._has_begun = True

    def end(self) -> None:
        """The search is not asked to pause any more; called once it has ended."""
        self._has_begun = False
        self._engine["pause"] = INFINITE

    def ask(self) -> None:
        """Has the search pause soon where it is time for that; called by the thread that looks at the search."""
        if not self._has_begun:
            return
        is_over = self._is_crowded and self._beside.promises and time.perf_counter() - self._since >= _TURN
        if is_over or self._beside.epoch > self._epoch:
            self._engine["pause"] = 0

    def take(self) -> bool:
        """Whether the search returned because it was to pause: if so, rests, and says how it goes on."""
        engine = self._engine
        if engine["visits"] <= engine["pause"]:
            return False
        if self._beside.epoch > self._epoch:
            self._epoch = self._beside.epoch
            self._best_first_until = engine["visits"] + _BEST_FIRST
        if engine["visits"] < self._best_first_until:
            engine["best_first"], engine["pause"] = 1, self._best_first_until
        else:
            engine["best_first"], engine["pause"] = self._best_first, INFINITE
        if self._is_crowded and time.perf_counter() - self._since >= _TURN:
            self._beside.wait(_TURN)
            self._since = time.perf_counter()
        return True
