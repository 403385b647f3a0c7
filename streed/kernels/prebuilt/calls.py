"""Calling prebuilt native functions from Python: arguments as words, results as words, errors as a status.

A native function takes the addresses of two arrays of int64. The first holds its arguments: a number is a word, an
array is the address of its entries and its shape. It writes its results into the second one: a number is a word, an
array is the block of memory that it lies in, the address of its entries and its shape. Arrays are copied from there
into arrays of numpy's, and the block is released. What the function gives back is 0, or the status of an error, whose
description, as numba pickles it, is in the first two words of the results.
"""

from __future__ import annotations

import ctypes
import pickle
import struct
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn, final

import numpy as np

from streed.kernels.buffers import address_of
from streed.kernels.prebuilt.container import ONLY_READ, Overload

_FUNCTION = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_char_p, ctypes.c_void_p)
"""Called without the GIL."""

_RELEASE = ctypes.CFUNCTYPE(None, ctypes.c_int64)

_ERROR_WORDS = 2

_LEAST, _BEYOND = -(2**63), 2**63


@final
class Call:
    """A native function, for arguments of given types."""

    def __init__(self, address: int, overload: Overload, release: Callable[[int], None]) -> None:
        self._function = _FUNCTION(address)
        self._arguments = [_type_of(name) for name in overload.arguments]
        self._results = [_type_of(name) for name in overload.results]
        self._is_tuple = overload.is_tuple
        self._release = release
        size = max(_ERROR_WORDS, sum(_words_of(each) for each in self._results))
        self._out = ctypes.c_int64 * size
        self._read = struct.Struct(f"{size}q").unpack
        self._write = struct.Struct(f"{sum(1 + dimensions for _, dimensions, _ in self._arguments)}q").pack

    def words(self, arguments: Sequence[object]) -> list[int] | None:
        """The arguments as words; None if some have types or a layout that the function was not built for."""
        if len(arguments) != len(self._arguments):
            # named tuples stand for their fields
            arguments = list(_flat(arguments))
            if len(arguments) != len(self._arguments):
                return None
        words: list[int] = []
        for argument, (dtype, dimensions, written) in zip(arguments, self._arguments, strict=True):
            if dimensions:
                if type(argument) is not np.ndarray or argument.ndim != dimensions:
                    return None
                flags = argument.flags
                if not (flags.carray if written else flags.c_contiguous and flags.aligned):
                    return None
                # nearly always the same object, which is quicker to see
                if argument.dtype is not dtype and argument.dtype != dtype:
                    return None
                words.append(address_of(argument))
                words += argument.shape
            elif dtype is _FLOAT:
                if not isinstance(argument, float):
                    return None
                words.append(struct.unpack("<q", struct.pack("<d", argument))[0])
            elif dtype is _UNSIGNED:
                if type(argument) is not np.uint64:
                    return None
                words.append(int(argument) - (0 if argument < _BEYOND else 2**64))
            elif type(argument) in _NUMBERS and _LEAST <= (number := int(argument)) < _BEYOND:  # type: ignore[call-overload]
                words.append(number)
            else:
                return None
        return words

    def __call__(self, words: list[int]) -> Any:
        """What the function gives for arguments that are given as words, and still belong to the caller."""
        out = self._out()
        status = self._function(self._write(*words), ctypes.addressof(out))
        if not self._results and status == 0:
            return None
        found = self._read(out)
        if status != 0:
            _fail(*found[:_ERROR_WORDS])
        results = []
        at = 0
        try:
            for each in self._results:
                results.append(_result(each, found, at))
                at += _words_of(each)
        finally:
            self._release_blocks(found)
        return tuple(results) if self._is_tuple else results[0]

    def _release_blocks(self, out: Sequence[int]) -> None:
        """Gives back the memory in which arrays among the results were made."""
        at = 0
        for each in self._results:
            if each[1] and out[at]:
                self._release(out[at])
            at += _words_of(each)


def releaser(address: int) -> Callable[[int], None]:
    """The native function that releases a block of memory."""
    return _RELEASE(address)


_Type = tuple[np.dtype[Any], int, bool]
"""Of an array, its entries, its dimensions, and whether it may be written to; a number has no dimensions."""

_FLOAT, _BOOLEAN, _UNSIGNED = np.dtype(np.float64), np.dtype(np.bool_), np.dtype(np.uint64)

_NUMBERS = frozenset({int, bool, np.int64, np.bool_})


def _type_of(name: str) -> _Type:
    entries, dimensions, *more = [*name.split(" "), "0"]
    return np.dtype(entries), int(dimensions), ONLY_READ not in more


def _flat(arguments: Sequence[object]) -> Iterator[object]:
    """The arguments, with the fields of tuples in their places."""
    for argument in arguments:
        if isinstance(argument, tuple):
            yield from _flat(argument)
        else:
            yield argument


def _words_of(each: _Type) -> int:
    """The words of a result."""
    return 2 + each[1] if each[1] else 1


def _result(each: _Type, out: Sequence[int], at: int) -> Any:
    """What a result is in Python, from its words."""
    dtype, dimensions, _ = each
    if dimensions:
        made = np.empty(tuple(out[at + 2 : at + 2 + dimensions]), dtype)
        ctypes.memmove(address_of(made), out[at + 1], made.nbytes)
        return made
    if dtype is _FLOAT:
        return struct.unpack("<d", struct.pack("<q", out[at]))[0]
    if dtype is _BOOLEAN:
        return out[at] != 0
    return out[at] % 2**64 if dtype.kind == "u" else out[at]


def _fail(begin: int, size: int) -> NoReturn:
    """Raises what native code raised: the class of an error and its arguments, pickled, `size` bytes."""
    try:
        kind, arguments = pickle.loads(ctypes.string_at(begin, size))[:2]
        error = kind(*(arguments or ()))
    except Exception:  # noqa: BLE001 - whatever a description that cannot be read leads to
        error = RuntimeError("native code failed")
    raise error
