"""Memory that one solve leaves to the next: writing to pages that are there already takes a fraction of the time."""

from __future__ import annotations

import ctypes
import sys
import threading

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


def _read_address(array: Array) -> int:
    return ctypes.c_int64.from_address(id(array) + _PLACE).value


def _ask_address(array: Array) -> int:
    address: int = array.__array_interface__["data"][0]
    return address


def _can_read() -> bool:
    """Whether addresses can be read where the arrays of CPython have them; numpy takes some times as long to say it."""
    probe = np.arange(2.0)
    return sys.implementation.name == "cpython" and _read_address(probe) == _ask_address(probe)


address_of = _read_address if _can_read() else _ask_address
"""Where the entries of an array begin."""
