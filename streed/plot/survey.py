"""What reaches every node of a tree: its place, its rows, the classes or the mean of the rows, the way to it.

Pictures and reports are drawn from this alone. Rows are those that the tree was grown on, or those that the caller
gives, which may be others (a test set).
"""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np

from streed.data import Column, Cut, Dataset
from streed.errors import InputError
from streed.exact import Array
from streed.tree import Leaf, Node, Tree, worth
from streed.tree.models import tree_of
from streed.tree.text import answers, question


@attrs.frozen(eq=False)
class Seen:
    """A node as a picture needs it."""

    node: Node
    place: int
    """Its number, parents first and children left to right, as `streed.tree.walk` goes."""
    parent: int
    """The parent's number; -1 for the root."""
    children: tuple[int, ...]
    depth: int
    answer: str
    """What leads here from the parent; empty for the root."""
    holds: str
    """What the answer says of the rows that come here: `department = A`, `gender = female`, `not age<=30`."""
    asks: str | None
    """The question of a branching node; None for a leaf."""
    shows: Any
    """What a leaf predicts; None for a branching node."""
    rows: int
    """How many rows reach it."""
    cost: Any
    """What a leaf costs on the rows that the tree was grown on, in the task's unit; None for a branching node."""
    counts: tuple[float, ...] | None
    """The weight of the rows of each of the tree's labels; None where labels are no classes, or rows are not given."""
    mean: float | None
    """The weighted mean of the rows' targets, where these are numbers and the tree predicts numbers."""

    @property
    def is_leaf(self) -> bool:
        return self.asks is None

    @property
    def purity(self) -> float | None:
        """The share of the most frequent class, 0 to 1; None where classes are not known, or there are no rows."""
        total = 0.0 if self.counts is None else sum(self.counts)
        return None if self.counts is None or not total else max(self.counts) / total


def survey(tree: Any, X: Any = None, y: Any = None, sample_weight: Any = None) -> tuple[Seen, ...]:
    """Every node of the tree (a Tree, or of a Result or a fitted estimator), parents first, children left to right.

    `X`: rows as `Tree.predict` takes them, `y` (n,) their labels or targets, `sample_weight` (n,); a Dataset brings its
    own. Without `X`, the rows are those that the tree remembers, and nothing is known of their classes. Raises
    InputError for rows that the tree cannot read, and for `y` without `X` or of another length.
    """
    grown = tree_of(tree)
    skeleton = _skeleton(grown)
    leaves = [place for place, seen in enumerate(skeleton) if seen.is_leaf]
    if X is None:
        if y is not None or sample_weight is not None:
            raise InputError("X", "missing, and y or sample_weight is given", "give the rows with their labels")
        return tuple(skeleton)
    at = np.asarray(leaves, dtype=np.int64)[grown.apply(X)]
    targets, weights = _targets(X, y, sample_weight, len(at))
    rows = _upwards(skeleton, np.bincount(at, minlength=len(skeleton)).astype(np.float64)[:, None])[:, 0]
    counts = mean = None
    if targets is not None:
        coded = _class_numbers(grown, targets)
        if coded is not None:
            k = len(grown.labels)
            found = np.bincount(at * k + coded, weights=weights, minlength=len(skeleton) * k)
            counts = _upwards(skeleton, found.reshape(len(skeleton), k))
        elif _predicts_numbers(grown) and all(isinstance(t, numbers.Real) for t in targets):
            values = np.array([float(t) for t in targets])
            sums = np.stack(
                [np.bincount(at, weights=w, minlength=len(skeleton)) for w in (values * weights, weights)], axis=1
            )
            sums = _upwards(skeleton, sums)
            mean = np.divide(sums[:, 0], sums[:, 1], out=np.full(len(sums), np.nan), where=sums[:, 1] > 0)
    return tuple(
        attrs.evolve(
            seen,
            rows=int(rows[place]),
            counts=None if counts is None else tuple(counts[place].tolist()),
            mean=None if mean is None or np.isnan(mean[place]) else float(mean[place]),
        )
        for place, seen in enumerate(skeleton)
    )


def rule(nodes: Sequence[Seen], place: int) -> tuple[str, ...]:
    """What holds of the rows that come to a node, from the root down."""
    way = []
    while place:
        way.append(nodes[place].holds)
        place = nodes[place].parent
    return tuple(reversed(way))


