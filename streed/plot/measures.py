"""What pictures show: trees by numbers (errors of either kind, size, unfairness, rates of groups), and node by node."""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np

from streed.data import Dataset
from streed.data.table import read_input
from streed.errors import InputError, argument_names, brief, listed
from streed.exact import Array
from streed.result import Result
from streed.task.analysis.facts import positive_number
from streed.task.objective import record_of
from streed.tasks.fairness import DemographicParity, EqualOpportunity, Fairness, PredictiveEquality
from streed.tasks.rates import measure as group_measure
from streed.tasks.rates import shares
from streed.tree import Seen, Tree, told, tree_of

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
        if y is None and not (isinstance(X, Dataset) and X.classes != (None,)):
            raise InputError("y", "missing", "give the rows' labels, or a Dataset that has them")
        rows = X if isinstance(X, Dataset) else np.zeros((read_input(X).shape[0], 0), np.uint8)
        return cls(X, Dataset.make(rows, y, **further))

    @property
    def weights(self) -> Array:
        """(n,) float64."""
        data = self.data
        return np.ones(data.n_rows) if data.weights is None else data.weights.astype(np.float64)

    def predicted(self, tree: Tree) -> Array:
        """(n,) int64: what the tree predicts, by number; -1 for what no row's label is."""
        known = {label: k for k, label in enumerate(self.data.classes)}
        return np.array([known.get(shown, -1) for shown in tree.shows()], dtype=np.int64)[tree.apply(self.X)]


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
    remedy = "give a Result with a front, several Results, or pairs"
    pairs: Any = found.front if isinstance(found, Result) else listed("found", found, remedy)
    if any(isinstance(each, Result) for each in pairs):
        pairs = [(each.value, each.tree) for each in pairs if each.tree is not None]
    sound = (isinstance(each, (tuple, list)) and len(each) == 2 and isinstance(each[1], Tree) for each in pairs)
    if not pairs or not all(sound):
        raise InputError("found", "it has no tree to show", remedy)
    marked = found.tree if isinstance(found, Result) else chosen
    tuples = all(isinstance(value, tuple) and len(value) > 1 for value, _ in pairs)
    rows = X if X is None or isinstance(X, Rows) else Rows.make(X, labels, **further)
    record = record_of(found.task) if tuples and isinstance(found, Result) else None
    names = [] if record is None else [*(part.value_unit for part in record.parts), *map(str, record.gaps)]
    with argument_names(measure="x"):
        xs, x_label = _coordinate(pairs, x if x is not None else 0 if tuples else "nodes", rows, names)
    with argument_names(measure="y"):
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
        counts = notion(feature, positive=positive).counts(rows.data, predicted)
        found |= {kind: each for kind, each in shares(counts).items() if len(each) == len(counts[kind])}
    return found


def measure(tree: Tree, what: Any, rows: Rows | None) -> float:
    """What a name in `SIZES` or `COUNTS`, a notion of fairness (its gap) or a function measures of the tree."""
    if callable(what):
        return float(what(tree))
    if isinstance(what, str) and what in SIZES:
        return float(getattr(tree, SIZES[what]))
    if not isinstance(what, (Fairness, str)) or (isinstance(what, str) and what not in COUNTS):
        names = ", ".join(map(repr, [*SIZES, *COUNTS]))
        remedy = f"use one of {names}, a notion such as DemographicParity(), a function"
        raise InputError("measure", brief(what), remedy)
    if rows is None:
        raise InputError("X", f"missing, and {label(what)} is measured on rows", "give X and y, or a Dataset")
    predicted = rows.predicted(tree)
    if isinstance(what, Fairness):
        counts = what.counts(rows.data, predicted)
        return float(max(group_measure("gap", counts, kind) for kind in counts))
    wrong = predicted != rows.data.class_numbers
    if what in ("errors", "error rate"):
        return float(rows.weights[wrong].sum() / (1 if what == "errors" else rows.weights.sum()))
    positive_number(rows.data, None, what)
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
        raise InputError("measure", f"there is no component {what} of {pairs[0][0]!r}", "name a measure") from None
    return values, names[what] if len(names) == len(pairs[0][0]) else f"component {what} of the value"


def survey(
    tree: Any, X: Any = None, y: Any = None, sample_weight: Any = None, *, gather: bool = False
) -> tuple[Seen, ...]:
    """Every node of the tree (a Tree, or of a Result or a fitted estimator), parents first, children left to right.

    `X`: rows as `Tree.predict` takes them, or Rows; `y` (n,) their labels or targets, `sample_weight` (n,); a Dataset
    brings its own. Without `X`, the rows are those that the tree remembers, and nothing is known of their classes.
    `gather`: give equal children of a node as one; alone it needs no question. Raises InputError for
    rows that the tree cannot read, and for `y` without `X` or of another length.
    """
    grown = tree_of(tree)
    nodes = told(grown, gather=gather)
    labelled = y is not None or sample_weight is not None or (isinstance(X, Dataset) and X.classes != (None,))
    if X is None and labelled:
        raise InputError("X", "missing, and y or sample_weight is given", "give the rows with their labels")
    rows = X if isinstance(X, Rows) else Rows.make(X, y, sample_weight=sample_weight) if labelled else None
    if X is not None:
        places = {leaf: seen.place for seen in nodes for leaf in seen.leaves}
        at = np.array([places[leaf] for leaf in range(len(places))])[grown.apply(X if rows is None else rows.X)]
        nodes = _counted(grown, nodes, at, rows)
    return tuple(nodes)


def rule(nodes: Sequence[Seen], place: int) -> tuple[str, ...]:
    """What holds of the rows that come to a node, from the root down."""
    way = []
    while place:
        way.append(nodes[place].holds)
        place = nodes[place].parent
    return tuple(reversed(way))


def _counted(tree: Tree, nodes: list[Seen], at: Array, rows: Rows | None) -> list[Seen]:
    """The nodes with rows (n,) that come to the leaves `at`, and what is known of these."""

    def upwards(weights: Array | None, numbers: Any = 0, wide: int = 1) -> Array:
        """(nodes, wide) the totals of the leaves added up to the root."""
        totals: Array = np.bincount(at * wide + numbers, weights, len(nodes) * wide).reshape(len(nodes), wide)
        for seen in reversed(nodes[1:]):
            totals[seen.parent] += totals[seen.place]
        return totals

    changes: list[dict[str, Any]] = [{"rows": int(count)} for (count,) in upwards(None)]
    known = {label: k for k, label in enumerate(tree.labels)}
    if rows is not None and tree.shown is None and all(label in known for label in rows.data.classes):
        numbered = np.array([known[label] for label in rows.data.classes])[rows.data.class_numbers]
        for change, counts in zip(changes, upwards(rows.weights, numbered, len(known)), strict=True):
            change["counts"] = tuple(counts.tolist())
    elif rows is not None and all(isinstance(each, numbers.Real) for each in (*rows.data.classes, *tree.shows())):
        targets = np.array([float(label) for label in rows.data.classes])[rows.data.class_numbers]
        sums, weights = (upwards(each)[:, 0] for each in (targets * rows.weights, rows.weights))
        for change, total, weight in zip(changes, sums, weights, strict=True):
            change["mean"] = float(total / weight) if weight > 0 else None
    return [attrs.evolve(seen, **change) for seen, change in zip(nodes, changes, strict=True)]
