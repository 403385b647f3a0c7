"""Writes proofs as bytes; `check.py` and `check_limits.py` read them. The format: docs/reference/proof-format.md."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Iterator
from typing import Any

from streed.proof.check import MAGIC, Record


def to_bytes(header: dict[str, Any], records: Iterable[Record], magic: bytes = MAGIC) -> bytes:
    """The file of a header, which JSON can hold, and of claims in order; `magic` says of which kind."""
    head = json.dumps(header, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()
    body = bytearray()
    for record in records:
        for number in numbers_of(record):
            rest = number
            while rest >= 128:
                body.append(rest & 127 | 128)
                rest >>= 7
            body.append(rest)
    return magic + len(head).to_bytes(4, "little") + head + zlib.compress(bytes(body), 9)


def numbers_of(record: Record) -> Iterator[int]:
    """A claim as the file has it."""
    yield len(record.path)
    for column, code in record.path:
        yield column
        yield code
    yield from (record.depth, record.bound, len(record.anchors), *record.anchors)
    if record.depth == 3:
        yield len(record.columns)
        yield from record.columns
