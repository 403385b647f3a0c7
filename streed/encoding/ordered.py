"""Ordered columns on their way to a search of 0/1 columns and back.

A problem with ordered columns is solved as one with a column per question (`Questions`), and the tree that is found is
translated: a branch on a question becomes a branch on the column with its cut.
"""

from __future__ import annotations

from types import FunctionType
from typing import Any

import attrs
import numpy as np

from streed.data import Cut, Dataset
from streed.data.questions import Questions
from streed.errors import MismatchError
from streed.kernels.codegen.capture import names_within
from streed.problem import Outcome, Problem
from streed.task.analysis.linear_form import price_of_splits
from streed.task.base import parts_of
from streed.tree import FlatBranch, Leaf, Node, flatten, nest

_COLUMN_WORDS = ("X", "column", "columns", "n_columns", "ordered")
"""What a task that reads the columns of a data set names."""

_OWN = "streed."


def can_ask(problem: Problem) -> bool:
    """Whether the problem is the same with a column per question: its task's costs do not depend on columns.

    The price of a split may be the same everywhere. A task of one's own may read the columns of the data.
    """
    if price_of_splits(problem.task) is None:
        return False
    return not any(_reads_columns(part) for part in parts_of(problem.task))


def _reads_columns(task: Any) -> bool:
    kind = type(task)
    if kind.__module__.startswith(_OWN):
        return False
    own = [member for each in kind.__mro__ if not each.__module__.startswith(_OWN) for member in vars(each).values()]
    methods = [member for member in own if isinstance(member, FunctionType)]
    return not names_within(methods).isdisjoint(_COLUMN_WORDS)


def ask(problem: Problem) -> tuple[Problem, Questions]:
    """The problem with a column per question, and the questions."""
    questions = Questions.of(problem.data)
    return attrs.evolve(problem, data=questions.data, questions=questions), questions


def settled(outcome: Outcome, data: Dataset, questions: Questions | None = None) -> Outcome:
    """The outcome with trees in the columns of the data, `questions` about which they may be on; see `_settled`."""
    solutions = (attrs.evolve(each, root=_settled(each.root, data, questions)) for each in outcome.solutions)
    return attrs.evolve(outcome, solutions=tuple(solutions))


def _settled(root: Node, data: Dataset, questions: Questions | None) -> Node:
    """The tree, with gaps on the side of more rows (of equal ones the first) wherever no row of the data has one.

    Of a tree on `questions` about the data, that on their columns; every row is sent down both, and MismatchError is
    raised if one goes another way.
    """
    flat, rows_at = flatten(root), {0: np.arange(data.n_rows)}
    for place, node in enumerate(flat):
        rows = rows_at.pop(place)
        if isinstance(node, Leaf):
            continue
        column, cut = node.column, node.cut
        if questions is not None:
            column, cut = int(questions.column[column]), questions.cut(column)
        here, values = data.X[:, column][rows], data.ordered.get(column)
        sides = here if cut is None or values is None else values.sides(here, cut)
        if questions is not None and (questions.data.X[:, node.column][rows] != sides).any():
            raise MismatchError(f"a row goes another way at a cut of column {column}; please report this")
        parts = [rows[sides == side] for side in range(len(node.children))]
        has_gaps = values is not None and values.has_gaps and (here == values.gap_rank).any()
        if cut is not None and cut.threshold is not None and not has_gaps:
            cut = Cut(cut.threshold, int(data.count(parts[1]) > data.count(parts[0])))
        flat[place] = FlatBranch(column, node.children, node.rows, cut)
        rows_at |= zip(node.children, parts, strict=True)
    return nest(flat)
