"""Processes that tests start and talk to: none outlives its time, and all of them hear Ctrl-C."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]

HEARS_CTRL_C: dict[str, Any] = {}
"""For `subprocess`: what a shell starts in the background, by nohup or in cron ignores Ctrl-C, and so would a child."""
if sys.platform != "win32":
    HEARS_CTRL_C["preexec_fn"] = lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)


def ended(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """A process of Python that has ended, with what it printed and said."""
    settings = {"cwd": ROOT, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "timeout": 600, **options}
    return subprocess.run([sys.executable, *arguments], text=True, check=False, **settings)


@contextlib.contextmanager
def started(command: list[str], limit: float = 300, **options: Any) -> Iterator[subprocess.Popen[str]]:
    """A process with pipes for texts; it is killed after `limit` seconds, which ends whoever reads from it."""
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE) | HEARS_CTRL_C | options
    with subprocess.Popen(command, text=True, **{"cwd": ROOT, **pipes}) as child:
        watch = threading.Timer(limit, child.kill)
        watch.start()
        try:
            yield child
            child.wait()
        finally:
            watch.cancel()
            child.kill()
