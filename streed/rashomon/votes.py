"""What all trees of a set say of a row, exactly: a joint count by the label that they give it.

The label of one row is a sum like any other: that row adds the number of its label, all other rows nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from streed.data import Dataset
from streed.data.new_rows import encode
from streed.errors import InputError
from streed.exact import Array
from streed.rashomon.counting import Counted
from streed.rashomon.question import Question, RowSum


def votes_of(question: Question, row: int, count: Callable[[RowSum], Counted]) -> list[int]:
    """By label, how many trees give it to a row of the data; `count` counts the trees with a further sum.

    Raises InputError if that count is stopped.
    """
    costs = np.zeros((question.data.n_rows, question.n_labels), np.int64)
    costs[row] = np.arange(question.n_labels)
    counted = count(RowSum(costs))
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
