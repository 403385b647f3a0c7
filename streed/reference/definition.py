"""A task on a data set, as STreeD's Def. 4.1 has it: <g, t, >, (+), c, s0>.

Rows are numbered from 0, and a set of rows is a Python int whose bit i says whether row i is in it. All numbers are
exact: ints and Fractions.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import NamedTuple, final

import numpy as np

from streed.data import Cut, Dataset
from streed.task import ExactSums, RowCostTask, State, Task, Value
from streed.task.algebra import objective


class S(NamedTuple):
    """A state s = <D, F>: the rows D, and the columns F tested above them where the task's costs depend on those."""

    rows: int
    path: tuple[int, ...]

    @property
    def size(self) -> int:
        """How many of the data's rows it has, however many equal ones each of them stands for."""
        return self.rows.bit_count()


def context_independent(task: Task) -> bool:
    """Whether no cost of the task depends on the branching decisions above (STreeD, Def. B.1)."""
    inner = objective(task)
    return isinstance(inner, RowCostTask) or not inner.overrides("branching_cost")


def merged(task: Task, values: Sequence[Value], rows: int, path: tuple[int, ...], split: int) -> Value:
    """v1 (+) v2 (+) ... (+) g(s, f), the value of a branching node; no cost of branching adds nothing."""
    value = functools.reduce(task.combine, values)
    cost = task.branching_cost(rows, tuple(sorted(set(path))), split)
    return value if cost is None else task.combine(value, cost)


@final
class OptimizationTask:
    """The six components of an optimisation task (Def. 4.1); its methods bear the paper's names."""

    def __init__(self, task: Task, data: Dataset, min_leaf: int = 1) -> None:
        self.task = task.bind(data)
        self.data = data
        self.min_leaf = min_leaf
        self._counts = data.counts.tolist()
        self.labels = tuple(self.task.labels(data))
        self.splits = every_split(data)
        self.features = range(len(self.splits))
        """Each is a binary or categorical column, or a cut of an ordered one; a path holds columns."""
        self.s0 = S((1 << data.n_rows) - 1, ())
        self._remembers = not context_independent(self.task)
        self._sums = ExactSums(self.task, data)
        self._children = [
            [sum(1 << row for row, at in enumerate(found) if at == child) for child in range(width(data, split))]
            for split, found in ((split, children(data, split)) for split in self.splits)
        ]
        """For every split, the set of rows that go to each child."""
        self.most_children = max(map(len, self._children), default=2)

    def g_label(self, s: S, k: int) -> Value:
        """The cost of giving label number k to state s."""
        return self.task.leaf_cost(self.statistics(s), k)

    def t(self, s: S, f: int) -> tuple[S, ...]:
        """The states after branching on f in s, one per child; () unless two of them have rows."""
        path = tuple(sorted({*s.path, self.splits[f].column})) if self._remembers else ()
        children = tuple(S(s.rows & rows, path) for rows in self._children[f])
        return children if sum(child.rows > 0 for child in children) >= 2 else ()

    def c(self, s: S) -> bool:
        """The constraint on a leaf at s: whether it has min_leaf rows and meets the task's limits.

        Limits are on leaves, so a branching node meets them as soon as the leaves below it do.
        """
        return self.n_rows(s) >= self.min_leaf and all(limit.allows(self.statistics(s)) for limit in self.task.limits)

    def better(self, a: Value, b: Value) -> bool:
        """Whether value a dominates value b, a > b."""
        return self.task.better(a, b)

    def combine(self, a: Value, b: Value) -> Value:
        """The combined value a (+) b."""
        return self.task.combine(a, b)

    def merge(self, values: Sequence[Value], s: S, f: int) -> Value:
        """The values of the children of s after branching on f, combined, and with g(s, f)."""
        return merged(self.task, values, self.n_rows(s), s.path, self.splits[f].column)

    def n_rows(self, s: S) -> int:
        """|D|, the number of rows, each as often as its frequency says, unweighted."""
        return s.size if self.data.frequency is None else sum(self._counts[row] for row in _members(s.rows))

    def statistics(self, s: S) -> State:
        """The sums of the task's statistics over the rows of s, and the rows themselves if the task reads them."""
        return self._sums.state(np.array(_members(s.rows), np.int64))


def _members(rows: int) -> list[int]:
    """The numbers of the rows in a set, in order."""
    members = []
    while rows:
        lowest = rows & -rows
        members.append(lowest.bit_length() - 1)
        rows ^= lowest
    return members


class Split(NamedTuple):
    """A split on a column; of an ordered one, with its cut."""

    column: int
    cut: Cut | None


def every_split(data: Dataset) -> list[Split]:
    """The splits in the order of the columns; those of an ordered column by rising threshold."""
    splits: list[Split] = []
    for j in range(data.n_columns):
        if j not in data.ordered:
            splits.append(Split(j, None))
            continue
        values = data.ordered[j]
        splits += [Split(j, values.cut(limit, gaps)) for limit, gaps in values.questions().tolist()]
    return splits


def width(data: Dataset, split: Split) -> int:
    """How many children the split has."""
    return len(data.column(split.column).categories) if split.column in data.categorical else 2


def children(data: Dataset, split: Split) -> list[int]:
    """(n,) the number of the child that each row goes to."""
    codes = data.X[:, split.column].tolist()
    if split.cut is None:
        return codes  # type: ignore[no-any-return]
    values = data.ordered[split.column].values.tolist()
    threshold, gaps = split.cut.threshold, split.cut.gaps
    missing = len(values)
    if threshold is None:
        return [int(code == missing) for code in codes]
    return [gaps if code == missing else int(values[code] > threshold) for code in codes]
