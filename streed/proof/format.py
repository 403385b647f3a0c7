"""Writes proofs as bytes; `check.py` and `check_limits.py` read them. The format: docs/reference/proof-format.md."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from streed.exact import Array
from streed.proof.check import MAGIC, Record

_LARGE = 2**20
"""Bytes of claims; beyond, compressing them best takes longer than finding them."""


def to_bytes(header: dict[str, Any], records: Iterable[Record] | Array, magic: bytes = MAGIC) -> bytes:
    """The file of a header, which JSON can hold, and of claims in order or their numbers; `magic` is its kind."""
    head = json.dumps(header, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()
    if not isinstance(records, np.ndarray):
        records = np.array([number for record in records for number in numbers_of(record)], np.int64)
    body = encoded(records)
    return magic + len(head).to_bytes(4, "little") + head + zlib.compress(body, 9 if len(body) < _LARGE else 4)


def encoded(numbers: Array) -> bytes:
    """Unsigned numbers, seven bits a byte, low ones first; all bytes of a number but the last have the highest bit."""
    parts, more = [], np.ones(len(numbers), np.bool_)
    rest = numbers.astype(np.uint64)
    while more.any():
        ends = rest < 128
        parts.append(np.where(more, (rest & 127) | np.where(ends, 0, 128).astype(np.uint64), 256))
        more &= ~ends
        rest >>= np.uint64(7)
    if not parts:
        return b""
    flat = np.stack(parts, axis=1).reshape(-1)
    return flat[flat < 256].astype(np.uint8).tobytes()


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
