"""Names for the kernels of tasks that come with the package: the same wherever it is installed, under every Python.

What a method compiles to depends on its source, not on the instructions that a version of Python makes of it. Code of
the package is therefore known by its place in a file and a hash of that file. Code from anywhere else has no such name:
it may have come from anywhere, and is compiled.
"""

from __future__ import annotations

import functools
import hashlib
import types
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from streed.kernels.codegen.capture import fingerprint
from streed.kernels.codegen.origin import is_of_package


class _Foreign(Exception):
    """Code that did not come with the package."""


def name_of_shipped(parts: Mapping[str, Any]) -> str | None:
    """A hash of named parts, texts and functions with all that they depend on; None if some are not the package's."""
    try:
        return fingerprint(parts, _place)
    except _Foreign:
        return None


def _place(code: types.CodeType) -> bytes:
    """What code is known by: the file, the line and the name of its function, the latter once a line."""
    if not is_of_package(code) or code.co_name.startswith("<"):
        raise _Foreign
    return f"{_hash(code.co_filename)} {code.co_firstlineno} {code.co_name}".encode()


@functools.cache
def _hash(path: str) -> str:
    try:
        return hashlib.sha256(Path(path).read_bytes()).hexdigest()
    except OSError:
        raise _Foreign from None
