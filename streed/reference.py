"""The papers' equations in plain Python, without arrays of machine numbers or bounds: the judge of every faster way.

J. G. M. van der Linden, M. M. de Weerdt, E. Demirovic: Necessary and Sufficient Conditions for Optimal Decision Trees
using Dynamic Programming (STreeD), NeurIPS 2023, Section 4 and Appendix B: functions bear the paper's names and give
the equation that they are. The value of a given tree, and the best of every tree there is, share with the recursion
only how rows are added up and parted, so that they can judge it. Four conventions go beyond the paper's text:

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
from typing import Any, NamedTuple, final

import numpy as np

from streed.data import Cut, Dataset
from streed.errors import MismatchError
from streed.task import ExactSums, RowCostTask, State, Task, Totals, Value
from streed.task.base import objective, scoring
from streed.tree import Branch, Leaf, Node


class S(NamedTuple):
    """A state s = <D, F>: the rows D, and the columns F tested above them where the task's costs depend on those."""

    rows: int
    path: tuple[int, ...]


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

    def n_rows(self, s: S) -> int:
        """|D|, the number of rows, each as often as its frequency says, unweighted."""
        return s.rows.bit_count() if self.data.frequency is None else self.data.count(np.array(_members(s.rows)))

    def statistics(self, s: S) -> State:
        """The sums of the task's statistics over the rows of s, and the rows themselves if the task reads them."""
        return self._sums.state(np.array(_members(s.rows), np.int64))


def _members(rows: int) -> list[int]:
    """The numbers of the rows in a set, in order."""
    return [row for row, bit in enumerate(reversed(f"{rows:b}")) if bit == "1"]


class Split(NamedTuple):
    """A split on a column; of an ordered one, with its cut."""

    column: int
    cut: Cut | None


def every_split(data: Dataset) -> list[Split]:
    """The splits in the order of the columns; those of an ordered column by rising threshold."""
    splits: list[Split] = []
    for j in range(data.n_columns):
        values = data.ordered.get(j)
        cuts = [None] if values is None else [values.cut(*question) for question in values.questions().tolist()]
        splits += [Split(j, cut) for cut in cuts]
    return splits


def width(data: Dataset, column: int) -> int:
    """How many children a split on the column has."""
    return len(data.column(column).categories) if column in data.categorical else 2


