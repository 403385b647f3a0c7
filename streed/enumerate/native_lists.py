"""Lists of trees in the workspace of a linear oracle, see `native.py`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, final

import attrs
import numpy as np

from streed.bnb import runner, units
from streed.bnb.oracle import NativeOracle
from streed.bnb.session import search_fully
from streed.enumerate.entries import COST, KEY, VALUE, combine, meet, unite
from streed.enumerate.native import (
    DEEPEST,
    FULL,
    MOST_KEY,
    MOST_VALUE,
    SPACE,
    THIN,
    decode,
    find_shallow,
    find_sum,
    list_rows,
    rank_columns,
)
from streed.exact import Array
from streed.kernels.compilation import clock
from streed.kernels.control import STOP
from streed.kernels.records import INFINITE, SHALLOW, UNLIMITED
from streed.problem import SearchLimits, SearchStopped, process_memory
from streed.problem.linear_oracle import ListSpec, TreeLists

_SHARE = 0.25
"""Of the memory that is left: what one list may take, while others wait for it."""

_COPIES = 6
"""Words that an entry takes at most for each of its own, while its table grows."""

_FEWEST = 2**12

_FEW_COLUMNS = 72
"""Lists of depth two for no more columns than this take a moment: between these, Python sees to it that a search ends,
so they need no thread."""


_NO_BRANCH = 2**64 - 1
"""Of a branch that is not cached."""


@final
@attrs.frozen(eq=False)
class Part:
    """Some rows, and what is left to them."""

    rows: Array
    """(W,) uint64."""
    depth: int
    path: tuple[tuple[int, int], ...]
    """The columns tested above, and whether the rows have them."""

    @property
    def branch(self) -> tuple[Any, Any]:
        """The branch that leads to the rows, as `extend_branch` makes it."""
        literals = sorted((2 * column + side + 1 for column, side in self.path), reverse=True)
        if len(literals) > 8 or (literals and literals[0] > 0xFFFF):
            return np.uint64(_NO_BRANCH), np.uint64(_NO_BRANCH)
        words = [sum(number << 16 * i for i, number in enumerate(literals[at : at + 4])) for at in (4, 0)]
        return np.uint64(words[0]), np.uint64(words[1])

    def as_leaf(self) -> Part:
        """The rows without any depth left."""
        return attrs.evolve(self, depth=0)


@final
@attrs.frozen(eq=False)
class Split:
    """A split of some rows, with the lists of its sides."""

    column: int
    with_column: Part
    without: Part
    first: Array
    second: Array


@final
class EngineLists(TreeLists):
    """Costs in the entries are codes of the engine beyond what every tree pays; budgets are translated.

    Up to depth four lists come from native code; deeper ones are combined from those here. Where nodes have a price, a
    budget pays for so many of them, and no depth beyond is looked into. A list that outgrows the memory is never there
    as a whole: it comes in pieces, by the column that its trees split on and by the pieces of their sides.
    """

    def __init__(self, engine: NativeOracle, spec: ListSpec, search_limits: SearchLimits) -> None:
        self._engine = engine
        self._spec = spec
        self._deadline = None if search_limits.time_limit is None else clock() + search_limits.time_limit
        self._costs = np.ascontiguousarray(spec.entries[:, :, COST])
        self._split_cost = int(spec.split[COST])
        self._base, self._divisor = engine.price(self._costs, self._split_cost)
        engine.priced_for = self
        least = self._costs.min(axis=1, keepdims=True)
        entries = spec.entries.copy()
        entries[:, :, COST] = (self._costs - least) // self._divisor
        self._split = spec.split.copy()
        self._split[COST] = self._split_cost // self._divisor
        kinds, _, width = entries.shape
        profits = (entries[:, 1:] - entries[:, :1]).reshape(kinds, -1)
        self._weights = np.ascontiguousarray(np.concatenate([engine.packed.groups.profits[:, -1:], profits], axis=1))
        self._under = np.ascontiguousarray(entries[:, 0])
        columns = engine.workspace.engine["width"]
        self._scratch = np.empty(self._weights.shape[1] * columns * columns, np.int64)
        self._bounds = np.zeros(5, np.int64)
        self._bounds[MOST_KEY] = INFINITE if spec.most_key is None else spec.most_key
        self._bounds[MOST_VALUE] = INFINITE if spec.most_value is None else spec.most_value
        self._bounds[THIN] = spec.staircase
        self._bounds[SPACE] = _space(search_limits, width)
        self._depth = engine.limits(None)[0]

    def every(self, budget: int) -> Array:
        self._begin()
        listed: Array = self._watched(lambda: self._every(self._code(budget)))
        listed[:, COST] = self._base + self._divisor * listed[:, COST]
        return listed

    def best(self, budget: int, below: int) -> tuple[int, tuple[Array, Array]] | None:
        self._begin()
        found: tuple[int, tuple[Array, Array]] | None = self._watched(lambda: self._best(self._code(budget), below))
        return found

    def tree(self, entry: Array) -> tuple[Array, Array]:
        self._begin()
        target = entry.copy()
        target[COST] = self._code(int(entry[COST]))
        found: tuple[Array, Array] = self._watched(lambda: self._find(self._whole, target))
        return found

    def _code(self, budget: int) -> int:
        return (budget - self._base) // self._divisor

    def _begin(self) -> None:
        """Makes the workspace hold the costs of these lists."""
        engine = self._engine
        if engine.priced_for is not self:
            engine.price(self._costs, self._split_cost)
            engine.priced_for = self
        engine.workspace.engine["count_listed"] = units.count_listed().address
        engine.control[STOP] = 0
        self._bounds[FULL] = 0
        self._whole = Part(engine.rows, self._depth, ())

    def _watched(self, work: Callable[[], Any]) -> Any:
        """What the work gives; raises SearchStopped if it was stopped, or if a list is too large."""
        found: list[Any] = []
        reason = None
        if self._depth <= SHALLOW and self._engine.packed.n_columns <= _FEW_COLUMNS:
            try:
                found.append(work())
            except KeyboardInterrupt:
                reason = "interrupt"
        else:
            reason = runner.run([lambda: found.append(work())], self._engine.control, self._deadline, lambda: None)
        if self._engine.control[STOP]:
            reason = reason or "time"
        if self._bounds[FULL]:
            reason = reason or "memory"
        if reason is not None:
            raise SearchStopped(reason)
        return found[0]

    def _stopped(self) -> bool:
        """Whether a list grew too large, or the search has to end."""
        if self._deadline is not None and clock() >= self._deadline:
            self._engine.control[STOP] = 1
        return bool(self._bounds[FULL]) or bool(self._engine.control[STOP])

    def _capped(self, part: Part, budget: int) -> Part:
        """The rows with no more depth than trees of so many nodes as the budget pays have."""
        split = int(self._split[COST])
        if split == 0 or budget >= split * part.depth:
            return part
        return attrs.evolve(part, depth=max(0, budget) // split)

    def _list(self, part: Part, budget: int) -> Array:
        """The list of some rows."""
        part = self._capped(part, budget)
        if part.depth > DEEPEST:
            listed = self._list(part.as_leaf(), budget)
            for split in self._splits(part, budget):
                listed = unite(listed, combine(split.first, split.second, self._split, np.int64(budget)))
                if len(listed) > self._bounds[SPACE]:
                    self._bounds[FULL] = 1
                    break
            return listed
        entries: Array = list_rows(
            self._engine.workspace.engine.address, part.rows, np.int64(part.depth), *part.branch, np.int64(budget),
            self._weights, self._under, self._split, self._bounds, self._scratch,
        )  # fmt: skip
        return entries

    def _pieces(self, part: Part, budget: int) -> Iterator[Array]:
        """The list of some rows, or lists that hold its entries together, some of them more than once."""
        listed = self._list(part, budget)
        if not self._outgrown(part):
            yield listed
            return
        del listed
        yield self._list(part.as_leaf(), budget)
        self._bounds[FULL] = 0
        for split in self._splits(self._capped(part, budget), budget):
            step = max(1, int(self._bounds[SPACE]) // len(split.second))
            for at in range(0, len(split.first), step):
                yield combine(split.first[at : at + step], split.second, self._split, np.int64(budget))

    def _outgrown(self, part: Part) -> bool:
        """Whether the list of some rows that was just made is not complete; it then is to come in pieces."""
        full = bool(self._bounds[FULL])
        self._bounds[FULL] = 0
        self._engine.lists_in_pieces += full and part.depth > 0
        return full and part.depth > 0 and not self._stopped()

    def _every(self, budget: int) -> Array:
        """The list of all rows, or, if that outgrows the memory, what of it is inside the intervals."""
        pieces = self._pieces(self._whole, budget)
        kept = next(pieces)
        for piece in pieces:
            kept = unite(kept, piece[self._inside(piece) & (piece[:, VALUE] <= self._bounds[MOST_VALUE])])
            if len(kept) > self._bounds[SPACE]:
                self._bounds[FULL] = 1
                break
        return kept

    def _inside(self, entries: Array) -> Array:
        """(m,) whether the sums of entries are in their intervals."""
        least, most = self._spec.intervals.T
        sums = self._decode(entries)
        inside: Array = ((least <= sums) & (sums <= most)).all(axis=1)
        return inside

    def _best(self, budget: int, below: int) -> tuple[int, tuple[Array, Array]] | None:
        """What `best` gives, for a budget in codes."""
        least, most = np.ascontiguousarray(self._spec.intervals.T)
        whole = self._capped(self._whole, budget)
        part = whole if whole.depth < SHALLOW else whole.as_leaf()
        listed = self._list(part, budget)
        is_whole = whole.depth < SHALLOW
        if is_whole and self._outgrown(part):
            is_whole, part = False, whole.as_leaf()
            listed = self._list(part, budget)
        inside = self._inside(listed) & (listed[:, VALUE] < below)
        target, chosen = None, None
        if inside.any():
            within = listed[inside]
            target = within[within[:, VALUE].argmin()]
            below = int(target[VALUE])
        own = self._decode(self._split[None])[0]
        for split in () if is_whole else self._splits(whole, budget):
            sums = self._decode(split.second)
            order = np.argsort(sums[:, 0], kind="stable")
            _, i, j = meet(
                split.first, split.second[order], self._decode(split.first), sums[order],
                least - own, most - own, np.int64(below - self._split[VALUE]),
            )  # fmt: skip
            if i >= 0:
                chosen = split, split.first[i], split.second[order[j]]
                below = int(chosen[1][VALUE] + chosen[2][VALUE] + self._split[VALUE])
        if chosen is not None:
            return below, self._join(*chosen)
        return None if target is None else (below, self._find(part, target))

    def _decode(self, entries: Array) -> Array:
        """(m, q) the sums that the keys of entries hold."""
        spec = self._spec
        sums: Array = decode(np.ascontiguousarray(entries[:, KEY:]), spec.places, spec.factors, spec.divisors)
        return sums

    def _splits(self, part: Part, budget: int) -> Iterator[Split]:
        """The splits that the budget allows, with the lists of both sides or, once for every two of them, pieces."""
        room = budget - int(self._split[COST])
        for column, least1, least0 in self._ranked(part, budget):
            sides = self._sides(part, column)
            assert sides is not None
            for first in self._pieces(sides[0], room - least0):
                for second in self._pieces(sides[1], room - least1):
                    if self._stopped():
                        return
                    if len(first) and len(second):
                        yield Split(column, *sides, first, second)

    def _ranked(self, part: Part, budget: int) -> Iterator[tuple[int, int, int]]:
        """(column, with, without): the columns to split on and what their sides cost at least."""
        if part.depth < SHALLOW:
            # these lists are short, but for those of next to no memory: what sides cost is not asked for
            yield from ((column, 0, 0) for column in range(self._engine.packed.n_columns) if self._sides(part, column))
            return
        if part.depth <= DEEPEST:
            ranked = rank_columns(
                self._engine.workspace.engine.address, part.rows, np.int64(part.depth), *part.branch, np.int64(budget),
                self._split,
            )  # fmt: skip
            yield from ranked[:, 1:].tolist()
            return
        room = budget - int(self._split[COST])
        for column in range(self._engine.packed.n_columns):
            sides = self._sides(part, column)
            if sides is None:
                continue
            least1 = self._floor(sides[0], room + 1)
            if least1 > room:
                continue
            least0 = self._floor(sides[1], room + 1 - least1)
            if least1 + least0 <= room and not self._stopped():
                yield column, least1, least0

    def _sides(self, part: Part, column: int) -> tuple[Part, Part] | None:
        """The rows with the column and those without; None if it separates none."""
        bits = self._engine.packed.column_rows[column]
        rows = part.rows & bits, part.rows & ~bits
        if not (rows[0].any() and rows[1].any()):
            return None
        below = part.depth if part.depth >= UNLIMITED else part.depth - 1
        return Part(rows[0], below, (*part.path, (column, 1))), Part(rows[1], below, (*part.path, (column, 0)))

    def _floor(self, part: Part, target: int) -> int:
        """A lower bound on what the rows cost: the optimum if that is below the target."""
        workspace, engine = self._engine.workspace, self._engine.workspace.engine
        if target <= 0 or self._stopped():
            return target
        capped = self._capped(part, target - 1)
        part = capped if capped.depth <= SHALLOW else part
        if engine["node_count"] + 2 >= workspace.space.nodes:
            self._engine.price(self._costs, self._split_cost)
            self._engine.priced_for = self
            engine["count_listed"] = units.count_listed().address
        workspace.node_rows[engine["node_count"]] = part.rows
        engine["root_target"] = target
        engine["root_high"], engine["root_low"] = part.branch
        search_fully(workspace, part.depth, UNLIMITED, False)
        return workspace.root_bounds[0]

    def _find(self, part: Part, target: Array) -> tuple[Array, Array]:
        """(columns, labels) of a tree in preorder whose entry is the target."""
        part = self._capped(part, int(target[COST]))
        engine = self._engine.workspace.engine
        shallow = part if part.depth < SHALLOW else part.as_leaf()
        found: tuple[Array, Array] = find_shallow(
            engine.address, part.rows, np.int64(shallow.depth), target,
            self._weights, self._under, self._split, self._scratch,
        )  # fmt: skip
        if len(found[0]) or self._stopped():
            return found
        for split in () if part.depth < SHALLOW else self._splits(part, int(target[COST])):
            i, j = find_sum(split.first, split.second, target - self._split)
            if i >= 0:
                return self._join(split, split.first[i], split.second[j])
        if self._stopped():
            return found
        raise AssertionError("no tree has the sums that were listed; please report this")

    def _join(self, split: Split, first: Array, second: Array) -> tuple[Array, Array]:
        """The tree of a split whose sides have these entries."""
        packed = self._engine.packed
        sides = [self._find(split.with_column, first), self._find(split.without, second)]
        if not packed.flipped[split.column]:
            sides.reverse()
        return (
            np.concatenate([[packed.column[split.column]], *(columns for columns, _ in sides)]),
            np.concatenate([[0], *(labels for _, labels in sides)]),
        )


def _space(search_limits: SearchLimits, width: int) -> int:
    """How many entries a list may have."""
    left = (
        process_memory.free()
        if search_limits.memory_limit is None
        else search_limits.memory_limit - process_memory.resident()
    )
    return max(_FEWEST, int(left * _SHARE / (8 * width * _COPIES)))


def lists_of(oracle: NativeOracle, spec: ListSpec, search_limits: SearchLimits) -> EngineLists | None:
    """The lists of an oracle's trees; None where columns are categorical, or neither depth nor nodes are limited."""
    endless = oracle.limits(None)[0] == UNLIMITED and not spec.split[COST]
    if endless or oracle.packed.n_binary < oracle.packed.n_columns:
        return None
    return EngineLists(oracle, spec, search_limits)
