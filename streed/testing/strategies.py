"""What laws are tried on: small data sets, trees on them, and the states and values that a task reaches there."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from hypothesis import strategies as st

from streed.data import Dataset
from streed.reference import Evaluation
from streed.task import State, Task, Value
from streed.tree import Branch, Leaf, Node

MAX_ROWS = 8

_LABELS = (0, 1, 2)


Tag = tuple[int, int]
"""What laws do with a row: the side of a split that it goes to, and by bits the sets of rows that it belongs to."""

_TAG = st.integers(0, 31).map(lambda bits: (bits // 8, bits % 8))


def datasets(
    *,
    max_rows: int = MAX_ROWS,
    max_columns: int = 2,
    y: st.SearchStrategy[Any] | None = None,
    weights: bool = True,
    multiway: bool = True,
    row_data: Mapping[str, st.SearchStrategy[Any]] | None = None,
    few_kinds: bool = False,
) -> st.SearchStrategy[Dataset]:
    """Data of 1 to `max_rows` rows and up to `max_columns` columns; contradictory rows are common.

    `y`: the labels of single rows (default: 0, 1 and 2). `weights`: whether some data sets have row weights.
    `multiway`: whether some have a column of three categories. `row_data`: by name, the strategy of a single row's
    entry, such as `{"treated": st.booleans()}`. `few_kinds`: all have the same labels, and weights or three categories
    but not both, because the engine compiles the costs of a task for every kind of data.
    """
    made = tagged_datasets(max_rows, max_columns, y, weights, multiway, row_data, few_kinds)
    return made.map(lambda found: found[0])


@st.composite
def tagged_datasets(
    draw: st.DrawFn,
    max_rows: int,
    max_columns: int,
    y: st.SearchStrategy[Any] | None,
    weights: bool,
    multiway: bool,
    row_data: Mapping[str, st.SearchStrategy[Any]] | None,
    few_kinds: bool,
) -> tuple[Dataset, list[Tag]]:
    """The data of `datasets`, and a tag for every row.

    Tags are drawn with the rows, so that dropping a row from a counterexample leaves the others as they are.
    """
    entries = dict(row_data or {})
    widths = [2] * draw(st.integers(1, max_columns))
    kind = draw(st.integers(0, 11))
    if multiway and kind >= 9:
        widths[-1] = 3
    weighted = weights and (4 <= kind <= 7 if few_kinds else kind % 3 == 2)
    # All codes of a row are one choice: fewer choices are quicker drawn, and rows are easier dropped.
    fields: list[st.SearchStrategy[Any]] = [
        _TAG,
        st.integers(0, math.prod(widths) - 1),
        st.sampled_from(_LABELS) if y is None else y,
    ]
    if weighted:
        fields.append(st.sampled_from((1, 2, 0, 0.5)))
    rows = draw(st.lists(st.tuples(*fields, *entries.values()), min_size=1, max_size=max_rows))
    chosen = [row[3] for row in rows] if weighted else None
    if chosen is not None and not any(chosen):
        chosen[0] = 1
    tags = [row[0] for row in rows]
    absent = _LABELS if few_kinds and y is None else ()
    rows = rows + [(*rows[0][:2], label, *rows[0][3:]) for label in absent]
    further: dict[str, Any] = {
        name: [row[place] for row in rows] for place, name in enumerate(entries, start=len(fields))
    }
    data = Dataset.make(
        np.array([_codes(row[1], widths) for row in rows], dtype=np.uint8),
        [row[2] for row in rows],
        sample_weight=None if chosen is None else chosen + [1] * len(absent),
        categorical=[len(widths) - 1] if widths[-1] == 3 else [],
        **further,
    )
    return (data.subset(range(len(tags))) if absent else data), tags


def _codes(number: int, widths: list[int]) -> list[int]:
    codes = []
    for width in widths:
        number, code = divmod(number, width)
        codes.append(code)
    return codes


@st.composite
def tagged(draw: st.DrawFn, data: st.SearchStrategy[Dataset]) -> tuple[Dataset, list[Tag]]:
    """Data of any strategy, and a tag for every row."""
    made = draw(data)
    return made, draw(st.lists(_TAG, min_size=made.n_rows, max_size=made.n_rows))


LARGE = 64
"""Rows of large data, which are few rows repeated: what holds of few may fail of many."""


@st.composite
def repeated(draw: st.DrawFn, source: st.SearchStrategy[tuple[Dataset, list[Tag]]]) -> tuple[Dataset, list[Tag]]:
    """Data with tags, its rows repeated until there are `LARGE`."""
    data, tags = draw(source)
    times = -(-LARGE // data.n_rows)
    return data.subset(list(range(data.n_rows)) * times), tags * times


@st.composite
def tagged_subsets(draw: st.DrawFn, data: Dataset, max_rows: int = MAX_ROWS) -> tuple[Dataset, list[Tag]]:
    """Some rows of the data, 1 to `max_rows` of them, and a tag for each."""
    row = st.tuples(st.integers(0, data.n_rows - 1), _TAG)
    most = min(max_rows, data.n_rows)
    rows = draw(st.lists(row, min_size=1, max_size=most, unique_by=lambda chosen: chosen[0]))
    return data.subset([number for number, _ in rows]), [tag for _, tag in rows]


@st.composite
def trees(draw: st.DrawFn, data: Dataset, n_labels: int, *, rows: list[int] | None = None, max_depth: int = 2) -> Node:
    """Trees on the rows (default: all), of which every split separates some; leaves carry no costs."""
    rows = list(range(data.n_rows)) if rows is None else rows
    columns = []
    if max_depth > 0:
        columns = [j for j in range(data.n_columns) if len(set(data.X[rows, j].tolist())) > 1]
    choice = draw(st.integers(0, n_labels + len(columns) - 1))
    if choice < n_labels:
        return Leaf(choice, len(rows), 0)
    column = columns[choice - n_labels]
    children: list[Node] = []
    for code in range(len(data.column(column).categories) if column in data.categorical else 2):
        part = [row for row in rows if data.X[row, column] == code]
        child = trees(data, n_labels, rows=part, max_depth=max_depth - 1)
        children.append(draw(child) if part else Leaf(0, 0, 0))
    return Branch(column, tuple(children), len(rows))


@st.composite
def states(draw: st.DrawFn, task: Task, data: Dataset) -> State:
    """The states of some rows, at least one, of a task on a data set; the task need not be bound."""
    rows = draw(st.lists(st.integers(0, data.n_rows - 1), min_size=1, unique=True))
    return Evaluation(task, data).state(sorted(rows))


@st.composite
def values(draw: st.DrawFn, task: Task, data: Dataset, *, max_depth: int = 2) -> Value:
    """Values that the task reaches: those of trees on some of the rows."""
    evaluation = Evaluation(task, data)
    rows = sorted(draw(st.lists(st.integers(0, data.n_rows - 1), min_size=1, unique=True)))
    tree = draw(trees(data, len(evaluation.labels), rows=rows, max_depth=max_depth))
    return evaluation.cost(tree, rows)
