"""Where code is from: that of the package never changes while a process runs, whatever it names."""

from __future__ import annotations

import functools
import types
from pathlib import Path

_PACKAGE = Path(__file__).parents[2]

FOLDERS = tuple(f"{folder}/" for folder in {_PACKAGE, _PACKAGE.resolve(), (_PACKAGE / "tasks").resolve()})
"""Where the package's code may say that it is from."""


@functools.lru_cache(maxsize=4096)
def is_of_package(code: types.CodeType) -> bool:
    """Whether the code of a function came with the package."""
    return code.co_filename.startswith(FOLDERS)
