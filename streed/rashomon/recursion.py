"""All trees of some rows below a budget, by their keys: the recursion over (+, x).

    hist(S, d, B) = leaves of S + sum over splits of  price + hist(S_1, d - 1, B_1) * hist(S_0, d - 1, B_0)

with * the sums of keys and products of counts, B_1 = B - price - opt(S_0), and so for B_0; opt is the least key of any
tree. Every tree is made in one way, by its root and its subtrees, so the union is disjoint and nothing is counted
twice; what the budgets leave out is beyond B whatever it is joined with. Splits are skipped by the least keys of their
sides alone. Sets of rows are whole numbers, bit i for row i.
"""

from __future__ import annotations

import abc
import functools
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any, final

import attrs

from streed.exact import Array
from streed.kernels.compilation import clock
from streed.problem import SearchStopped, process_memory
from streed.rashomon.histogram import Histogram, combined
from streed.rashomon.kinds import Kinds
from streed.rashomon.splits import Split, as_numbers

Key = Any
"""What a tree costs, a whole number or a fraction; further sums may be packed in it, below the cost."""

Allowed = tuple[Split, tuple[int, ...], tuple[Key, ...]]
"""A split of some rows under which there are trees within a budget, with its children and the least keys of these."""

_MEMORY_EVERY = 64
"""Looks at the clock for one at the memory."""


@attrs.define(eq=False)
class Leaves(abc.ABC):
    """What leaves cost, remembered by their rows."""

    n_labels: int
    _known: dict[int, tuple[Key | None, ...]] = attrs.field(factory=dict, init=False)

    def keys(self, rows: int) -> tuple[Key | None, ...]:
        """By label the key of a leaf of these rows; None where no leaf of that label may stand there."""
        found = self._known.get(rows)
        if found is None:
            found = self._known[rows] = self._keys(rows)
        return found

    @abc.abstractmethod
    def _keys(self, rows: int) -> tuple[Key | None, ...]: ...


@attrs.define(eq=False)
class Watch:
    """When to stop counting."""

    deadline: float | None = None
    """Of `compilation.clock`, which compiling does not use up."""
    memory_limit: int | None = None
    _looks: int = 0

    def remaining(self) -> float | None:
        """The seconds that are left, None without a limit."""
        return None if self.deadline is None else max(0.0, self.deadline - clock())

    def look(self) -> None:
        """Raises SearchStopped where a limit is reached."""
        if self.deadline is not None and clock() >= self.deadline:
            raise SearchStopped("time")
        self._looks += 1
        is_time = self.memory_limit is not None and self._looks % _MEMORY_EVERY == 1
        if is_time and process_memory.resident() > (self.memory_limit or 0):
            raise SearchStopped("memory")


