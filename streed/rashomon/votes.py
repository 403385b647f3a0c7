"""What all trees of a set say of a row, exactly: a joint count by the label that they give it.

The label of one row is a sum like any other: that row adds the number of its label, all other rows nothing. A row that
is not in the data visits the trees: it is routed as the others are, costs nothing, and no leaf is the larger for it.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from streed.data import Cut, Dataset
from streed.data.new_rows import encode
from streed.data.questions import Questions
from streed.errors import InputError
from streed.exact import Array
from streed.rashomon.counting import Counted
from streed.rashomon.question import Question, RowSum
from streed.tree.nodes import Branch
from streed.tree.rows import TreeRows

_FEW = 100
"""So many trees are asked one by one without further thought."""

_AS_LONG = 10
"""Trees that are listed in about the time of one count."""

MOST_ASKED = 100_000
"""Trees that are asked one by one unless the caller says how many."""


def exact_shares(counted: Counted, X: Any, count: Callable[[RowSum, Array | None], Counted]) -> Array | None:
    """(m, K) the shares of the labels of the rows of X (None: of the data), by a count for each that is different.

    `count` counts the trees with a further sum, and maybe a visitor. None where it is quicker to ask all trees, and
    where rows that are not in the data cannot be counted along.
    """
    question, total = counted.question, counted.histogram.total
    data = question.data
    if total <= _FEW:
        return None
    answers = answers_of(data, data if X is None else X)
    if answers is None:
        known = np.arange(data.n_rows) if X is None else rows_like(data, X)
        if known is None:
            return None
        different, place = np.unique(known, return_inverse=True)
        asked: list[tuple[int, Array | None]] = [(row, None) for row in different.tolist()]
    else:
        rows, place = np.unique(answers, axis=0, return_inverse=True)
        asked = [(data.n_rows, row) for row in rows]
    if _AS_LONG * len(asked) >= total and total <= MOST_ASKED:
        return None
    found = np.empty((len(asked), question.n_labels))
    for at, (row, visitor) in enumerate(asked):
        votes = _votes_of(question, row, visitor, count)
        found[at] = [float(Fraction(each, total)) for each in votes]
    return found[place.ravel()]


def _votes_of(
    question: Question, row: int, visitor: Array | None, count: Callable[[RowSum, Array | None], Counted]
) -> list[int]:
    """By label, how many trees give it to a row of the data, or to the visitor, which has the number behind them.

    Raises InputError if the count is stopped.
    """
    n = question.data.n_rows
    costs = np.zeros((max(n, row + 1), question.n_labels), np.int64)
    costs[row] = np.arange(question.n_labels)
    counted = count(RowSum(costs), visitor)
    if counted.stopped is not None:
        raise InputError("time_limit", f"the count of a row was stopped ({counted.stopped})", "raise the limits")
    votes = [0] * question.n_labels
    for key, trees in counted.histogram.table.items():
        votes[counted.extras(key)[-1]] += trees
    return votes


def rows_like(data: Dataset, X: Any) -> Array | None:
    """By row of X, a row of the data that agrees with it in every column; None where that is not known of all."""
    if data.ordered:
        return None
    codes = data.X if X is data else encode([data.column(j) for j in range(data.n_columns)], X)
    known = {row.tobytes(): number for number, row in enumerate(np.asarray(data.X, np.uint8))}
    found = [known.get(row.tobytes()) for row in np.asarray(codes, np.uint8)]
    return None if None in found else np.array(found, np.int64)


def answers_of(data: Dataset, X: Any) -> Array | None:
    """(m, q) uint8: what the rows of X answer to every question about the data; None where one has several answers.

    Raises InputError for rows that lack a column, or have a value that a column does not know.
    """
    if data.categorical:
        return None
    asked: list[tuple[int, Cut | None]] = [(j, None) for j in range(data.n_columns)]
    if data.ordered:
        questions = Questions.of(data)
        asked = [(j, questions.cut(q)) for q, j in enumerate(questions.column.tolist())]
    rows = TreeRows.of(X, {j: data.column(j) for j in range(data.n_columns)}, data.n_columns, data.recipe)
    every = np.arange(rows.n_rows)
    found = np.empty((rows.n_rows, len(asked)), np.uint8)
    for q, (j, cut) in enumerate(asked):
        found[:, q] = rows.sides(Branch(j, (), 0, cut), every)
    return found
