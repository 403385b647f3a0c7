"""An `Engine` record as Python reads and writes it: the words of a plain array, by the names of their fields.

Numpy's own record of so many fields takes microseconds to make, to read and to hand to native code, which is as long as
a small search takes. Native code is given the address instead.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import final

import numpy as np

from streed.exact import Array
from streed.kernels.buffers import address_of
from streed.kernels.records import ENGINE

_PLACE = {name: ENGINE.fields[name][1] // 8 for name in ENGINE.names}  # type: ignore[index, union-attr]
"""Where the fields lie, in words of eight bytes."""


@functools.cache
def _places(*names: str) -> Array:
    """Where several fields lie."""
    return np.array([_PLACE[name] for name in names], np.intp)


@final
class RecordProxy:
    """The words (int64) of a record, all zero at first; an array among its fields is read by its first word."""

    def __init__(self) -> None:
        self._words: Array = np.zeros(ENGINE.itemsize // 8, np.int64)
        self.address: int = address_of(self._words)
        """What native functions take."""

    def __getitem__(self, name: str) -> int:
        return int(self._words.item(_PLACE[name]))

    def __setitem__(self, name: str, word: int) -> None:
        self._words[_PLACE[name]] = word if word < 2**63 else int(word) - 2**64

    def read(self, names: Sequence[str]) -> list[int]:
        """Many fields at once."""
        words: list[int] = self._words[_places(*names)].tolist()
        return words

    def write(self, words: dict[str, int]) -> None:
        """Sets many fields at once."""
        self._words[_places(*words)] = list(words.values())

    def copy(self) -> Array:
        """All words as they are."""
        return self._words.copy()

    def restore(self, words: Array) -> None:
        """Puts all words back to what `copy` gave."""
        self._words[:] = words
