"""The exception by which a search that is stopped ends the searches that asked for it."""

from __future__ import annotations

from typing import Any


class SearchStopped(Exception):
    """A search ended before its answer was proved: its limits, or Ctrl-C, said so.

    `reason` is as in `Outcome.stopped`. What is known by then: `lower`, a lower bound on what was to be minimised, and
    `tree`, the best tree so far; None where nothing is known.
    """

    def __init__(self, reason: str, lower: int | None = None, tree: Any = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.lower = lower
        self.tree = tree
