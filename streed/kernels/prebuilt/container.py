"""The file of a prebuilt library: what it holds, then the machine code, whole or not usable.

mark | SHA-256 of the rest | length of the contents | contents (JSON) | relocatable object, as it is or in xz's form
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import attrs

SUFFIX = ".prebuilt"

_MARK = b"streed-prebuilt-1\n"
_HASH = hashlib.sha256().digest_size
_LENGTH = 8
_XZ = b"\xfd7zXZ\0"


ONLY_READ = "read"


class Unusable(Exception):
    """Why a file is not taken."""


@attrs.frozen
class Overload:
    """An entry for arguments of given types.

    A type is numpy's name of it, "int64", or of an array's entries with the array's dimensions, "int64 2", and with
    ONLY_READ behind that if nothing is written to the array.
    """

    symbol: str
    arguments: tuple[str, ...]
    results: tuple[str, ...]
    is_tuple: bool
    """Whether the results are given as a tuple; else there is one, or none."""


@attrs.frozen
class Contents:
    """What a library says of itself."""

    fingerprint: str
    """Of the sources that it was built from."""
    level: str
    platform: str
    imports: tuple[str, ...]
    """The functions that it calls and does not have, those of the C library."""
    units: dict[str, str]
    """The symbols of the work units, by their names (`linking.unit_name`)."""
    entries: dict[str, tuple[Overload, ...]]
    """What can be called from Python, by names (`linking.entry_name`)."""


def write(path: Path, contents: Contents, code: bytes, *, small: bool = False) -> None:
    """Makes the file, in one step; a `small` one takes a few hundredths of a second longer to read."""
    text = json.dumps(attrs.asdict(contents), separators=(",", ":")).encode()
    rest = len(text).to_bytes(_LENGTH, "little") + text + (_squeezed(code) if small else code)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    scratch = path.with_suffix(f".{os.getpid()}.tmp")
    scratch.write_bytes(_MARK + hashlib.sha256(rest).digest() + rest)
    scratch.replace(path)


def read(path: Path) -> tuple[Contents, bytes]:
    """(contents, machine code); raises Unusable if the file is not what was written, OSError if it cannot be read."""
    content = path.read_bytes()
    begin = len(_MARK) + _HASH
    if not content.startswith(_MARK) or hashlib.sha256(content[begin:]).digest() != content[len(_MARK) : begin]:
        raise Unusable("it is damaged")
    text_at = begin + _LENGTH
    code_at = text_at + int.from_bytes(content[begin:text_at], "little")
    code = content[code_at:]
    if code.startswith(_XZ):
        code = _restored(code)
    return _contents(json.loads(content[text_at:code_at])), code


def _squeezed(code: bytes) -> bytes:
    import lzma

    return lzma.compress(code)


def _restored(code: bytes) -> bytes:
    try:
        import lzma
    except ImportError:
        raise Unusable("this Python has no module lzma") from None
    return lzma.decompress(code)


def _contents(found: dict[str, Any]) -> Contents:
    entries = {
        name: tuple(
            Overload(each["symbol"], tuple(each["arguments"]), tuple(each["results"]), each["is_tuple"])
            for each in overloads
        )
        for name, overloads in found["entries"].items()
    }
    return Contents(**{**found, "imports": tuple(found["imports"]), "entries": entries})
