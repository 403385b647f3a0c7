"""The record of a search as Python reads and writes it: the words of a plain array, by the names of their fields.

Numpy's own record of so many fields takes microseconds to make, to read and to hand to native code, which is as long as
a small search takes. Native code is given the address instead. Beside it, memory that one solve leaves to the
next: writing to pages that are there already takes a fraction of the time.
"""

from __future__ import annotations

import ctypes
import functools
import threading
from collections.abc import Sequence
from typing import Any, final

import numpy as np

from streed.exact import Array
from streed.kernels.records import ENGINE

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


def address_of(array: Array) -> int:
    """Where the entries of an array begin."""
    if array.size and array.flags.carray:  # numpy takes four times as long to say so
        return ctypes.addressof(ctypes.c_char.from_buffer(array.data))
    return int(array.ctypes.data)


@functools.cache
def _place_of(dtype: Any) -> dict[str, int]:
    """Where the fields lie, in words of eight bytes."""
    return {name: dtype.fields[name][1] // 8 for name in dtype.names}


@functools.cache
def _places(dtype: Any, *names: str) -> Array:
    """Where several fields lie."""
    return np.array([_place_of(dtype)[name] for name in names], np.intp)


@final
class RecordProxy:
    """The words (int64) of a record, all zero at first; an array among its fields is read by its first word."""

    def __init__(self, dtype: Any = ENGINE) -> None:
        self._dtype, self._place = dtype, _place_of(dtype)
        self._words: Array = np.zeros(dtype.itemsize // 8, np.int64)
        self._word = self._words.data  # a view, which gives and takes single words sooner than numpy
        self.address: int = address_of(self._words)
        """What native functions take."""

    def __getitem__(self, name: str) -> int:
        return self._word[self._place[name]]

    def __setitem__(self, name: str, word: int) -> None:
        self._word[self._place[name]] = word if word < 2**63 else int(word) - 2**64

    def read(self, names: Sequence[str]) -> list[int]:
        """Many fields at once."""
        words: list[int] = self._words[_places(self._dtype, *names)].tolist()
        return words

    def write(self, words: dict[str, int]) -> None:
        """Sets many fields at once."""
        self._words[_places(self._dtype, *words)] = list(words.values())

    def copy(self) -> Array:
        """All words as they are."""
        return self._words.copy()

    def restore(self, words: Array) -> None:
        """Puts all words back to what `copy` gave."""
        self._words[:] = words
