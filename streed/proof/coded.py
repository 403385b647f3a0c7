"""A data set as the table of codes that a checker reads, and a tree as that table has it."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any, final

import attrs
import numpy as np

from streed.data import Dataset
from streed.data.questions import Questions
from streed.errors import InputError
from streed.exact import Array
from streed.tree import Branch, Leaf, Tree, flatten, walk
from streed.tree.rows import sides_in

MOST_CODES = 4096
"""Pairs of codes are summed, so a table of many more is out of reach."""


_TAKEN = ("cost of ", "amount ", "weight", "label")
"""How columns beside the features are named."""


@final
@attrs.frozen(eq=False)
class CodedTable:
    """Columns of codes, with names that are safe in a file of comma separated values."""

    source: Dataset
    questions: Questions | None
    X: Array
    """(n, p) uint8."""
    names: tuple[str, ...]
    categorical: tuple[str, ...]
    """The columns of more than two codes."""
    labels: tuple[str, ...]
    """The class of each row."""

    @classmethod
    def of(cls, data: Dataset) -> CodedTable:
        """The codes of a data set without frequencies; a column for each question about ordered columns.

        Raises InputError where there are too many codes.
        """
        asked = Questions.of(data) if data.ordered else None
        coded = data if asked is None else asked.data
        X = coded.X.astype(np.uint8)
        codes = X.max(axis=0, initial=0).astype(np.int64) + 1
        if codes.sum() > MOST_CODES:
            found = f"{int(codes.sum())} codes and questions, and proofs are about {MOST_CODES} at most"
            raise InputError("X", found, "give max_cuts, or fewer columns")
        names = _safe([_asked(asked, q) if asked is not None else name for q, name in enumerate(coded.names)])
        categorical = tuple(name for name, k in zip(names, codes, strict=True) if k > 2)
        classes = _safe([str(label) for label in data.classes], columns=False)
        labels = tuple(classes[k] for k in data.class_numbers.tolist())
        return cls(data, asked, X, tuple(names), categorical, labels)

    def to_csv(self, more: Mapping[str, Sequence[Any]]) -> bytes:
        """The table as UTF-8 text: the codes, further columns, and the target last, as the checker expects it."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerows(
            [(*self.names, *more, "label"), *zip(*self.X.T.tolist(), *more.values(), self.labels, strict=True)]
        )
        return text.getvalue().encode()

    def names_of(self, column: int) -> list[str]:
        """The columns of codes that stand for a column of the data."""
        if self.questions is None:
            return [self.names[column]]
        return [self.names[q] for q in np.flatnonzero(self.questions.column == column).tolist()]

    def tree(self, tree: Tree, labels: Sequence[str]) -> dict[str, Any]:
        """The tree as a proof has it; `labels` by the number of a leaf's label."""
        nodes, flat = list(walk(tree.root)), flatten(tree.root)
        made: list[dict[str, Any]] = [{} for _ in nodes]
        for place in reversed(range(len(nodes))):
            node, below = nodes[place], flat[place][1]
            if isinstance(node, Branch) and isinstance(below, tuple):
                column, codes = self._asked_by(node)
                children = {str(code): made[child] for code, child in zip(codes, below, strict=True)}
                made[place] = {"column": column, "children": children}
            elif isinstance(node, Leaf):
                made[place] = {"label": labels[node.label]}
        return made[0]

    def _asked_by(self, node: Branch) -> tuple[int, list[int]]:
        """The column of codes that a branch asks for, and the code of each of its children."""
        if node.column >= self.source.n_columns:
            found = f"it splits column {node.column}, counted from 0, of data with {self.source.n_columns}"
            raise InputError("tree", found, "give its own data")
        if self.questions is None or node.cut is None:
            place = node.column if self.questions is None else int(np.searchsorted(self.questions.column, node.column))
            return place, list(range(len(node.children)))
        rows = np.arange(self.source.n_rows)
        sides = sides_in(self.source, node, rows)
        for question in np.flatnonzero(self.questions.column == node.column).tolist():
            if np.array_equal(self.X[:, question], sides):
                return question, [0, 1]
        raise InputError("tree", "it splits a column in a way that no question of the data does", "give its own data")


def _asked(asked: Questions, question: int) -> str:
    name, cut = asked.source.names[int(asked.column[question])], asked.cut(question)
    return name if cut is None else f"{name} {question - int(np.searchsorted(asked.column, asked.column[question]))}"


def _safe(names: list[str], *, columns: bool = True) -> list[str]:
    """Different names of visible characters without quotes; of columns, none that reads as an option of a call."""
    made: dict[str, None] = {}
    for place, name in enumerate(names):
        is_plain = bool(name) and name == name.strip() and name.isprintable() and not set(name) & set("\"'")
        is_plain = is_plain and not (columns and name.startswith("-"))
        wanted = name if is_plain else f"{'column' if columns else 'class'} {place}"
        wanted += "_" if columns and wanted.startswith(_TAKEN) else ""
        while wanted in made:
            wanted += "_"
        made[wanted] = None
    return list(made)
