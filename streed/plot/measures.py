"""Numbers by which trees are compared: errors of either kind, size, unfairness, and the rates of groups."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np

from streed.data import Dataset
from streed.errors import InputError
from streed.exact import Array
from streed.result import Result
from streed.task.objective import record_of
from streed.tasks.fairness import DemographicParity, EqualOpportunity, Fairness, PredictiveEquality
from streed.tasks.rates import group_rates
from streed.tree import Tree
from streed.tree.tree import tree_of

SIZES = {"nodes": "n_branches", "leaves": "n_leaves", "depth": "depth"}
"""Measures of the tree alone, and its attributes."""

COUNTS = ("errors", "error rate", "false negatives", "false positives")
"""Measures on rows."""

KINDS = {"all": "favourable rate", "positive": "true positive rate", "negative": "false positive rate"}
"""What the rates of a kind are called."""


@attrs.frozen(eq=False)
class Rows:
    """Rows on which trees are measured."""

    X: Any
    """As `Tree.predict` takes it."""
    data: Dataset
    """Their labels, weights and groups; its columns are not read."""

    @classmethod
    def make(cls, X: Any, y: Any = None, **further: Any) -> Rows:
        """The rows of a Dataset, or of what `solve` takes; raises InputError where there are no labels."""
        if isinstance(X, Dataset):
            if y is not None or any(given is not None for given in further.values()):
                raise InputError("X", "it is a Dataset, and further arguments are given", "give the Dataset alone")
            if X.classes == (None,):
                raise InputError("y", "the Dataset has no labels", "make it with y")
            return cls(X, X)
        if y is None:
            raise InputError("y", "missing", "give the rows' labels, or a Dataset that has them")
        return cls(X, Dataset.make(np.zeros((len(y), 0), np.uint8), y, **further))

    @property
    def weights(self) -> Array:
        """(n,) float64."""
        data = self.data
        return np.ones(data.n_rows) if data.weights is None else data.weights.astype(np.float64)

    def leaves(self, tree: Tree) -> Array:
        """(n,) int64: the leaf of every row, from left to right; raises InputError where X has other rows than y."""
        at, n = tree.apply(self.X), self.data.n_rows
        if len(at) != n:
            raise InputError("y", f"it has {n} entries, but X has {len(at)} rows", "give one entry per row")
        return at

    def predicted(self, tree: Tree) -> Array:
        """(n,) int64: what the tree predicts, by number; -1 for what no row's label is."""
        known = {label: k for k, label in enumerate(self.data.classes)}
        return np.array([known.get(shown, -1) for shown in tree.shows()], dtype=np.int64)[self.leaves(tree)]

    def rates(self, notion: Fairness, predicted: Array) -> Any:
        """As `group_rates`; raises InputError where no groups are given."""
        if "sensitive_features" not in self.data.row_data:
            raise InputError("sensitive_features", "missing", "give the groups that are compared")
        return group_rates(notion, self.data, predicted)


@attrs.frozen(eq=False)
class Point:
    """A tree of a front."""

    x: float
    y: float
    tree: Tree
    chosen: bool
    """Whether it is the one that the result gives."""
    dominated: bool
    """Whether another point is at least as good by both measures and better by one."""


@attrs.frozen(eq=False)
class Front:
    """The points in ascending order of x, and what the axes are."""

    points: tuple[Point, ...]
    x_label: str
    y_label: str


def front_of(
    found: Any,
    x: Any = None,
    y: Any = None,
    *,
    X: Any = None,
    labels: Any = None,
    chosen: Tree | None = None,
    **further: Any,
) -> Front:
    """The trees of `found`, measured by `x` and `y`; less is better by both.

    `found`: a Result (its front), several Results (the tree of each), or (value, tree) pairs. `x`, `y`: measures as
    `measure` takes them, or the number of a component of the values; without them, the first two components where
    values have such, else branching nodes and errors. `X` (or Rows), `labels` (the rows' y), `further` (sample_weight,
    sensitive_features): the rows that trees are measured on; a Dataset brings its own. `chosen`: the tree to mark,
    where `found` is no Result. Raises InputError where there is no tree, where a value has no such component, and for
    measures that need what is not given.
    """
    pairs: list[Any] = list(found.front) if isinstance(found, Result) else list(found)
    if any(isinstance(each, Result) for each in pairs):
        pairs = [(each.value, each.tree) for each in pairs if each.tree is not None]
    if not pairs or not all(isinstance(tree, Tree) for _, tree in pairs):
        raise InputError("result", "it has no tree to show", "give a Result with a front, several Results, or pairs")
    marked = found.tree if isinstance(found, Result) else chosen
    tuples = all(isinstance(value, tuple) and len(value) > 1 for value, _ in pairs)
    rows = X if X is None or isinstance(X, Rows) else Rows.make(X, labels, **further)
    record = record_of(found.task) if tuples and isinstance(found, Result) else None
    names = [] if record is None else [*(part.value_unit for part in record.parts), *map(str, record.gaps)]
    xs, x_label = _coordinate(pairs, x if x is not None else 0 if tuples else "nodes", rows, names)
    ys, y_label = _coordinate(pairs, y if y is not None else 1 if tuples else "errors", rows, names)
    points: list[Point] = []
    least = math.inf
    for place in sorted(range(len(pairs)), key=lambda place: (xs[place], ys[place])):
        same = bool(points) and (points[-1].x, points[-1].y) == (xs[place], ys[place])
        dominated = points[-1].dominated if same else ys[place] >= least
        least = min(least, ys[place])
        points.append(Point(xs[place], ys[place], pairs[place][1], pairs[place][1] is marked, dominated))
    return Front(tuple(points), x_label, y_label)


