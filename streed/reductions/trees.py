"""The trees of a problem as vectors of whole sums, and scalar solves over them: all that a reduction asks of a driver.

Component j of a tree's vector is the sum over its rows of `parts[j, row, label]`, plus `splits[j]` per branching node.
A scalar solve finds a tree of least w . vector for whole weights w: a row-cost problem like any other.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, final

import attrs
import numpy as np

from streed.data import Dataset
from streed.engine.listing import number_rows
from streed.errors import MismatchError
from streed.exact import LARGEST_TOTAL, Array
from streed.search.driver import Driver, Orders, Outcome, Problem
from streed.task import RowCostTask
from streed.tree import Branch, Leaf, Node

Vector = tuple[int, ...]

Window = tuple[int, int]
"""The least and the most that a sum may be."""


class Stop(Exception):
    """The orders ended the search.

    `reason` as in `Outcome.stopped`; `lower`: a bound on what was to be minimised; `found`: the best tree so far.
    """

    def __init__(self, reason: str, lower: int | None = None, found: Found | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.lower = lower
        self.found = found


@final
@attrs.frozen(eq=False)
class FixedCosts(RowCostTask):
    """Costs per row and label that are known already; labels are numbers."""

    costs: Array
    """(n, K) int64."""
    split: int

    def labels(self, data: Dataset) -> Sequence[int]:
        return range(self.costs.shape[1])

    def row_costs(self, data: Dataset) -> Array:
        return self.costs

    def split_cost(self) -> int:
        return self.split


@final
@attrs.frozen(eq=False)
class Found:
    """A tree and its vector; leaves bear the labels, rows are unweighted."""

    vector: Vector
    root: Node


@final
@attrs.define(eq=False)
class Trees:
    """The trees that a problem allows, and the driver that finds one of least weighted sum among them."""

    problem: Problem
    parts: Array
    """(m, n, K) int64, row weights multiplied in."""
    splits: tuple[int, ...]
    """(m,) per branching node."""
    driver: Driver
    orders: Orders
    solves: int = 0
    nodes: int = 0
    seconds: float = 0.0
    stats: dict[str, Any] = attrs.field(factory=dict)
    """Those of the last scalar solve."""
    listings: int = 0
    best: Callable[[], Any] = attrs.field(default=lambda: None)
    """The best value so far, for those who are told."""
    codes: Array = attrs.field(init=False)
    """(n', p): the distinct rows, in order of appearance."""
    member: Array = attrs.field(init=False)
    """(n,) which of them each row is."""
    counts: Array = attrs.field(init=False)
    """(n',) how many rows each of them is."""
    sums: Array = attrs.field(init=False)
    """(m, n', K) the parts of all the rows that each of them is."""
    _data: Dataset = attrs.field(init=False)
    _deadline: float | None = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self._data = attrs.evolve(self.problem.data, weights=None, row_data={})
        self.codes, self.member = distinct_rows(self._data.X)
        self.counts = np.bincount(self.member, minlength=len(self.codes))
        flat = self.parts.transpose(0, 2, 1).reshape(-1, len(self.member))
        merged = np.zeros((len(flat), len(self.codes)), np.int64)
        for into, part in zip(merged, flat, strict=True):
            np.add.at(into, self.member, part)
        shape = (len(self.parts), self.parts.shape[2], len(self.codes))
        self.sums = np.ascontiguousarray(merged.reshape(shape).transpose(0, 2, 1))
        limit = self.orders.time_limit
        self._deadline = None if limit is None else time.perf_counter() + limit

    @property
    def data(self) -> Dataset:
        """The rows, each once: weights are in the parts."""
        return self._data

    def cheapest(self, weights: Sequence[int]) -> Found | None:
        """A tree of least `weights` . vector, or None if no tree is allowed; raises Stop if it is not proved."""
        costs = np.tensordot(np.array(weights, dtype=np.int64), self.parts, 1)
        split = sum(w * each for w, each in zip(weights, self.splits, strict=True))
        outcome = self._ask(self._data, costs, split, self.problem.max_depth, self.problem.max_nodes)
        found = None
        if outcome.solutions:
            root = outcome.solutions[0].root
            found = Found(self.measure(root), root)
            if sum(w * x for w, x in zip(weights, found.vector, strict=True)) != outcome.solutions[0].value:
                raise MismatchError(
                    f"a tree of the sums {found.vector} costs otherwise than claimed; please report this"
                )
        if outcome.stopped is not None:
            raise Stop(outcome.stopped, outcome.lower, found)
        return found

    @contextlib.contextmanager
    def within(self, max_depth: int) -> Iterator[None]:
        """A context in which trees are no deeper than this."""
        problem = self.problem
        self.problem = attrs.evolve(problem, max_depth=max_depth)
        try:
            yield
        finally:
            self.problem = problem

    def least_cost(
        self, data: Dataset, costs: Array, split: int, max_depth: int | None, max_nodes: int | None
    ) -> int | None:
        """The least cost of a tree for some rows, None if no tree is allowed; raises Stop if it is not proved."""
        outcome = self._ask(data, costs, split, max_depth, max_nodes)
        if outcome.stopped is not None:
            raise Stop(outcome.stopped)
        return outcome.solutions[0].value if outcome.solutions else None

    def _ask(self, data: Dataset, costs: Array, split: int, max_depth: int | None, max_nodes: int | None) -> Outcome:
        # numpy multiplies without a word about overflow, so the size is looked at in floating point
        if float(np.abs(costs.astype(np.float64)).max(axis=1, initial=0).sum()) >= LARGEST_TOTAL:
            raise OverflowError("weighted sums beyond 2**60")
        problem = Problem(data, FixedCosts(costs, split), max_depth, max_nodes, self.problem.min_leaf)
        orders = attrs.evolve(self.orders, time_limit=self.remaining(), report=self._report(), enough=None)
        outcome = self.driver.search(problem, orders)
        self.solves += 1
        self.nodes += int(outcome.stats["nodes"])
        self.seconds += float(outcome.stats["seconds_search"])
        self.stats = dict(outcome.stats)
        return outcome

    def remaining(self) -> float | None:
        """Seconds left; raises Stop if none are."""
        if self._deadline is None:
            return None
        left = self._deadline - time.perf_counter()
        if left <= 0:
            raise Stop("time")
        return left

    def _report(self) -> Any:
        tell = self.orders.report
        if tell is None:
            return None
        return lambda best, bound, nodes, phase: tell(self.best(), None, self.nodes + nodes, phase)

    def measure(self, root: Node) -> Vector:
        """The vector of a tree, from the raw codes."""
        labels = predict_rows(root, self.codes)
        sums = self.sums[:, np.arange(len(labels)), labels].sum(axis=1).tolist()
        branches = count_branches(root)
        return tuple(total + branches * split for total, split in zip(sums, self.splits, strict=True))

    def constants(self) -> list[Found]:
        """The trees that are a leaf, one for each label."""
        n = self._data.n_rows
        totals = self.sums.sum(axis=1).T.tolist()
        return [Found(tuple(vector), Leaf(k, n, 0)) for k, vector in enumerate(totals)]


def distinct_rows(codes: Array) -> tuple[Array, Array]:
    """The distinct rows of codes (n, p) uint8 in order of appearance, and which of them each row is."""
    width = max(1, -(-codes.shape[1] // 8))
    words = np.zeros((len(codes), width * 8), np.uint8)
    words[:, : codes.shape[1]] = codes
    member, first = number_rows(words.view(np.int64))
    return codes[first], member


def leaf_numbers(root: Node, codes: Array) -> Array:
    """(n,) int64: the number of the leaf, left to right, that each row of `codes` (n, p) falls into."""
    numbers = np.zeros(len(codes), np.int64)
    stack: list[tuple[Node, Array]] = [(root, np.arange(len(codes)))]
    number = 0
    while stack:
        node, rows = stack.pop()
        if isinstance(node, Leaf):
            numbers[rows] = number
            number += 1
            continue
        here = codes[rows, node.column]
        stack.extend((node.children[code], rows[here == code]) for code in reversed(range(len(node.children))))
    return numbers


def leaves_of(root: Node) -> list[Leaf]:
    """The leaves, left to right."""
    if isinstance(root, Leaf):
        return [root]
    return [leaf for child in root.children for leaf in leaves_of(child)]


def predict_rows(root: Node, codes: Array) -> Array:
    """(n,) int64: the number of the label that the tree gives each row of `codes` (n, p)."""
    labels: Array = np.array([leaf.label for leaf in leaves_of(root)])[leaf_numbers(root, codes)]
    return labels


def count_leaves(root: Node) -> int:
    """The number of leaves, those without rows included."""
    return sum(map(count_leaves, root.children)) if isinstance(root, Branch) else 1


def count_branches(root: Node) -> int:
    """The number of branching nodes."""
    return 1 + sum(map(count_branches, root.children)) if isinstance(root, Branch) else 0


def widths(data: Dataset) -> list[int]:
    """How many children a split on each column has."""
    return [len(data.column(j).categories) if j in data.categorical else 2 for j in range(data.n_columns)]
