"""The memory of this process, and of the machine, as the operating system tells it."""

from __future__ import annotations

import functools
import os
import sys
from pathlib import Path
from typing import Any

resource: Any
try:
    import resource
except ImportError:  # not on Windows
    resource = None


def resident() -> int:
    """Bytes of memory that this process holds."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, AttributeError):
        return peak()


def peak() -> int:
    """The most bytes of memory that this process ever held; 0 where the system does not tell."""
    return _usage() if _own_usage() else _told("/proc/self/status", b"VmHWM:") or 0


def _usage() -> int:
    """The peak by the system's accounting, which a process may inherit from the one that started it."""
    if resource is None:
        return 0
    return int(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) * (1 if sys.platform == "darwin" else 1024)


@functools.cache
def _own_usage() -> bool:
    """Whether the accounting is this process's own, by the first look at Linux's count, which takes longer to read."""
    told = _told("/proc/self/status", b"VmHWM:")
    return told is None or _usage() <= 1.1 * told


def free() -> int:
    """Bytes of memory that the machine can still give."""
    told = _told("/proc/meminfo", b"MemAvailable:")
    try:
        return int(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")) // 2 if told is None else told
    except (ValueError, AttributeError):
        return 2**31


def _told(path: str, name: bytes) -> int | None:
    """Bytes, as a line of a file of the system says; None where there is none."""
    try:
        # of small solves, opening it as text takes a good part
        file = os.open(path, os.O_RDONLY)
        try:
            _, found, rest = os.read(file, 4096).partition(name)
        finally:
            os.close(file)
    except OSError:
        return None
    return int(rest.split(maxsplit=1)[0]) * 1024 if found else None
