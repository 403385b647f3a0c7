"""The text of a file that somebody else may have written: within limits, or an error that says what is wrong."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path
from typing import BinaryIO

from streed.errors import InputError

STANDARD_INPUT = "-"
"""In place of a path: what is written into the process."""

_BLOCK = 1 << 20


def read_text(source: str | Path, argument: str, most: int, absent: str = "check the path") -> str:
    """The UTF-8 text of a file, or of standard input for "-", without a byte order mark.

    Raises InputError, naming `argument`, for what is not there (do `absent`), no file, no UTF-8 text, or longer than
    `most` bytes.
    """
    shown = "standard input" if str(source) == STANDARD_INPUT else repr(str(source))
    try:
        if str(source) == STANDARD_INPUT:
            if sys.stdin is None:
                raise InputError(argument, "there is no standard input", "name a file")
            data = _read(sys.stdin.buffer, most)
        else:
            with Path(source).open("rb") as file:
                if stat.S_ISCHR(os.fstat(file.fileno()).st_mode) and not file.isatty():
                    raise InputError(argument, f"{shown} is a device", "give a file")
                data = _read(file, most)
    except FileNotFoundError:
        raise InputError(argument, f"there is no file {shown}", absent) from None
    except OSError as error:
        raise InputError(argument, f"{shown} cannot be read ({error.strerror})", "give a readable file") from None
    except ValueError as error:
        if isinstance(error, InputError):
            raise
        raise InputError(argument, f"{shown} is no path ({error})", "check the path") from None
    if len(data) > most:
        raise InputError(argument, f"{shown} has more than {most:,} bytes", "give a smaller file")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(argument, f"{shown} is not UTF-8 text", "save it as a UTF-8 text file") from None


def _read(file: BinaryIO, most: int) -> bytes:
    """At most one byte more than `most`."""
    blocks: list[bytes] = []
    rest = most + 1
    while rest > 0:
        block = file.read(min(rest, _BLOCK))
        if not block:
            break
        blocks.append(block)
        rest -= len(block)
    return b"".join(blocks)
