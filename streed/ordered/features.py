"""The columns of a data set as the ordered search reads them, its thresholds as questions, and its trees.

The search tells trees by plans: what these leave open is found again at its rows. They become trees in the columns of
the data set, and trees over what their own branches answer: there every branch is a column of its own, with the answers
of the rows that reach it; elsewhere it may be anything.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, final

import attrs
import numpy as np

from streed.data import Dataset
from streed.data.column import Column
from streed.data.ordered import NO_LIMIT
from streed.data.questions import Questions
from streed.encoding.ordered import Ranks, ranks_of, side_of_gaps
from streed.exact import Array
from streed.kernels.ordered import NEW, ROW, WORDS, sort_rows
from streed.kernels.records import LEAF
from streed.ordered.lookahead import find_stump
from streed.problem import Problem
from streed.tree import Branch, Leaf, Node
from streed.tree.nodes import sides_in

if TYPE_CHECKING:
    from streed.ordered.session import OrderedSession


@final
@attrs.frozen(eq=False)
class Features:
    """The columns of a data set as the search reads them: ordered ones, binary ones, which have one threshold, and
    categorical ones, whose ranks are codes.
    """

    ranks: Array
    """(F, n) int32."""
    ordered: Ranks
    binary: Array
    """(b,) int64: the binary columns."""
    categorical: tuple[int, ...]
    """The categorical columns."""

    @classmethod
    def of(cls, data: Dataset) -> Features:
        """The features of the data."""
        ordered = ranks_of(data)
        binary = np.array(
            [j for j in range(data.n_columns) if j not in data.ordered and j not in data.categorical], np.int64
        )
        coded = data.X[:, [*binary.tolist(), *data.categorical]].T.astype(np.int32)
        ranks = np.concatenate([ordered.ranks, coded])
        return cls(np.ascontiguousarray(ranks, np.int32), ordered, binary, data.categorical)

    @property
    def thresholds(self) -> int:
        """How many there are in all."""
        return int(np.maximum(self.ordered.sizes - 1, 0).sum()) + len(self.binary)

    @property
    def categories(self) -> int:
        """How many features, the last ones, are categorical."""
        return len(self.categorical)

    def branch(self, data: Dataset, feature: int, rank: int, rows: int) -> Branch:
        """A branching node without children."""
        if feature >= len(self.ordered.ranks):
            coded = (*self.binary.tolist(), *self.categorical)
            return Branch(int(coded[feature - len(self.ordered.ranks)]), (), rows)
        column, limit, gaps = self.ordered.question(feature, rank)
        return Branch(column, (), rows, data.ordered[column].cut(limit, gaps))

    def is_turned(self, feature: int, rank: int) -> bool:
        """Whether the question's child 0 is for what is above the threshold: gaps come first, and are asked for."""
        if feature >= len(self.ordered.ranks):
            return False
        return not self.ordered.gaps_last[feature] and int(self.ordered.limits[feature][rank]) == NO_LIMIT

    def children_of(self, node: Split, column: Column) -> tuple[Split | None, ...]:
        """Those of a split on a column of the data, by the answers to its question."""
        if node.rank < 0:
            return (*node.children, *[None] * (len(column.categories) - len(node.children)))
        return node.children[::-1] if self.is_turned(node.column, node.rank) else node.children

    def questions(self, questions: Questions) -> tuple[Array, ...]:
        """For each feature (its thresholds,) int64: which question each threshold is; one of a categorical feature."""
        pairs = (questions.column, questions.limit, questions.gaps)
        number = {key: q for q, key in enumerate(zip(*(each.tolist() for each in pairs), strict=True))}
        found = []
        for feature, limits in enumerate(self.ordered.limits):
            asked = [number[self.ordered.question(feature, rank)] for rank in range(len(limits))]
            found.append(np.array(asked, np.int64))
        return (*found, *(np.array([number[j, 0, 0]]) for j in (*self.binary.tolist(), *self.categorical)))


