"""The ordered route: costs per row and label over all thresholds of ordered columns, from problem to outcome."""

from __future__ import annotations

import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any, Protocol, final

import attrs
import numpy as np

from streed.bnb.trace import Trace
from streed.data import Dataset
from streed.encoding.ordered import side_of_gaps
from streed.errors import MismatchError
from streed.exact import Array
from streed.kernels.compilation import clock
from streed.ordered import choice
from streed.ordered.features import Features
from streed.ordered.merging import merge_rows
from streed.ordered.problem import OrderedRows
from streed.ordered.rebuild import Cut, MultiwaySplit, OrderedNode
from streed.ordered.session import OrderedAnswer, OrderedSession
from streed.problem import Outcome, Problem, SearchLimits, Solution, process_memory
from streed.task import Value
from streed.task.algebra import exact_costs
from streed.task.analysis.linear_form import row_cost_form
from streed.tree import Branch, Leaf, Node
from streed.tree.rows import sides_in
from streed.whole_costs import IntegerCosts

_ROUNDED = 1_000
"""Thresholds up to which costs that are rounded are counted by questions, where near-optimal trees are compared."""

_SPARE = 2**22
"""Bytes that nodes are given in any case."""


class ReadColumns(Protocol):
    """Columns as the search reads them, and their thresholds as branching nodes."""

    @property
    def ranks(self) -> Array:
        """(F, n) int32."""

    @property
    def categories(self) -> int:
        """How many of them, the last ones, are categorical."""

    @property
    def thresholds(self) -> int:
        """How many there are in all."""

    def branch(self, data: Dataset, feature: int, rank: int, rows: int) -> Branch:
        """A branching node without children."""

    def is_turned(self, feature: int, rank: int) -> bool:
        """Whether its child 0 is for what is above the threshold."""


def search_ordered(
    problem: Problem, search_limits: SearchLimits, name: str, features: ReadColumns | None = None
) -> Outcome | None:
    """The outcome, as of the driver of that name; None for what this search does not take.

    It takes costs per row and label, rounded where they do not fit 64 bits and there are many thresholds; with
    categorical columns, any number of splits, and leaves of any size. `features`: what is read of the columns, if it is
    not the columns themselves; a price per split is then not taken.
    """
    begin, started = time.perf_counter(), clock()
    data = problem.data
    if not choice.takes_categories(problem):
        return None
    form = row_cost_form(problem.task, data)
    if form is None:
        return None
    costs = exact_costs(form, data)
    if features is not None and costs.split > 0:
        return None
    if costs.wide is not None and (features is not None or data.n_questions <= _ROUNDED):
        return None
    search = _Search(problem, costs, Features.of(data) if features is None else features)
    prepared = time.perf_counter()
    below = None if search_limits.beat is None else costs.above(search_limits.beat)
    answer = search.run(search_limits.after(clock() - started), below)
    searched = time.perf_counter()
    solutions: tuple[Solution, ...] = ()
    lower, stopped, rounding = costs.lower(answer.lower), answer.stopped, Fraction(0)
    if answer.tree is not None and (below is None or answer.cost is None or answer.cost < below):
        solution = search.solution(answer)
        solutions = (solution,)
        if stopped is None and costs.wide is None:
            lower = solution.value
        elif costs.wide is not None:
            rounding = costs.wide.rounding(search.branches)
            if stopped is None and solution.value > lower:
                stopped = "rounding"
    stats = {
        "search": name,
        "route": "thresholds",
        "threads": 1,
        "seconds_setup": prepared - begin,
        "seconds_search": searched - prepared,
        "seconds_check": time.perf_counter() - searched,
        **search.session.counters(),
        "nodes": answer.nodes,
        "peak_bytes": process_memory.peak(),
        "columns": len(search.features.ranks),
        "thresholds": search.features.thresholds,
        "rows": search.session.rows.n_rows,
        "lane": np.dtype(search.session.rows.lane).name,
        "kernel": search.session.rows.kind,
        "exact": costs.exact,
        "rounding": float(rounding),
        "trace": search.trace.decoded(search.value, costs.lower),
    }
    real = costs.unit.denominator > 1 or costs.wide is not None
    return Outcome(solutions, lower, stopped, stats, search.unit, real)


