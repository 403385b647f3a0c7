"""The near-optimal trees of a task: counted, in order, drawn at random, and asked what they have in common."""

from __future__ import annotations

import functools
import itertools
import random
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, final

import attrs
import numpy as np

from streed.errors import InputError, MismatchError
from streed.exact import readable
from streed.rashomon.counting import Counted
from streed.rashomon.recursion import Key, Watch
from streed.rashomon.unranking import Trees
from streed.task import Totals
from streed.tree import Claims, Leaf, Node, Tree
from streed.tree.evaluation import Inspector, leaf_displays
from streed.tree.nodes import Branch

COMPLETE, STOPPED = "complete", "stopped"


@final
@attrs.frozen(eq=False, repr=False)
class RashomonSet:
    """All trees whose value is within a budget, and the questions that they answer.

    `set[i]` is the i-th tree in order of value, the best first; `len` is not defined, as Python allows no length beyond
    2**63: ask `count`. A tree is a label, or a column and a tree for each of its answers, with rows on two sides at
    least; two trees differ if a column or a label differs anywhere, so different trees may predict alike.
    """

    counted: Counted
    optimum: Any
    """The optimal value; None if it is not known, or if there is no tree."""
    limits: Any = None
    """The stop limits of further counts: a function that gives a `Watch`."""

    # -- how many --------------------------------------------------------------------------------------------------

    @property
    def status(self) -> str:
        """"complete", or "stopped": by a time limit, a memory limit or Ctrl-C, and only some of the trees are here."""
        return COMPLETE if self.counted.stopped is None else STOPPED

    @property
    def stopped(self) -> str | None:
        """What ended the count early: "time", "memory" or "interrupt"; None if nothing did."""
        return self.counted.stopped

    @property
    def count(self) -> int | None:
        """How many trees there are, exactly; None if the count was stopped, see `lower_count`."""
        return self.lower_count if self.status == COMPLETE else None

    @property
    def lower_count(self) -> int:
        """How many trees were counted: all of them, or at least so many there are if the count was stopped."""
        return self.counted.histogram.total

    @functools.cached_property
    def histogram(self) -> dict[Any, int]:
        """How many trees have each value, the best value first."""
        found: dict[Any, int] = {}
        for value, keys in self._levels:
            shown = self.counted.question.shown(value)
            found[shown] = found.get(shown, 0) + sum(self.counted.histogram.table[key] for key in keys)
        return found

    @functools.cached_property
    def _levels(self) -> list[tuple[Any, list[Key]]]:
        """The values that there are, the best first, each with the keys that have it."""
        counted, question = self.counted, self.counted.question
        by_rank: dict[Any, tuple[Any, list[Key]]] = {}
        for key in counted.histogram.keys.tolist():
            value = counted.value(key)
            by_rank.setdefault(question.rank(value), (value, []))[1].append(key)
        return [by_rank[rank] for rank in sorted(by_rank, reverse=question.task.maximize)]

    # -- trees -----------------------------------------------------------------------------------------------------

    def __getitem__(self, number: int) -> Tree:
        """The tree of that number in order of value; negative numbers count from the end."""
        if isinstance(number, bool) or not isinstance(number, (int, np.integer)):
            raise InputError("number", f"{number!r} is no whole number", "index one tree at a time, or iterate")
        number = int(number)
        total = self.lower_count
        if not -total <= number < total:
            raise IndexError(f"tree {number} of {total}")
        number %= max(total, 1)
        for _, keys in self._levels:
            for key in keys:
                here = self.counted.histogram.table[key]
                if number < here:
                    return self._tree(key, number)
                number -= here
        raise AssertionError("unreachable")

    def __iter__(self) -> Iterator[Tree]:
        """The trees in order of value."""
        for _, keys in self._levels:
            for key in keys:
                for number in range(self.counted.histogram.table[key]):
                    yield self._tree(key, number)

    def sample(self, k: int, rng: Any = None) -> list[Tree]:
        """`k` trees drawn with replacement, each with the same chance.

        `rng`: a `random.Random`, a numpy generator, a seed, or None for a fresh one.
        """
        if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or k < 0:
            raise InputError("k", f"{k!r} is no number of trees", "give a whole number >= 0")
        if k and not self.lower_count:
            raise InputError("k", "the set has no trees", "widen the budget")
        draw = _drawing(rng)
        return [self[draw(self.lower_count)] for _ in range(int(k))]

    @functools.cached_property
    def _trees(self) -> Trees:
        return Trees(self.counted)

    @functools.cached_property
    def _inspector(self) -> Inspector:
        return Inspector(self.counted.question.task, self.counted.question.data)

    def _tree(self, key: Key, number: int) -> Tree:
        """The tree, evaluated from the raw data; raises MismatchError if it has not the value of its key."""
        question = self.counted.question
        task, data, bound = question.task, question.data, question.bound
        root = self._trees.tree(key, number)
        labels = tuple(bound.labels(data))
        found = self._inspector.inspect(Tree.grown(root, data, labels))
        value = self.counted.value(key)
        measured = bound.objective_of(found.value)
        exact = question.data.sample_weight is None or question.sums
        if (question.rank(measured) if exact else measured) != (question.rank(value) if exact else value):
            raise MismatchError(f"tree {number} of value {value} is worth {measured} on the data; please report this")
        if found.broken or not bound.feasible(found.value):
            raise MismatchError(f"tree {number} of value {value} breaks a limit; please report this")
        costs = iter(found.leaf_costs)
        root = _with_costs(root, costs)
        shown = question.shown(value)
        worst = (shown, self.optimum) if task.maximize else (self.optimum, shown)
        claims = Claims(task, shown, *worst, "feasible", root.rows, question.max_depth, None, question.min_leaf)
        tree = Tree.grown(root, data, labels, claims=claims)
        return tree if task.shows_labels else attrs.evolve(tree, shown=leaf_displays(tree, bound, data))

    # -- what is shown ---------------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        counted = f"{self.lower_count:,}" if self.status == COMPLETE else f"at least {self.lower_count:,}"
        return f"<RashomonSet of {counted} trees, optimum {self.optimum}>"


def _with_costs(root: Node, costs: Iterator[Any]) -> Node:
    """The nodes with what their leaves cost, left to right."""
    if isinstance(root, Leaf):
        return attrs.evolve(root, cost=next(costs))
    assert isinstance(root, Branch)
    return attrs.evolve(root, children=tuple(_with_costs(child, costs) for child in root.children))


def _drawing(rng: Any) -> Any:
    """A function from m to a random whole number below m, however large m is."""
    if rng is None or isinstance(rng, (int, np.integer)):
        return random.Random(None if rng is None else int(rng)).randrange
    if isinstance(rng, random.Random):
        return rng.randrange
    if isinstance(rng, np.random.Generator):
        return lambda below: _from_generator(rng, below)
    raise InputError("rng", f"{rng!r} draws nothing", "give a seed, a random.Random or a numpy generator")


def _from_generator(rng: np.random.Generator, below: int) -> int:
    """A random whole number below `below`: bits are drawn until they make one."""
    bits = (below - 1).bit_length()
    while True:
        number = int.from_bytes(rng.bytes((bits + 7) // 8), "little") & ((1 << bits) - 1)
        if number < below:
            return number
