"""The memory of this process, and of the machine, as the operating system tells it."""

from __future__ import annotations

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
    told = _told("/proc/self/status", b"VmHWM:")
    if told is None and resource is not None:  # on Linux, it may be that of the process that started this one
        return int(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) * (1 if sys.platform == "darwin" else 1024)
    return told or 0


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
