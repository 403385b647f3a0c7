"""The first compilation on a machine, shared with a second process.

Nothing is cached yet: a child process compiles what calls the kernels while this one compiles most of the kernels, and
each finds the other's part in the cache. If the child cannot be started or fails, this process compiles everything
itself.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import subprocess
import sys

from streed.bnb import entries
from streed.bnb.entries import extract_tree, search_root
from streed.kernels import waiting
from streed.kernels.entries import measure_tree
from streed.kernels.places import SUFFIX, cache_directory
from streed.kernels.prebuilt.library import library

_PATIENCE = 600.0
"""Seconds after which the child is no longer waited for."""

_children: list[subprocess.Popen[bytes]] = []
"""The child, from its start until it is waited for."""


@functools.cache
def begin() -> None:
    """Starts the child, once, if nothing is prebuilt, and there is a cache directory with nothing in it."""
    if library() is not None:
        return
    directory = cache_directory()
    if directory is None or any(directory.glob(f"*{SUFFIX}")):
        return
    command = f"import sys; sys.path[:] = {sys.path!r}; from streed.bnb import warmup; warmup.compile_search()"
    with contextlib.suppress(OSError):
        child = subprocess.Popen(
            [sys.executable, "-c", command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        _children.append(child)
        atexit.register(_end, child)


def finish() -> None:
    """Waits for the child, if there is one; its part then is in the cache."""
    while _children:
        child = _children.pop()
        told = waiting.listener.get()
        if told is not None and child.poll() is None:
            told.begun()
        try:
            child.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            pass
        finally:
            # too slow, or Ctrl-C: what it has not kept by now is compiled here, when it is needed
            _end(child)
            if told is not None:
                told.ended()


def _end(child: subprocess.Popen[bytes]) -> None:
    """Ends the child, if it has not ended yet."""
    if child.poll() is None:
        child.kill()
        child.wait()


@functools.cache
def compile_search() -> None:
    """Compiles, or loads, what every search needs besides its kernels."""
    entries.load()
    entries.opening()
    for each in (search_root, extract_tree, measure_tree):
        each.make_ready()
