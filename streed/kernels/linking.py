"""Native functions by their names: from the prebuilt library if they are there, else compiled.

The modules that define native functions import numba, which takes longer than a small search, and compiling takes
longer still. What only calls native code therefore names it here. The module of a function is imported when that
function has to be compiled: because there is no library, or because the library has none for such arguments.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import Any, final

from streed.kernels.prebuilt.calls import UNSUITED, Call
from streed.kernels.prebuilt.library import Library, library


class Native:
    """A native function that Python calls: by its name in the library, or what `make` gives, compiled when called."""

    def __init__(self, name_in_library: str, make: Callable[[], Any]) -> None:
        self._name_in_library, self._make = name_in_library, make

    @functools.cached_property
    def compiled(self) -> Any:
        """What numba makes of the function."""
        return self._make()

    @functools.cached_property
    def _calls(self) -> list[Call]:
        found = library()
        return [] if found is None else found.calls(self._name_in_library)

    @property
    def is_prebuilt(self) -> bool:
        """Whether the library has it, so that nothing is compiled for it."""
        return bool(self._calls)

    def __call__(self, *arguments: Any) -> Any:
        for call in self._calls:
            found = call(arguments)
            if found is not UNSUITED:
                return found
        return self.compiled(*arguments)


@final
class Entry(Native):
    """A native function of a module, with the signatures for which it is built beforehand.

    A signature is written as numba reads it: "(int64, uint8[:, ::1])"; it may name the `tuples` that are given (see
    `signatures.py`). Calls with other arguments are answered too, by compiled code.
    """

    def __init__(self, module: str, name: str, *signatures: str, tuples: tuple[type, ...] = ()) -> None:
        super().__init__(entry_name(module, name), lambda: getattr(importlib.import_module(module), name))
        self.module, self.name, self.signatures, self.tuples = module, name, signatures, tuples

    def make_ready(self) -> None:
        """Compiles the function for its signatures, or loads it, if that was not done yet."""
        if not self._calls and not self.compiled.signatures:
            self.compile()

    def compile(self) -> None:
        """Compiles the function for its signatures."""
        for signature in self.argument_types():
            # as numba sees the arguments of a call: files of compiled code are found by it
            self.compiled.compile(signature)

    def argument_types(self) -> list[tuple[Any, ...]]:
        """The signatures as numba's types of the arguments."""
        from streed.kernels.signatures import argument_types

        return [argument_types(signature, self.tuples) for signature in self.signatures]


def unit_address(module: str, maker: str, *arguments: Any) -> int:
    """The address of a work unit; `maker` is the function of the module that makes it of the arguments."""
    return _address(library(), module, maker, *arguments)


@functools.cache
def _address(found: Library | None, module: str, maker: str, *arguments: Any) -> int:
    """That in a library, or of what is compiled; the code stays where it is for as long as the process lives."""
    address = None if found is None else found.unit(unit_name(module, maker, *arguments))
    if address is not None:
        return address
    return int(getattr(importlib.import_module(module), maker)(*arguments).address)


def entry_name(module: str, name: str) -> str:
    """What an entry is found by in a library."""
    return f"{module}:{name}"


def unit_name(module: str, maker: str, *arguments: Any) -> str:
    """What a work unit is found by in a library; types among the arguments are told by their names."""
    return ":".join((module, maker, *(getattr(each, "__name__", str(each)) for each in arguments)))
