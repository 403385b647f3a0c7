"""A question counted: which recursion serves it, in which keys, and the trees of each value."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, final

import attrs
import numpy as np

from streed.enumerate.packing import Packing
from streed.errors import InputError
from streed.exact import Array
from streed.problem import SearchLimits, SearchStopped
from streed.rashomon.engine import LARGEST_COST, LEAST_DEPTH, Engine
from streed.rashomon.histogram import EMPTY, Histogram
from streed.rashomon.kinds import Kinds
from streed.rashomon.native import LARGEST_KEY, NativeRecursion
from streed.rashomon.question import Question, RowSum, exact_leaf
from streed.rashomon.recursion import Key, Leaves, Recursion, RowLeaves, TaskLeaves, Watch
from streed.rashomon.splits import BinarySplits, Split, find_splits
from streed.task import ExactSums

_FEW_SPLITS = 256
"""Trees of three levels over so few splits are counted all together, in a moment."""


@final
@attrs.frozen(eq=False)
class Budget:
    """The worst value that is counted."""

    rank: Any
    """The score that no counted tree is worse than, exactly."""
    weights: tuple[int, ...]
    """Of a score that is a fraction of sums: what they weigh in the budgeted one. Else nothing."""
    most: Any
    """What the budgeted sum, or the value where leaves are asked one by one, is at most."""


@final
@attrs.define(eq=False)
class Counted:
    """All trees of a question below a budget, but for those on banned columns, by their keys."""

    question: Question
    budget: Budget | None
    """None where the count was stopped before it was known."""
    banned: frozenset[int]
    extra: tuple[RowSum, ...]
    """Sums that are counted along; trees outside their intervals are left out."""
    recursion: Recursion
    packing: Packing | None
    """None where leaves are asked one by one: a key then is a value."""
    splits: Sequence[Split]
    everything: int
    """All rows."""
    depth: int
    limit: Key
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
        banned: frozenset[int],
        extra: Sequence[RowSum],
        watch: Watch,
        enough: int | None = None,
    ) -> Counted:
        """The trees of the question, counted until they all are or the watch or Ctrl-C ends it.

        `budget`: where leaves are asked one by one it may be a function of the least value. `enough`: no more trees
        than so many of the least keys need be counted, and those of the last of these keys.
        """
        data = question.data
        sums = [] if callable(budget) else _sums(question, budget, extra)
        branches = _most_branches(question)
        packing = Packing.of([each.costs for each in sums], [each.split for each in sums], branches) if sums else None
        everything = (1 << data.n_rows) - 1
        given = [each for each in (question.max_depth, question.max_nodes) if each is not None]
        depth = min([data.n_rows - 1, *given])
        distinct = question.columns == "distinct"
        recursion: Recursion
        splits: Sequence[Split]
        if packing is None:
            splits = find_splits(data, banned, distinct=distinct, price=question.split)
            leaves: Leaves = TaskLeaves(question.n_labels, _asking(question), question.labels == "best")
            recursion, limit = Recursion(leaves, splits, question.trivial, watch), 0
        else:
            assert isinstance(budget, Budget)
            limit = packing.budget(budget.most)
            kinds = Kinds.of(packing.costs[:, :, 0], data.frequency)
            most = max(packing.largest, limit) + packing.split[0]
            binary = BinarySplits.of(data, banned, distinct=distinct) if most < LARGEST_KEY else None
            if binary is not None:
                engine = None
                if most < LARGEST_COST and depth >= LEAST_DEPTH and len(binary.first):
                    engine = Engine.of(question.bound, data, binary, kinds, depth, question.min_leaf, packing.split[0])
                sets = binary.sets if engine is None else engine.sets
                everything = everything if engine is None else engine.everything
                splits = binary.splits(packing.split[0], sets, everything)
                members = kinds.members() if engine is None else engine.members
                leaves = _row_leaves(question, kinds, members, packing)
                recursion = NativeRecursion(leaves, splits, question.trivial, watch, engine=engine)
            else:
                splits = find_splits(data, banned, distinct=distinct, price=packing.split[0])
                leaves = _row_leaves(question, kinds, kinds.members(), packing)
                recursion = Recursion(leaves, splits, question.trivial, watch, are_positive=True)
        recursion.enough = enough
        known = budget if isinstance(budget, Budget) else None
        made = cls(question, known, banned, tuple(extra), recursion, packing, splits, everything, depth, limit)
        made._count(budget)
        return made

    @classmethod
    def nothing(cls, question: Question, stopped: str | None) -> Counted:
        """No trees: there are none, or none were counted until `stopped`."""
        leaves = TaskLeaves(question.n_labels, lambda rows, k: None, best=False)
        none = Recursion(leaves, (), trivial=True)
        return cls(question, None, frozenset(), (), none, None, (), 0, 0, 0, stopped=stopped)

    def _count(self, budget: Budget | Callable[[Key], Budget]) -> None:
        """Counts until that is done or stopped."""
        recursion = self.recursion
        engine = recursion.engine if isinstance(recursion, NativeRecursion) else None
        try:
            if self.packing is None and not self._find_limit(budget):
                return
            self.depth = recursion.useful(self.everything, self.depth, self.limit)
            if engine is None:
                self._count_all()
            else:
                engine.begin(SearchLimits(recursion.watch.remaining()))
                engine.run(self._count_all)
        except SearchStopped as stop:
            self.stopped = stop.reason
        except KeyboardInterrupt:
            self.stopped = "interrupt"
        except MemoryError:
            self.stopped = "memory"
        finally:
            if engine is not None:
                engine.end()
            # the limits are those of the count, not of what is asked of its trees
            recursion.watch = Watch()

    def _find_limit(self, budget: Budget | Callable[[Key], Budget]) -> bool:
        """Makes the budget known where leaves are asked one by one; whether there are trees."""
        if callable(budget):
            least = self.recursion.optimum(self.everything, self.depth)
            if least is None:
                return False
            budget = budget(least)
        self.budget, self.limit = budget, budget.most
        return True

    def _count_all(self) -> None:
        """Counts below the root split by split, unless that takes a moment only."""
        recursion, depth = self.recursion, self.depth
        is_quick = depth < LEAST_DEPTH or (depth == LEAST_DEPTH and len(self.splits) <= _FEW_SPLITS)
        count = recursion.histogram if is_quick else recursion.by_splits
        self._all = count(self.everything, depth, self.limit)

    @functools.cached_property
    def histogram(self) -> Histogram:
        """The counted trees by key, those of sums outside their intervals left out."""
        found, intervals = self._all, self._intervals
        if self.packing is None or not intervals:
            return found
        keep = [
            all(each.holds(totals[at]) for at, each in intervals)
            for totals in (self.packing.totals((key,)) for key in found.keys.tolist())
        ]
        inside = np.array(keep, bool)
        return Histogram.made(found.keys[inside], found.counts[inside])

    @property
    def copies(self) -> list[tuple[int, int]] | None:
        """The sets of rows with the number of copies of each of them; None where each row is one."""
        frequency = self.question.data.frequency
        if frequency is None:
            return None
        leaves = self.recursion.leaves
        if isinstance(leaves, RowLeaves):
            return [(members, copies) for members, copies, _ in leaves.groups]
        return [(1 << row, copies) for row, copies in enumerate(frequency.tolist())]

    @property
    def _intervals(self) -> list[tuple[int, RowSum]]:
        """The sums that must be in an interval, with their places."""
        sums = [] if self.budget is None else _sums(self.question, self.budget, self.extra)
        return [(at, each) for at, each in enumerate(sums) if each.least is not None or each.most is not None]

    @property
    def has_every_tree(self) -> bool:
        """Whether it is plain that the budget leaves out no tree."""
        if self.packing is None:
            return False
        return bool(self.limit >= self.packing.largest + self.packing.split[0] * _most_branches(self.question))

    def by_rank(self) -> dict[Any, int]:
        """How many trees have each score, exactly."""
        found: dict[Any, int] = {}
        for key, count in self.histogram.table.items():
            rank = self.question.rank(self.value(key))
            found[rank] = found.get(rank, 0) + count
        return found

    def value(self, key: Key) -> Any:
        """The value, as the task has it, of trees of a key."""
        if self.packing is None:
            return key
        totals = self.packing.totals((int(key),))
        return self.question.value(totals[1:] if self.question.fraction is not None else totals)

    def extras(self, key: Key) -> tuple[int, ...]:
        """The totals of the extra sums of a key."""
        if self.packing is None or not self.extra:
            return ()
        return self.packing.totals((int(key),))[-len(self.extra) :]


def _sums(question: Question, budget: Budget, extra: Sequence[RowSum]) -> list[RowSum]:
    """The sums that keys hold: the budgeted one, those of the score, of limits, and further ones."""
    sums = list(question.sums)
    if question.fraction is not None:
        weights = budget.weights
        costs = sum(w * each.costs for w, each in zip(weights, sums, strict=True))
        split = sum(w * each.split for w, each in zip(weights, sums, strict=True))
        assert isinstance(costs, np.ndarray)
        sums = [RowSum(costs, split), *sums]
    if not sums:
        return []
    nodes = []
    if question.max_nodes is not None:
        nodes.append(RowSum(np.zeros(sums[0].costs.shape, np.int64), 1, 1, None, question.max_nodes))
    return [*sums, *question.limits, *nodes, *extra]


def _most_branches(question: Question) -> int:
    """No tree has more branching nodes."""
    rows = question.data.n_rows - 1
    widest = max([2, *(len(question.data.column(j).categories) for j in question.data.categorical)])
    depth = question.max_depth
    return rows if depth is None or depth > rows else min(rows, sum(widest**level for level in range(depth)))


def _row_leaves(question: Question, kinds: Kinds, members: Array, packing: Packing) -> RowLeaves:
    return RowLeaves(question.n_labels, kinds, members, question.min_leaf, question.labels == "best", packing.radix)


def _asking(question: Question) -> Callable[[int, int], Any]:
    """What a leaf of a set of rows costs by label, asked of the task; None where its limits allow none."""
    task, data = question.bound, question.data
    sums = ExactSums(task, data)

    def cost(rows: int, k: int) -> Any:
        members = np.flatnonzero(
            np.unpackbits(np.frombuffer(rows.to_bytes(-(-data.n_rows // 8), "little"), np.uint8), bitorder="little")[
                : data.n_rows
            ]
        )
        size = data.count(members)
        if size < question.min_leaf:
            return None
        state = sums.state(members)
        if not all(limit.allows(state) for limit in task.limits):
            return None
        exact = task.exact_cost(data, members, k)
        return exact_leaf(question.task, task.leaf_cost(state, k) if exact is None else exact)

    return cost


def budget_of(question: Question, rank: Any) -> Budget:
    """The budget that holds the trees whose score is no worse than this."""
    if question.fraction is not None:
        return _fraction_budget(question, Fraction(rank))
    if not question.sums:
        return Budget(rank, (), _value_budget(question, rank))
    unit = Fraction(question.sums[0].unit)
    return Budget(rank, (), math.floor(_value_budget(question, rank) / unit))


def _value_budget(question: Question, rank: Any) -> Any:
    """The largest value whose score is no worse; scores are affine in the value."""
    zero, one, two = (Fraction(question.rank(value)) for value in (0, 1, 2))
    slope = one - zero
    if slope == 0 or two - one != slope or (slope < 0) != question.task.larger_is_better:
        raise InputError(
            "task",
            f"the score of {type(question.task).__name__} is no affine function of its value, so that no budget on the "
            "value holds its near-optimal trees",
            "leave score as it is, and give a slack or a budget on the value",
        )
    return (Fraction(rank) - zero) / slope


def _fraction_budget(question: Question, rank: Fraction) -> Budget:
    """(top - falls . v) / (base + slopes . v) >= rank exactly if (falls + rank slopes) . v <= top - rank base."""
    fraction = question.fraction
    assert fraction is not None
    weights = [
        (Fraction(fall) + rank * slope) * each.unit
        for fall, slope, each in zip(fraction.falls, fraction.slopes, question.sums, strict=True)
    ]
    most = fraction.top - rank * fraction.base
    common = math.lcm(*(w.denominator for w in weights))
    return Budget(rank, tuple(int(common * w) for w in weights), math.floor(common * most))
