"""The trees of a cost within a budget, by their sums: the recursion of this package, over sets of rows of any kind.

Where nodes have a cost, no depth beyond what a budget pays for is looked into. Intervals of the sums are asked at the
root only, where the tables of the children of a split meet without being combined.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, final

import attrs
import numpy as np

from streed.exact import Array
from streed.kernels.records import LEAF, SHALLOW
from streed.problem import Problem, SearchStopped, process_memory
from streed.problem.linear_oracle import RowSet
from streed.tables.entries import COST, KEY, USED, VALUE, addends, as_table, compact, meet, put_sums
from streed.tables.packing import WORD, Packing
from streed.tables.row_sets import NumberedRowSets
from streed.tables.shallow import enumerate_shallow
from streed.tables.vector_trees import EvaluatedTree, Preorder, Trees, Window, joined

_SHARE = 0.25
"""Of the memory that is left: what the entries of one set of rows may take, while others wait for them."""

_COPIES = 6
"""Words that an entry takes at most for each of its own, while its table grows."""

_FEWEST = 2**12

MOST_KEYS = 2**13
"""Sums of a key: of more, the keys of any number of trees take too much memory."""

_MOST_PAIRS = (2**24, 2**28)
"""Sums of pairs of columns, of trees of one level and of more: of more columns, each is tried by itself."""

_DEEP = SHALLOW + 2
"""Depths beyond are not limited by what a budget pays for."""


@final
@attrs.frozen(eq=False)
class Split:
    """A split of some rows, with all entries of its children."""

    column: int
    children: list[RowSet | None]
    """In the order of codes; None for one without rows."""
    tables: list[Array]
    """Of the children that have rows."""


@final
class NearOptimalTrees:
    """The trees of a cost within a budget, by their sums, for one set of weights.

    The value is `value` . vector, the sums in the key are the components `keys` of the vector, and the cost is
    `scale` * value + `multipliers` . sums. `intervals`: the bounds of these sums for the whole tree. Every question may
    raise SearchStopped.
    """

    def __init__(
        self,
        trees: Trees,
        value: Sequence[int],
        keys: Sequence[int],
        scale: int,
        multipliers: Sequence[int],
        intervals: Sequence[Window],
    ) -> None:
        if len(keys) > MOST_KEYS:
            raise SearchStopped("memory")
        self._trees = trees
        problem, self._least_rows = trees.problem, trees.problem.min_leaf
        weights = np.zeros(len(trees.splits), np.int64)
        weights[: len(value)] = scale * np.array(value, np.int64)
        weights[list(keys)] += np.array(multipliers, np.int64)
        values = trees.vectors[:, :, : len(value)] @ np.array(value, np.int64)
        key_sums, key_splits = [trees.vectors[:, :, j] for j in keys], [trees.splits[j] for j in keys]
        bounds = list(intervals)
        if problem.max_nodes is not None:
            key_sums.append(np.zeros_like(values))
            key_splits.append(1)
            bounds.append((0, problem.max_nodes))
        branches = Problem(trees.data, problem.task, problem.max_depth, None, self._least_rows).most_branches
        packing = self._packing = Packing.of(key_sums, key_splits, branches, trees.sizes, WORD)
        self._lowest, self._highest = np.ascontiguousarray(np.array(bounds, np.int64).T)
        split_cost, split_value = (
            sum(w * each for w, each in zip(factors, trees.splits, strict=False))
            for factors in (weights.tolist(), value)
        )
        entries = np.concatenate([(trees.vectors @ weights)[:, :, None], values[:, :, None], packing.costs], axis=2)
        split = np.array([split_cost, split_value, *packing.split], np.int64)
        pairs = (1 + (entries.shape[1] - 1) * entries.shape[2]) * trees.data.n_columns**2
        in_pairs = pairs <= _MOST_PAIRS[problem.max_depth != 1]
        packed = trees.oracle.row_sets(entries, split, trees.remaining()) if in_pairs else None
        self._rows = packed or NumberedRowSets(trees, entries, split, in_pairs=in_pairs)
        self._split = np.array([*self._rows.split.tolist(), 0], np.int64)
        limit = trees.search_limits.memory_limit
        left = process_memory.free() if limit is None else limit - process_memory.resident()
        self._most = max(_FEWEST, int(left * _SHARE / (8 * len(self._split) * _COPIES)))

    # -- what is asked ---------------------------------------------------------------------------------------------

    def sums_of(self, entries: Array) -> Array:
        """(m, q) the sums that the keys hold, of whole trees."""
        return np.ascontiguousarray(np.array(self._packing.totals(list(entries[:, KEY:-1].T))).T)

    def every(self, budget: int) -> Array:
        """All entries of cost <= budget whose sums are in their intervals; of equal keys one of least value."""
        entries: Array = self._rows.run(lambda: self._inside(self._rows.whole(), self._to_units(budget)))
        entries[:, COST] = self._rows.base + self._rows.unit * entries[:, COST]
        return entries

    def best(self, budget: int, below: int) -> tuple[int, EvaluatedTree] | None:
        """The least value of a tree of cost <= budget with all sums in their intervals, and the tree.

        None if there is none below `below`.
        """
        found = self._rows.run(lambda: self._best(self._to_units(budget), below))
        return None if found is None else (found[0], self._evaluated(found[1]))

    def tree(self, entry: Array) -> EvaluatedTree:
        """A tree of an entry that `every` gave."""
        target = entry.copy()
        target[COST] = self._to_units(int(entry[COST]))
        return self._evaluated(self._rows.run(lambda: self._find(self._rows.whole(), target)))

    def _to_units(self, cost: int) -> int:
        return (cost - self._rows.base) // self._rows.unit

    def _evaluated(self, found: Preorder) -> EvaluatedTree:
        columns, labels = found
        return self._trees.labelled(np.array(columns, np.int64), np.array(labels, np.int64))

    # -- the recursion ---------------------------------------------------------------------------------------------

    def _entries(self, rows: RowSet, budget: int) -> Array:
        """The entries of the trees of cost <= budget for the rows; raises SearchStopped if they are too many."""
        rows = self._affordable(rows, budget)
        if rows.is_within(self._rows.direct_depth):
            return self._shallow(rows, budget)[1]
        entries = self._entries(rows.limited(0), budget)
        table = as_table(entries, len(entries), self._most)
        for split in self._splits(rows, budget):
            first = self._merged(split.tables, budget - int(self._split[COST]))[-1]
            table = self._with_sums(table, first, split.tables[-1], self._split, budget)
        found: Array = compact(table)
        return found

    def _shallow(self, rows: RowSet, budget: int) -> tuple[Array, Array]:
        """(columns, entries) of rows of a direct depth, where names speak of these columns."""
        self._rows.check_time()
        columns, *sums, least = self._rows.pair_sums(rows)
        depth, room = rows.depth, np.int64(budget - least[COST])
        entries: Array = enumerate_shallow(
            *sums, len(columns), self._split[:-1], depth, self._least_rows, room, self._most
        )
        self._check_size(len(entries) if depth else 0)
        entries[:, :-1] += least
        return columns, entries

    def _splits(self, rows: RowSet, budget: int) -> Iterator[Split]:
        """The splits that the budget allows."""
        for column, bounds in self._rows.splits(rows, budget):
            children = self._rows.children(rows, column)
            slack = budget - int(self._split[COST]) - sum(bounds)
            tables = []
            for child, bound in zip((each for each in children if each is not None), bounds, strict=True):
                tables.append(self._entries(child, slack + bound))
                self._rows.check_time()
                if not len(tables[-1]):
                    break
            else:
                yield Split(column, children, tables)

    def _merged(self, tables: list[Array], room: int) -> list[Array]:
        """The first table, all sums of the first two, and so on without the last; of cost within the room for all."""
        merged = [tables[0]]
        for each in tables[1:-1]:
            table = self._with_sums(as_table(each, 0, self._most), merged[-1], each, 0 * self._split, room)
            merged.append(compact(table))
        return merged

    def _with_sums(self, table: Any, a: Array, b: Array, add: Array, budget: int) -> Any:
        """The table with every sum of an entry of a, one of b and `add` whose cost is within the budget."""
        table = put_sums(table, a, b, add, np.int64(budget), np.int64(1), np.zeros(1))
        self._check_size(table[2][USED])
        return table

    def _check_size(self, size: int) -> None:
        if size > self._most:
            raise SearchStopped("memory")

    def _affordable(self, rows: RowSet, budget: int) -> RowSet:
        """The rows, with no more depth than trees of as many nodes as the budget pays for have."""
        split = int(self._split[COST])
        paid = max(0, budget) // split if split else _DEEP + 1
        return rows if paid > _DEEP or rows.is_within(paid) else rows.limited(paid)

    # -- all rows --------------------------------------------------------------------------------------------------

    def _inside(self, rows: RowSet, budget: int) -> Array:
        """The entries of all rows, of a depth, whose sums are in their intervals."""
        entries = self._entries(rows, budget)
        sums = self.sums_of(entries)
        kept: Array = entries[((self._lowest <= sums) & (sums <= self._highest)).all(axis=1)]
        return kept

    def _best(self, budget: int, below: int) -> tuple[int, Preorder] | None:
        """What `best` gives, for a budget in units: the last two tables meet without being combined."""
        whole = self._affordable(self._rows.whole(), budget)
        start = whole if whole.is_within(self._rows.direct_depth) else whole.limited(0)
        entries = self._inside(start, budget)
        target: Array | None = None
        chosen: tuple[Split, Array] | None = None
        if len(entries) and entries[:, VALUE].min() < below:
            target = entries[entries[:, VALUE].argmin()]
            below = int(target[VALUE])
        # of the root, where the sums of both sides have the least total, too
        own = self.sums_of(self._split[None])[0] - 2 * np.array(self._packing.bases)
        for split in () if start.depth == whole.depth else self._splits(whole, budget):
            first, last = self._merged(split.tables, budget - int(self._split[COST]))[-1], split.tables[-1]
            sums = self.sums_of(last)
            order = np.argsort(sums[:, 0], kind="stable")
            _, i, j = meet(
                first, last[order], self.sums_of(first), sums[order],
                self._lowest - own, self._highest - own, np.int64(below - self._split[VALUE]),
            )  # fmt: skip
            if i >= 0:
                chosen = split, first[i] + last[order[j]]
                below = int(chosen[1][VALUE] + self._split[VALUE])
        if chosen is not None:
            preorder = self._join(*chosen)
            assert preorder is not None
            return below, preorder
        return None if target is None else (below, self._find(start, target))

    # -- from an entry to a tree -----------------------------------------------------------------------------------

    def _find(self, rows: RowSet, target: Array) -> Preorder:
        """A tree for the rows whose entry, of all that `_entries` gives, is the target."""
        if rows.is_within(self._rows.direct_depth):
            return self._named(self._rows.pair_sums(rows)[0], int(target[-1]))
        rows = self._affordable(rows, int(target[COST]))
        is_shallow = rows.is_within(self._rows.direct_depth)
        columns, entries = self._shallow(rows if is_shallow else rows.limited(0), int(target[COST]))
        hits = entries[(entries[:, :-1] == target[:-1]).all(axis=1)]
        if len(hits):
            return self._named(columns, int(hits[0, -1]))
        for split in () if is_shallow else self._splits(rows, int(target[COST])):
            found = self._join(split, target - self._split)
            if found is not None:
                return found
        raise AssertionError("no tree has the sums that were enumerated; please report this")

    def _join(self, split: Split, target: Array) -> Preorder | None:
        """A tree that begins with the split whose children's entries add up to the target; None if there is none."""
        rest, targets = target, []
        merged = self._merged(split.tables, int(target[COST]))
        for first, last in zip(reversed(merged), reversed(split.tables), strict=False):
            places = addends(first, last, rest)
            if places is None:
                return None
            i, j = places
            rest = first[i]
            targets.append(last[j])
        wanted = iter([rest, *reversed(targets)])
        subtrees = [None if child is None else self._find(child, next(wanted)) for child in split.children]
        return self._branch(split.column, subtrees)

    def _named(self, columns: Array, name: int) -> Preorder:
        """The tree of a name, of a depth of two at most (`shallow.py`)."""
        names = (len(columns) + 1) * self._trees.vectors.shape[1] ** 2
        root, sides = divmod(name, names**2)
        if not root:
            return self._stump(columns, name)
        return self._branch(int(columns[root - 1]), [self._stump(columns, each) for each in divmod(sides, names)])

    def _stump(self, columns: Array, name: int) -> Preorder:
        """The tree of a name, of a depth of one at most."""
        labels = self._trees.vectors.shape[1]
        root, sides = divmod(name, labels**2)
        if not root:
            return [LEAF], [name]
        return self._branch(int(columns[root - 1]), [([LEAF], [label]) for label in divmod(sides, labels)])

    def _branch(self, column: int, subtrees: Sequence[Preorder | None]) -> Preorder:
        """A tree with a branching node at its root; the subtrees are in the order of codes, None for no rows."""
        column, turned = self._rows.caller_column(column)
        return joined(column, [subtree or ([LEAF], [0]) for subtree in (subtrees[::-1] if turned else subtrees)])
