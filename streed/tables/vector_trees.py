"""The trees of a problem as vectors of whole sums, and scalar solves over them: all that a reduction asks of a driver.

Component j of a tree's vector is the sum over its rows of `parts[j, row, label]`, plus `splits[j]` per branching node.
A scalar solve finds a tree of least w . vector for whole weights w: a row-cost problem like any other. Rows whose parts
are equal are of one kind, whatever the weights, so a driver may offer a quick linear oracle (`Driver.linear_oracle`).
"""

from __future__ import annotations

import contextlib
import functools
import operator
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, final

import attrs
import numpy as np

from streed.data import Dataset
from streed.errors import MismatchError
from streed.exact import LARGEST_TOTAL, Array, writable
from streed.kernels.compilation import clock
from streed.kernels.counting.equal_rows import find_classes, find_equal
from streed.kernels.records import SHALLOW
from streed.kernels.routing import route_rows
from streed.problem import Driver, Outcome, Problem, SearchLimits, SearchStopped
from streed.problem.linear_oracle import LinearOracle, OracleBySearch
from streed.tables.packing import count_rows
from streed.task.bounded_sums import sums_too_large
from streed.task.states import sums_by

Vector = tuple[int, ...]

_MOST_COUNTS = 8
"""Of the rows of each kind at each node of a tree, for each row; of more, rows are added up one by one."""

_WIDE = 1024
"""Sums of one row, from which on columns of them do not fit a cache."""

Window = tuple[int, int]
"""The least and the most that a sum may be."""

Preorder = tuple[list[int], list[int]]
"""The columns of a tree's nodes in preorder, LEAF for leaves, and the labels of its leaves, 0 for branches."""


def joined(column: int, parts: Sequence[Preorder]) -> Preorder:
    """The tree of a branching node with these children."""
    columns, labels = [column], [0]
    for below, own in parts:
        columns += below
        labels += own
    return columns, labels


@final
@attrs.frozen(eq=False)
class EvaluatedTree:
    """A tree in preorder and its vector."""

    vector: Vector
    preorder: Array
    """(m,) int64: the column of every node, -1 for leaves."""
    labels: Array
    """(m,) int64: the label of every node, of which those of leaves count."""
    rows: Array
    """(m,) int64: those of leaves count."""

    @property
    def branches(self) -> int:
        """How many branching nodes it has."""
        return int(np.count_nonzero(self.preorder >= 0))


@final
@attrs.frozen(eq=False)
class Weighed:
    """What a tree does to the raw rows."""

    predicted: Array
    """(n,) the label of every row."""
    leaf: Array
    """(n,) the node that it falls into."""
    rows: Array
    """(m,) of every leaf, in preorder; 0 for branches."""
    sums: Array
    """(m, q) the parts of every leaf's rows with its label."""


