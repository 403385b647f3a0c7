"""The best tree within limits among those that differ from a given one in their last splits.

    e and z of a tree are sums over the subtrees below its first levels. With these levels kept, each of the subtrees, a
    leaf or a single split, is one of few thousand, whose (e, z) are found by counting the kinds of rows on both sides
    of every question. Let a tree of S e + m z <= T be asked for. The sum of what the subtrees cost at least is below T
    by some slack, and only those count that cost no more than the least of their place and this slack.

Nothing is proved by it: it finds trees that meet a Lagrangian bound, or nearly, where all trees near the bound are too
many to be enumerated. The splits above are also moved to neighbouring questions, one at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import final

import attrs
import numpy as np

from streed.enumerate.vector_trees import EvaluatedTree, Trees, Window
from streed.exact import Array
from streed.kernels.records import LEAF

_MOST_SUMS = 2**20
"""Combinations of subtrees that are looked at together."""

_MOST_CELLS = 2**26
"""Rows times questions times kinds of rows."""

_SHIFTS = (-1, 1, -2, 2, -3, 3, -5, 5, -8, 8, -12, 12)
"""By how many questions a split is moved."""


@final
@attrs.frozen(eq=False)
class LastSplits:
    """The trees of a problem of 0/1 columns, and the sums that are asked for."""

    trees: Trees
    weights: tuple[int, ...]
    """Of the first components, whose weighted sum is to be least."""
    intervals: tuple[Window, ...]
    """Of the last ones."""
    scale: int
    """What that sum,"""
    whole: tuple[int, ...]
    """and what the last ones are multiplied by."""
    answers: Array = attrs.field(init=False)
    """(n, p) float32: the codes."""
    kinds: Array = attrs.field(init=False)
    """(n, G) float32: 1 for the kind of the row."""
    sums: Array = attrs.field(init=False)
    """(G, K, 1 + j) int64: what a row of each kind adds to the weighted sum and to the last components, by label."""

    def __attrs_post_init__(self) -> None:
        trees = self.trees
        set_field = object.__setattr__
        set_field(self, "answers", trees.data.X.astype(np.float32))
        set_field(self, "kinds", np.eye(len(trees.sizes), dtype=np.float32)[trees.kinds])
        first = len(self.weights)
        weighted = trees.vectors[:, :, :first] @ np.array(self.weights, np.int64)
        set_field(self, "sums", np.concatenate([weighted[:, :, None], trees.vectors[:, :, first:]], axis=2))

    @classmethod
    def takes(cls, trees: Trees) -> bool:
        """Whether the trees are of 0/1 columns, not too many, of a limited depth, and leaves may be of any size."""
        problem, data = trees.problem, trees.data
        free = problem.max_nodes is None and problem.min_leaf <= 1 and not any(trees.splits)
        plain = problem.max_depth is not None and problem.max_depth > 1 and not data.categorical
        return free and plain and data.frequency is None and data.X.size * len(trees.sizes) <= _MOST_CELLS

    def around(self, found: EvaluatedTree, most: int) -> Iterator[EvaluatedTree]:
        """Trees of a multiplied sum of `most` at most, with the first splits of one, or one of these moved.

        Of each choice of the first splits, the one of the least weighted sum in the intervals.
        """
        depth = self.trees.problem.max_depth
        assert depth is not None
        first = _levels(found.preorder.tolist(), depth - 1)
        yield from self._best(first, most)
        questions = self.trees.problem.questions
        assert questions is not None
        column = questions.column
        for at, question in enumerate(first):
            for shift in _SHIFTS if question != LEAF else ():
                moved = question + shift
                if 0 <= moved < len(column) and column[moved] == column[question]:
                    yield from self._best([*first[:at], moved, *first[at + 1 :]], most)

    def _best(self, first: Sequence[int], most: int) -> Iterator[EvaluatedTree]:
        """The tree of the least weighted sum in the intervals with these first splits, in preorder, if there is one."""
        self.trees.remaining()
        places = list(self._places(list(first)))
        if not all(rows.any() for rows in places):
            return
        tables = self._subtrees(places)
        multipliers = np.array([self.scale, *self.whole])
        costs = [table @ multipliers for table, _ in tables]
        least = [int(cost[allowed].min()) for cost, (_, allowed) in zip(costs, tables, strict=True)]
        slack = most - sum(least)
        if slack < 0:
            return
        total, chosen = np.zeros((1, 1 + len(self.whole)), np.int64), np.zeros((1, 0), np.int64)
        spent = np.zeros(1, np.int64)
        for (table, allowed), cost, low in zip(tables, costs, least, strict=True):
            here = np.flatnonzero(allowed & (cost <= low + slack))
            here = here[np.unique(table[here], axis=0, return_index=True)[1]]
            if len(total) * len(here) > _MOST_SUMS:
                return
            over = (spent[:, None] + (cost[here] - low)[None, :]).ravel()
            fits = np.flatnonzero(over <= slack)
            before, added = fits // len(here), here[fits % len(here)]
            total = total[before] + table[added]
            chosen = np.concatenate([chosen[before], added[:, None]], axis=1)
            distinct = np.unique(total, axis=0, return_index=True)[1]
            total, chosen, spent = total[distinct], chosen[distinct], over[fits][distinct]
        lowest, highest = np.array(self.intervals).T
        inside = np.flatnonzero(((total[:, 1:] >= lowest) & (total[:, 1:] <= highest)).all(axis=1))
        if len(inside):
            best = inside[total[inside, 0].argmin()]
            yield self._tree(list(first), chosen[best].tolist())

    def _places(self, first: list[int]) -> Iterator[Array]:
        """The rows that come to each end of the first splits, (n,) float32 of 0 and 1, in preorder."""
        n = len(self.answers)

        def go(rows: Array) -> Iterator[Array]:
            question = first.pop(0)
            if question == LEAF:
                yield rows
                return
            answer = self.answers[:, question]
            yield from go(rows * (1 - answer))
            yield from go(rows * answer)

        yield from go(np.ones(n, np.float32))

    def _subtrees(self, places: Sequence[Array]) -> list[tuple[Array, Array]]:
        """For the rows of each place: ((p + 1) K K, 1 + j) int64, the sums of each split with each two labels.

        And which of them may be taken: splits with rows on both sides, and the last one, which is no split.
        """
        counted = [self.kinds * rows[:, None] for rows in places]
        right_of_all = (self.answers.T @ np.concatenate(counted, axis=1)).astype(np.int64)
        found = []
        for at, here in enumerate(counted):
            kinds = here.shape[1]
            everything = here.sum(axis=0).astype(np.int64)
            right = np.concatenate([right_of_all[:, at * kinds : (at + 1) * kinds], np.zeros((1, kinds), np.int64)])
            left = everything - right
            allowed = (right.sum(axis=1) > 0) & (left.sum(axis=1) > 0)
            allowed[-1] = True
            of_left, of_right = (np.tensordot(side, self.sums, axes=(1, 0)) for side in (left, right))
            both = of_left[:, :, None] + of_right[:, None, :]
            pairs = both.shape[1] * both.shape[2]
            found.append((both.reshape(-1, both.shape[-1]), np.repeat(allowed, pairs)))
        return found

    def _tree(self, first: list[int], chosen: list[int]) -> EvaluatedTree:
        """The tree with these first splits and subtrees, whose labels are as they were chosen."""
        n_labels, n_questions = self.sums.shape[1], self.answers.shape[1]
        preorder: list[int] = []
        labels: list[int] = []
        ends = iter(chosen)
        for question in first:
            if question != LEAF:
                preorder.append(question)
                labels.append(0)
                continue
            split, pair = divmod(next(ends), n_labels**2)
            left, right = divmod(pair, n_labels)
            is_split = split < n_questions
            preorder += [split, LEAF, LEAF] if is_split else [LEAF]
            labels += [0, left, right] if is_split else [left]
        return self.trees.labelled(np.array(preorder, np.int64), np.array(labels, np.int64))


def _levels(preorder: list[int], depth: int) -> list[int]:
    """The first levels of a tree, in preorder: what is below them is a leaf."""
    found: list[int] = []
    at = 0

    def go(left: int, seen: bool) -> None:
        nonlocal at
        question = preorder[at]
        at += 1
        if seen:
            found.append(question if left > 0 else LEAF)
        if question != LEAF:
            go(left - 1, seen and left > 0)
            go(left - 1, seen and left > 0)

    go(depth, True)
    return found
