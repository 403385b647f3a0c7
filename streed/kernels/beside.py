"""A second process that compiles, beside this one, part of what a search is about to need: half the wait.

Numba compiles one function at a time in a process. What the other process has made is found on disk, like everything
that is compiled (`compiled.py`); what it is at work on is waited for. It is started by the first function that is
missing, where there are two processors and a directory to share; if it cannot run, this process compiles by itself.
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
from collections.abc import Callable, Iterator
from pathlib import Path

planned: contextvars.ContextVar[str | None] = contextvars.ContextVar("planned", default=None)
"""The Python code that the other process would run, of a search that may soon compile."""

_POLL = 0.02
"""Seconds between looks at the other process."""

_ROOT = Path(__file__).resolve().parents[2]

_running: dict[str, subprocess.Popen[str]] = {}
"""By their code, all that were started."""

_at_work: dict[str, str] = {}
"""By the code of a process that runs, the file that it is making."""


@contextlib.contextmanager
def plan(code: str | None) -> Iterator[None]:
    """A context whose first missing function starts a process that runs the code, if any."""
    token = planned.set(code)
    try:
        yield
    finally:
        planned.reset(token)


def await_file(path: Path) -> None:
    """Of a file that is missing: starts the other process, if one is planned, and waits while one is at work on it."""
    code = planned.get()
    if code is not None and code not in _running and processors() > 1:
        _start(code)
    while _is_at_work(path.name) and not path.exists():
        time.sleep(_POLL)


def _is_at_work(name: str) -> bool:
    """Whether a process that still runs is making the file of that name."""
    return any(made == name and _running[code].poll() is None for code, made in list(_at_work.items()))


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
    command = [sys.executable, "-P", "-c", code]
    with contextlib.suppress(OSError):
        process = subprocess.Popen(
            command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            text=True,
        )  # fmt: skip
        atexit.register(process.kill)
        _running[code] = process
        threading.Thread(target=_listen, args=(code, process), daemon=True).start()


def _listen(code: str, process: subprocess.Popen[str]) -> None:
    with process:
        for name in process.stdout or ():
            _at_work[code] = name.strip()


announce: Callable[[Path], None] = await_file
"""What is called with a file that is missing; in the other process, `tell`."""


def tell(path: Path) -> None:
    """Of a file that is missing in the other process: says that it is about to be made."""
    print(path.name, flush=True)  # noqa: T201 - to the process that waits
