"""How far a solve has come: a record, and those who are told: a callable, or a live line in a terminal or notebook.

The one who waits for the search reports, a few times per second, and never the search itself; the line appears only
when a solve takes long enough to be read.
"""

from __future__ import annotations

import html
import math
import shutil
import sys
import time
from collections.abc import Callable
from typing import Any

import attrs

from streed.errors import InputError

INTERVAL = 0.25
"""Seconds between reports."""

_PATIENCE = 0.4  # seconds before the live line appears: a shorter solve needs none


@attrs.frozen
class Progress:
    """Where a solve stands."""

    incumbent: Any
    """The value of the best tree so far; None before there is one."""
    lower_bound: Any
    """The proved bound on the optimum: from below if minimised, from above if maximised; None before there is one."""
    gap: Any
    nodes: int
    """Nodes of the search expanded so far."""
    elapsed: float
    """Seconds since the solve began."""
    phase: str
    """What is being done, such as "compiling" or "searching"."""


Listener = Callable[[Progress], object]


class Reporter:
    """Tells a listener where the solve stands, at most every `INTERVAL` seconds and once at the end.

    Use it as a context manager around the search. `due()` is cheap; whoever waits for the search asks it, makes a
    `Progress` and calls `tell`. What a listener raises ends the solve and reaches its caller.
    """

    def __init__(self, progress: Any) -> None:
        """`progress`: None or False, True for a live line, or a callable that takes a `Progress`; else InputError."""
        if progress is not None and not isinstance(progress, bool) and not callable(progress):
            remedy = "give True, or a function of a Progress"
            raise InputError("progress", f"{progress!r} is neither True nor callable", remedy)
        self._listener: Listener | None = LiveLine() if progress is True else progress or None
        self._next = 0.0
        self._last: Progress | None = None

    @property
    def silent(self) -> bool:
        """Whether nobody listens."""
        return self._listener is None

    def due(self) -> bool:
        """Whether it is time for another report."""
        return self._listener is not None and time.monotonic() >= self._next

    def tell(self, progress: Progress) -> None:
        """Hands `progress` to the listener now."""
        if self._listener is not None:
            self._next = time.monotonic() + INTERVAL
            self._last = progress
            self._listener(progress)

    def finish(self, progress: Progress) -> None:
        """The last report of a solve: told even if another has just been, unless it says the same."""
        if progress != self._last:
            self.tell(progress)

    def __enter__(self) -> Reporter:
        return self

    def __exit__(self, *raised: object) -> None:
        if isinstance(self._listener, LiveLine):
            self._listener.close()


class LiveLine:
    """One line, gone when the solve ends: below a notebook's cell, or at the bottom of a terminal (standard error).

    Nothing elsewhere.
    """

    def __init__(self) -> None:
        self._handle: Any = None
        """Of a notebook's output, which needs no widgets."""
        self._is_shown = False
        self._show = self._in_notebook if "ipykernel" in sys.modules else _in_terminal if _is_terminal() else None

    def __call__(self, progress: Progress) -> None:
        if self._show is not None and (self._is_shown or progress.elapsed >= _PATIENCE):
            self._is_shown = True
            self._show(line(progress))

    def close(self) -> None:
        """Takes the line away."""
        if self._show is not None and self._is_shown:
            self._show("")
            self._handle, self._is_shown = None, False

    def _in_notebook(self, said: str) -> None:
        from IPython.display import display

        shown = {"text/plain": said, "text/html": f"<pre>{html.escape(said)}</pre>" if said else ""}
        if self._handle is None:
            self._handle = display(shown, raw=True, display_id=True)
        else:
            self._handle.update(shown, raw=True)


def _in_terminal(said: str) -> None:
    width = shutil.get_terminal_size().columns - 1
    sys.stderr.write(f"\r{said[:width].ljust(width)}\r")
    sys.stderr.flush()


def line(progress: Progress) -> str:
    """The progress as one line of text."""
    minutes, seconds = divmod(int(progress.elapsed), 60)
    known = f"incumbent {_shown(progress.incumbent)}  lower bound {_shown(progress.lower_bound)}"
    rest = f"gap {_shown(progress.gap)}  nodes {progress.nodes:,}  {minutes}:{seconds:02d}"
    return f"{progress.phase}  {known}  {rest}"


def _shown(x: Any) -> str:
    if x is None or (isinstance(x, float) and not math.isfinite(x)):
        return "-"
    return f"{x:.6g}" if isinstance(x, float) else str(x)


def _is_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()
