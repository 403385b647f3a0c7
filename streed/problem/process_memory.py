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
    return _usage() if _own_usage() else _high_water()


def _usage() -> int:
    """The peak by the system's accounting, which a process may inherit from the one that started it."""
    if resource is None:
        return 0
    unit = 1 if sys.platform == "darwin" else 1024
    return int(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) * unit


def _high_water() -> int:
    """The peak by Linux's own count, which takes longer to read; 0 elsewhere."""
    try:
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0


@functools.cache
def _own_usage() -> bool:
    """Whether the accounting is this process's own, by the first look at it."""
    high_water = _high_water()
    return high_water == 0 or _usage() <= 1.1 * high_water


def free() -> int:
    """Bytes of memory that the machine can still give."""
    try:
        # of small solves, opening it as text takes a good part
        file = os.open("/proc/meminfo", os.O_RDONLY)
        try:
            told = os.read(file, 1024)
        finally:
            os.close(file)
        _, found, rest = told.partition(b"MemAvailable:")
        if found:
            return int(rest.split(maxsplit=1)[0]) * 1024
    except OSError:
        pass
    try:
        return int(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")) // 2
    except (ValueError, AttributeError):
        return 2**31