@final
@attrs.define(eq=False)
class Trees:
    """The trees that a problem allows, and the driver that finds one of least weighted sum among them."""

    problem: Problem
    parts: Array
    """(m, k, K) int64 of each kind of rows, row weights multiplied in."""
    splits: tuple[int, ...]
    """(m,) per branching node."""
    driver: Driver
    search_limits: SearchLimits
    kind: Array | None = None
    """(n,) the kind of each row; None where each is one."""
    tally: dict[str, Any] = attrs.field(
        factory=lambda: {"scalar_solves": 0, "enumerations": 0, "nodes": 0, "seconds_scalar": 0.0}
    )
    """What was done so far, by the names of the statistics of a solve."""
    best: Callable[[], Any] = attrs.field(default=lambda: None)
    """The best value so far, for those who are told."""
    kinds: Array = attrs.field(init=False)
    """(r,) int64: which kind each row is, of the problem's n or the counted ones; rows of a kind have equal parts, and
    equal frequencies if leaves count."""
    sizes: Array = attrs.field(init=False)
    """(G,) how many of these rows are of each kind."""
    vectors: Array = attrs.field(init=False)
    """(G, K, m) the parts of a row of each kind."""
    arity: Array = attrs.field(init=False)
    """(p,) int64: the categories of every column, 0 for binary ones."""
    data: Dataset = attrs.field(init=False)
    """The rows, each once or counted: weights are in the parts."""
    _place: Array | None = attrs.field(init=False)
    """(n,) which of the counted rows each row is among; None where rows are not counted."""
    _codes: Array = attrs.field(init=False)
    _deadline: float | None = attrs.field(init=False)
    oracle: LinearOracle = attrs.field(init=False)
    _shallow: Trees | None = attrs.field(init=False, default=None)
    is_ahead: bool = attrs.field(init=False, default=False)
    """Whether scalar solves need not find the best tree."""
    _share: float = attrs.field(init=False, default=0.0)

    def __attrs_post_init__(self) -> None:
        data = self.problem.data
        self.data = data if data.weights is None else attrs.evolve(data, weights=None, sample_weight=None)
        limit = self.search_limits.time_limit
        self._deadline = None if limit is None else clock() + limit
        m, k, labels = self.parts.shape
        words, self.kinds = _distinct(self.parts.transpose(1, 2, 0).reshape(k, labels * m), self.kind)
        counted = None if self.problem.questions is not None else count_rows(self.data, words, self.kinds)
        self._place = None
        if counted is not None:
            self.data, words, kinds, self._place = counted
            words, self.kinds = _distinct(words, kinds)
        if self.data.frequency is not None and self.problem.min_leaf > 1:
            first, kinds = find_equal(np.stack([self.kinds, self.data.frequency], axis=1))
            words, self.kinds = words[self.kinds[first]], kinds
        self._codes = writable(self.data.X)
        self.sizes = np.bincount(self.kinds)
        self.vectors = words.reshape(len(words), labels, m)
        self.arity = self.problem.data.category_counts
        asked = self.problem
        problem = Problem(self.data, asked.task, asked.max_depth, asked.max_nodes, asked.min_leaf, asked.questions)
        native = self.driver.linear_oracle(problem, self.kinds, labels, any(self.splits), self.search_limits)
        self.oracle = native or OracleBySearch(self.driver, problem, self.kinds)

    def close(self) -> dict[str, Any]:
        """The statistics of the last scalar solve; gives back what was prepared for them."""
        stats = dict(self.oracle.stats())
        self.oracle.close()
        if self._shallow is not None:
            self._shallow.close()
        self._shallow, self.best = None, lambda: None  # what holds these trees, which a cycle would keep in memory
        return stats

    @functools.cached_property
    def distinct_rows(self) -> tuple[Array, Array]:
        """(first, member): the first of the rows of each kind of codes, and which of these kinds each row is."""
        found: tuple[Array, Array] = find_classes(self._codes)
        return found

    def merged(self, parts: Array) -> Array:
        """The sums over equal rows of the parts (G, ...) that a row of each kind has, in the order of distinct rows."""
        first, member = self.distinct_rows
        return self._sums(member, len(first), parts)[0]

    @functools.cached_property
    def value_ranges(self) -> list[Window]:
        """(m,) the least and the most that any labels give each sum."""
        low, high = (_product(self.sizes, of(axis=1)).tolist() for of in (self.vectors.min, self.vectors.max))
        return list(zip(low, high, strict=True))

    @functools.cached_property
    def largest(self) -> list[int]:
        """(m,) no labels give a sum a larger absolute value."""
        largest: list[int] = _product(self.sizes, np.abs(self.vectors).max(axis=1)).tolist()
        return largest

    def cheapest(self, weights: Sequence[int], below: int | None = None) -> EvaluatedTree | None:
        """A tree of least `weights` . vector, or None if no tree is allowed; raises SearchStopped if it is not proved.

        Trees whose sum is not below `below` need not be found.
        """
        costs = self.costs(weights)
        split = sum(map(operator.mul, weights, self.splits))
        if split >= LARGEST_TOTAL:
            raise sums_too_large(self.problem.data.weights is not None)
        begin = time.perf_counter()
        limit, looks = self.remaining(), self.is_ahead and not self._share
        if limit is not None and self._share:
            limit *= self._share
        answer = self.oracle.solve(costs, split, self._limits(limit), below=below, ahead=looks)
        self._note(answer.nodes, time.perf_counter() - begin)
        found = None
        if answer.preorder is not None:
            _, sums, rows = self.routed(answer.preorder)
            labels = (sums[:, :, : len(weights)] @ self._weights(weights)).argmin(axis=1)
            found = self._labelled(answer.preorder, labels, sums, rows)
            cost = sum(map(operator.mul, weights, found.vector))
            is_best = answer.stopped is None and not self.is_ahead
            if cost != answer.cost and (is_best or answer.lower is None or cost < answer.lower):
                claimed = f"costs {cost}, the search claimed {answer.cost}"
                raise MismatchError(f"a tree of the sums {found.vector} {claimed}; please report this")
        if answer.stopped is not None and (found is None or answer.stopped != "time" or not self._share):
            raise SearchStopped(answer.stopped, answer.lower, found)
        return found

    def routed(self, preorder: Array) -> tuple[Array, Array, Array]:
        """(leaf (r,), sums (m, K, q), rows (m,)) of a tree by the raw codes: the leaf of every row, and of every leaf
        the sums of the parts over its rows, by the label that it may have, and their number.
        """
        leaf = route_rows(preorder, self._codes, self.arity)[0]
        return leaf, *self._sums(leaf, len(preorder), self.vectors)

    def _sums(self, place: Array, m: int, parts: Array) -> tuple[Array, Array]:
        """(sums (m, ...), rows (m,)): of the parts (G, ...) of the rows at each place, and how many rows there are."""
        kinds, *shape = parts.shape
        parts, rows = parts.reshape(kinds, -1), np.bincount(place, minlength=m)
        if m * kinds > _MOST_COUNTS * len(place):
            return sums_by(place, parts[self.kinds], m).reshape(m, *shape), rows
        counts = np.bincount(place * kinds + self.kinds, minlength=m * kinds).reshape(m, kinds)
        return _product(counts, parts).reshape(m, *shape), rows

    def _labelled(self, preorder: Array, labels: Array, sums: Array, rows: Array) -> EvaluatedTree:
        """A tree whose leaves have these labels; sums and rows as `routed` gives them."""
        return EvaluatedTree(self._vector(preorder, sums[np.arange(len(rows)), labels]), preorder, labels, rows)

    def _vector(self, preorder: Array, sums: Array) -> Vector:
        """The sums over a tree of its nodes' own (m, q)."""
        branches, totals = int(np.count_nonzero(preorder >= 0)), sums.sum(axis=0).tolist()
        return tuple([total + branches * split for total, split in zip(totals, self.splits, strict=True)])

    def is_summable(self, weights: Sequence[int]) -> bool:
        """Whether trees can be searched by the sum of `weights` . vector: sums over the rows are below 2**60."""
        split = sum(w * each for w, each in zip(weights, self.splits, strict=False))
        return split < LARGEST_TOTAL and self._are_within(weights)

    def _are_within(self, weights: Sequence[int]) -> bool:
        most = sum(map(operator.mul, map(abs, weights), self.largest))
        return bool(most * self.vectors.shape[1] < LARGEST_TOTAL)

    def costs(self, weights: Sequence[int]) -> Array:
        """(G, K) int64: the sum of a row's first parts by as many weights.

        Raises InputError if sums of these over the rows may be beyond 2**60.
        """
        # numpy multiplies without a word about overflow
        if not self._are_within(weights):
            raise sums_too_large(self.problem.data.weights is not None)
        costs: Array = self.vectors[:, :, : len(weights)] @ self._weights(weights)
        return costs

    def _weights(self, weights: Sequence[int]) -> Array:
        """The weights; a part that no label adds to, as the number of nodes, may have one of any size, and has 0."""
        return np.array([w if most else 0 for w, most in zip(weights, self.largest, strict=False)], np.int64)

    @contextlib.contextmanager
    def ahead(self, share: float = 0.0) -> Iterator[None]:
        """A context in which scalar solves find good trees, and prove nothing.

        By a rolling lookahead each, or by searches that have a share of the seconds that are left.
        """
        self.is_ahead, self._share = True, share
        try:
            yield
        finally:
            self.is_ahead, self._share = False, 0.0

    @contextlib.contextmanager
    def hurried(self, share: float) -> Iterator[None]:
        """A context that ends when this share of the seconds that are left, if there is a limit, is spent.

        When all are over, SearchStopped is raised as elsewhere.
        """
        before = self._deadline
        if before is not None:
            self._deadline = clock() + share * max(before - clock(), 0.0)
        try:
            yield
        except SearchStopped as stop:
            self._deadline = before
            if before is None or stop.reason != "time":
                raise
            self.remaining()
        finally:
            self._deadline = before

    def restricted(self, kept: Sequence[int] | None = None, **limits: Any) -> AbstractContextManager[Trees]:
        """A context with the trees under other limits of the problem, and of the sums that are `kept`."""
        return contextlib.closing(self._under(range(len(self.parts)) if kept is None else kept, limits))

    def asking(self, columns: Array, seconds: float | None) -> AbstractContextManager[Trees]:
        """A context with the trees of some columns only, which have as many seconds; see `of_columns`."""
        data = self.problem.data
        taken = {place: data.column(j) for place, j in enumerate(columns.tolist())}
        names = tuple(each.name for each in taken.values())
        asked = data.recoded(np.ascontiguousarray(data.X[:, columns]), taken, names)
        left = [each for each in (self.remaining(), seconds) if each is not None]
        limits = {"data": asked, "questions": None}
        return contextlib.closing(self._under(range(len(self.parts)), limits, min(left, default=None)))

    def of_columns(self, found: EvaluatedTree, columns: Array) -> EvaluatedTree:
        """A tree of `asking`, in the columns of this problem."""
        return attrs.evolve(found, preorder=np.where(found.preorder < 0, found.preorder, columns[found.preorder]))

    @property
    def shallow(self) -> Trees | None:
        """The trees of a small depth, which are found in a moment, where the depth is not limited; else None."""
        if self._shallow is None and self.problem.max_depth is None:
            self._shallow = self._under(range(len(self.parts)), {"max_depth": SHALLOW})
        return self._shallow

    def _under(self, kept: Sequence[int], limits: dict[str, Any], time_limit: float | None = None) -> Trees:
        problem, left = attrs.evolve(self.problem, **limits), self.remaining() if time_limit is None else time_limit
        given = self.driver, attrs.evolve(self.search_limits, time_limit=left)
        inner = Trees(problem, self.parts[list(kept)], tuple(self.splits[j] for j in kept), *given, self.kind)
        inner.best, inner.tally = self.best, self.tally
        return inner

    def search(self, problem: Problem) -> Outcome:
        """What the driver says of a problem that was made of this one; raises SearchStopped where it was stopped."""
        outcome = self.driver.search(problem, self._limits(self.remaining()))
        self._note(int(outcome.stats["nodes"]), float(outcome.stats["seconds_search"]))
        if outcome.stopped is not None:
            raise SearchStopped(outcome.stopped)
        return outcome

    def _note(self, nodes: int, seconds: float) -> None:
        """Counts a scalar solve."""
        self.tally["scalar_solves"] += 1
        self.tally["nodes"] += nodes
        self.tally["seconds_scalar"] += seconds

    def remaining(self) -> float | None:
        """Seconds left; raises SearchStopped if none are."""
        if self._deadline is None:
            return None
        left = self._deadline - clock()
        if left <= 0:
            raise SearchStopped("time")
        return left

    def _limits(self, time_limit: float | None) -> SearchLimits:
        """Those of one search, which tells the best value of all."""
        given, tell = self.search_limits, self.search_limits.report
        if tell is None and given.within_gap is None and time_limit == given.time_limit:
            return given

        def report(best: Any, bound: Any, nodes: int, phase: str) -> None:
            assert tell is not None
            tell(self.best(), None, self.tally["nodes"] + nodes, phase)

        told = None if tell is None else report
        return attrs.evolve(given, time_limit=time_limit, report=told, within_gap=None)

    def weigh(self, found: EvaluatedTree) -> Weighed:
        """The tree measured from the raw codes; raises MismatchError if its vector is another one."""
        leaf, sums, rows = self.routed(found.preorder)
        sums = sums[np.arange(len(rows)), found.labels]
        vector = self._vector(found.preorder, sums)
        if vector != found.vector:
            raise MismatchError(f"a tree has the sums {vector}, the search claimed {found.vector}; please report this")
        if self._place is not None:
            leaf = leaf[self._place]
            rows = np.bincount(leaf, minlength=len(rows))
        return Weighed(found.labels[leaf], leaf, rows, sums)

    def labelled(self, preorder: Array, labels: Array) -> EvaluatedTree:
        """A tree in preorder whose leaves keep their labels."""
        return self._labelled(preorder, labels, *self.routed(preorder)[1:])

    @functools.cached_property
    def constants(self) -> list[EvaluatedTree]:
        """The trees that are a leaf, one for each label."""
        groups, labels, m = self.vectors.shape
        totals = _product(self.sizes, self.vectors.reshape(groups, -1)).reshape(labels, m).tolist()
        leaf, rows = np.full(1, -1), np.array([self.data.size])
        return [EvaluatedTree(tuple(vector), leaf, np.array([k]), rows) for k, vector in enumerate(totals)]


def _product(counts: Array, parts: Array) -> Array:
    """counts (..., G) @ parts (G, w) of whole numbers; numpy's own product of these runs down the columns."""
    found: Array = counts @ parts if parts.shape[1] < _WIDE else np.einsum("...g,gw->...w", counts, parts)
    return found


def _distinct(words: Array, kind: Array | None) -> tuple[Array, Array]:
    """(words (G, w), kind (n,)): the distinct ones of the words (k, w), and which of them each row has."""
    first, number = find_equal(words)
    return words if len(first) == len(words) else words[first], number if kind is None else number[kind]
