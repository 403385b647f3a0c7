"""Memory that one solve leaves to the next: writing to pages that are there already takes a fraction of the time."""

from __future__ import annotations

import ctypes
import functools
import sys
import threading
from typing import Any

import numpy as np

from streed.exact import Array

ALIGNMENT = 64
"""Bytes: every array in a buffer begins at a multiple of it."""

_POOLED = 2**26
"""Buffers up to this size are kept."""

_MOST = 4
"""Buffers that are kept."""

_pool: list[Array] = []
_lock = threading.Lock()


def borrow(size: int) -> Array:
    """A buffer of at least `size` bytes (uint8) that holds anything."""
    with _lock:
        for index, buffer in enumerate(_pool):
            if len(buffer) >= size:
                return _pool.pop(index)
    return np.empty(max(size, 2**20), np.uint8)


def give_back(buffer: Array) -> None:
    """Keeps a buffer that nobody looks into any more, unless it is large or there are enough."""
    with _lock:
        if len(buffer) <= _POOLED and len(_pool) < _MOST:
            _pool.append(buffer)


_PLACE = object.__basicsize__
"""Where numpy's arrays say where their entries begin: behind what all objects of CPython have."""


FIRST = 2**12
"""No address of anything is below; memory that begins at 0 is none to numpy."""

ADDRESS_BITS = 47
"""Of the addresses that a process on x86-64 has."""


@functools.cache
def words_of_memory() -> Any:
    """All memory of a process from FIRST on as one array of words, so that an address is eight times a place."""
    return (ctypes.c_int64 * ((2**ADDRESS_BITS - FIRST) // 8)).from_address(FIRST)


def _read_address(array: Array) -> int:
    return ctypes.c_int64.from_address(id(array) + _PLACE).value


def _ask_address(array: Array) -> int:
    address: int = array.__array_interface__["data"][0]
    return address


def _can_read() -> bool:
    """Whether addresses can be read where the arrays of CPython have them."""
    probe = np.arange(2.0)
    return sys.implementation.name == "cpython" and _read_address(probe) == _ask_address(probe)


CAN_READ = _can_read()
"""Whether the place of an array's entries is read from the array itself; numpy takes some times as long to say it."""

address_of = _read_address if CAN_READ else _ask_address
"""Where the entries of an array begin."""

WORD_OF_ARRAY = (_PLACE - FIRST) // 8
"""The place in `words_of_memory` of that address, less an eighth of the array's `id`."""
