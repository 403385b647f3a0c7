"""Lists of all trees below a budget, by their sums: what is left to do where a bound does not meet the optimum.

    list(rows, depth, budget): for every key, the least value of a tree of weighted cost <= budget, where
        key    all sums of a tree but the first, in one whole number
        value  the first sum
        cost   weights . sums
    a leaf for each label; for each column whose children cost at least L and R:
        every sum of an entry of list(left, depth - 1, budget - R) and one of list(right, depth - 1, budget - L)

Nothing below the budget is missing: if a tree of cost <= budget splits on the column, its left part costs at most
budget - R. L and R are optima of scalar solves. A limit on the branching nodes is one more sum.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import final

import attrs
import numpy as np

from streed.engine.listing import combine, floor_children, list_shallow, meet, unite
from streed.engine.records import INFINITE
from streed.exact import Array
from streed.reductions.keys import encode
from streed.reductions.trees import Trees, Window, widths
from streed.tree import Branch, Leaf, Node

_SHALLOW = 2
"""Depths that are listed natively."""

Entries = Array
"""(m, 3) int64: key, value and cost of each, by rising cost."""


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

    `sums` (m, n, K) and `splits` (m,): the first of them is the value, the others the key; `weights` (m,) whole
    numbers, `windows` the bounds of the sums of the key for the whole tree. `thin`, if given, drops entries that are
    never needed.
    """

    def __init__(
        self,
        trees: Trees,
        sums: Array,
        splits: Sequence[int],
        weights: Sequence[int],
        windows: Sequence[Window],
        thin: Callable[[Listing, Entries], Entries] | None = None,
    ) -> None:
        self.trees = trees
        self.windows = list(windows)
        self._thin = thin
        data = trees.data
        self._problem = trees.problem
        self._costs = np.tensordot(np.array(weights, np.int64), sums, 1)
        self._split_cost = sum(w * each for w, each in zip(weights, splits, strict=True))
        key_sums, key_splits = list(sums[1:]), list(splits[1:])
        if self._problem.max_nodes is not None:
            key_sums.append(np.zeros_like(sums[0]))
            key_splits.append(1)
            self.windows.append((0, self._problem.max_nodes))
        self._codes, self._member = _distinct(data.X)
        self._code = encode(key_sums, key_splits, self._most_branches())
        key = self._code.keys(sums[0].shape)
        self._key_splits = key_splits
        self._split = np.array([self._code.split, splits[0], self._split_cost], np.int64)
        # (n', K, 3): what a distinct row's label adds to key, value and cost
        stacked = np.stack([key, sums[0], self._costs], axis=2)
        self._entries = np.zeros((len(self._codes), *stacked.shape[1:]), np.int64)
        np.add.at(self._entries, self._member, stacked)
        self._counts = np.bincount(self._member, minlength=len(self._codes))
        self._widths = widths(data)
        self._native = not data.categorical
        self._floors: dict[tuple[bytes, int | None], int] = {}
        self._split_lists: dict[tuple[bytes, int | None], list[Split]] = {}
        if self._native:
            self._arrays = _native_arrays(self._codes, self._entries, self._counts)

    def rows(self) -> Array:
        """All distinct rows, by number."""
        return np.arange(len(self._codes))

    def sums_of(self, entries: Entries) -> Array:
        """(m, q) the sums that the keys hold."""
        return self._code.sums(entries[:, 0])

    def best(self, budget: int, below: int) -> tuple[int, Node] | None:
        """The least value of a tree of cost <= budget whose sums are in their windows, and the tree; None if >= below.

        Raises Stop when the orders say so.
        """
        rows, depth = self.rows(), self._problem.max_depth
        least = np.array([low for low, _ in self.windows], np.int64)
        most = np.array([high for _, high in self.windows], np.int64)
        chosen: Split | None = None
        leaves = self._leaves(rows, budget)
        inside = self._inside(leaves) & (leaves[:, 1] < below)
        target = None
        if inside.any():
            target = leaves[inside][leaves[inside, 1].argmin()]
            below = int(target[1])
        for split in self._splits(rows, depth) if depth != 0 else ():
            if split.floor > budget:
                break
            lists = self._children(split, _below(depth), budget)
            last = lists.pop()
            first = self._combined(lists, split, budget)
            sums = self.sums_of(last)
            order = np.argsort(sums[:, 0], kind="stable")
            add = np.array(self._key_splits, np.int64)
            value, i, j = meet(
                first, last[order], self.sums_of(first), sums[order], least - add, most - add, below - self._split[1]
            )
            if i >= 0:
                below = int(value + self._split[1])
                target = first[i] + last[order][j] + self._split
                chosen = split
        if target is None:
            return None
        return below, self._find(rows, depth, target, chosen)

    def every(self, budget: int) -> Entries:
        """All entries of cost <= budget whose sums are in their windows."""
        entries = self.entries(self.rows(), self._problem.max_depth, budget)
        return entries[self._inside(entries)]

    def tree(self, entry: Array) -> Node:
        """A tree of an entry that `every` gave."""
        return self._find(self.rows(), self._problem.max_depth, entry, None)

    def entries(self, rows: Array, depth: int | None, budget: int) -> Entries:
        """The list of the rows."""
        if self._native and depth in (1, _SHALLOW):
            self.trees.remaining()
            found: Entries = list_shallow(
                rows, *self._arrays, self._split, len(self._widths), depth, self._least_rows, budget
            )
            return found if self._thin is None else self._thin(self, found)
        found = self._leaves(rows, budget)
        for split in self._splits(rows, depth) if depth != 0 else ():
            if split.floor > budget:
                break
            found = unite(
                found, self._combined(self._children(split, _below(depth), budget), split, budget, whole=True)
            )
        return found if self._thin is None else self._thin(self, found)

    @property
    def _least_rows(self) -> int:
        return self._problem.min_leaf

    def _most_branches(self) -> int:
        depth, rows = self._problem.max_depth, len(self._codes)
        return rows if depth is None or depth > 20 else min(rows, 256**depth)

    def _inside(self, entries: Entries) -> Array:
        sums = self.sums_of(entries)
        inside = np.ones(len(entries), np.bool_)
        for j, (least, most) in enumerate(self.windows):
            inside &= (least <= sums[:, j]) & (sums[:, j] <= most)
        return inside

    def _leaves(self, rows: Array, budget: int) -> Entries:
        if self._counts[rows].sum() < self._least_rows:
            return np.zeros((0, 3), np.int64)
        leaves = self._entries[rows].sum(axis=0)
        leaves = leaves[leaves[:, 2] <= budget]
        found: Entries = unite(leaves, leaves[:0])
        return found

    def _splits(self, rows: Array, depth: int | None) -> list[Split]:
        """The splits of the rows, by rising cost of their children."""
        name = (rows.tobytes(), depth)
        if name not in self._split_lists:
            found = list(self._make_splits(rows, depth))
            self._split_lists[name] = sorted(found, key=lambda split: split.floor)
        return self._split_lists[name]

    def _make_splits(self, rows: Array, depth: int | None) -> Iterator[Split]:
        below = _below(depth)
        native = self._native and below in (1, _SHALLOW)
        if native:
            self.trees.remaining()
            floors = floor_children(rows, *self._arrays, self._split, len(self._widths), below, self._least_rows)
        for column, width in enumerate(self._widths):
            if native and floors[column].max() >= INFINITE:
                continue
            here = self._codes[rows, column]
            parts = [rows[here == code] for code in range(width)]
            codes = tuple(code for code in range(width) if len(parts[code]))
            if len(codes) < 2:
                continue
            filled = tuple(parts[code] for code in codes)
            least = tuple(floors[column].tolist()) if native else tuple(self._floor(part, below) for part in filled)
            if max(least) < INFINITE:
                yield Split(column, filled, codes, least, sum(least) + self._split_cost)

    def _floor(self, rows: Array, depth: int | None) -> int:
        """The least cost of a tree for the rows."""
        name = (rows.tobytes(), depth)
        if name not in self._floors:
            self.trees.remaining()
            if depth == 0:
                leaves = self._leaves(rows, INFINITE)
                self._floors[name] = int(leaves[0, 2]) if len(leaves) else INFINITE
            else:
                chosen = np.zeros(len(self._codes), np.bool_)
                chosen[rows] = True
                members = np.flatnonzero(chosen[self._member])
                nodes = None if self._problem.max_nodes is None else max(0, self._problem.max_nodes - 1)
                data = self.trees.data.subset(members)
                root, cost = self.trees.solve_rows(data, self._costs[members], self._split_cost, depth, nodes)
                self._floors[name] = INFINITE if root is None else cost
        return self._floors[name]

    def _children(self, split: Split, depth: int | None, budget: int) -> list[Entries]:
        """The lists of the children, each below what the others leave."""
        return [
            self.entries(part, depth, budget - split.floor + floor)
            for part, floor in zip(split.parts, split.floors, strict=True)
        ]

    def _combined(self, lists: list[Entries], split: Split, budget: int, whole: bool = False) -> Entries:
        """The lists in one, below what the children left out still cost; `whole`: with what the split adds."""
        nothing = np.zeros(3, np.int64)
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
        budget = int(target[2])
        for split in [hint] if hint is not None else self._splits(rows, depth):
            if split.floor > budget:
                break
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
            first = self._combined(lists[: count - 1], split, int(target[2]))
            second = lists[count - 1]
            order = np.argsort(second[:, 0], kind="stable")
            at = np.searchsorted(second[order, 0], rest[0] - first[:, 0])
            known = at < len(second)
            pairs = second[order[at * known]] if len(second) else np.zeros((len(first), 3), np.int64)
            found = np.flatnonzero(known & (first + pairs == rest).all(axis=1))
            if not len(found):
                return None
            targets.append(pairs[found[0]])
            rest = first[found[0]]
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


def _distinct(codes: Array) -> tuple[Array, Array]:
    """The distinct rows of codes (n, p), and which of them each row is."""
    if not codes.shape[1]:
        return codes[:1], np.zeros(len(codes), np.int64)
    whole = np.ascontiguousarray(codes).view(np.dtype((np.void, codes.shape[1]))).ravel()
    _, first, member = np.unique(whole, return_index=True, return_inverse=True)
    return codes[first], member.ravel()


def _native_arrays(codes: Array, entries: Array, counts: Array) -> tuple[Array, Array, Array, Array]:
    """starts, columns, profits and base as `streed.engine.listing` describes them."""
    row, columns = np.nonzero(codes)
    starts = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=len(codes)))])
    flipped = entries[:, :, ::-1]
    profits = (flipped[:, 1:] - flipped[:, :1]).reshape(len(codes), -1)
    return (
        starts.astype(np.int64),
        columns.astype(np.int64),
        np.ascontiguousarray(np.concatenate([counts[:, None], profits], axis=1)).astype(np.int64),
        np.ascontiguousarray(flipped[:, 0]).astype(np.int64),
    )
