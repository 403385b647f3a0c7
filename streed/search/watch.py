"""Running a native search so that it can be stopped: on time, on Ctrl-C, and while others are told how far it is.

The search runs without the GIL in a thread of its own; the caller's thread waits, and stops it by a word that the
search reads between steps. A search that is certain to be short runs in the caller's thread.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from streed.engine.control import STOP
from streed.exact import Array

_POLL = 0.05
"""Seconds between looks at the search."""

_STACK = 2**28
"""Bytes of stack of a search thread: unlimited depth may recurse once per row."""

_stack_lock = threading.Lock()


def run(
    searches: list[Callable[[], None]], control: Array, deadline: float | None, look: Callable[[], None]
) -> str | None:
    """Runs the searches, a thread each; None, or "time" or "interrupt" if they were stopped.

    `deadline` is in `time.perf_counter` seconds; `look` is called in the caller's thread every now and then. An error
    in a search stops the others and is raised here.
    """
    failures: list[BaseException] = []

    def work(search: Callable[[], None]) -> None:
        try:
            search()
        except BaseException as failure:  # noqa: BLE001 - raised again in the caller's thread
            failures.append(failure)
            control[STOP] = 1

    threads = _start([threading.Thread(target=work, args=(search,), daemon=True) for search in searches])
    reason = None
    while any(thread.is_alive() for thread in threads):
        try:
            for thread in threads:
                thread.join(_POLL if deadline is None else max(0.0, min(_POLL, deadline - time.perf_counter())))
            if reason is None and deadline is not None and time.perf_counter() >= deadline:
                reason = "time"
                control[STOP] = 1
            if reason is not None:
                for thread in threads:
                    thread.join(_POLL)
            look()
        except KeyboardInterrupt:
            reason = "interrupt"
            control[STOP] = 1
    if failures:
        raise failures[0]
    return reason


def _start(threads: list[threading.Thread]) -> list[threading.Thread]:
    with _stack_lock:
        before = threading.stack_size(_STACK)
        try:
            for thread in threads:
                thread.start()
        finally:
            threading.stack_size(before)
    return threads