@attrs.define(eq=False)
class Recursion:
    """Least keys and histograms of the trees of sets of rows, remembered."""

    leaves: Leaves
    splits: Sequence[Split]
    trivial: bool
    """Whether splits into leaves of one label count."""
    watch: Watch = attrs.field(factory=Watch)
    are_positive: bool = False
    """Whether no leaf has a key below 0."""
    _optima: dict[tuple[int, int], Key] = attrs.field(factory=dict)
    _histograms: dict[tuple[int, int], tuple[Key, Histogram]] = attrs.field(factory=dict)
    enough: int | None = attrs.field(default=None, init=False)
    """No more trees than so many of the least keys need be counted, and those of the last of these keys."""

    def optimum(self, rows: int, depth: int) -> Key | None:
        """The least key of a tree; None if none is allowed."""
        depth = self.useful(rows, depth, None)
        if (rows, depth) in self._optima:
            return self._optima[rows, depth]
        least = min((key for key in self.leaves.keys(rows) if key is not None), default=None)
        for split in self.splits if depth else ():
            self.watch.look()
            children = parted(split, rows)
            if len(children) < 2:
                continue
            optima = self._least(split, children, depth, None)
            if optima is not None and (least is None or sum(optima) + split.price < least):
                least = sum(optima) + split.price
        self._optima[rows, depth] = least
        return least

    def histogram(self, rows: int, depth: int, budget: Key) -> Histogram:
        """The trees of depth <= `depth` of keys <= budget."""
        depth = self.useful(rows, depth, budget)
        known = self._histograms.get((rows, depth))
        if known is not None and known[0] >= budget:
            return known[1].upto(budget)
        found = self._counted(rows, depth, budget)
        if self.enough is not None:
            found = found.first(self.enough)
        if depth:
            self._histograms[rows, depth] = budget, found
        return found

    def _counted(self, rows: int, depth: int, budget: Key) -> Histogram:
        return self.by_splits(rows, depth, budget)

    def by_splits(self, rows: int, depth: int, budget: Key) -> Histogram:
        """The trees of depth <= `depth` of keys <= budget, counted split by split."""
        parts = [self.of_leaves(rows, budget)]
        for split, children, optima in self.affordable(rows, depth, budget) if depth else ():
            slack = budget - split.price - sum(optima)
            trees = [
                self.histogram(child, depth - 1, least + slack) for child, least in zip(children, optima, strict=True)
            ]
            parts.append(self.joined(split, children, optima, trees, budget))
        return Histogram.merged(parts)

    def of_leaves(self, rows: int, budget: Key) -> Histogram:
        """The leaves of keys <= budget."""
        table: dict[Key, int] = {}
        for key in self.leaves.keys(rows):
            if key is not None and key <= budget:
                table[key] = table.get(key, 0) + 1
        return Histogram.of(table)

    def joined(
        self, split: Split, children: Sequence[int], optima: Sequence[Key], trees: Sequence[Histogram], budget: Key
    ) -> Histogram:
        """The trees of keys <= budget that begin with the split, by whichever of its questions, of those below it."""
        found = trees[0]
        for number, own in enumerate(trees[1:], 1):
            last = number == len(trees) - 1
            room = budget if last else budget - split.price - sum(optima[number + 1 :])
            found = self.combined(found, own, split.price if last else 0, room)
        if not self.trivial:
            found = found.without(self.of_one_label(children, split.price, budget))
        return found.times(len(split.asked))

    def combined(self, first: Histogram, last: Histogram, add: Key, budget: Key) -> Histogram:
        """Every sum of a key of each and `add` that is <= budget, with the products of their counts."""
        return combined(first, last, add, budget)

    def of_one_label(self, children: Sequence[int], price: Key, budget: Key) -> dict[Key, int]:
        """The trees of keys <= budget whose root has these children, all of them leaves of one label."""
        table: dict[Key, int] = {}
        for keys in zip(*map(self.leaves.keys, children), strict=True):
            if all(key is not None for key in keys):
                total = sum(keys) + price
                if total <= budget:
                    table[total] = table.get(total, 0) + 1
        return table

    def affordable(self, rows: int, depth: int, budget: Key) -> Iterator[Allowed]:
        """The splits under which there are trees of keys <= budget, with the children and the least keys of these."""
        for split in self.splits:
            self.watch.look()
            children = parted(split, rows)
            if len(children) < 2:
                continue
            optima = self._least(split, children, depth, budget)
            if optima is not None:
                yield split, children, optima

    def _least(self, split: Split, children: tuple[int, ...], depth: int, budget: Key | None) -> tuple[Key, ...] | None:
        """The least keys of the children; None if the budget does not allow the split."""
        room = None if budget is None else budget - split.price
        optima = [self.optimum(child, depth - 1) for child in children]
        known = [each for each in optima if each is not None]
        if len(known) < len(optima) or (room is not None and sum(known) > room):
            return None
        return tuple(known)

    def useful(self, rows: int, depth: int, budget: Key | None) -> int:
        """The depth beyond which there is no tree of a key <= budget (None: any) for so many rows."""
        depth = min(depth, rows.bit_count() - 1)
        if budget is None or depth == 0:
            return depth
        price = self.price
        return min(depth, max(0, int(budget // price))) if price > 0 and self.are_positive else depth

    @property
    def price(self) -> Key:
        """What every split costs."""
        return self.splits[0].price if self.splits else 0


def parted(split: Split, rows: int) -> tuple[int, ...]:
    """The children of the split of some rows that have any."""
    return tuple(part for part in (rows & each for each in split.parts) if part)


@final
@attrs.define(eq=False)
class RowLeaves(Leaves):
    """Leaves whose keys are sums over rows of a key per row and label, whole numbers."""

    kinds: Kinds
    members: Array
    """(g, words) uint64: the rows of each kind."""
    min_leaf: int
    best: bool
    """Whether a leaf has its best label alone: of least cost, the first of these."""
    radix: int
    """A key // radix is its cost."""

    @functools.cached_property
    def groups(self) -> list[tuple[int, int, tuple[int, ...]]]:
        """By kind of rows their set, copies of each row, and the keys by label."""
        return list(zip(as_numbers(self.members), self.kinds.copies, self.kinds.keys, strict=True))

    @functools.cached_property
    def paid(self) -> list[tuple[int, int]]:
        """Rows that pay something whatever their label, and what."""
        if not any(map(min, self.kinds.keys)):
            return []
        return [(members, min(keys)) for members, _, keys in self.groups if min(keys)]

    def _keys(self, rows: int) -> tuple[Key | None, ...]:
        totals = [0] * self.n_labels
        size = 0
        for members, copies, keys in self.groups:
            count = (members & rows).bit_count()
            if count:
                size += count * copies
                for k, key in enumerate(keys):
                    totals[k] += count * key
        if size < self.min_leaf:
            return (None,) * self.n_labels
        if not self.best:
            return tuple(totals)
        chosen = min(range(self.n_labels), key=lambda k: (totals[k] // self.radix, k))
        return tuple(total if k == chosen else None for k, total in enumerate(totals))


@final
@attrs.define(eq=False)
class TaskLeaves(Leaves):
    """Leaves whose keys are what a function says of their rows."""

    cost: Callable[[int, int], Key | None]
    """Of a set of rows and a label number: the cost of a leaf, None where none may stand there."""
    best: bool

    def _keys(self, rows: int) -> tuple[Key | None, ...]:
        found = [self.cost(rows, k) for k in range(self.n_labels)]
        allowed = [(key, k) for k, key in enumerate(found) if key is not None]
        if not self.best or not allowed:
            return tuple(found)
        chosen = min(allowed, key=operator.itemgetter(0))[1]
        return tuple(key if k == chosen else None for k, key in enumerate(found))
