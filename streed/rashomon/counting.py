"""A question counted: which recursion serves it, in which keys, and the trees of each value."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any, final

import attrs
import numpy as np

from streed.dp.count import EMPTY, Count, Counting, Depths, Histogram
from streed.dp.recursion import Limits, Option, Path, Recursion, StopMonitor
from streed.dp.solutions import Least
from streed.dp.states import Cell
from streed.errors import InputError
from streed.exact import in_whole
from streed.kernels.records import INFINITE
from streed.problem import SearchLimits, SearchStopped
from streed.rashomon.cells import RowCells, TaskCells
from streed.rashomon.question import Question
from streed.tables.packing import Packing
from streed.task.bounded_sums import RowSum

Key = Any
"""What a tree costs, a whole number or a fraction; further sums may be packed in it, below the cost."""

LARGEST_KEY = 2**60
"""Keys of trees within the budget, and of all leaves, stay below this where they are counted natively."""

LARGEST_COST = 2**50
"""Keys of trees beyond this are not given to the engine."""

LEAST_DEPTH = 3
"""For trees of fewer levels the engine has no bounds; one call of a kernel counts so many."""

_FEW_SPLITS = 256
"""Trees of three levels over so few splits are counted all together, in a moment."""


@final
@attrs.frozen(eq=False)
class Budget:
    """The worst value that is counted."""

    weights: tuple[int, ...]
    """Of a score that is a fraction of sums: what they weigh in the budgeted one. Else nothing."""
    most: Any
    """What the budgeted sum, or the value where leaves are asked one by one, is at most."""


@final
@attrs.define(eq=False)
class Counted:
    """All trees of a question below a budget, but for those on banned columns, by their keys."""

    question: Question
    budget: Budget | None = None
    """None where the count was stopped before it was known."""
    banned: frozenset[int] = frozenset()
    extra: tuple[RowSum, ...] = ()
    """Sums that are counted along; trees outside their intervals are left out."""
    packing: Packing | None = None
    """None where leaves are asked one by one: a key then is a value."""
    recursion: Counting | None = None
    """None where nothing was counted."""
    limit: Key = 0
    """The largest key."""
    stopped: str | None = None
    """What ended the count early, None if nothing did."""
    _all: Histogram = EMPTY
    """All trees by key; none if the count was stopped."""

    @classmethod
    def of(
        cls,
        question: Question,
        budget: Budget | Callable[[Key], Budget],
        *,
        banned: frozenset[int] = frozenset(),
        extra: Sequence[RowSum] = (),
        monitor: StopMonitor,
        enough: int | None = None,
    ) -> Counted:
        """The trees of the question, counted until they all are or the monitor or Ctrl-C ends it.

        `budget`: where leaves are asked one by one it may be a function of the least value. `enough`: no more trees
        than so many of the least keys need be counted, and those of the last of these keys.
        """
        sums = [] if callable(budget) else _sums(question, budget, extra)
        costs, splits = [each.by_row for each in sums], [each.split for each in sums]
        packing = Packing.of(costs, splits, question.most_branches) if sums else None
        cells: RowCells | TaskCells
        if packing is None:
            cells, limit = TaskCells(question, banned), 0
        else:
            assert isinstance(budget, Budget)
            limit = packing.budget(budget.most)
            most = max(packing.largest, limit) + packing.split[0]
            bounded = most < LARGEST_COST and question.depth >= LEAST_DEPTH
            native = RowCells.of(question, packing, banned, bounded=bounded) if most < LARGEST_KEY else None
            cells = native or TaskCells(question, banned, packing)
        is_native = isinstance(cells, RowCells)
        recursion = (_NativeCounting if is_native else Counting)(cells, Count, Depths(), monitor)
        recursion.least = (_NativeLeast if is_native else Recursion)(cells, Least, Depths(), monitor)
        recursion.small, recursion.trivial, recursion.enough = is_native, question.trivial, enough
        recursion.charges = 0 if packing is None else packing.split[0]
        known = None if callable(budget) else budget
        made = cls(question, known, banned, tuple(extra), packing, recursion, limit)
        made._count(recursion, budget)
        return made

    def _count(self, recursion: Counting, budget: Budget | Callable[[Key], Budget]) -> None:
        """Counts until that is done or stopped."""
        monitor, root, engine = recursion.monitor, recursion.states.root, recursion.states.engine
        try:
            if self.packing is None:
                least = recursion.low(root, recursion.useful(root, self.question.depth, None))
                if least is not None and not monitor.stopped:
                    self.budget = budget = budget(least) if callable(budget) else budget
                    self.limit = budget.most
                    self._count_all(recursion)
            elif engine is None:
                self._count_all(recursion)
            else:
                engine.run(functools.partial(self._count_all, recursion), SearchLimits(monitor.remaining()))
            self.stopped = monitor.stopped
        except SearchStopped as stop:
            self.stopped = stop.reason
        except KeyboardInterrupt:
            self.stopped = "interrupt"
        except MemoryError:
            self.stopped = "memory"
        finally:
            # the limits are those of the count, not of what is asked of its trees
            recursion.monitor = recursion.least.monitor = StopMonitor()
        if self.stopped is not None:
            self._all = EMPTY

    def _count_all(self, recursion: Counting) -> None:
        """Counts below the root split by split, unless that takes a moment only."""
        root = recursion.states.root
        limits = recursion.within(root, recursion.useful(root, self.question.depth, None), self.limit)
        depth = limits[0] or 0
        splits = len(recursion.states.sets) if recursion.small else 0
        if depth < LEAST_DEPTH or (depth == LEAST_DEPTH and splits <= _FEW_SPLITS):
            self._all = recursion.trees(root, limits, (), self.limit)
        else:
            self._all = Counting.make(recursion, root, limits, (), self.limit)[1]

    @functools.cached_property
    def histogram(self) -> Histogram:
        """The counted trees by key, those of sums outside their intervals left out."""
        found, sums = self._all, [] if self.budget is None else _sums(self.question, self.budget, self.extra)
        intervals = [(at, each) for at, each in enumerate(sums) if each.least is not None or each.most is not None]
        if self.packing is None or not intervals:
            return found
        keep = [
            all(each.holds(totals[at]) for at, each in intervals)
            for totals in (self.packing.totals((key,)) for key in found.keys.tolist())
        ]
        inside = np.array(keep, bool)
        return Histogram.made(found.keys[inside], found.counts[inside])

    @functools.cached_property
    def levels(self) -> list[tuple[Any, Any, list[Key]]]:
        """The scores that there are, the best first, exactly, each with a value and the keys that have it."""
        by_rank: dict[Any, tuple[Any, Any, list[Key]]] = {}
        for key in self.histogram.keys.tolist():
            value = self.value(key)
            rank = self.question.rank(value)
            by_rank.setdefault(rank, (rank, value, []))[2].append(key)
        return [by_rank[rank] for rank in sorted(by_rank, reverse=self.question.task.larger_is_better)]

    def value(self, key: Key) -> Any:
        """The value, as the task has it, of trees of a key."""
        if self.packing is None:
            return key
        totals = self.packing.totals((int(key),))
        return self.question.value(totals[1:] if self.question.fraction is not None else totals)

    def extras(self, key: Key) -> tuple[int, ...]:
        """The totals of the extra sums of a key."""
        totals = () if self.packing is None else self.packing.totals((int(key),))
        return totals[len(totals) - len(self.extra) :]


def _sums(question: Question, budget: Budget, extra: Sequence[RowSum]) -> list[RowSum]:
    """The sums that keys hold: the budgeted one, those of the score, of limits, and further ones."""
    sums = list(question.sums)
    if question.fraction is not None:
        pairs = list(zip(budget.weights, sums, strict=True))
        costs: Any = sum(w * each.costs for w, each in pairs)
        sums = [RowSum(costs, sum(w * each.split for w, each in pairs)), *sums]
    if not sums:
        return []
    nodes = RowSum(np.zeros(sums[0].costs.shape, np.int64), 1, 1, None, question.max_nodes)
    return [*sums, *question.limits, *([] if question.max_nodes is None else [nodes]), *extra]


@final
class _NativeLeast(Recursion):
    def make(self, cell: Cell, limits: Limits, path: Path, bound: Any) -> Any:
        depth = limits[0] or 0
        if depth >= LEAST_DEPTH:
            return super().make(cell, limits, path, bound)
        least = self.states.shallow(cell.rows, depth, 0, counts=False)[0]
        return ([], None) if least >= INFINITE else ([(least, 0, None)], least)


@final
class _NativeCounting(Counting):
    """The native search tells what splits may begin trees of three levels and more, and what their sides cost."""

    def make(self, cell: Cell, limits: Limits, path: Path, bound: Any) -> Any:
        depth, found, cells = limits[0] or 0, None, self.states
        if 0 < depth < LEAST_DEPTH and self.monitor.visit():
            found = cells.shallow(cell.rows, depth, bound, counts=True)[1]
        elif depth == LEAST_DEPTH and cells.engine is not None and self.monitor.visit():
            splits = [place for place, *_ in cells.engine.splits(cell.rows, depth, bound, cells.paid(cell.rows))]
            found = cells.three(cell.rows, splits, bound) if splits else Count(self, cell, bound).kept[1]
        if found is None:  # counts beyond int64 are made of those of smaller trees
            return super().make(cell, limits, path, bound)
        return bound, found if self.enough is None else found.first(self.enough)

    def options(self, cell: Cell, limits: Limits, path: Path, bound: Any = None) -> Iterator[Option]:
        depth, cells = limits[0] or 0, self.states
        if cells.engine is None or depth < LEAST_DEPTH:
            yield from super().options(cell, limits, path, bound)
            return
        for split, *lows in cells.engine.splits(cell.rows, depth, bound, cells.paid(cell.rows)):
            if not self.monitor.look():
                return
            children = cell.rows & ~cells.ones[split], cell.rows & cells.ones[split]
            if all(children):
                lows = [low + cells.paid(child) for low, child in zip(lows, children, strict=True)]
                made = [cells.cell(child) for child in children]
                yield Option(split, made, [self.useful(child, depth - 1, None) for child in made], (), cells.cost, lows)


def budget_of(question: Question, rank: Any) -> Budget:
    """The budget that holds the trees whose score is no worse than this."""
    fraction, sums = question.fraction, question.sums
    if fraction is not None:
        # (top - falls . v) / (base + slopes . v) >= rank exactly if (falls + rank slopes) . v <= top - rank base
        rank = Fraction(rank)
        weights, scale = in_whole([w * each.unit for w, each in zip(fraction.weights_at(rank), sums, strict=True)])
        return Budget(tuple(weights), math.floor(scale * (fraction.top - rank * fraction.base)))
    # scores are affine in the value: the largest value whose score is no worse
    zero, one, two = (Fraction(question.rank(value)) for value in (0, 1, 2))
    slope = one - zero
    if slope == 0 or two - one != slope or (slope < 0) != question.task.larger_is_better:
        found = f"the score of {type(question.task).__name__} is no affine function of its value, on which budgets are"
        raise InputError("task", found, "leave score as it is, and give a slack or a budget on the value")
    most = (Fraction(rank) - zero) / slope
    return Budget((), math.floor(most / Fraction(sums[0].unit)) if sums else most)


_STEPS, _STEPS_OF_SUMS = 40, 400
"""Budgets that are tried; each allows twice as much beyond the optimum.

