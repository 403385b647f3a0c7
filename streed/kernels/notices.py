"""What is said on standard error while the engine is made ready; nobody who cannot hear it is disturbed."""

from __future__ import annotations

import contextlib
import sys

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
