"""Processes that tests start and talk to: none outlives its time, and neither does what it has started itself."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]

# Under nohup or in cron Ctrl-C is ignored, and so it would be by all processes started from here.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def ended(*arguments: str, limit: float = 600, **options: Any) -> subprocess.CompletedProcess[str]:
    """A process of Python that has ended, or was killed after `limit` seconds, with what it printed and said."""
    with started([sys.executable, *arguments], limit, **{"stdin": None, **options}) as child:
        printed, said = child.communicate()
    return subprocess.CompletedProcess(child.args, child.returncode, printed, said)


@contextlib.contextmanager
def started(command: list[str], limit: float = 300, **options: Any) -> Iterator[subprocess.Popen[str]]:
    """A process with pipes for texts; it is killed after `limit` seconds, which ends whoever reads from it."""
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE) | {"cwd": ROOT} | options
    with subprocess.Popen(command, text=True, start_new_session=True, **pipes) as child:
        watch = threading.Timer(limit, _kill, [child])
        watch.start()
        try:
            yield child
            child.wait()
        finally:
            watch.cancel()
            _kill(child)


def _kill(child: subprocess.Popen[str]) -> None:
    """Ends it and all that it has started: any of them may hold its pipes open."""
    if sys.platform == "win32":
        child.kill()
        return
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)
