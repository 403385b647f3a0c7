"""Lists of all trees below a budget, by their sums: what is left to do where a bound does not meet the optimum.

    list(rows, depth, budget): for every key, the least value of a tree of weighted cost <= budget, where
        key    all sums of a tree but the first
        value  the first sum
        cost   weights . sums
    a leaf for each label; for each column whose children cost at least L and R:
        every sum of an entry of list(left, depth - 1, budget - R) and one of list(right, depth - 1, budget - L)

Nothing below the budget is missing: if a tree of cost <= budget splits on the column, its left part costs at most
budget - R. L and R are optima of scalar solves. A limit on the branching nodes is one more sum.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from typing import final

import attrs
import numpy as np

from streed.enumerate.entries import COST, KEY, VALUE, combine, list_shallow, meet, unite
from streed.enumerate.keys import encode
from streed.enumerate.shallow import floor_children
from streed.enumerate.vector_trees import EvaluatedTree, Trees, Window, widths
from streed.exact import Array
from streed.kernels.records import INFINITE
from streed.tree import Branch, Leaf, Node

_SHALLOW = 2
"""Depths that are listed natively."""

Entries = Array
"""(m, width) int64: cost, value and the words of the key of each, by rising cost."""


Ranked = tuple[int, int, list[int]]
"""What a split costs at least, its column, and what each child with rows costs at least."""


_FLAT = 4
"""Entries: fewer are not worth thinning."""


@final
@attrs.frozen
class Needed:
    """Which entries may be needed, at any node: those whose value and first sum are not beyond limits."""

    most_first: int
    most_value: int
    staircase: bool
    """Whether, of these, only the entries are needed that no other one dominates by value and first sum."""

    def thin(self, entries: Entries, sums: Array) -> Entries:
        """The entries that are needed, by rising cost; sums (m, q) are theirs."""
        kept = entries[(sums[:, 0] <= self.most_first) & (entries[:, VALUE] <= self.most_value)]
        if not self.staircase or len(kept) <= _FLAT:
            return kept
        order = np.lexsort((kept[:, VALUE], kept[:, KEY]))
        value = kept[order, VALUE]
        before: Array = np.concatenate([[np.iinfo(np.int64).max], np.minimum.accumulate(value)[:-1]])
        stairs: Entries = kept[order[value < before]]
        by_cost: Entries = stairs[np.argsort(stairs[:, COST], kind="stable")]
        return by_cost


@final
@attrs.frozen(eq=False)
class Split:
    """A split of some rows, with what its children cost at least."""

    column: int
    parts: tuple[Array, ...]
    """The rows of every child that has any."""
    codes: tuple[int, ...]
    """Which children these are."""
    floors: tuple[int, ...]
    floor: int
    """Of the whole split."""


@final
class Listing:
    """The trees below a budget of weights . sums, for one set of weights.

    The value is `value` . vector, the sums in the key are the components `keys` of the vector, and the cost is
    `scale` * value + `multipliers` . sums. `intervals`: the bounds of these sums for the whole tree. `needed`, if given
    at all, says which entries may be dropped.
    """

    def __init__(
        self,
        trees: Trees,
        value: Sequence[int],
        keys: Sequence[int],
        scale: int,
        multipliers: Sequence[int],
        intervals: Sequence[Window],
        needed: Needed | None = None,
    ) -> None:
        self.trees = trees
        self.intervals = list(intervals)
        if needed is not None and len(intervals) + (trees.problem.max_nodes is not None) > 1:
            # an entry that another one beats by its key and value may be the one of fewer nodes
            needed = attrs.evolve(needed, staircase=False)
        self._needed = needed
        self._problem = trees.problem
        self._weights = np.zeros(len(trees.merged.sums), np.int64)
        self._weights[: len(value)] = scale * np.array(value, np.int64)
        self._weights[list(keys)] += np.array(multipliers, np.int64)
        value_sums = np.tensordot(np.array(value, np.int64), trees.merged.sums[: len(value)], 1)
        value_split = sum(w * each for w, each in zip(value, trees.splits, strict=False))
        self._split_cost = sum(w * each for w, each in zip(self._weights.tolist(), trees.splits, strict=True))
        key_sums, self._key_splits = [trees.merged.sums[j] for j in keys], [trees.splits[j] for j in keys]
        if self._problem.max_nodes is not None:
            key_sums.append(np.zeros_like(value_sums))
            self._key_splits.append(1)
            self.intervals.append((0, self._problem.max_nodes))
        self._codes = trees.merged.codes
        self._counts = trees.merged.counts
        self._code = encode(key_sums, self._key_splits, self._most_branches())
        self._split = np.array([self._split_cost, value_split, *self._code.split], np.int64)
        costs = np.tensordot(self._weights, trees.merged.sums, 1)
        packed = self._code.keys(costs.shape)
        # (n', K, width): what a distinct row's label adds to an entry
        self._entries = np.concatenate([costs[:, :, None], value_sums[:, :, None], packed], axis=2)
        self._widths = widths(trees.data)
        self._native = not trees.data.categorical
        self._floors: dict[tuple[bytes, int | None], int] = {}
        self._ranked: dict[tuple[bytes, int | None], list[Ranked]] = {}
        if self._native:
            self._arrays = _native_arrays(self._codes, self._entries, self._counts)

    def rows(self) -> Array:
        """All distinct rows, by number."""
        return np.arange(len(self._codes))

    def sums_of(self, entries: Entries) -> Array:
        """(m, q) the sums that the keys hold."""
        return self._code.sums(entries[:, KEY:])

    def best(self, budget: int, below: int) -> tuple[int, EvaluatedTree] | None:
        """The least value of a tree of cost <= budget with all sums in their intervals, and the tree; None if >= below.

        Raises SearchStopped when the orders say so.
        """
        rows, depth = self.rows(), self._problem.max_depth
        is_shallow = depth == 0 or (self._native and depth in (1, _SHALLOW))
        target, chosen = None, None
        listed = self.every(budget) if is_shallow else self._leaves(rows, budget)
        listed = listed[self._inside(listed) & (listed[:, VALUE] < below)]
        if len(listed):
            target = listed[listed[:, VALUE].argmin()]
            below = int(target[VALUE])
        for split in () if is_shallow else self._splits(rows, depth, budget):
            pair = self._best_pair(split, _below(depth), budget, below)
            if pair is not None:
                target, chosen = pair + self._split, split
                below = int(target[VALUE])
        return None if target is None else (below, self.trees.grown(self._find(rows, depth, target, chosen)))

    def _best_pair(self, split: Split, depth: int | None, budget: int, below: int) -> Array | None:
        """The entry of the children together that has the least value, if with the split it is in the intervals."""
        *lists, last = self._children(split, depth, budget)
        first = self._combined(lists, split, budget)
        sums = self.sums_of(last)
        order = np.argsort(sums[:, 0], kind="stable")
        last, sums = last[order], sums[order]
        least, most = np.array(self.intervals, np.int64).T - np.array(self._key_splits, np.int64)
        _, i, j = meet(first, last, self.sums_of(first), sums, least, most, below - self._split[VALUE])
        pair: Array | None = first[i] + last[j] if i >= 0 else None
        return pair

    def every(self, budget: int) -> Entries:
        """All entries of cost <= budget whose sums are in their intervals."""
        entries = self.entries(self.rows(), self._problem.max_depth, budget)
        return entries[self._inside(entries)]

    def tree(self, entry: Array) -> EvaluatedTree:
        """A tree of an entry that `every` gave."""
        return self.trees.grown(self._find(self.rows(), self._problem.max_depth, entry, None))

    def entries(self, rows: Array, depth: int | None, budget: int) -> Entries:
        """The list of the rows."""
        if self._native and depth in (1, _SHALLOW):
            self.trees.remaining()
            found: Entries = list_shallow(
                rows, *self._arrays, self._split, len(self._widths), depth, self._least_rows, budget
            )
            return self._thin(found)
        found = self._leaves(rows, budget)
        for split in self._splits(rows, depth, budget):
            found = unite(
                found, self._combined(self._children(split, _below(depth), budget), split, budget, whole=True)
            )
        return self._thin(found)

    def _thin(self, found: Entries) -> Entries:
        return found if self._needed is None else self._needed.thin(found, self.sums_of(found))

    @property
    def _least_rows(self) -> int:
        return self._problem.min_leaf

    def _most_branches(self) -> int:
        depth, rows = self._problem.max_depth, len(self._codes)
        return rows if depth is None or depth > 20 else min(rows, 256**depth)

    def _inside(self, entries: Entries) -> Array:
        sums = self.sums_of(entries)
        inside = np.ones(len(entries), np.bool_)
        for j, (least, most) in enumerate(self.intervals):
            inside &= (least <= sums[:, j]) & (sums[:, j] <= most)
        return inside

    def _leaves(self, rows: Array, budget: int) -> Entries:
        if self._counts[rows].sum() < self._least_rows:
            return np.zeros((0, len(self._split)), np.int64)
        leaves = self._entries[rows].sum(axis=0)
        leaves = leaves[leaves[:, COST] <= budget]
        found: Entries = unite(leaves, leaves[:0])
        return found

    def _splits(self, rows: Array, depth: int | None, budget: int) -> Iterator[Split]:
        """The splits of the rows that may cost at most `budget`, by rising cost of their children."""
        if depth == 0:
            return
        name = (rows.tobytes(), depth)
        if name not in self._ranked:
            self.trees.remaining()
            rank = self._rank_natively if self._native and _below(depth) in (0, 1, _SHALLOW) else self._rank_by_driver
            self._ranked[name] = rank(rows, _below(depth))
        for floor, column, floors in self._ranked[name]:
            if floor > budget:
                return
            parts = self._parts(rows, column)
            codes = tuple(code for code, part in enumerate(parts) if len(part))
            yield Split(column, tuple(parts[code] for code in codes), codes, tuple(floors), floor)

    def _parts(self, rows: Array, column: int) -> list[Array]:
        here = self._codes[rows, column]
        return [rows[here == code] for code in range(self._widths[column])]

    def _rank_natively(self, rows: Array, below: int | None) -> list[Ranked]:
        floors = floor_children(rows, *self._arrays, self._split, len(self._widths), below, self._least_rows)
        columns = np.flatnonzero(floors.max(axis=1, initial=0) < INFINITE)
        totals = floors[columns].sum(axis=1) + self._split_cost
        order = np.argsort(totals, kind="stable")
        chosen = columns[order]
        return list(zip(totals[order].tolist(), chosen.tolist(), floors[chosen].tolist(), strict=True))

    def _rank_by_driver(self, rows: Array, below: int | None) -> list[Ranked]:
        ranked = []
        for column in range(len(self._widths)):
            parts = [part for part in self._parts(rows, column) if len(part)]
            if len(parts) < 2:
                continue
            floors = [self._floor(part, below) for part in parts]
            if max(floors) < INFINITE:
                ranked.append((sum(floors) + self._split_cost, column, floors))
        return sorted(ranked, key=operator.itemgetter(0))

    def _floor(self, rows: Array, depth: int | None) -> int:
        """The least cost of a tree for the rows."""
        name = (rows.tobytes(), depth)
        if name not in self._floors:
            self.trees.remaining()
            if depth == 0:
                leaves = self._leaves(rows, INFINITE)
                self._floors[name] = int(leaves[0, COST]) if len(leaves) else INFINITE
            else:
                chosen = np.zeros(len(self._codes), np.bool_)
                chosen[rows] = True
                members = np.flatnonzero(chosen[self.trees.merged.member])
                nodes = None if self._problem.max_nodes is None else max(0, self._problem.max_nodes - 1)
                data = self.trees.data.subset(members)
                costs = np.tensordot(self._weights, self.trees.parts[:, members], 1)
                least = self.trees.least_cost(data, costs, self._split_cost, depth, nodes)
                self._floors[name] = INFINITE if least is None else least
        return self._floors[name]

    def _children(self, split: Split, depth: int | None, budget: int) -> list[Entries]:
        """The lists of the children, each below what the others leave."""
        return [
            self.entries(part, depth, budget - split.floor + floor)
            for part, floor in zip(split.parts, split.floors, strict=True)
        ]

    def _combined(self, lists: list[Entries], split: Split, budget: int, whole: bool = False) -> Entries:
        """The lists in one, below what the children left out still cost; `whole`: with what the split adds."""
        nothing = np.zeros_like(self._split)
        found = lists[0]
        for count, each in enumerate(lists[1:], 2):
            last = whole and count == len(lists)
            room = budget - sum(split.floors[count:]) - (0 if last else self._split_cost)
            found = combine(found, each, self._split if last else nothing, room)
        return found

    def _find(self, rows: Array, depth: int | None, target: Array, hint: Split | None) -> Node:
        """A tree for the rows with the key and value of the target."""
        if hint is None and self._counts[rows].sum() >= self._least_rows:
            for label, leaf in enumerate(self._entries[rows].sum(axis=0).tolist()):
                if leaf == target.tolist():
                    return Leaf(label, len(rows), 0)
        budget = int(target[COST])
        for split in [hint] if hint is not None else self._splits(rows, depth, budget):
            lists = self._children(split, _below(depth), budget)
            targets = self._shared(lists, split, target)
            if targets is not None:
                return self._grown(rows, depth, split, targets)
        raise AssertionError("no tree has the sums that were listed; please report this")

    def _shared(self, lists: list[Entries], split: Split, target: Array) -> list[Array] | None:
        """An entry of each list, together with the split the target; None if there are none."""
        rest = target - self._split
        targets: list[Array] = []
        for count in range(len(lists), 1, -1):
            first = self._combined(lists[: count - 1], split, int(target[COST]))
            pair = _find_pair(first, lists[count - 1], rest)
            if pair is None:
                return None
            rest = pair[0]
            targets.append(pair[1])
        return [rest, *reversed(targets)]

    def _grown(self, rows: Array, depth: int | None, split: Split, targets: list[Array]) -> Node:
        below = _below(depth)
        subtrees = {
            code: self._find(part, below, target, None)
            for code, part, target in zip(split.codes, split.parts, targets, strict=True)
        }
        empty = Leaf(0, 0, 0)
        children = tuple(subtrees.get(code, empty) for code in range(self._widths[split.column]))
        return Branch(split.column, children, len(rows))


def _below(depth: int | None) -> int | None:
    return None if depth is None else depth - 1


def _find_pair(first: Entries, second: Entries, total: Array) -> tuple[Array, Array] | None:
    """An entry of each list that add up to the total; None if there are none."""
    order = np.argsort(second[:, KEY], kind="stable")
    keys = second[order, KEY]
    wanted = total - first
    at = np.searchsorted(keys, wanted[:, KEY])
    end = np.searchsorted(keys, wanted[:, KEY], side="right")
    for i in np.flatnonzero(end > at).tolist():
        for j in order[at[i] : end[i]].tolist():
            if (second[j] == wanted[i]).all():
                return first[i], second[j]
    return None


def _native_arrays(codes: Array, entries: Array, counts: Array) -> tuple[Array, Array, Array, Array]:
    """starts, columns, profits and base as `streed.enumerate.entries` describes them."""
    row, columns = np.nonzero(codes)
    starts = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=len(codes)))])
    profits = (entries[:, 1:] - entries[:, :1]).reshape(len(codes), -1)
    return (
        starts.astype(np.int64),
        columns.astype(np.int64),
        np.ascontiguousarray(np.concatenate([counts[:, None], profits], axis=1)).astype(np.int64),
        np.ascontiguousarray(entries[:, 0]).astype(np.int64),
    )
