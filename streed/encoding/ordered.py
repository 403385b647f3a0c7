"""Ordered columns on their way to a search and back: ranks for one that knows them, questions for all others.

A search of 0/1 columns solves a problem with ordered columns as one with a column per question (`Questions`), and the
tree that it finds is translated: a branch on a question becomes a branch on the column with its cut. A search that
reads thresholds itself takes `ranks_of`.
"""

from __future__ import annotations

from types import FunctionType
from typing import Any, final

import attrs
import numpy as np

from streed.data import Dataset
from streed.data.ordered import NO_LIMIT, OrderedValues
from streed.data.questions import Questions
from streed.errors import MismatchError
from streed.exact import Array
from streed.kernels.codegen.capture import mentions
from streed.problem import Problem
from streed.task.analysis.linear_form import branching_context
from streed.task.base import parts_of
from streed.tree import Branch, Node, flatten, nest
from streed.tree.nodes import sides_in

_COLUMN_WORDS = ("X", "column", "columns", "n_columns", "ordered")
"""What a task that reads the columns of a data set names."""

_OWN = "streed."


def can_ask(problem: Problem) -> bool:
    """Whether the problem is the same with a column per question: its task's costs do not depend on columns.

    The price of a split may be the same everywhere. A task of one's own may read the columns of the data.
    """
    if branching_context(problem.task, problem.data.n_columns) not in ("none", "constant"):
        return False
    return not any(_reads_columns(part) for part in parts_of(problem.task))


def _reads_columns(task: Any) -> bool:
    kind = type(task)
    if kind.__module__.startswith(_OWN):
        return False
    own = [member for each in kind.__mro__ if not each.__module__.startswith(_OWN) for member in vars(each).values()]
    methods = [member for member in own if isinstance(member, FunctionType)]
    return any(mentions(method, word) for method in methods for word in _COLUMN_WORDS)


def ask(problem: Problem) -> tuple[Problem, Questions]:
    """The problem with a column per question, and the questions."""
    questions = Questions.of(problem.data)
    return attrs.evolve(problem, data=questions.data, questions=questions), questions


def settled(root: Node, data: Dataset, questions: Questions | None = None) -> Node:
    """The tree, with gaps on the side of more rows (of equal ones the first) wherever no row of the data has one.

    Of a tree on `questions` about the data, that on their columns; every row is sent down both, and MismatchError is
    raised if one goes another way.
    """
    flat: list[Any] = list(flatten(root))
    rows_at: dict[int, Array] = {0: np.arange(data.n_rows)}
    for place, (column, children, size, *cut) in enumerate(flat):
        if not isinstance(children, tuple):
            continue
        rows = rows_at.pop(place)
        if questions is None:
            node = Branch(column, (), size, *cut)
        else:
            node = Branch(int(questions.column[column]), (), size, questions.cut(column))
        sides = sides_in(data, node, rows)
        if questions is not None and not np.array_equal(questions.data.X[rows, column], sides):
            raise MismatchError(f"a row goes another way at a cut of column {node.column}; please report this")
        flat[place] = (node.column, children, size)
        if node.cut is not None:
            flat[place] += (attrs.evolve(node.cut, gaps=side_of_gaps(data, node, rows, sides)),)
        rows_at |= {child: rows[sides == side] for side, child in enumerate(children)}
    return nest(flat)


def side_of_gaps(data: Dataset, node: Branch, rows: Array, sides: Array) -> int:
    """The child for gaps of a branch with a cut: as it says, or, where none of its rows has one, that of more rows."""
    assert node.cut is not None
    if node.cut.threshold is None or (data.X[rows, node.column] == data.ordered[node.column].gap_rank).any():
        return node.cut.gaps
    return int(data.count(rows[sides == 1]) > data.count(rows[sides == 0]))


@final
@attrs.frozen(eq=False)
class Ranks:
    """Ordered columns as a search of thresholds reads them: F features over n rows.

    A column with gaps is two features: with its gaps before all values and behind them. A threshold of a feature lies
    behind each of its ranks but the last, so that the question whether a value is missing is one of both features.
    """

    ranks: Array
    """(F, n) int32, C-contiguous: 0 .. sizes[f] - 1, all of which occur."""
    sizes: Array
    """(F,) int32."""
    column: Array
    """(F,) int64: the data's column that the feature is made of."""
    limits: tuple[Array, ...]
    """For each feature (sizes[f] - 1,) int64: the largest rank in the column of what is below the threshold."""
    gaps_last: Array
    """(F,) bool: whether gaps are behind all values, so that they go to child 1; where there are none, True."""

    def question(self, feature: int, threshold: int) -> tuple[int, int, int]:
        """(column, limit, gaps) of the threshold behind this rank of the feature, for `OrderedValues.cut`."""
        column, limit = int(self.column[feature]), int(self.limits[feature][threshold])
        return column, limit, 1 if limit == NO_LIMIT else int(self.gaps_last[feature])


def ranks_of(data: Dataset) -> Ranks:
    """The ordered columns of the data as features, in the order of the columns."""
    features = [
        (*_feature(data.X[:, j], values, gaps_last), j, gaps_last)
        for j, values in sorted(data.ordered.items())
        for gaps_last in ((True, False) if values.has_gaps else (True,))
    ]
    ranks, limits, columns, last = zip(*features, strict=True) if features else ((), (), (), ())
    together = np.stack(ranks) if ranks else np.zeros((0, data.n_rows), np.int32)
    sizes = np.array([len(each) + 1 for each in limits], np.int32)
    return Ranks(together, sizes, np.array(columns, np.int64), limits, np.array(last, bool))


def _feature(ranks: Array, values: OrderedValues, gaps_last: bool) -> tuple[Array, Array]:
    """(ranks among the groups of values that cuts tell apart, the cut behind each but the last)."""
    uncut = len(values.cuts) + 1 < len(values.values)
    below = np.searchsorted(values.cuts, ranks).astype(np.int32) if uncut else ranks.astype(np.int32)
    if not values.has_gaps or not len(values.values):
        return below if len(values.values) else np.zeros(len(ranks), np.int32), values.cuts
    missing = ranks == values.gap_rank
    if gaps_last:
        below[missing] = len(values.cuts) + 1
        return below, np.append(values.cuts, NO_LIMIT)
    below += 1
    below[missing] = 0
    return below, np.concatenate([[NO_LIMIT], values.cuts])
