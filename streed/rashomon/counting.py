"""A question counted: which recursion serves it, in which keys, and the trees of each value."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, final

import attrs
import numpy as np

from streed.errors import InputError
from streed.exact import Array
from streed.kernels.entries import find_classes
from streed.problem import SearchLimits, SearchStopped
from streed.rashomon.engine import LARGEST_COST, LEAST_DEPTH, Engine
from streed.rashomon.histogram import Histogram
from streed.rashomon.native import LARGEST_KEY, NativeRecursion
from streed.rashomon.packing import Packing
from streed.rashomon.question import Question, RowSum, check_exact
from streed.rashomon.recursion import Key, Leaves, PlainRecursion, Recursion, RowLeaves, TaskLeaves, Watch
from streed.rashomon.splits import Asked, Split, find_splits, row_sets
from streed.task import State, beside_sums, sums_over

_FEW_SPLITS = 256
"""Trees of three levels over so few splits are counted all together, in a moment."""


_AT_ONCE = 256
"""Groups of rows whose sets are made at once."""


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
    budget: Budget
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
    finished: list[Split] = attrs.field(factory=list)
    """The splits at the root whose trees are counted."""
    stopped: str | None = None
    """What ended the count early, None if nothing did."""
    parts: list[Histogram] = attrs.field(factory=list)

    @classmethod
    def of(
        cls, question: Question, budget: Budget, *, banned: frozenset[int], extra: Sequence[RowSum], watch: Watch
    ) -> Counted:
        """The trees of the question, counted until they all are or the watch or Ctrl-C ends it."""
        data = question.data
        sums = _sums(question, budget, extra)
        branches = _most_branches(question)
        packing = Packing.of(sums, branches) if sums else None
        price = question.split if packing is None else packing.split
        splits = find_splits(data, banned, distinct=question.columns == "distinct", price=price)
        limit = budget.most if packing is None else packing.budget(budget.most)
        everything = (1 << data.n_rows) - 1
        depth = data.n_rows - 1 if question.max_depth is None else min(question.max_depth, data.n_rows - 1)
        recursion: Recursion
        if packing is None:
            leaves: Leaves = TaskLeaves(question.n_labels, _asking(question), question.labels == "best")
            recursion = PlainRecursion(leaves, splits, question.trivial, watch)
        else:
            groups = _groups(packing.costs, data.frequency)
            most = max(packing.largest, limit) + packing.split
            engine = None
            if most < LARGEST_KEY and all(split.is_binary for split in splits):
                if splits and depth >= LEAST_DEPTH and most < LARGEST_COST:
                    engine = Engine.of(question.bound, data, splits, groups, depth, question.min_leaf, packing.split)
                places = data.n_rows
                if engine is not None:
                    splits, groups, everything = _placed(engine, splits, groups, data.n_rows)
                    places = 64 * engine.words
                leaves = _row_leaves(question, groups, packing)
                recursion = NativeRecursion(leaves, splits, question.trivial, watch, n_rows=places, engine=engine)
            else:
                leaves = _row_leaves(question, groups, packing)
                recursion = PlainRecursion(leaves, splits, question.trivial, watch, nonnegative=True)
        made = cls(question, budget, banned, tuple(extra), recursion, packing, splits, everything, depth, limit)
        made._count()
        return made

    @classmethod
    def nothing(cls, question: Question, stopped: str | None) -> Counted:
        """No trees: there are none, or none were counted until `stopped`."""
        leaves = TaskLeaves(question.n_labels, lambda rows, k: None, best=False)
        budget, none = Budget(None, (), 0), PlainRecursion(leaves, (), trivial=True)
        return cls(question, budget, frozenset(), (), none, None, (), 0, 0, 0, stopped=stopped)

    def _count(self) -> None:
        """Counts until that is done or stopped."""
        recursion = self.recursion
        engine = recursion.engine if isinstance(recursion, NativeRecursion) else None
        try:
            self.depth = recursion.useful(self.everything, self.depth, self.limit)
            if engine is None:
                self._count_splits()
            else:
                engine.begin(SearchLimits(recursion.watch.remaining()))
                engine.run(self._count_splits)
        except SearchStopped as stop:
            self.stopped = stop.reason
        except KeyboardInterrupt:
            self.stopped = "interrupt"
        except MemoryError:
            self.stopped = "memory"
        finally:
            if engine is not None:
                engine.end()

    def _count_splits(self) -> None:
        """Counts root split by root split, so that what is counted when it is stopped is a set of trees, too."""
        recursion, depth, budget = self.recursion, self.depth, self.limit
        if depth < LEAST_DEPTH or (depth == LEAST_DEPTH and len(self.splits) <= _FEW_SPLITS):
            self.parts.append(recursion.histogram(self.everything, depth, budget))
            self.finished.extend(self.splits)
            return
        self.parts.append(recursion.of_leaves(self.everything, budget))
        for split, children, optima in recursion.affordable(self.everything, depth, budget):
            part = recursion.of_split(split, children, optima, depth, budget)
            self.parts.append(part)
            self.finished.append(split)

    @functools.cached_property
    def histogram(self) -> Histogram:
        """The counted trees by key, those of sums outside their intervals left out."""
        found = Histogram.merged(self.parts) if self.parts else Histogram.of({})
        intervals = self._intervals
        if self.packing is None or not intervals:
            return found
        keep = [
            all(each.holds(totals[at]) for at, each in intervals)
            for totals in map(self.packing.totals, found.keys.tolist())
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
        sums = _sums(self.question, self.budget, self.extra)
        return [(at, each) for at, each in enumerate(sums) if each.least is not None or each.most is not None]

    def value(self, key: Key) -> Any:
        """The value, as the task has it, of trees of a key."""
        if self.packing is None:
            return key
        totals = self.packing.totals(int(key))
        return self.question.value(totals[1:] if self.question.fraction is not None else totals)

    def extras(self, key: Key) -> tuple[int, ...]:
        """The totals of the extra sums of a key."""
        if self.packing is None or not self.extra:
            return ()
        return self.packing.totals(int(key))[-len(self.extra) :]


def _sums(question: Question, budget: Budget, extra: Sequence[RowSum]) -> list[RowSum]:
    """The sums that keys hold: the budgeted one, those of the score, of limits, and further ones."""
    sums = list(question.sums)
    if question.fraction is not None:
        weights = budget.weights
        costs = sum(w * each.costs for w, each in zip(weights, sums, strict=True))
        split = sum(w * each.split for w, each in zip(weights, sums, strict=True))
        assert isinstance(costs, np.ndarray)
        sums = [RowSum(costs, split), *sums]
    return [*sums, *question.limits, *extra] if sums else []


def _most_branches(question: Question) -> int:
    """No tree has more branching nodes."""
    rows = question.data.n_rows - 1
    widest = max([2, *(len(question.data.column(j).categories) for j in question.data.categorical)])
    depth = question.max_depth
    return rows if depth is None or depth > rows else min(rows, sum(widest**level for level in range(depth)))


def _row_leaves(question: Question, groups: Sequence[Group], packing: Packing) -> RowLeaves:
    return RowLeaves(question.n_labels, groups, question.min_leaf, question.labels == "best", packing.radix)


def _placed(
    engine: Engine, splits: Sequence[Split], groups: Sequence[Group], n_rows: int
) -> tuple[list[Split], list[Group], int]:
    """The splits, groups and all rows, as sets of the places that rows have in the engine."""
    sets = [part for split in splits for part in split.parts]
    sets += [members for members, _, _ in groups]
    moved = dict(zip(sets, engine.placed(sets, n_rows), strict=True))
    there = []
    for split in splits:
        asked = tuple(
            Asked(each.column, each.cut, tuple(moved[c] if c else 0 for c in each.children)) for each in split.asked
        )
        there.append(Split(asked, tuple(moved[part] for part in split.parts), split.price))
    whole = functools.reduce(operator.or_, (moved[members] for members, _, _ in groups))
    return there, [(moved[members], copies, keys) for members, copies, keys in groups], whole


Group = tuple[int, int, tuple[int, ...]]
"""The set of the rows of equal keys and copies, how many copies each row is, and the keys by label."""


def _groups(costs: Array, frequency: Array | None) -> list[Group]:
    """The rows of equal keys and copies."""
    if costs.dtype != object:
        return _groups_of_integers(costs, np.ones(len(costs), np.int64) if frequency is None else frequency)
    copies = [1] * len(costs) if frequency is None else frequency.tolist()
    members: dict[tuple[int, ...], list[int]] = {}
    for row, each in enumerate(zip(copies, map(tuple, costs.tolist()), strict=True)):
        members.setdefault((each[0], *each[1]), []).append(row)
    found = []
    for (count, *keys), rows in sorted(members.items()):
        inside = np.zeros((len(costs), 1), np.uint8)
        inside[rows] = 1
        found.append((row_sets(inside)[0], count, tuple(keys)))
    return found


def _groups_of_integers(costs: Array, copies: Array) -> list[Group]:
    """The same, of int64 costs (n, K)."""
    told_apart = np.ascontiguousarray(np.column_stack([copies, costs]))
    first, member = find_classes(told_apart.view(np.uint8))
    numbers = np.arange(len(first))
    sets: list[int] = []
    for at in range(0, len(first), _AT_ONCE):
        sets += row_sets((member[:, None] == numbers[at : at + _AT_ONCE]).astype(np.uint8))
    kinds = told_apart[first].tolist()
    return [(rows, each[0], tuple(each[1:])) for rows, each in zip(sets, kinds, strict=True)]


def _asking(question: Question) -> Callable[[int, int], Any]:
    """What a leaf of a set of rows costs by label, asked of the task; None where its limits allow none."""
    task, data = question.bound, question.data
    sums = sums_over(task, data)

    def cost(rows: int, k: int) -> Any:
        members = np.flatnonzero(
            np.unpackbits(np.frombuffer(rows.to_bytes(-(-data.n_rows // 8), "little"), np.uint8), bitorder="little")[
                : data.n_rows
            ]
        )
        size = data.count(members)
        if size < question.min_leaf:
            return None
        totals = {name: values[members].sum(axis=0) for name, values in sums.items()}
        held = {name: tuple(v) if isinstance(v, np.ndarray) else v for name, v in totals.items()}
        state = State(size, **held, **beside_sums(task, data, members))
        if not all(limit.allows(state) for limit in task.limits):
            return None
        exact = task.exact_cost(data, members, k)
        return check_exact(question.task, task.leaf_cost(state, k) if exact is None else exact)

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
    if slope == 0 or two - one != slope or (slope < 0) != question.task.maximize:
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
