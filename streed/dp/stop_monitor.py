"""Looking out for reasons to stop from within an interpreted search, and telling others how far it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import final

from streed.kernels.compilation import clock
from streed.problem import SearchLimits, process_memory

NO_LIMITS = SearchLimits()

_INTERVAL = 0.02
"""Seconds between looks at the memory and reports."""


@final
class StopMonitor:
    """Counts nodes, and says when it is time to stop: after the time limit, beyond the memory limit, or when `report`
    says that the gap is small enough.
    """

    def __init__(self, search_limits: SearchLimits = NO_LIMITS, report: Callable[[int], bool] | None = None) -> None:
        now = clock()
        self.nodes = 0
        self.stopped: str | None = None
        """None, "time", "memory" or "gap"."""
        self._deadline = None if search_limits.time_limit is None else now + search_limits.time_limit
        self._memory_limit = search_limits.memory_limit
        self._report = report
        self._next = now

    def remaining(self) -> float | None:
        """The seconds that are left, None without a limit."""
        return None if self._deadline is None else max(0.0, self._deadline - clock())

    def visit(self) -> bool:
        """Counts a node; whether the search is to go on."""
        self.nodes += 1
        return self.look()

    def look(self) -> bool:
        """Whether the search is to go on."""
        if self.stopped is not None:
            return False
        now = clock()
        if self._deadline is not None and now >= self._deadline:
            self.stopped = "time"
            return False
        if now >= self._next:
            self._next = now + _INTERVAL
            if self._memory_limit is not None and process_memory.resident() > self._memory_limit:
                self.stopped = "memory"
                return False
            if self._report is not None and self._report(self.nodes):
                self.stopped = "gap"
                return False
        return True
