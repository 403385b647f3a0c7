"""The optimum of a separable task by the paper's recursion, in plain Python: slow, exact, and to be read beside it.

J. G. M. van der Linden, M. M. de Weerdt, E. Demirovic: Necessary and Sufficient Conditions for Optimal Decision Trees
using Dynamic Programming (STreeD), NeurIPS 2023, Section 4 and Appendix B. The functions bear the paper's names and
give the equation that they are. Four conventions go beyond the paper's text:

- Rows are numbered from 0, and a set of rows is a Python int whose bit i says whether row i is in it. All numbers are
  exact: ints and Fractions.
- Depth d and nodes n are limits: every T also holds the leaf, so trees may be smaller. None is no limit.
- A split has any number of children; the remaining n - 1 nodes are shared among those that have rows. A child without
  rows is an empty leaf, which costs nothing.
- A set of solutions holds one solution of each value: the first that is met, smaller labels and columns first.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, final

import numpy as np

from streed.data import Cut, Dataset
from streed.task import ExactSums, RowCostTask, State, Task, Value
from streed.task.base import objective
from streed.tree import Branch, Leaf, Node


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
            [sum(1 << row for row, at in enumerate(found) if at == child) for child in range(width(data, split.column))]
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
        """The constraint on a leaf at s: whether it has min_leaf rows and meets the limits, which are on leaves."""
        return self.n_rows(s) >= self.min_leaf and all(limit.allows(self.statistics(s)) for limit in self.task.limits)

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


def width(data: Dataset, column: int) -> int:
    """How many children a split on the column has."""
    return len(data.column(column).categories) if column in data.categorical else 2


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


class Solution(NamedTuple):
    """A solution value and how it came about: a label, or a feature and the solutions of the children with rows."""

    value: Value
    action: int
    parts: tuple[Solution, ...] | None
    """None for a leaf."""


Theta = list[Solution]
"""A set of solutions, as the paper's capital theta."""


def nondom(o: OptimizationTask, solutions: Iterable[Solution]) -> Theta:
    """Eq. 3: the solutions that no other one dominates, one for each value."""
    front: Theta = []
    for v in solutions:
        if not any(u.value == v.value or o.task.better(u.value, v.value) for u in front):
            front = [u for u in front if not o.task.better(v.value, u.value)]
            front.append(v)
    return front


def feas(o: OptimizationTask, solutions: Iterable[Solution], s: S) -> Iterator[Solution]:
    """Eq. 5: the solutions that meet the constraint c at state s."""
    feasible = o.task.feasible
    return (v for v in solutions if feasible(v.value) and (v.parts is not None or o.c(s)))


def opt(o: OptimizationTask, solutions: Iterable[Solution], s: S) -> Theta:
    """Eq. 6: nondom(feas(solutions, s))."""
    return nondom(o, feas(o, solutions, s))


def merge(o: OptimizationTask, thetas: Iterable[Theta], s: S, f: int) -> Iterator[Solution]:
    """Eq. 7: v1 (+) v2 (+) ... (+) g(s, f) for every choice of one solution per child."""
    for parts in itertools.product(*thetas):
        yield Solution(o.merge([part.value for part in parts], s, f), f, parts)