Of one sum there may be more, as its unit may be tiny: they end where every tree is within the budget.
"""


def count_first(question: Question, k: int, best: Any, limits: Callable[[], StopMonitor]) -> Counted:
    """The trees no worse than the k-th best one, or all if there are fewer, by the best score; or a stopped count."""
    sums = question.sums
    rises = not sums or (len(sums) == 1 and not question.limits and question.max_nodes is None)
    # without trivial splits, pairs of subtrees are left out, so that k of each may make fewer than k trees
    cuts = rises and question.trivial
    unit = Fraction(sums[0].unit) if len(sums) == 1 else Fraction(1, 64)
    least = sums[0].split // 64 if len(sums) == 1 else 0
    slack = max(abs(Fraction(best)) / 64, abs(unit) * max(1, least))
    sign = -1 if question.task.larger_is_better else 1
    for _ in range(_STEPS_OF_SUMS if len(sums) == 1 else _STEPS):
        budget = budget_of(question, best + sign * slack)
        counted = Counted.of(question, budget, monitor=limits(), enough=k if cuts else None)
        if counted.stopped is not None:
            return counted
        packing = counted.packing
        if counted.histogram.total >= k or (
            packing is not None and counted.limit >= packing.largest + packing.split[0] * question.most_branches
        ):
            break  # or it is plain that the budget leaves out no tree
        slack *= 2
    trees = itertools.accumulate(sum(counted.histogram.table[key] for key in keys) for *_, keys in counted.levels)
    place = next((at for at, seen in enumerate(trees) if seen >= k), -1)
    return Counted.of(question, budget_of(question, counted.levels[place][0]), monitor=limits())
