"""Running a native search so that it can be stopped: on time, on Ctrl-C, and while others are told how far it is.

The search runs without the GIL in a thread of its own; the caller's thread waits, and stops it by a word that the
search reads between steps. A search that is certain to be short runs in the caller's thread.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Sequence

from streed.exact import Array
from streed.kernels.control import STOP

_POLL = 0.05
"""Seconds between looks at the search."""

_STACK = 2**28
"""Bytes of stack of a search thread: unlimited depth may recurse once per row."""

_stack_lock = threading.Lock()


def run(
    searches: Sequence[Callable[[], None]], control: Array, deadline: float | None, look: Callable[[], str | None]
) -> str | None:
    """Runs the searches, a thread each; None, or "time", "interrupt" or what `look` said if they were stopped.

    `deadline` is in `time.perf_counter` seconds; `look` is called in the caller's thread every now and then, and gives
    a reason to stop or None. An error in a search stops the others and is raised here.
    """
    failures: list[BaseException] = []
    # Events, not Thread.join: a join that Ctrl-C interrupts takes a running thread for an ended one
    ends = [threading.Event() for _ in searches]

    def work(search: Callable[[], None], end: threading.Event) -> None:
        try:
            search()
        except BaseException as failure:  # noqa: BLE001 - raised again in the caller's thread
            failures.append(failure)
            control[STOP] = 1
        finally:
            end.set()

    reason = None
    threads = [threading.Thread(target=work, args=each, daemon=True) for each in zip(searches, ends, strict=True)]
    try:
        _start(threads)
        while not all(end.is_set() for end in ends):
            try:
                for end in ends:
                    end.wait(_POLL if deadline is None else max(0.0, min(_POLL, deadline - time.perf_counter())))
                if deadline is not None and time.perf_counter() >= deadline:
                    reason = "time"
                    control[STOP] = 1
                    deadline = None
                said = look()
                if said is not None and reason is None:
                    reason = said
                    control[STOP] = 1
            except KeyboardInterrupt:
                reason = "interrupt"
                control[STOP] = 1
    except KeyboardInterrupt:
        reason = "interrupt"
    finally:
        # whatever happened here, nobody may take the search's memory away while it runs
        while not all(end.is_set() for end, thread in zip(ends, threads, strict=True) if thread.ident is not None):
            control[STOP] = 1
            with contextlib.suppress(KeyboardInterrupt):
                for end, thread in zip(ends, threads, strict=True):
                    if thread.ident is not None:
                        end.wait()
    if failures:
        raise failures[0]
    return reason


def _start(threads: list[threading.Thread]) -> None:
    with _stack_lock:
        before = threading.stack_size(_STACK)
        try:
            for thread in threads:
                thread.start()
        finally:
            threading.stack_size(before)
