"""Trees of the ordered search in the columns of a data set, and as trees over what their own branches answer.

Every branch is a column of its own here, with the answers of the rows that reach it; elsewhere it may be anything.
"""

from __future__ import annotations

from typing import final

import attrs
import numpy as np

from streed.data import Dataset
from streed.encoding.ordered import side_of_gaps
from streed.exact import Array
from streed.kernels.records import LEAF
from streed.ordered.features import Features
from streed.ordered.rebuild import Split
from streed.problem import Problem
from streed.tree import Branch, Leaf, Node
from streed.tree.rows import sides_in


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
