"""The linear oracle of the ordered search: rows are put in order once, each solve brings its own costs.

Its problem has a column per question (`Questions`), in which its trees are told; the search reads the ranks of the
columns that the questions are about. Few questions are searched by counting pairs of them instead.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, final

import numpy as np

from streed.data.questions import Questions
from streed.exact import Array
from streed.kernels.records import LEAF
from streed.ordered.features import Features, Split
from streed.ordered.in_order import places_of
from streed.ordered.problem import OrderedRows
from streed.ordered.session import OrderedSession
from streed.problem import Problem, SearchLimits
from streed.problem.linear_oracle import Answer, LinearOracle, RowSets
from streed.task.row_sums import sums_by

FEW = 250
"""Questions up to which counting pairs of them is the quicker way."""

WIDE, PER_ROW = 4096, 4
"""Binary columns from which on, and as many for each row, counts of their pairs take far more memory than the rows."""


def takes_categories(problem: Problem) -> bool:
    """Whether the search takes the categorical columns of the problem, if it has any.

    A limit on the number of splits would have to be shared among many children; and where leaves need several rows,
    one that has none could get too few.
    """
    data = problem.data if problem.questions is None else problem.questions.source
    return not data.categorical or (problem.max_nodes is None and problem.min_leaf <= 1)


def is_for_thresholds(problem: Problem) -> bool:
    """Whether the search over thresholds takes the problem's columns, and there are so many that it is quicker.

    The columns are either those of the data, or already the questions about them. Binary ones have one threshold.
    """
    asked = problem.questions
    data = problem.data if asked is None else asked.source
    if asked is None and not data.ordered:
        return WIDE <= data.n_columns >= PER_ROW * data.n_rows and takes_categories(problem)
    if not data.ordered or (asked is not None and asked.data.X is not problem.data.X):
        return False
    return data.n_questions > FEW and takes_categories(problem)


@final
class OrderedOracle(LinearOracle):
    """A session of the ordered search for a problem of questions."""

    def __init__(self, problem: Problem, kinds: Array, name: str, native: Callable[[], LinearOracle]) -> None:
        """`kinds` (n,): which kind each row is; `native` makes an oracle that has sets of rows, which takes memory."""
        questions = Questions.of(problem.data) if problem.questions is None else problem.questions
        features = Features.of(questions.source)
        self._questions = features.questions(questions)
        self._features = features
        self._problem = problem
        self._kinds = kinds
        self._name = name
        self._make_native = native
        self._native: LinearOracle | None = None
        first, self._place = places_of(features.ranks)
        self._ranks = np.ascontiguousarray(features.ranks[:, first])
        self._frequency: Array | None = None
        if problem.min_leaf > 1:
            self._frequency = sums_by(self._place, problem.data.counts, len(first))
        self._session: OrderedSession | None = None
        self._seconds = 0.0
        self._nodes = 0

    def solve(
        self, costs: Array, split: int, search_limits: SearchLimits, *, below: int | None = None, ahead: bool = False
    ) -> Answer:
        begin = time.perf_counter()
        problem = self._problem
        summed = sums_by(self._place, costs[self._kinds], self._ranks.shape[1])
        rows = OrderedRows(self._ranks, summed, split, self._frequency, problem.min_leaf, self._features.categories)
        if self._session is None:
            self._session = OrderedSession(rows)
        else:
            self._session.reprice(rows)
        session = self._session

        def look(lower: int, upper: int | None, nodes: int) -> None:
            if search_limits.report is not None:
                search_limits.report(upper, lower, nodes, "searching")

        answer = session.solve(problem.max_depth, problem.max_nodes, search_limits, below=below, ahead=ahead, look=look)
        self._seconds = time.perf_counter() - begin
        self._nodes = answer.nodes
        if answer.cost is None or (answer.stopped is None and below is not None and answer.lower >= below):
            return Answer(answer.lower, None, None, answer.stopped, answer.nodes)
        preorder: list[int] = []
        self._write(answer.tree, preorder)
        return Answer(answer.lower, answer.cost, np.array(preorder, np.int64), answer.stopped, answer.nodes)

    def row_sets(self, entries: Array, split: Array, search_limits: SearchLimits) -> RowSets | None:
        if self._native is None:
            self._native = self._make_native()
        return self._native.row_sets(entries, split, search_limits)

    def stats(self) -> Mapping[str, Any]:
        said = {"threads": 1} if self._session is None else self._session.stats(self._features)
        return {**said, "search": self._name, "seconds_search": self._seconds, "nodes": self._nodes, "exact": True}

    def close(self) -> None:
        self._session = None
        if self._native is not None:
            self._native.close()

    def _write(self, node: Split | None, preorder: list[int]) -> None:
        """Appends a subtree in preorder: the question of each branching node, LEAF for leaves."""
        if node is None:
            preorder.append(LEAF)
            return
        question = int(self._questions[node.column][max(node.rank, 0)])
        preorder.append(question)
        for child in self._features.children_of(node, self._problem.data.column(question)):
            self._write(child, preorder)