@final
class _Search:
    """One search: its session and trace, and how its numbers and trees become values and solutions."""

    def __init__(self, problem: Problem, costs: IntegerCosts, features: ReadColumns) -> None:
        data = problem.data
        self.features = features
        self.trace = Trace()
        self.branches = 0
        """Of the tree of the solution."""
        self.unit = costs.unit if costs.wide is None else costs.wide.unit
        """What the costs of its leaves are in."""
        self._problem = problem
        self._costs = costs
        counts = problem.min_leaf > 1
        frequency = None if not counts or data.frequency is None else data.frequency
        rows = OrderedRows(features.ranks, costs.costs, costs.split, frequency, problem.min_leaf, features.categories)
        self.session = OrderedSession(merge_rows(rows, always=problem.max_depth is None))

    def run(self, search_limits: SearchLimits, below: int | None) -> OrderedAnswer:
        """Searches until the optimum is proved, or that no tree costs less than `below`, or a limit says stop."""
        trace = self.trace
        return run_session(self.session, self._problem, search_limits, trace, self.value, self._costs.lower, below)

    def value(self, total: int) -> Value | None:
        """The value of a cost, the least one of those that are rounded to it; None if it stands for no tree."""
        return None if total >= NO_TREE else self._costs.lower(total)

    def solution(self, answer: OrderedAnswer) -> Solution:
        """The tree in the data's columns, with its value measured on the raw rows.

        Raises MismatchError if it does not cost what the search claimed, or breaks a limit.
        """
        problem, data, wide = self._problem, self._problem.data, self._costs.wide
        deepest, branches, total, exact = 0, 0, 0, 0

        def grow(node: OrderedNode, rows: Array, depth: int) -> Node:
            nonlocal deepest, branches, total, exact
            deepest = max(deepest, depth)
            if isinstance(node, Cut):
                branches += 1
                branch = self.features.branch(data, node.column, node.rank, len(rows))
                sides = sides_in(data, branch, rows)
                if branch.cut is not None:
                    gaps = side_of_gaps(data, branch, rows, sides)
                    branch = attrs.evolve(branch, cut=attrs.evolve(branch.cut, gaps=gaps))
                parts = [rows[sides == side] for side in range(2)]
                nodes = (node.left, node.right)
                if self.features.is_turned(node.column, node.rank):
                    nodes = (node.right, node.left)
                below = (grow(child, part, depth + 1) for child, part in zip(nodes, parts, strict=True))
                return attrs.evolve(branch, children=tuple(below))
            if isinstance(node, MultiwaySplit):
                branches += 1
                branch = self.features.branch(data, node.column, 0, len(rows))
                sides = sides_in(data, branch, rows)
                grown = dict(node.children)
                # a child without rows answers as its parent would
                empty = Leaf(int(self._costs.costs[rows].sum(axis=0).argmin()), 0, 0)
                values = range(len(data.column(branch.column).categories))
                below = (grow(grown[v], rows[sides == v], depth + 1) if v in grown else empty for v in values)
                return attrs.evolve(branch, children=tuple(below))
            if data.count(rows) < problem.min_leaf:
                raise MismatchError(f"a leaf has {data.count(rows)} rows, below {problem.min_leaf}; please report this")
            sums = self._costs.costs[rows].sum(axis=0)
            label = int(sums.argmin())
            total += int(sums[label])
            if wide is None:
                return Leaf(label, len(rows), int(sums[label]))
            sums = wide.costs[rows].sum(axis=0)  # of which another label may be the least
            label = min(range(len(sums)), key=sums.__getitem__)
            exact += int(sums[label])
            return Leaf(label, len(rows), int(sums[label]))

        assert answer.tree is not None
        root = grow(answer.tree, np.arange(data.n_rows), 0)
        total += self._costs.split * branches
        if total != answer.cost:
            raise MismatchError(f"the tree costs {total}, the search claimed {answer.cost}; please report this")
        if problem.max_depth is not None and deepest > problem.max_depth:
            raise MismatchError(f"the tree has depth {deepest}, above {problem.max_depth}; please report this")
        if problem.max_nodes is not None and branches > problem.max_nodes:
            raise MismatchError(
                f"the tree has {branches} branching nodes, above {problem.max_nodes}; please report this"
            )
        self.branches = branches
        return Solution(self._costs.value(total) if wide is None else wide.unit * (exact + wide.split * branches), root)


def run_session(
    session: OrderedSession,
    problem: Problem,
    search_limits: SearchLimits,
    trace: Trace,
    value: Callable[[int], Value | None],
    bound: Callable[[int], Value],
    below: int | None = None,
) -> OrderedAnswer:
    """The answer of a session, whose `trace` is kept; `value` and `bound` are what costs of trees and bounds mean.

    Trees that do not cost less than `below` need not be found.
    """
    begin = time.perf_counter()
    memory = None
    if search_limits.memory_limit is not None:
        memory = max(_SPARE, search_limits.memory_limit - process_memory.resident())

    def note(lower: int, upper: int | None, nodes: int) -> str | None:
        """Tells how far the search is; "gap" if that is enough."""
        trace.note(time.perf_counter() - begin, _or_infinite(upper), lower, nodes)
        best, least = value(_or_infinite(upper)), bound(lower)
        if search_limits.report is not None:
            search_limits.report(best, least, nodes, "searching")
        return "gap" if upper is not None and lower < upper and search_limits.is_enough(best, least) else None

    answer = session.solve(
        problem.max_depth,
        problem.max_nodes,
        below=below,
        time_limit=search_limits.time_limit,
        memory=memory,
        look=note,
    )
    trace.note(time.perf_counter() - begin, _or_infinite(answer.cost), answer.lower, answer.nodes)
    return answer


NO_TREE = 2**62
"""In place of a cost."""


def _or_infinite(cost: Any) -> int:
    return NO_TREE if cost is None else int(cost)
