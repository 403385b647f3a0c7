"""Writes proofs as bytes; `check.py` reads them. The format: docs/reference/proof-format.md."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Sequence
from typing import Any

from streed.proof.check import MAGIC, Record


def to_bytes(header: dict[str, Any], records: Sequence[Record]) -> bytes:
    """The file of a header, which JSON can hold, and of claims in order."""
    head = json.dumps(header, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()
    body = bytearray()
    for record in records:
        for number in _numbers(record):
            rest = number
            while rest >= 128:
                body.append(rest & 127 | 128)
                rest >>= 7
            body.append(rest)
    return MAGIC + len(head).to_bytes(4, "little") + head + zlib.compress(bytes(body), 9)


def _numbers(record: Record) -> Iterator[int]:
    yield len(record.path)
    for column, code in record.path:
        yield column
        yield code
    yield from (record.depth, record.bound, len(record.anchors), *record.anchors)
    if record.depth == 3:
        yield len(record.columns)
        yield from record.columns
