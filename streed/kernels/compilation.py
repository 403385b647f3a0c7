"""Compilation as the user sees it: interrupted, said on standard error, and timed apart from the search.

Python handles signals in the main thread between two of its own steps, and a compiler takes many seconds for one, or
swallows what is raised in it. Code is therefore compiled in a thread of its own while the one that needs it waits:
Ctrl-C is raised there at once, and the abandoned compilation ends by itself; its result is kept for whoever asks next.
Nobody who cannot hear what is said is disturbed.

Numba compiles one function at a time in a process, so a second one compiles part of what a search is about to need.
What it has made is found on disk, and what it is at work on is waited for, like everything that is compiled
(`compiled.py`). It is started by the first function that is missing, where there are two processors and a directory to
share; if it cannot run, this process compiles by itself.
"""

from __future__ import annotations

import atexit
import contextlib
import contextvars
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

from streed.kernels.places import cache_directory, why_none

T = TypeVar("T")

_POLL = 0.05
"""Seconds between looks at whether the wait is to end."""

_STACK = 2**28
"""Bytes of stack of a thread: the compiler recurses deeply, and so does a search of unlimited depth."""

_stack_lock = threading.Lock()


listener: contextvars.ContextVar[Compilation | None] = contextvars.ContextVar("listener", default=None)
"""Who is told of what is compiled in this context."""

stopped: contextvars.ContextVar[Callable[[], bool] | None] = contextvars.ContextVar("stopped", default=None)
"""Of a thread of a search: whether the search is to stop."""


class Abandoned(Exception):
    """A search was stopped while it waited for code to be compiled."""


def aside(compile_it: Callable[..., T], *arguments: object) -> T:
    """What the function gives or raises; it runs in a thread of its own if a wait for it could be cut short.

    In the main thread a wait ends by what a signal handler raises, such as KeyboardInterrupt; in a thread of a search
    by Abandoned, once the search is to stop.
    """
    is_stopped = stopped.get()
    is_main = threading.current_thread() is threading.main_thread()
    if _is_compiling() or not (is_main or is_stopped):
        # part of a compilation already, or in a thread that nobody interrupts
        return _told(compile_it, *arguments)
    found: list[T] = []
    failures: list[BaseException] = []
    done = threading.Event()

    def work() -> None:
        try:
            found.append(compile_it(*arguments))
        except BaseException as failure:  # noqa: BLE001 - raised again in the thread that waits
            failures.append(failure)
        finally:
            done.set()

    context = contextvars.copy_context()
    thread = threading.Thread(target=context.run, args=(work,), name="streed-compilation", daemon=True)

    def wait() -> None:
        start_deep([thread])
        while not done.wait(_POLL):
            if is_stopped is not None and is_stopped():
                raise Abandoned

    _told(wait)
    if failures:
        raise failures[0]
    return found[0]


def _is_compiling() -> bool:
    """Whether something is compiled in this process, which it cannot be as long as numba is not imported."""
    numbas = sys.modules.get("numba.core.compiler_lock")
    return numbas is not None and bool(numbas.global_compiler_lock.is_locked())


def _told(work: Callable[..., T], *arguments: object) -> T:
    """What the function gives; the listener hears of its end, unless it is part of a longer compilation."""
    told = None if _is_compiling() else listener.get()
    try:
        return work(*arguments)
    finally:
        if told is not None:
            told.ended()


def start_deep(threads: Sequence[threading.Thread]) -> None:
    """Starts threads with a large stack."""
    with _stack_lock:
        before = threading.stack_size(_STACK)
        try:
            for thread in threads:
                thread.start()
        finally:
            threading.stack_size(before)


_said: set[str] = set()
"""Kinds of messages that this process has said already."""


def say(message: str) -> None:
    """Writes a line."""
    with contextlib.suppress(OSError, ValueError, AttributeError):  # it is on a full disk, closed, or not there
        sys.stderr.write(f"streed: {message}\n")
        sys.stderr.flush()


def say_once(kind: str, message: str) -> None:
    """Writes a line, but only the first of its kind in this process."""
    if kind not in _said:
        _said.add(kind)
        say(message)


class Compilation:
    """A context in which compilation is noticed; `kind` tells what is solved, as in "Accuracy with 2 labels"."""

    def __init__(self, kind: Callable[[], str]) -> None:
        self._kind = kind
        self._lock = threading.Lock()
        self._done = 0.0
        self._begin: float | None = None
        self._said = 0.0
        self._is_told = False
        self._token: contextvars.Token[Compilation | None] | None = None

    @property
    def seconds(self) -> float:
        """What it took so far."""
        begin = self._begin
        return self._done + (0.0 if begin is None else time.perf_counter() - begin)

    def __enter__(self) -> Compilation:
        self._token = listener.set(self)
        return self

    def __exit__(self, *failure: Any) -> None:
        assert self._token is not None
        listener.reset(self._token)
        self.conclude()

    def begun(self) -> None:
        """Something was not found on disk and is compiled."""
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
        """What was waited for is there, or the wait is over, whether anything was compiled or not."""
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
    told = listener.get()
    return time.perf_counter() - (0.0 if told is None else told.seconds)


def conclude() -> None:
    """Says of the solve at hand that the search begins: how long compilation took until now, if there was any."""
    told = listener.get()
    if told is not None:
        told.conclude()


planned: contextvars.ContextVar[str | None] = contextvars.ContextVar("planned", default=None)
"""The Python code that the other process would run, of a search that may soon compile."""

_ROOT = Path(__file__).resolve().parents[2]

_running: dict[str, subprocess.Popen[bytes]] = {}
"""By their code, all that were started."""


@contextlib.contextmanager
def plan(code: str | None) -> Iterator[None]:
    """A context whose first missing function starts a process that runs the code, if any."""
    token = planned.set(code)
    try:
        yield
    finally:
        planned.reset(token)


def start_planned() -> None:
    """Starts the other process, if one is planned and does not run yet: something is missing."""
    code = planned.get()
    if code is not None and code not in _running and processors() > 1:
        _start(code)


def processors() -> int:
    """How many this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _start(code: str) -> None:
    if getattr(sys, "frozen", False) or not Path(sys.executable or "").name.startswith("python"):
        return  # a program that is not Python's own would run something else
    places = [str(_ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(places)}
    command = [sys.executable, "-P", "-c", f"import gc; gc.disable(); {code}"]
    with contextlib.suppress(OSError):
        process = subprocess.Popen(
            command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        atexit.register(process.kill)
        _running[code] = process