@final
class Recursion:
    """T(s, d, n) of one task, memoised; s holds the branch where costs depend on it (Appendix B, Caching)."""

    def __init__(self, o: OptimizationTask) -> None:
        self.o = o
        self._memo: dict[tuple[S, int | None, int | None], Theta] = {}

    def T(self, s: S, d: int | None, n: int | None) -> Theta:  # noqa: N802 - the paper's name
        """Eq. 8, or with a limit on the nodes Eq. 51: the optimal solutions at state s within depth d and n nodes."""
        d, n = self._useful(s, d, n)
        key = (s, d, n)
        if key not in self._memo:
            if d == 0:
                solutions = self.leaves(s)
            elif n is None:
                solutions = itertools.chain(self.T(s, 0, None), self.branches(s, d))
            else:
                solutions = itertools.chain(self.T(s, 0, None), self.branches_within(s, d, n))
            self._memo[key] = opt(self.o, solutions, s)
        return self._memo[key]

    def leaves(self, s: S) -> Iterator[Solution]:
        """Eq. 8, d = 0: the union over the labels k of {g(s, k)}."""
        return (Solution(self.o.g_label(s, k), k, None) for k in range(len(self.o.labels)))

    def branches(self, s: S, d: int | None) -> Iterator[Solution]:
        """Eq. 8, d > 0: the union over the features f of merge(T(t(s, f), d - 1), T(t(s, not f), d - 1), s, f)."""
        below = None if d is None else d - 1
        for f in self.o.features:
            if children := self.o.t(s, f):
                yield from merge(self.o, [self.T(child, below, None) for child in children if child.rows], s, f)

    def branches_within(self, s: S, d: int | None, n: int) -> Iterator[Solution]:
        """Eq. 51: the same, and the union over all ways to share the other n - 1 nodes among the children."""
        below = None if d is None else d - 1
        for f in self.o.features:
            children = [child for child in self.o.t(s, f) if child.rows]
            for shares in _shares(n - 1, len(children)):
                thetas = [self.T(child, below, share) for child, share in zip(children, shares, strict=True)]
                yield from merge(self.o, thetas, s, f)

    def _useful(self, s: S, d: int | None, n: int | None) -> tuple[int | None, int | None]:
        """The limits d and n at state s, None where they exclude no tree (Algorithm 1 caps them likewise).

        Leaves have min_leaf rows, so there are at most |D| / min_leaf of them; no path meets a feature twice.
        """
        most = max(min(s.size, self.o.n_rows(s) // self.o.min_leaf) - 1, 0)
        if n is not None and (d is None or n < d):
            d = n
        if most == 0 or d == 0:
            return 0, None
        if d is not None and d >= min(most, len(self.o.features)):
            d = None
        if n is not None:
            full = most if d is None else sum(self.o.most_children**level for level in range(d))
            n = None if n >= min(most, full) else n
        return d, n

    def tree(self, solution: Solution, s: S) -> Node:
        """The tree of a solution at state s; an empty leaf bears the best label of the rows of its parent."""
        if solution.parts is None:
            return Leaf(solution.action, self.o.n_rows(s), solution.value)
        parts = iter(solution.parts)
        empty = Leaf(nondom(self.o, self.leaves(s))[0].action, 0, 0)
        children = tuple(
            self.tree(next(parts), child) if child.rows else empty for child in self.o.t(s, solution.action)
        )
        split = self.o.splits[solution.action]
        return Branch(split.column, children, self.o.n_rows(s), split.cut)


def _shares(total: int, children: int) -> Iterator[tuple[int, ...]]:
    """Every way to share `total` nodes among the children, in order; Eq. 51's (i, n - i - 1) for two of them."""
    if children == 1:
        yield (total,)
    for first in range(total + 1) if children > 1 else ():
        for rest in _shares(total - first, children - 1):
            yield (first, *rest)


def optimal_front(
    task: Task, data: Dataset, *, max_depth: int | None = None, max_nodes: int | None = None, min_leaf: int = 1
) -> list[tuple[Value, Node]]:
    """T(s0, max_depth, max_nodes): every nondominated value with a tree; none if no tree is feasible."""
    o = OptimizationTask(task, data, min_leaf)
    recursion = Recursion(o)
    front = recursion.T(o.s0, max_depth, max_nodes)
    return [(solution.value, recursion.tree(solution, o.s0)) for solution in front]


def optimum(
    task: Task, data: Dataset, *, max_depth: int | None = None, max_nodes: int | None = None, min_leaf: int = 1
) -> tuple[Value, Node] | None:
    """The optimal value of a totally ordered task and a tree that has it; None if no tree is feasible."""
    front = optimal_front(task, data, max_depth=max_depth, max_nodes=max_nodes, min_leaf=min_leaf)
    assert len(front) <= 1, "the order is not total; ask for optimal_front"
    return front[0] if front else None
