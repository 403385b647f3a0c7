"""Running a native search so that it can be stopped: on time, on Ctrl-C, and while others are told how far it is.

The search runs without the GIL in a thread of its own; the caller's thread waits, and stops it by a word that the
search reads between steps. A search that is certain to be short runs in the caller's thread. Here are the words that
the two share, and the trace, of bounded length, which tells how it went: the best value and the bound over time.
"""

from __future__ import annotations

import contextlib
import contextvars
import threading
from collections.abc import Callable, Sequence
from typing import Any, final

import attrs
from numba import int64

from streed.exact import Array
from streed.kernels import compilation
from streed.kernels.compilation import clock, conclude
from streed.kernels.simd import load_atomic
from streed.kernels.views import inline, vector

STOP, NODES, LOWER, UPPER, SHARED_UPPER, ROW_PRICES = 0, 1, 2, 3, 4, 7
"""Words of `control`: set to stop the search; nodes visited so far; bounds of the root; the best value that any thread
has found; the address of the prices of rows, zero if there are none (bnb/expand.py)."""

OVER = 3
"""In the word that stops a search: it is over, and what its tree still needs is done to the end."""

ROWS_OF_CONTROL = 16

LONGEST = 62
"""Literals of a conjunction in conjunctions.py: no longer one is looked at, and an enumeration that meets one does not
end."""

EPOCH, SHIFT, DUE, HEAD = 0, 1, 2, 3
"""Words at the beginning of the array of row prices: which prices these are (1, 2, ...); units are 1 / 2^shift codes;
the due of a leaf in units; how many words these are. Then come the places that have a price, a bit each, and the prices
of all places."""


@inline
def stopped(e):  # type: ignore[no-untyped-def]
    """Whether the caller asked the search to stop."""
    return load_atomic(vector(e.control, ROWS_OF_CONTROL, int64), STOP) != 0


@inline
def cut_short(e):  # type: ignore[no-untyped-def]
    """Whether what is being scored is to end at once: not all pairs were looked at, so costs are not the least."""
    word = load_atomic(vector(e.control, ROWS_OF_CONTROL, int64), STOP)
    return word != 0 and word != OVER


_POLL = 0.05
"""Seconds between looks at the search."""


def run_stoppable(
    searches: Sequence[Callable[[], None]], control: Array, deadline: float | None, look: Callable[[], str | None]
) -> str | None:
    """Runs the searches, a thread each; None, or "time", "interrupt" or what `look` said if they were stopped.

    `deadline` is in seconds of `compilation.clock`, which compiling in a search does not use up; `look` is called in
    the caller's thread every now and then, and gives a reason to stop or None. An error in a search stops the others
    and is raised here.
    """
    conclude()
    failures: list[BaseException] = []
    # Events, not Thread.join: a join that Ctrl-C interrupts takes a running thread for an ended one
    ends = [threading.Event() for _ in searches]

    def work(search: Callable[[], None], end: threading.Event) -> None:
        compilation.stopped.set(lambda: bool(control[STOP]))
        try:
            search()
        except compilation.Abandoned:
            pass
        except BaseException as failure:  # noqa: BLE001 - raised again in the caller's thread
            failures.append(failure)
            control[STOP] = 1
        finally:
            end.set()

    reason = None
    threads = [
        threading.Thread(target=contextvars.copy_context().run, args=(work, *each), daemon=True)
        for each in zip(searches, ends, strict=True)
    ]
    try:
        compilation.start_deep(threads)
        while not all(end.is_set() for end in ends):
            try:
                for end in ends:
                    end.wait(_POLL if deadline is None else max(0.0, min(_POLL, deadline - clock())))
                if deadline is not None and clock() >= deadline:
                    reason, deadline = "time", None
                said = look()
                reason = reason or said
            except KeyboardInterrupt:
                reason = "interrupt"
            if reason is not None:
                control[STOP] = 1
    except KeyboardInterrupt:
        reason = "interrupt"
    finally:
        # whatever happened here, nobody may take the search's memory away while it runs
        while running := [end for end, thread in zip(ends, threads, strict=True) if thread.ident and not end.is_set()]:
            control[STOP] = 1
            with contextlib.suppress(KeyboardInterrupt):
                for end in running:
                    end.wait(_POLL)
    if failures:
        raise failures[0]
    return reason


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
