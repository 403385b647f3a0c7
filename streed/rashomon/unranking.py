"""The trees of a count by number: the i-th tree of a key, found by the counts of subtrees.

The trees of some rows of one key stand in this order: leaves by their labels; then by split, in the order of columns;
by the keys of the children, first child first; by the question that makes the split; by the number of the first child's
tree, then of the next one's. A random number gives a random tree, each with equal chance.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, final

import attrs

from streed.dp.count import Count, Histogram
from streed.dp.recursion import Limits, Option
from streed.dp.states import Cell
from streed.errors import InputError
from streed.rashomon.counting import Counted, Key
from streed.tree import Branch, Leaf, Node, Tree
from streed.tree.nodes import used_columns

if TYPE_CHECKING:
    from streed.rashomon.rashomon_set import RashomonSet


@final
@attrs.frozen(eq=False)
class _Choice:
    """Trees of some rows and a key: a leaf, or those of a split whose children have these keys."""

    count: int
    label: int
    """-1 of a split."""
    option: Option | None = None
    keys: tuple[Key, ...] = ()
    counts: tuple[int, ...] = ()
    """Of the children's trees of these keys."""
    left_out: tuple[int, ...] = ()
    """The numbers, among all pairs of the children's trees, of leaves of one label that do not count."""


@final
class Trees:
    """Trees by number. What was found about a set of rows is remembered, up to so many sets."""

    MOST = 2**15

    def __init__(self, counted: Counted) -> None:
        assert counted.recursion is not None
        self._recursion, self._cells = counted.recursion, counted.recursion.states
        self._limits = self._recursion.useful(self._cells.root, counted.question.depth, None)
        self._choices: dict[tuple[int, Limits, Key], list[_Choice]] = {}

    def tree(self, key: Key, number: int) -> Node:
        """The tree of that number among those of a key."""
        return self._node(self._cells.root, self._limits, key, number)

    def _node(self, cell: Cell, limits: Limits, key: Key, number: int) -> Node:
        for choice in self._known(cell, limits, key):
            if number >= choice.count:
                number -= choice.count
                continue
            if choice.option is None:
                return Leaf(choice.label, self._cells.count(cell.rows), 0)
            return self._branch(cell, choice, choice.option, number)
        raise AssertionError("there are fewer trees than were counted; please report this")

    def _branch(self, cell: Cell, choice: _Choice, option: Option, number: int) -> Node:
        questions = self._cells.asked(option.split)
        place, number = divmod(number, choice.count // len(questions))
        asked = questions[place]
        for other in choice.left_out:
            number += number >= other
        subtrees: dict[int, Node] = {}
        each = zip(option.children, option.limits, choice.keys, choice.counts, strict=True)
        for child, limits, key, count in reversed(list(each)):
            number, own = divmod(number, count)
            subtrees[child.rows] = self._node(child, limits, key, own)
        parts = [cell.rows & each for each in asked.children]
        if 0 in parts:  # a child without rows is a leaf of the label that has the least key for all of them
            leaves = self._cells.leaves(cell)
            subtrees[0] = Leaf(min(leaves)[1] if leaves else 0, 0, 0)
        children = tuple(subtrees[part] for part in parts)
        return Branch(asked.column, children, self._cells.count(cell.rows), asked.cut)

    # -- what trees of a key there are -----------------------------------------------------------------------------

    def _known(self, cell: Cell, limits: Limits, key: Key) -> list[_Choice]:
        """The trees of some rows and a key, in order: leaves one by one, splits by the keys of their children."""
        known = self._choices.get((cell.rows, limits, key))
        if known is None:
            if len(self._choices) >= self.MOST:
                self._choices.clear()
            known = self._choices[cell.rows, limits, key] = list(self._find(cell, limits, key))
        return known

    def _find(self, cell: Cell, limits: Limits, key: Key) -> Iterator[_Choice]:
        for own, label, _ in self._cells.leaves(cell):
            if own == key:
                yield _Choice(1, label)
        recursion = self._recursion
        making, limits = Count(recursion, cell, key), recursion.within(cell, limits, key)
        options = list(recursion.options(cell, limits, (), key)) if limits[0] else []
        for option in sorted(options, key=lambda each: self._cells.asked(each.split)[0].column):
            parts = recursion.parts(making, option)
            for keys in [] if parts is None else _keys_of_sum(parts, key - option.cost):
                counts = tuple(part.table[own] for part, own in zip(parts or [], keys, strict=True))
                left_out = () if recursion.trivial else self._left_out(option, keys, counts)
                count = math.prod(counts) - len(left_out)
                if count:
                    times = len(self._cells.asked(option.split))
                    yield _Choice(count * times, -1, option, keys, counts, left_out)

    def _left_out(self, option: Option, keys: Sequence[Key], counts: Sequence[int]) -> tuple[int, ...]:
        """Of the pairs of trees of these keys, which are leaves of one label: leaves come first among the trees."""
        alike = [
            [label for own, label, _ in self._cells.leaves(child) if own == key]
            for child, key in zip(option.children, keys, strict=True)
        ]
        found = []
        for label in set(alike[0]).intersection(*alike[1:]):
            number = 0
            for labels, count in zip(alike, counts, strict=True):
                number = number * count + labels.index(label)
            found.append(number)
        return tuple(sorted(found))


def _keys_of_sum(parts: Sequence[Histogram], total: Key) -> Iterator[tuple[Key, ...]]:
    """Every choice of a key for each child that add up to the total, in order."""
    first, *rest = parts
    if not rest:
        if total in first.table:
            yield (total,)
        return
    most = total - sum(part.keys[0] for part in rest)
    for key in first.table:
        if key > most:
            break
        for others in _keys_of_sum(rest, total - key):
            yield (key, *others)


@final
@attrs.frozen
class Fewest:
    """A tree of a set that asks as few distinct columns as any."""

    columns: tuple[str, ...]
    tree: Tree


def fewest_columns(trees: RashomonSet) -> Fewest:
    """A tree of the set, which is not empty, that asks as few distinct columns as any.

    Raises InputError if a count is stopped.
    """
    best = trees[0]
    found = (_within(trees, best, frozenset(), size) for size in range(len(used_columns(best.root))))
    best = next((tree for tree in found if tree is not None), best)
    names = trees.counted.question.data.names
    return Fewest(tuple(names[j] for j in sorted(used_columns(best.root))), best)


def _within(trees: RashomonSet, tree: Tree, taken: frozenset[int], size: int) -> Tree | None:
    """A tree of the set of at most so many columns, those taken in counted; None if there is none.

    `tree` is one of the set. A tree that is looked for leaves out a column of its that is not taken, or asks it.
    """
    used = used_columns(tree.root)
    if len(used | taken) <= size:
        return tree
    for column in sorted(used - taken):
        if len(taken) > size:
            return None
        rest = trees.without(column)
        if rest.stopped is not None:
            raise InputError("time_limit", f"a count without columns was stopped ({rest.stopped})", "raise the limits")
        if rest.count:
            found = _within(rest, rest[0], taken, size)
            if found is not None:
                return found
        taken = taken | {column}
    return None
