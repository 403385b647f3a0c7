"""Whether a problem of ordered columns is searched by its thresholds, or by counting pairs of questions."""

from __future__ import annotations

from streed.problem import Problem

FEW = 250
"""Questions up to which counting pairs of them is the quicker way."""

FEWEST = 500
"""Binary columns from which on it is looked whether they are thresholds of a few numbers."""


def is_for_thresholds(problem: Problem) -> bool:
    """Whether the search over thresholds takes the problem's columns, and there are so many that it is quicker.

    The columns are either those of the data, or already the questions about them.
    """
    asked = problem.questions
    data = problem.data if asked is None else asked.source
    if data.categorical or not data.ordered or (asked is not None and asked.data.X is not problem.data.X):
        return False
    return data.n_questions > FEW