def rates_of(
    tree: Any, X: Any, y: Any = None, *, feature: Any = None, positive: Any = None, **further: Any
) -> dict[str, dict[str, float]]:
    """The rate of every group by kind: of favourable predictions, among all rows, the positive and the negative ones.

    `tree`: a Tree or a Result. `X`, `y`, `further` (sample_weight, sensitive_features): rows, or Rows. `feature`: which
    sensitive column, where there are several; `positive`: the favourable label, where there are more than two. A kind
    that is undefined, because a group has no such rows, is left out. Raises InputError where no groups are given, or
    the favourable label is not clear.
    """
    rows = X if isinstance(X, Rows) else Rows.make(X, y, **further)
    predicted, found = rows.predicted(tree_of(tree)), dict[str, dict[str, float]]()
    for notion in (DemographicParity, EqualOpportunity, PredictiveEquality):
        try:
            _, rates = rows.rates(notion(feature, positive=positive), predicted)
        except ZeroDivisionError:
            continue
        found |= {kind: {group: float(rate) for group, rate in by.items()} for kind, by in rates.items()}
    return found


def measure(tree: Tree, what: Any, rows: Rows | None) -> float:
    """What the tree measures.

    `what`: a name in `SIZES` or `COUNTS`, a notion of fairness (its gap), or a function of a tree. Raises InputError
    for anything else, and where rows are needed and not given.
    """
    if callable(what):
        return float(what(tree))
    if isinstance(what, str) and what in SIZES:
        return float(getattr(tree, SIZES[what]))
    if not isinstance(what, Fairness) and what not in COUNTS:
        names = ", ".join(map(repr, [*SIZES, *COUNTS]))
        raise InputError("measure", repr(what), f"use one of {names}, a notion such as DemographicParity(), a function")
    if rows is None:
        raise InputError("X", f"missing, and {label(what)} is measured on rows", "give X and y, or a Dataset")
    predicted = rows.predicted(tree)
    if isinstance(what, Fairness):
        return float(max(rows.rates(what, predicted)[0].values()))
    wrong = predicted != rows.data.class_numbers
    if what in ("errors", "error rate"):
        return float(rows.weights[wrong].sum() / (1 if what == "errors" else rows.weights.sum()))
    if len(rows.data.classes) != 2:
        raise InputError("y", f"it has {len(rows.data.classes)} classes", f"{what} are of two")
    return float(rows.weights[wrong & (rows.data.class_numbers == (what == "false negatives"))].sum())


def label(what: Any) -> str:
    """What a measure is called on an axis."""
    if isinstance(what, Fairness):
        words = "".join(f" {c.lower()}" if c.isupper() else c for c in type(what).__name__).strip()
        return f"unfairness (gap in {words})"
    if what == "nodes":
        return "branching nodes"
    return what if isinstance(what, str) else str(getattr(what, "__name__", what)).replace("_", " ")


def _coordinate(pairs: list[Any], what: Any, rows: Rows | None, names: Sequence[str]) -> tuple[list[float], str]:
    """(what every tree measures, what that is called)."""
    if not isinstance(what, int):
        return [measure(tree, what, rows) for _, tree in pairs], label(what)
    try:
        values = [float(value[what]) for value, _ in pairs]
    except (TypeError, IndexError):
        raise InputError("x, y", f"there is no component {what} of {pairs[0][0]!r}", "name a measure") from None
    return values, names[what] if len(names) == len(pairs[0][0]) else f"component {what} of the value"
