"""Compilation as the user sees it: said on stderr, what for and how long, and timed apart from the search."""

from __future__ import annotations

import contextvars
import threading
import time
from collections.abc import Callable
from typing import Any

from streed.kernels import waiting
from streed.kernels.notices import say
from streed.kernels.places import cache_directory, why_none


class Compilation:
    """A context in which compilation is noticed; `kind` tells what is solved, as in "Accuracy with 2 labels"."""

    def __init__(self, kind: Callable[[], str]) -> None:
        self._kind = kind
        self._lock = threading.Lock()
        self._done = 0.0
        self._begin: float | None = None
        self._said = 0.0
        self._is_told = False
        self._token: contextvars.Token[waiting.Listener | None] | None = None

    @property
    def seconds(self) -> float:
        """What it took so far."""
        begin = self._begin
        return self._done + (0.0 if begin is None else time.perf_counter() - begin)

    def __enter__(self) -> Compilation:
        self._token = waiting.listener.set(self)
        return self

    def __exit__(self, *failure: Any) -> None:
        assert self._token is not None
        waiting.listener.reset(self._token)
        self.conclude()

    def begun(self) -> None:
        """Something is compiled."""
        with self._lock:
            if self._begin is None:
                self._begin = time.perf_counter()
            if self._is_told:
                return
            self._is_told = True
        directory = cache_directory()
        kept = f"not kept, {why_none()}" if directory is None else f"once for this kind of task, kept in {directory}"
        say(f"compiling the search for {self._kind()} ({kept}) ...")

    def ended(self) -> None:
        """Nothing is compiled any more."""
        with self._lock:
            self._done, self._begin = self.seconds, None

    def conclude(self) -> None:
        """Says how long it took, if anything was compiled since this was last said."""
        if self._is_told:
            self._is_told = False
            say(f"compiled in {self.seconds - self._said:.1f} s")
            self._said = self.seconds


def clock() -> float:
    """Seconds of this process that the solve at hand did not spend on compilation: what a time limit counts."""
    told = waiting.listener.get()
    return time.perf_counter() - (told.seconds if isinstance(told, Compilation) else 0.0)


def conclude() -> None:
    """Says of the solve at hand that the search begins: how long compilation took until now, if there was any."""
    told = waiting.listener.get()
    if isinstance(told, Compilation):
        told.conclude()