@final
@attrs.frozen(eq=False)
class Planted:
    """A tree over the columns that its branches are."""

    preorder: Array
    """(m,) int64: the number of each branch, LEAF for leaves."""
    branches: list[Branch]
    """Of the data's columns, without children."""
    codes: Array
    """(n, branches) uint8."""

    @classmethod
    def of(cls, tree: Split | None, features: Features, data: Dataset) -> Planted:
        """The tree on the rows of the data."""
        preorder: list[int] = []
        branches: list[Branch] = []
        answers: list[Array] = []

        def plant(node: Split | None, rows: Array) -> None:
            if node is None:
                preorder.append(LEAF)
                return
            branch, sides = branch_at(features, data, node.column, node.rank, rows)
            preorder.append(len(branches))
            branches.append(branch)
            answer = np.zeros(data.n_rows, np.uint8)
            answer[rows] = sides
            answers.append(answer)
            for side, child in enumerate(features.children_of(node, data.column(branch.column))):
                plant(child, rows[sides == side])

        plant(tree, np.arange(data.n_rows))
        codes = np.column_stack(answers) if answers else np.zeros((data.n_rows, 1), np.uint8)
        return cls(np.array(preorder, np.int64), branches, np.ascontiguousarray(codes))

    def asked(self, problem: Problem) -> Problem:
        """The problem over the branches."""
        data = problem.data
        columns = dict(enumerate(branch.column for branch in self.branches))
        coded = {place: data.column(column) for place, column in columns.items() if column in data.categorical}
        names = tuple(f"b{j}" for j in range(self.codes.shape[1]))
        asked = attrs.evolve(
            data, X=self.codes, names=names, coded=coded, categorical=tuple(coded), pair=(0, 1), ordered={}
        )
        return attrs.evolve(problem, data=asked)

    def in_columns(self, node: Node) -> Node:
        """A tree over the branches, in the data's columns."""
        if isinstance(node, Leaf):
            return node
        children = tuple(map(self.in_columns, node.children))
        return attrs.evolve(self.branches[node.column], children=children, rows=node.rows)


def branch_at(features: Features, data: Dataset, feature: int, rank: int, rows: Array) -> tuple[Branch, Array]:
    """(a branching node without children, the child of each of the rows that reach it)."""
    branch = features.branch(data, feature, rank, len(rows))
    sides = sides_in(data, branch, rows)
    if branch.cut is not None:
        branch = attrs.evolve(branch, cut=attrs.evolve(branch.cut, gaps=side_of_gaps(data, branch, rows, sides)))
    return branch, sides


@final
@attrs.frozen
class Split:
    """A branching node, whose children are splits, or None for leaves."""

    column: int
    rank: int
    """Rows whose rank in the column is at most this go to the first of two children; below 0, each code has a child."""
    children: tuple[Split | None, ...]
    """By code, None also for those that no row has."""


def tree_of(session: OrderedSession, plan: Array) -> Split | None:
    """The tree of a plan."""
    entries = iter(plan[1 : 1 + WORDS * int(plan[0])].reshape(-1, WORDS).tolist())

    def grow(rows: Array) -> Split | None:
        column, rank, _ = next(entries)
        if column >= 0:
            return _split(session, rows, column, rank, grow)
        found = None if rank == 0 else _stump(session, rows)
        return None if found is None else _split(session, rows, *found, lambda _: None)

    return grow(np.arange(session.rows.n_rows))


def _split(
    session: OrderedSession, rows: Array, column: int, rank: int, grow: Callable[[Array], Split | None]
) -> Split:
    """The split of some rows (m,), whose children `grow` makes."""
    ranks = session.ranks[column, rows]
    sides = [ranks <= rank, ranks > rank] if rank >= 0 else [ranks == code for code in range(int(ranks.max()) + 1)]
    children = tuple(grow(rows[side]) if side.any() else None for side in sides)
    return Split(int(session.columns[column]), rank, children)


def _stump(session: OrderedSession, rows: Array) -> tuple[int, int] | None:
    """(column, rank) of the best single split of some rows; None if a leaf is as good."""
    ranks = session.ranks[:, rows]
    ids = np.flatnonzero(ranks.max(axis=1) > ranks.min(axis=1))
    if not len(ids):
        return None
    orders = sort_rows(ranks[ids])
    orders[:, :-1] = rows[orders[:, :-1] & np.uint32(ROW)] | (orders[:, :-1] & np.uint32(NEW))
    answer = np.zeros(4, np.int64)
    find_stump(session.address, orders, len(rows), ids, answer)
    leaf, cost, best, position = answer.tolist()
    if cost + session.rows.price >= leaf:
        return None
    if ids[best] >= session.n_ordered:
        return int(ids[best]), -1
    return int(ids[best]), int(session.ranks[ids[best], orders[best, position - 1] & np.uint32(ROW)])
