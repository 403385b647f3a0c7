"""How a search went: the best value and the bound over time, of bounded length."""

from __future__ import annotations

from typing import Any, final

import attrs

_MOST = 256
"""Entries; when there are more, every second one is dropped."""


@final
@attrs.define
class Trace:
    """The entries (seconds since the search began, best code, bound, nodes); codes are the smaller the better.

    An entry is made when something changed. Of two entries the later one's best is no larger and its bound no smaller:
    the gap never grows.
    """

    entries: list[tuple[float, int, int, int]] = attrs.field(factory=list)

    def note(self, seconds: float, best: int, bound: int, nodes: int) -> None:
        """Notes where the search stands; `best` and `bound` beyond every value are not known yet."""
        if self.entries:
            _, last_best, last_bound, _ = self.entries[-1]
            best, bound = min(best, last_best), max(bound, last_bound)
            if (best, bound) == (last_best, last_bound):
                return
        self.entries.append((seconds, best, min(bound, best), nodes))
        if len(self.entries) > _MOST:
            # the first and the last stay
            self.entries[:] = self.entries[:-1:2] + self.entries[-1:]

    def decoded(self, best_of: Any, bound_of: Any) -> list[tuple[float, Any, Any, int]]:
        """The entries with values for codes."""
        return [(seconds, best_of(best), bound_of(bound), nodes) for seconds, best, bound, nodes in self.entries]
