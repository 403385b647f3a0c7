"""The trees of a count by number: the i-th tree of a key, found by the counts of subtrees.

The trees of some rows of one key stand in this order: leaves by their labels; then by split, in the order of columns;
by the keys of the children, first child first; by the question that makes the split; by the number of the first child's
tree, then of the next one's. No number leads nowhere, so a random number gives a random tree, each with equal chance.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import final

import attrs

from streed.rashomon.counting import Counted
from streed.rashomon.histogram import Histogram
from streed.rashomon.recursion import Key
from streed.rashomon.splits import Asked, Split
from streed.tree import Branch, Leaf, Node


@final
@attrs.frozen(eq=False)
class _Below:
    """A split of some rows, with the trees of its children, all that a key allows."""

    split: Split
    children: tuple[int, ...]
    trees: tuple[Histogram, ...]
    depth: int
    """Of the children."""


@final
@attrs.frozen(eq=False)
class _Choice:
    """Trees of some rows and a key: a leaf, or those of a split whose children have these keys."""

    count: int
    label: int
    """-1 of a split."""
    below: _Below | None = None
    keys: tuple[Key, ...] = ()
    left_out: tuple[int, ...] = ()
    """The numbers, among all pairs of the children's trees, of leaves of one label that do not count."""


@final
class Trees:
    """Trees by number. What was found about a set of rows is remembered, up to so many sets."""

    MOST = 2**15

    def __init__(self, counted: Counted) -> None:
        self._counted = counted
        self._choices: dict[tuple[int, int, Key], list[_Choice]] = {}
        self._copies = counted.copies

    def tree(self, key: Key, number: int) -> Node:
        """The tree of that number among those of a key."""
        return self._node(self._counted.everything, self._counted.depth, key, number)

    def _node(self, rows: int, depth: int, key: Key, number: int) -> Node:
        for choice in self.choices(rows, depth, key):
            if number >= choice.count:
                number -= choice.count
                continue
            if choice.below is None:
                return Leaf(choice.label, self._size(rows), 0)
            return self._branch(rows, choice, number)
        raise AssertionError("there are fewer trees than were counted; please report this")

    def _branch(self, rows: int, choice: _Choice, number: int) -> Node:
        below = choice.below
        assert below is not None
        each = choice.count // len(below.split.asked)
        asked, number = below.split.asked[number // each], number % each
        for other in choice.left_out:
            number += number >= other
        subtrees: dict[int, Node] = {}
        counts = [trees.table[key] for trees, key in zip(below.trees, choice.keys, strict=True)]
        for child, key, count in reversed(list(zip(below.children, choice.keys, counts, strict=True))):
            number, own = divmod(number, count)
            subtrees[child] = self._node(child, below.depth, key, own)
        return self._asking(asked, rows, subtrees)

    def _asking(self, asked: Asked, rows: int, subtrees: dict[int, Node]) -> Node:
        """The branching node of a question, over the subtrees by their rows; a child without rows is a leaf."""
        parts = [rows & each for each in asked.children]
        empty = Leaf(self._label(rows), 0, 0) if 0 in parts else None
        children = tuple(subtrees[part] if part else empty for part in parts)
        return Branch(asked.column, children, self._size(rows), asked.cut)  # type: ignore[arg-type]

    def _label(self, rows: int) -> int:
        """The label that a leaf of these rows would have for the least key."""
        keys = self._counted.recursion.leaves.keys(rows)
        allowed = [(key, k) for k, key in enumerate(keys) if key is not None]
        return min(allowed)[1] if allowed else 0

    def _size(self, rows: int) -> int:
        if self._copies is None:
            return rows.bit_count()
        return sum(copies * (members & rows).bit_count() for members, copies in self._copies)

    # -- what trees of a key there are -----------------------------------------------------------------------------

    def choices(self, rows: int, depth: int, key: Key) -> list[_Choice]:
        """The trees of some rows and a key, in order: leaves one by one, splits by the keys of their children."""
        known = self._choices.get((rows, depth, key))
        if known is None:
            if len(self._choices) >= self.MOST:
                self._choices.clear()
            known = self._choices[rows, depth, key] = list(self._find(rows, depth, key))
        return known

    def _find(self, rows: int, depth: int, key: Key) -> Iterator[_Choice]:
        recursion = self._counted.recursion
        for label, own in enumerate(recursion.leaves.keys(rows)):
            if own is not None and own == key:
                yield _Choice(1, label)
        for below, optima in sorted(self._below(rows, depth, key), key=lambda each: each[0].split.asked[0].column):
            for keys in _keys_of_sum(below.trees, optima, key - below.split.price):
                left_out = () if recursion.trivial else self._left_out(below, keys)
                count = _product([each.table[own] for each, own in zip(below.trees, keys, strict=True)]) - len(left_out)
                if count:
                    yield _Choice(count * len(below.split.asked), -1, below, keys, left_out)

    def _below(self, rows: int, depth: int, key: Key) -> Iterator[tuple[_Below, tuple[Key, ...]]]:
        """The splits of the rows that a key allows, and the least keys of their children."""
        recursion = self._counted.recursion
        depth = recursion.useful(rows, depth, key)
        for split, children, optima in recursion.affordable(rows, depth, key) if depth else ():
            slack = key - split.price - sum(optima)
            trees = tuple(
                recursion.histogram(child, depth - 1, least + slack)
                for child, least in zip(children, optima, strict=True)
            )
            yield _Below(split, children, trees, depth - 1), optima

    def _left_out(self, below: _Below, keys: Sequence[Key]) -> tuple[int, ...]:
        """Of the pairs of trees of these keys, which are leaves of one label: leaves come first among the trees."""
        leaves = [self._counted.recursion.leaves.keys(child) for child in below.children]
        found = []
        for label in range(self._counted.question.n_labels):
            if not all(own[label] is not None and own[label] == key for own, key in zip(leaves, keys, strict=True)):
                continue
            number = 0
            for own, key, trees in zip(leaves, keys, below.trees, strict=True):
                place = sum(each is not None and each == key for each in own[:label])
                number = number * trees.table[key] + place
            found.append(number)
        return tuple(sorted(found))


def _keys_of_sum(trees: Sequence[Histogram], least: Sequence[Key], total: Key) -> Iterator[tuple[Key, ...]]:
    """Every choice of a key for each child that add up to the total, in order."""
    if len(trees) == 1:
        if total in trees[0].table:
            yield (total,)
        return
    most = total - sum(least[1:])
    for key in trees[0].table:
        if key > most:
            break
        for others in _keys_of_sum(trees[1:], least[1:], total - key):
            yield (key, *others)


def _product(counts: Sequence[int]) -> int:
    found = 1
    for count in counts:
        found *= count
    return found
