"""The optimum of a separable task by the paper's recursion, in plain Python: slow, exact, and to be read beside it.

J. G. M. van der Linden, M. M. de Weerdt, E. Demirovic: Necessary and Sufficient Conditions for Optimal Decision Trees
using Dynamic Programming (STreeD), NeurIPS 2023, Section 4 and Appendix B. The functions bear the paper's names and
give the equation that they are. Three conventions go beyond the paper's text:

- Depth d and nodes n are limits: every T also holds the leaf, so trees may be smaller. None is no limit.
- A split has any number of children; the remaining n - 1 nodes are shared among those that have rows. A child without
  rows is an empty leaf, which costs nothing.
- A set of solutions holds one solution of each value: the first that is met, smaller labels and columns first.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import NamedTuple, final

from streed.data import Dataset
from streed.reference.definition import OptimizationTask, S
from streed.task import Task, Value
from streed.tree import Branch, Leaf, Node


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
        if not any(u.value == v.value or o.better(u.value, v.value) for u in front):
            front = [u for u in front if not o.better(v.value, u.value)]
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
    """T(s, d, n) of one optimisation task, memoised on its arguments.

    Where costs depend on the branch, the state holds the branch, so that the memo stays sound (Appendix B, Caching).
    """

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

        Every leaf with rows has min_leaf of them, so a tree has at most |D| / min_leaf such leaves and one branching
        node less. No path meets a feature twice, because a feature does not separate the rows of its own children.
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
