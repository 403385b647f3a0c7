"""Calling prebuilt native functions from Python: arguments as words, results as words, errors as a status.

A native function takes the addresses of two arrays of int64. The first holds its arguments: a number is a word, an
array is the address of its entries and its shape. It writes its results into the second one: a number is a word, an
array is the block of memory that it lies in, the address of its entries and its shape. Arrays are copied from there
into arrays of numpy's, and the block is released. What the function gives back is 0, or the status of an error, whose
description, as numba pickles it, is in the first two words of the results.
"""

from __future__ import annotations

import ctypes
import functools
import itertools
import pickle
import struct
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn

import numpy as np

from streed.kernels.buffers import ADDRESS_BITS, CAN_READ, FIRST, WORD_OF_ARRAY, address_of, words_of_memory
from streed.kernels.prebuilt.container import ONLY_READ, Overload

_FUNCTION = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_char_p, ctypes.c_void_p)
"""Called without the GIL."""

_RELEASE = ctypes.CFUNCTYPE(None, ctypes.c_int64)

_ERROR_WORDS = 2

UNSUITED = object()
"""What a call gives for arguments of types or a layout that the function was not built for."""

Call = Callable[[Sequence[object]], Any]
"""A native function for arguments of given types: what it gives for a sequence of arguments, or UNSUITED."""


def make_call(address: int, overload: Overload, release: Callable[[int], None]) -> Call:
    """The function at the address, as Python calls it.

    Small solves make dozens of calls, so the code between is written for its types: checks, words, results.
    """
    arguments = [_type_of(name) for name in overload.arguments]
    results = [_type_of(name) for name in overload.results]
    size = max(_ERROR_WORDS, sum(_words_of(each) for each in results))
    names: dict[str, Any] = {
        **{f"type_of_{i}": each[0] for i, each in enumerate(arguments)},
        **{f"result_{i}": each[0] for i, each in enumerate(results)},
        "function": _FUNCTION(address),
        "pack": struct.Struct(f"{sum(1 + dimensions for _, dimensions, _ in arguments)}q").pack,
        "Out": ctypes.c_int64 * size,
        "read": struct.Struct(f"{size}q").unpack,
        "memory": _memory(),
        "words": words_of_memory() if CAN_READ else None,
        "release": release,
        **_NAMES,
    }
    exec("\n".join(_source(arguments, results, overload.is_tuple)), names)  # text of this file alone
    made: Call = names["call"]
    return made


def _source(arguments: Sequence[_Type], results: Sequence[_Type], is_tuple: bool) -> Iterator[str]:
    """The lines of the function that `make_call` gives."""
    n = len(arguments)
    yield "def call(arguments):"
    yield f"    if len(arguments) != {n}:"
    yield "        arguments = tuple(flat(arguments))  # named tuples stand for their fields"
    yield f"        if len(arguments) != {n}:"
    yield "            return UNSUITED"
    yield f"    {''.join(f'a{i}, ' for i in range(n))} = arguments" if n else "    pass"
    words: list[str] = []
    for i, (dtype, dimensions, written) in enumerate(arguments):
        if dimensions:
            yield f"    if type(a{i}) is not ndarray or a{i}.ndim != {dimensions}:"
            yield "        return UNSUITED"
            yield f"    flags = a{i}.flags"
            yield f"    if not ({'flags.carray' if written else 'flags.c_contiguous and flags.aligned'}):"
            yield "        return UNSUITED"
            yield f"    dtype = a{i}.dtype  # nearly always the same object, which is quicker to see"
            yield f"    if dtype is not type_of_{i} and dtype != type_of_{i}:"
            yield "        return UNSUITED"
            words += [f"words[(id(a{i}) >> 3) + WORD_OF_ARRAY]" if CAN_READ else f"address_of(a{i})", f"*a{i}.shape"]
        elif dtype is _FLOAT:
            yield f"    if not isinstance(a{i}, float):"
            yield "        return UNSUITED"
            words.append(f"word_of(a{i})")
        elif dtype is _UNSIGNED:
            yield f"    if type(a{i}) is not uint64:"
            yield "        return UNSUITED"
            words.append(f"int(a{i}) - (0 if a{i} < BEYOND else 2**64)")
        else:
            yield f"    if type(a{i}) is not int:"
            yield f"        if type(a{i}) not in NUMBERS:"
            yield "            return UNSUITED"
            yield f"        a{i} = int(a{i})"
            words.append(f"a{i}")
    yield "    try:"
    yield f"        given = pack({', '.join(words)})"
    yield "    except StructError:  # a number of more than a word"
    yield "        return UNSUITED"
    yield "    out = Out()"
    yield "    status = function(given, addressof(out))"
    if not results:
        yield "    if status == 0:"
        yield "        return None"
    yield "    found = read(out)"
    yield "    if status != 0:"
    yield f"        fail(*found[:{_ERROR_WORDS}])"
    places = list(itertools.accumulate((_words_of(each) for each in results), initial=0))
    given = [_result(i, each, at) for i, (each, at) in enumerate(zip(results, places, strict=False))]
    blocks = [at for each, at in zip(results, places, strict=False) if each[1]]
    answer = f"({', '.join(given)},)" if is_tuple else given[0] if given else "None"
    if not blocks:
        yield f"    return {answer}"
        return
    yield "    try:"
    yield f"        return {answer}"
    yield "    finally:"
    for at in blocks:
        yield f"        if found[{at}]:"
        yield f"            release(found[{at}])"


