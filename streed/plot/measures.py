"""Numbers by which trees are compared on a picture: errors of either kind, size, unfairness; less is better."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import attrs
import numpy as np

from streed.data import Dataset
from streed.errors import InputError
from streed.exact import Array
from streed.tasks.fairness import Fairness, group_rates
from streed.tree import Tree

SIZES: dict[str, Callable[[Tree], int]] = {
    "nodes": lambda tree: tree.n_branches,
    "leaves": lambda tree: tree.n_leaves,
    "depth": lambda tree: tree.depth,
}
"""Measures of the tree alone."""

COUNTS = ("errors", "error rate", "false negatives", "false positives")
"""Measures on rows."""


@attrs.frozen(eq=False)
class Rows:
    """Rows on which trees are measured."""

    X: Any
    """As `Tree.predict` takes it."""
    labels: tuple[Any, ...]
    """The distinct labels, sorted; the second of two is the positive one."""
    y: Array
    """(n,) int64: the rows' labels, by number."""
    weights: Array
    """(n,) float64."""
    sensitive: Any = None
    """The groups, as `solve` takes `sensitive_features`; None where not given."""

    @classmethod
    def make(cls, X: Any, y: Any = None, sample_weight: Any = None, sensitive_features: Any = None) -> Rows:
        """The rows of a Dataset, or of what `solve` takes; raises InputError where there are no labels."""
        data = X
        if not isinstance(X, Dataset):
            if y is None:
                raise InputError("y", "missing", "give the rows' labels, or a Dataset that has them")
            blank = np.zeros((len(y), 0), np.uint8)
            data = Dataset.make(blank, y, sample_weight=sample_weight, sensitive_features=sensitive_features)
        elif any(given is not None for given in (y, sample_weight, sensitive_features)):
            raise InputError("X", "it is a Dataset, given together with further arguments", "give the Dataset alone")
        if data.classes == (None,):
            raise InputError("y", "the Dataset has no labels", "make it with y")
        weights = np.ones(data.n_rows) if data.weights is None else data.weights.astype(np.float64)
        return cls(X, data.classes, data.class_numbers, weights, data.row_data.get("sensitive_features"))

    def predicted(self, tree: Tree) -> Array:
        """(n,) int64: what the tree predicts, by number; -1 for what no row's label is."""
        known = {label: k for k, label in enumerate(self.labels)}
        return np.array([known.get(shown, -1) for shown in tree.shows()], dtype=np.int64)[tree.apply(self.X)]

    def groups(self) -> Dataset:
        """The rows' labels and groups, for `streed.tasks.fairness`; raises InputError where no groups are given."""
        if self.sensitive is None:
            raise InputError("sensitive_features", "missing", "give the groups that are compared")
        blank = np.zeros((len(self.y), 0), np.uint8)
        weights = None if (self.weights == 1).all() else self.weights
        return Dataset(blank, self.y, self.labels, weights, {"sensitive_features": self.sensitive}, ())


def measure(trees: Sequence[Tree], what: Any, rows: Rows | None) -> list[float]:
    """What every tree measures.

    `what`: a name in `SIZES` or `COUNTS`, a notion of fairness (its gap), or a function of a tree. Raises InputError
    for anything else, and where rows are needed and not given.
    """
    if callable(what):
        return [float(what(tree)) for tree in trees]
    if isinstance(what, str) and what in SIZES:
        return [float(SIZES[what](tree)) for tree in trees]
    if not isinstance(what, Fairness) and what not in COUNTS:
        names = ", ".join(map(repr, [*SIZES, *COUNTS]))
        raise InputError(
            "measure", f"{what!r}", f"use one of {names}, a notion such as DemographicParity(), a function"
        )
    if rows is None:
        raise InputError("X", f"missing, and {label(what)} is measured on rows", "give X and y, or a Dataset")
    return [_on_rows(tree, what, rows) for tree in trees]


def label(what: Any) -> str:
    """What a measure is called on an axis."""
    if isinstance(what, Fairness):
        words = "".join(f" {c.lower()}" if c.isupper() else c for c in type(what).__name__).strip()
        return f"unfairness (gap in {words})"
    if what == "nodes":
        return "branching nodes"
    return what if isinstance(what, str) else str(getattr(what, "__name__", what)).replace("_", " ")


def _on_rows(tree: Tree, what: Any, rows: Rows) -> float:
    predicted = rows.predicted(tree)
    if isinstance(what, Fairness):
        gaps, _ = group_rates(what, rows.groups(), predicted)
        return float(max(gaps.values()))
    wrong = predicted != rows.y
    if what in ("errors", "error rate"):
        errors = float(rows.weights[wrong].sum())
        return errors if what == "errors" else errors / float(rows.weights.sum())
    if len(rows.labels) != 2:
        raise InputError("y", f"it has {len(rows.labels)} classes", f"{what} are of two")
    return float(rows.weights[wrong & (rows.y == (what == "false negatives"))].sum())