def children(data: Dataset, split: Split) -> list[int]:
    """(n,) the number of the child that each row goes to."""
    codes = data.X[:, split.column].tolist()
    if split.cut is None:
        return codes  # type: ignore[no-any-return]
    values, threshold = data.ordered[split.column].values.tolist(), split.cut.threshold
    missing = len(values)
    if threshold is None:
        return [int(code == missing) for code in codes]
    return [split.cut.gaps if code == missing else int(values[code] > threshold) for code in codes]


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
        value = merged(o.task, [part.value for part in parts], o.n_rows(s), s.path, o.splits[f].column)
        yield Solution(value, f, parts)


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
            solutions = self.leaves(s) if d == 0 else itertools.chain(self.T(s, 0, None), self.branches(s, d, n))
            self._memo[key] = opt(self.o, solutions, s)
        return self._memo[key]

    def leaves(self, s: S) -> Iterator[Solution]:
        """Eq. 8, d = 0: the union over the labels k of {g(s, k)}."""
        return (Solution(self.o.g_label(s, k), k, None) for k in range(len(self.o.labels)))

    def branches(self, s: S, d: int | None, n: int | None) -> Iterator[Solution]:
        """Eq. 8, d > 0: the union over the features f of merge(T(t(s, f), d - 1), T(t(s, not f), d - 1), s, f).

        With n nodes Eq. 51: also over all ways to share the other n - 1 nodes among the children.
        """
        below = None if d is None else d - 1
        for f in self.o.features:
            children = [child for child in self.o.t(s, f) if child.rows]
            unlimited = [(None,) * len(children)] if children else []
            for shares in unlimited if n is None else _shares(n - 1, len(children)):
                thetas = [self.T(child, below, share) for child, share in zip(children, shares, strict=True)]
                yield from merge(self.o, thetas, s, f)

    def _useful(self, s: S, d: int | None, n: int | None) -> tuple[int | None, int | None]:
        """The limits d and n at state s, None where they exclude no tree (Algorithm 1 caps them likewise).

        Leaves have min_leaf rows, so there are at most |D| / min_leaf of them; no path meets a feature twice.
        """
        most = max(min(s.rows.bit_count(), self.o.n_rows(s) // self.o.min_leaf) - 1, 0)
        if n is not None and (d is None or n < d):
            d = n
        if most == 0 or d == 0:
            return 0, None
        if d is not None and d >= min(most, len(self.o.features)):
            d = None
        full = most if d is None else sum(self.o.most_children**level for level in range(d))
        n = None if n is not None and n >= min(most, full) else n
        return d, n

    def tree(self, solution: Solution, s: S) -> Node:
        """The tree of a solution at state s; an empty leaf bears the best label of the rows of its parent."""
        if solution.parts is None:
            return Leaf(solution.action, self.o.n_rows(s), solution.value)
        parts = iter(solution.parts)
        empty = Leaf(nondom(self.o, self.leaves(s))[0].action, 0, 0)
        below, (column, cut) = self.o.t(s, solution.action), self.o.splits[solution.action]
        children = tuple(self.tree(next(parts), child) if child.rows else empty for child in below)
        return Branch(column, children, self.o.n_rows(s), cut)


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


def optimum(task: Task, data: Dataset, **limits: Any) -> tuple[Value, Node] | None:
    """As `optimal_front`, of a totally ordered task: the optimal value and a tree; None if no tree is feasible."""
    front = optimal_front(task, data, **limits)
    assert len(front) <= 1, "the order is not total; ask for optimal_front"
    return front[0] if front else None


class Visit(NamedTuple):
    """A node of a tree with the rows that reach it and the columns of the splits above it."""

    node: Node
    rows: list[int]
    path: tuple[int, ...]


class Evaluation:
    """Evaluates trees on one task and one data set."""

    def __init__(self, task: Task, data: Dataset) -> None:
        self.given, self.task = task, task.bind(data)
        self.data = data
        self.labels = tuple(self.task.labels(data))
        self.root_rows = list(range(data.n_rows))
        self._sums, self._totals = ExactSums(self.task, data), Totals(task, data)
        self._child_of = functools.cache(functools.partial(children, data))

    def cost(self, node: Node, rows: list[int] | None = None, path: tuple[int, ...] = ()) -> Value:
        """Eq. 4: g(s, l(u)) at a leaf, C(left) (+) C(right) (+) ... (+) g(s, b(u)) at a branch; else MismatchError."""
        rows = self.root_rows if rows is None else rows
        if isinstance(node, Leaf):
            if not 0 <= node.label < len(self.labels):
                raise MismatchError(f"the leaf at {path} has label {node.label}, and there are {len(self.labels)}")
            return self.task.leaf_cost(self.state(rows), node.label)
        parts = zip(node.children, self._parts(node, rows), strict=True)
        below = [self.cost(child, part, (*path, node.column)) for child, part in parts if part]
        if len(below) < 2:
            raise MismatchError(f"the split on column {node.column} after {path} separates no rows")
        return merged(self.task, below, self.n_rows(rows), path, node.column)

    def score(self, value: Value) -> Any:
        """What a user sees of a value."""
        return scoring(self.given, self.task).score(value, self._totals)

    def visits(self, node: Node, rows: list[int] | None = None, path: tuple[int, ...] = ()) -> Iterator[Visit]:
        """Every node, from the root down and left to right, with its rows and path."""
        rows = self.root_rows if rows is None else rows
        yield Visit(node, rows, path)
        if isinstance(node, Branch):
            for child, part in zip(node.children, self._parts(node, rows), strict=True):
                yield from self.visits(child, part, (*path, node.column))

    def state(self, rows: Iterable[int]) -> State:
        """The sums of the task's statistics over the rows, at least one, and the rows if the task reads them."""
        return self._sums.state(np.array(sorted(rows), np.int64))

    def n_rows(self, rows: list[int]) -> int:
        """How many rows these rows of the data stand for, by their frequencies."""
        return self.data.count(np.array(rows, np.int64))

    def shape(self, root: Node) -> tuple[int, int, int]:
        """Depth, branching nodes and leaves, those without rows included."""
        depths = [len(visit.path) for visit in self.visits(root) if isinstance(visit.node, Leaf)]
        return max(depths), sum(isinstance(visit.node, Branch) for visit in self.visits(root)), len(depths)

    def broken_limits(
        self, root: Node, *, max_depth: int | None = None, max_nodes: int | None = None, min_leaf: int = 1
    ) -> list[str]:
        """What is wrong with a tree beside its value: each broken limit, in words; empty if it keeps them all."""
        broken = []
        depth, branches, _ = self.shape(root)
        if max_depth is not None and depth > max_depth:
            broken.append(f"depth {depth} is more than {max_depth}")
        if max_nodes is not None and branches > max_nodes:
            broken.append(f"{branches} branching nodes are more than {max_nodes}")
        if objective(self.task).overrides("feasible") and not self.task.feasible(self.cost(root)):
            broken.append(f"its value {self.cost(root)!r} is not feasible")
        for node, rows, path in self.visits(root):
            if isinstance(node, Branch) or not rows:
                continue
            if self.n_rows(rows) < min_leaf:
                broken.append(f"the leaf at {path} has {self.n_rows(rows)} rows, fewer than {min_leaf}")
            s = self.state(rows)
            broken += [f"the leaf at {path} breaks {limit!r}" for limit in self.task.limits if not limit.allows(s)]
        return broken

    def _parts(self, node: Branch, rows: list[int]) -> list[list[int]]:
        child_of = self._child_of(Split(node.column, node.cut))
        parts: list[list[int]] = [[] for _ in range(width(self.data, node.column))]
        for row in rows:
            parts[child_of[row]].append(row)
        if len(parts) != len(node.children):
            raise MismatchError(f"column {node.column} has {len(parts)} children, the tree {len(node.children)}")
        return parts


def every_tree(
    task: Task, data: Dataset, *, max_depth: int | None = None, max_nodes: int | None = None
) -> Iterator[Node]:
    """Every tree within the limits whose splits separate rows, with every label at leaves with rows, else label 0."""
    labels = range(len(task.bind(data).labels(data)))
    splits = [(split, width(data, split.column), children(data, split)) for split in every_split(data)]

    def subtrees(rows: list[int], depth: int, nodes: int) -> Iterator[tuple[Node, int]]:
        """Every subtree for these rows with its number of branching nodes."""
        if not rows:
            yield Leaf(0, 0, 0), 0
            return
        for label in labels:
            yield Leaf(label, len(rows), 0), 0
        if depth == 0 or nodes == 0:
            return
        for split, count, child_of in splits:
            parts = [[row for row in rows if child_of[row] == child] for child in range(count)]
            if sum(part != [] for part in parts) < 2:
                continue
            for below, used in forests(parts, depth - 1, nodes - 1):
                yield Branch(split.column, below, len(rows), split.cut), used + 1

    def forests(parts: list[list[int]], depth: int, nodes: int) -> Iterator[tuple[tuple[Node, ...], int]]:
        """Every choice of one subtree for each part, with the number of their branching nodes together."""
        if not parts:
            yield (), 0
            return
        for first, used in subtrees(parts[0], depth, nodes):
            for others, more in forests(parts[1:], depth, nodes - used):
                yield (first, *others), used + more

    depth, nodes = (data.n_rows if limit is None else limit for limit in (max_depth, max_nodes))
    yield from (tree for tree, _ in subtrees(list(range(data.n_rows)), depth, nodes))


def best_trees(
    task: Task, data: Dataset, *, max_depth: int | None = None, max_nodes: int | None = None, min_leaf: int = 1
) -> list[tuple[Value, Node]]:
    """Every nondominated value of a feasible tree, with the first tree that has it; empty if none is feasible."""
    evaluation = Evaluation(task, data)
    first: dict[Value, Node] = {}
    for tree in every_tree(task, evaluation.data, max_depth=max_depth, max_nodes=max_nodes):
        if not evaluation.broken_limits(tree, min_leaf=min_leaf):
            first.setdefault(evaluation.cost(tree), tree)
    better = evaluation.task.better
    return [(value, tree) for value, tree in first.items() if not any(better(other, value) for other in first)]
