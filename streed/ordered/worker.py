"""The memory of the ordered search: its record, and the arrays that it writes."""

from __future__ import annotations

from typing import Any, final

import numpy as np

from streed.exact import Array
from streed.kernels import buffers
from streed.kernels.buffers import address_of
from streed.kernels.ordered.record import PLACE, RECORD, SPLITS
from streed.ordered.layout import FREE, ROWS_OF_HEAP, WORDS
from streed.ordered.problem import SearchedRows

_HEAP = 2**16
"""Intervals that are kept at once, beside one for each column."""

_UNKEPT = 4
"""Up to this depth nothing is kept of row sets."""

_POOL = 2**23
"""Words that are kept of row sets,"""

_PLACES = 2**19
"""and places of the table that leads to them."""

_COUNTERS = ("batches", "splits", "nodes", "recalled")
_SIGNS = ("full", "unsettled", "raised", "inexact")


@final
class Worker:
    """The record and all that it points to; of the columns of `ranks` (F, n) int32, `ordered` are ordered."""

    def __init__(self, rows: SearchedRows, ranks: Array, columns: int, ordered: int, control: Array) -> None:
        self.record: Array = np.zeros(len(RECORD.names or ()), np.int64)
        self.kept: dict[str, Array] = {}
        self._rows, self._ranks, self._control = rows, ranks, control
        self._columns, self._ordered = columns, ordered
        self._arena: Array | None = None
        self._cache: tuple[Array, ...] = ()
        self.fill(rows)

    def fill(self, rows: SearchedRows) -> None:
        """Writes the record for rows of these costs."""
        self._rows = rows
        n, columns = rows.n_rows, max(self._columns, 1)
        heap_space = columns + 4 * SPLITS + 8 + min(_HEAP, columns * n)
        heap = np.empty((ROWS_OF_HEAP, heap_space), np.int64)
        heap[FREE] = np.arange(heap_space)[::-1]
        worst = rows.worst
        is_uniform = bool((worst == worst[0]).all()) and worst[0] > 0
        arrays = self.kept = {
            "ranks": self._ranks,
            "worst": worst,
            **rows.summands(),
            "control": self._control,
            "mask": np.zeros(n, np.uint32),
            "scratch": _aligned(rows.scratch_vectors * SPLITS, rows.lane),
            "prefix": np.zeros((1, 1) if is_uniform else (columns, n + 1), np.int64),
            "heap": heap,
        }
        found_costs = rows.costs_by_label
        if found_costs is not None and (rows.price > 0 or self._ordered < self._columns):
            arrays["leaf_costs"] = found_costs
        for name in ("split_columns", "split_positions", "leaf_left", "leaf_right", "stump_left", "stump_right"):
            arrays[name] = np.zeros(SPLITS, np.int64)
        self.write(
            rows=n,
            columns=self._columns,
            ordered=self._ordered,
            labels=rows.n_labels,
            most_children=rows.most_children,
            split_cost=rows.price,
            min_leaf=rows.min_leaf,
            restrictable=int(rows.min_leaf <= 1),
            relaxing=int(rows.min_leaf > 1),
            relaxed=0,
            bounded=int(rows.bounded),
            uniform=int(worst[0]) if is_uniform else 0,
            least=0,
            asked_fan=-1,
            whole=int(rows.whole),
            leaf_costs=0,
            heap_space=heap_space,
            scratch_space=rows.scratch_vectors,
            score=rows.kernels[0],
            stump=rows.kernels[1],
        )
        self.write(**{name: address_of(each) for name, each in arrays.items()})

    def write(self, **words: int) -> None:
        """Writes words of the record, by name."""
        for name, word in words.items():
            self.record[PLACE[name]] = word

    def begin(self, depth: int, memory: int | None) -> None:
        """Makes room for a search to this depth, of `memory` bytes at most, which `end` gives back."""
        space = self._arena_bytes(depth, memory)
        self._arena = buffers.borrow(space)
        self.write(**dict.fromkeys((*_COUNTERS, *_SIGNS, "arena_used", "handed"), 0))
        self.write(arena=address_of(self._arena), arena_space=space)
        deep = depth > _UNKEPT and self._columns > 0
        words_kept = _POOL if memory is None else min(_POOL, memory // 16)
        pool = np.empty(words_kept if deep else 1, np.int64)
        table = np.zeros(_PLACES if deep else 1, np.int64)
        key = np.zeros(self._columns + 1, np.int64)
        self._cache = (pool, table, key)
        self.write(
            cache=address_of(pool) if deep else 0,
            cache_table=address_of(table),
            cache_key=address_of(key),
            cache_space=len(pool),
            cache_places=len(table),
            cache_used=1,
            cache_entries=0,
        )

    def end(self) -> None:
        """Gives back the room."""
        if self._arena is not None:
            buffers.give_back(self._arena)
        self._arena, self._cache = None, ()

    def counters(self) -> dict[str, int]:
        """What was done, by name."""
        return {name: int(self.record[PLACE[name]]) for name in _COUNTERS}

    def sign(self, name: str) -> bool:
        """Whether the search wrote down that this is so."""
        return bool(self.record[PLACE[name]])

    def _arena_bytes(self, depth: int, memory: int | None) -> int:
        """What the nodes of a path need together, at most `memory`."""
        n, columns = self._rows.n_rows, max(self._columns, 1)
        plan = 1 + WORDS * (2 * n + 1)
        children = self._rows.most_children
        if depth < 30:
            plan = min(plan, 1 + WORDS * (children**depth + 1))
        level = columns * (21 * n + 32) + (16 if children == 2 else 24) * plan + n + 8 * 64
        most = level * max(0, depth - 2) + 64
        return int(min(most, 2**31 if memory is None else memory))


def _aligned(size: int, dtype: Any) -> Array:
    """Zeros that begin at a multiple of 64 bytes, where vectors are loaded fastest."""
    width = np.dtype(dtype).itemsize
    buffer = np.zeros(size * width + 64, np.uint8)
    skip = -address_of(buffer) % 64
    return buffer[skip : skip + size * width].view(dtype)
