"""Compilation as the user sees it: said once on stderr, and timed apart from the search."""

from __future__ import annotations

import sys
import time
from typing import Any

from numba.core import event

from streed.kernels.compiled import cache_directory

_announced = False


class Compilation(event.Listener):  # type: ignore[misc]
    """A context in which compilation is noticed; `seconds` is the time that it took."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._depth = 0
        self._begin = 0.0

    def __enter__(self) -> Compilation:
        event.register("numba:compile", self)
        return self

    def __exit__(self, *failure: Any) -> None:
        event.unregister("numba:compile", self)

    def on_start(self, happening: Any) -> None:
        global _announced  # noqa: PLW0603 - said once in a process
        if self._depth == 0:
            self._begin = time.perf_counter()
        self._depth += 1
        if not _announced:
            _announced = True
            kept = "once for this machine" if cache_directory() is not None else "no directory to keep it is writable"
            sys.stderr.write(f"streed: compiling the search ({kept}), about ten seconds ...\n")
            sys.stderr.flush()

    def on_end(self, happening: Any) -> None:
        self._depth -= 1
        if self._depth == 0:
            self.seconds += time.perf_counter() - self._begin
