"""Trees of one branching node, by all binary splits at once: for fronts of tuples that add up.

Most of a search's time goes into its last level. There the leaf solutions of all children are rows of one table, so
that the values of all choices are one sum of arrays, and only those that are nondominated become solutions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

import numpy as np

from streed.dp.dominance import Front, Gathering
from streed.dp.states import Cell, Found, States, Sums

if TYPE_CHECKING:
    from streed.exact import Array

_FEW = 64
"""Fewer choices than this are quicker one by one."""

_FIRST = 64
"""Leaves that the table has room for at first."""


@final
class StumpTable:
    """The leaf solutions of the sums that were met, padded to as many as there are labels."""

    def __init__(self, states: States) -> None:
        n_labels, data = len(states.labels), states.data
        choices = states.n_splits * n_labels**2
        self.usable = not (states.task.reads_rows or data.categorical) and choices > _FEW
        """Whether there is something to gain, and all values so far fit."""
        self._states = states
        self._places: dict[Sums, int] = {}
        self._leaves: list[list[Found]] = []
        self._values: Array = np.zeros((_FIRST, n_labels, 0), dtype=np.int64)
        self._there: Array = np.zeros((_FIRST, n_labels), dtype=bool)

    def merge(self, cell: Cell, path: tuple[int, ...], gathering: Gathering) -> bool:
        """Adds all feasible trees of one branching node to the gathering; False, without doing so, if it cannot."""
        places = self._find(self._states.child_sums(cell))
        costs, added = self._costs(cell, path)
        if places is None or costs is None:
            self.usable = False
            return False
        left, right = places[0::2], places[1::2]
        together = self._there[left][:, :, None] & self._there[right][:, None, :]
        values = (self._values[left][:, :, None, :] + self._values[right][:, None, :, :])[together]
        choices = np.argwhere(together)
        if not len(values):
            return True
        if added is not None:
            values = values + added[choices[:, 0] if len(added) > 1 else 0]

        def solution(row: Array) -> Found:
            split, first, second = row.tolist()
            parts = (self._leaves[left[split]][first], self._leaves[right[split]][second])
            return gathering.solution(split, parts, costs[split] if len(costs) > 1 else costs[0])

        gathering.take(values, choices, solution)
        return True

    def _costs(self, cell: Cell, path: tuple[int, ...]) -> tuple[list[Any] | None, Array | None]:
        """What a branch costs, by split or once for all, and the same as an array; None, None if arrays cannot."""
        states = self._states
        columns = map(states.column_of, range(states.n_splits)) if states.column_counts else [0]
        costs = [states.task.branching_cost(cell.n_rows, path, column) for column in columns]
        if all(cost is None for cost in costs):
            return costs, None
        added = None if any(cost is None for cost in costs) else Front([(cost, 0, None) for cost in costs]).array()
        return (None, None) if added is None else (costs, added)

    def _find(self, sums: list[Sums]) -> Array | None:
        """(L,) where the table has the leaves of these sums; None if their values do not fit."""
        get = self._places.get
        places = [get(each) for each in sums]
        for at, place in enumerate(places):
            if place is None:
                # it may have been entered a moment ago
                entered = get(sums[at], -1)
                places[at] = entered if entered >= 0 else self._enter(sums[at])
                if places[at] is None:
                    return None
        return np.array(places, dtype=np.int64)

    def _enter(self, sums: Sums) -> int | None:
        """Where the leaf solutions of these sums now are; None if their values do not fit."""
        leaves = self._states.leaves_of_sums(sums) if sums[0] else []
        place = len(self._leaves)
        if place == len(self._values):
            self._values = np.concatenate([self._values, np.zeros_like(self._values)])
            self._there = np.concatenate([self._there, np.zeros_like(self._there)])
        if leaves:
            array = Front(leaves).array()
            if array is None:
                return None
            if self._values.shape[2] == 0:
                self._values = np.zeros((*self._values.shape[:2], array.shape[1]), dtype=array.dtype)
            if self._values.shape[2] != array.shape[1]:
                return None
            self._values = self._values.astype(np.result_type(self._values, array), copy=False)
            self._values[place, : len(leaves)] = array
            self._there[place, : len(leaves)] = True
        self._leaves.append(leaves)
        self._places[sums] = place
        return place
