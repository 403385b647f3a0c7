"""Whether a problem of ordered columns is searched by its thresholds, or by counting pairs of questions."""

from __future__ import annotations

from streed.problem import Problem

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