def renumbered(kept: Sequence[Seen]) -> tuple[Seen, ...]:
    """Some of the nodes in their order, with places, parents and children anew; what is not there is left out."""
    places = {seen.place: number for number, seen in enumerate(kept)}
    return tuple(
        attrs.evolve(
            seen,
            place=places[seen.place],
            parent=places.get(seen.parent, -1),
            children=tuple(places[child] for child in seen.children if child in places),
        )
        for seen in kept
    )


def _skeleton(tree: Tree) -> list[Seen]:
    """The nodes with what the tree itself knows of them."""
    shows = iter(tree.shows())
    nodes: list[Seen] = []
    below: list[list[int]] = []
    stack: list[tuple[Node, int, int, str, str]] = [(tree.root, -1, 0, "", "")]
    while stack:
        node, parent, depth, answer, holds = stack.pop()
        place = len(nodes)
        below.append([])
        if parent >= 0:
            below[parent].append(place)
        if isinstance(node, Leaf):
            cost = worth(tree.unit, node.cost)
            seen = Seen(node, place, parent, (), depth, answer, holds, None, next(shows), node.rows, cost, None, None)
            nodes.append(seen)
            continue
        column = tree.columns[node.column]
        asks = question(column, node.cut)
        nodes.append(Seen(node, place, parent, (), depth, answer, holds, asks, None, node.rows, None, None, None))
        said = answers(column, node.cut)
        stack.extend(
            (child, place, depth + 1, said[code], _holds(column, code, node.cut))
            for code, child in reversed(list(enumerate(node.children)))
        )
    return [attrs.evolve(seen, children=tuple(below[seen.place])) for seen in nodes]


def _holds(column: Column, code: int, cut: Cut | None) -> str:
    """What the answer with this number says of a row."""
    if cut is not None:
        return _holds_of_cut(column, code, cut)
    if column.is_plain and question(column) == f"{column.name}?":
        return column.name if code else f"not {column.name}"
    # A column of a single value has no name for the other one.
    values = column.categories
    return f"{column.name} = {values[code]}" if code < len(values) else f"{column.name} ≠ {values[0]}"


def _holds_of_cut(column: Column, code: int, cut: Cut) -> str:
    if cut.threshold is None:
        return f"{column.name} is missing" if code else f"{column.name} is known"
    said = f"{column.name} {'>' if code else '<='} {column.written(cut)}"
    return f"{said} or missing" if column.has_gaps and cut.gaps == code else said


def _upwards(nodes: Sequence[Seen], totals: Array) -> Array:
    """(nodes, m) the totals of the leaves added up from the leaves to the root."""
    for seen in reversed(nodes):
        if seen.parent >= 0:
            totals[seen.parent] += totals[seen.place]
    return totals


def _targets(X: Any, y: Any, sample_weight: Any, n: int) -> tuple[list[Any] | None, Array]:
    """(the rows' labels as Python objects or None, their weights)."""
    if isinstance(X, Dataset):
        if y is not None or sample_weight is not None:
            raise InputError("X", "it is a Dataset, given together with y or sample_weight", "give the Dataset alone")
        weights = np.ones(n) if X.weights is None else X.weights.astype(np.float64)
        return (None if X.classes == (None,) else X.y.tolist()), weights
    weights = np.ones(n) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    targets = None if y is None else (y.tolist() if hasattr(y, "tolist") else list(y))
    for name, given in (("y", targets), ("sample_weight", weights)):
        if given is not None and len(given) != n:
            raise InputError(name, f"it has {len(given)} entries, but X has {n} rows", "give one entry per row")
    return targets, weights


def _class_numbers(tree: Tree, targets: list[Any]) -> Array | None:
    """(n,) the number of every row's label among the tree's; None where targets are not such labels."""
    if tree.shown is not None:
        return None
    known = {label: k for k, label in enumerate(tree.labels)}
    try:
        return np.array([known[target] for target in targets], dtype=np.int64)
    except (KeyError, TypeError):
        return None


def _predicts_numbers(tree: Tree) -> bool:
    return all(isinstance(shown, numbers.Real) and not isinstance(shown, bool) for shown in tree.shows())