def _result(i: int, each: _Type, at: int) -> str:
    """What a result is in Python, of the words `found` from this one on."""
    dtype, dimensions, _ = each
    if dimensions:
        # a view of the memory at the address, and a copy of it
        shape = "".join(f"found[{at + 2 + axis}], " for axis in range(dimensions))
        return f"ndarray(({shape}), result_{i}, memory, found[{at + 1}] - {FIRST}).copy()"
    if dtype is _FLOAT:
        return f"float_of(found[{at}])"
    if dtype is _BOOLEAN:
        return f"found[{at}] != 0"
    return f"found[{at}] % 2**64" if dtype.kind == "u" else f"found[{at}]"


@functools.cache
def _memory() -> Any:
    """All memory of a process from FIRST on as one array of bytes, so that an address is an offset."""
    return (ctypes.c_char * (2**ADDRESS_BITS - FIRST)).from_address(FIRST)


def releaser(address: int) -> Callable[[int], None]:
    """The native function that releases a block of memory."""
    return _RELEASE(address)


_Type = tuple[np.dtype[Any], int, bool]
"""Of an array, its entries, its dimensions, and whether it may be written to; a number has no dimensions."""

_FLOAT, _BOOLEAN, _UNSIGNED = np.dtype(np.float64), np.dtype(np.bool_), np.dtype(np.uint64)


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


def _fail(begin: int, size: int) -> NoReturn:
    """Raises what native code raised: the class of an error and its arguments, pickled, `size` bytes."""
    try:
        kind, arguments = pickle.loads(ctypes.string_at(begin, size))[:2]
        error = kind(*(arguments or ()))
    except Exception:  # noqa: BLE001 - whatever a description that cannot be read leads to
        error = RuntimeError("native code failed")
    raise error


def _word_of(number: float) -> int:
    word: int = struct.unpack("<q", struct.pack("<d", number))[0]
    return word


def _float_of(word: int) -> float:
    number: float = struct.unpack("<d", struct.pack("<q", word))[0]
    return number


_NAMES = {
    "ndarray": np.ndarray,
    "uint64": np.uint64,
    "address_of": address_of,
    "WORD_OF_ARRAY": WORD_OF_ARRAY,
    "addressof": ctypes.addressof,
    "flat": _flat,
    "fail": _fail,
    "word_of": _word_of,
    "float_of": _float_of,
    "StructError": struct.error,
    "BEYOND": 2**63,
    "NUMBERS": frozenset({int, bool, np.int64, np.bool_}),
    "UNSUITED": UNSUITED,
}
"""What the text of every call may name."""
