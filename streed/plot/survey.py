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

from streed.data import Dataset
from streed.errors import InputError
from streed.exact import Array
from streed.plot.measures import Rows
from streed.tree import Leaf, Tree, flatten, walk, worth
from streed.tree.tree import answers, holds, question, tree_of


@attrs.frozen(eq=False)
class Seen:
    """A node as a picture needs it."""

    place: int
    """Its number, parents first and children left to right, as `streed.tree.walk` goes."""
    parent: int
    """The parent's number; -1 for the root."""
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
    children: tuple[int, ...] = ()
    counts: tuple[float, ...] | None = None
    """The weight of the rows of each of the tree's labels; None where labels are no classes, or rows are not given."""
    mean: float | None = None
    """The weighted mean of the rows' targets, where these are numbers and the tree predicts numbers."""

    @property
    def is_leaf(self) -> bool:
        return self.asks is None

    def right(self, tree: Tree) -> float | None:
        """The share of a leaf's rows that have the label that it shows; None where classes or rows are not known."""
        if not self.counts or not sum(self.counts):
            return None
        return self.counts[tree.labels.index(self.shows)] / sum(self.counts)


def survey(
    tree: Any, X: Any = None, y: Any = None, sample_weight: Any = None, *, gather: bool = False
) -> tuple[Seen, ...]:
    """Every node of the tree (a Tree, or of a Result or a fitted estimator), parents first, children left to right.

    `X`: rows as `Tree.predict` takes them, or Rows; `y` (n,) their labels or targets, `sample_weight` (n,); a Dataset
    brings its own. Without `X`, the rows are those that the tree remembers, and nothing is known of their classes.
    `gather`: give the leaves below a node with a child per category that predict the same as one. Raises InputError for
    rows that the tree cannot read, and for `y` without `X` or of another length.
    """
    grown = tree_of(tree)
    nodes = _skeleton(grown)
    labelled = y is not None or sample_weight is not None or (isinstance(X, Dataset) and X.classes != (None,))
    if X is None and labelled:
        raise InputError("X", "missing, and y or sample_weight is given", "give the rows with their labels")
    rows = X if isinstance(X, Rows) else Rows.make(X, y, sample_weight=sample_weight) if labelled else None
    if X is not None:
        at = rows.leaves(grown) if rows is not None else grown.apply(X)
        nodes = _counted(grown, nodes, np.array([seen.place for seen in nodes if seen.is_leaf])[at], rows)
    return _gathered(nodes) if gather else tuple(nodes)


def rule(nodes: Sequence[Seen], place: int) -> tuple[str, ...]:
    """What holds of the rows that come to a node, from the root down."""
    way = []
    while place:
        way.append(nodes[place].holds)
        place = nodes[place].parent
    return tuple(reversed(way))


def _skeleton(tree: Tree) -> list[Seen]:
    """The nodes with what the tree itself knows of them."""
    shows, nodes = iter(tree.shows()), list[Seen]()
    led: dict[int, tuple[int, int, str, str]] = {0: (-1, 0, "", "")}
    for place, (node, (_, below, *_)) in enumerate(zip(walk(tree.root), flatten(tree.root), strict=True)):
        parent, depth, answer, held = led.pop(place)
        if isinstance(node, Leaf) or not isinstance(below, tuple):
            cost = worth(tree.unit, node.cost) if isinstance(node, Leaf) else None
            nodes.append(Seen(place, parent, depth, answer, held, None, next(shows), node.rows, cost))
            continue
        column, cut = tree.columns[node.column], node.cut
        nodes.append(Seen(place, parent, depth, answer, held, question(column, cut), None, node.rows, None, below))
        for code, (child, said) in enumerate(zip(below, answers(column, cut), strict=True)):
            led[child] = (place, depth + 1, said, holds(column, code, cut))
    return nodes


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


def _gathered(nodes: Sequence[Seen]) -> tuple[Seen, ...]:
    """The nodes, with one leaf for all those below a node of more than two children that predict the same."""
    alike: dict[Any, list[Seen]] = {}
    for seen in nodes:
        several = seen.is_leaf and seen.parent >= 0 and len(nodes[seen.parent].children) > 2
        alike.setdefault((seen.parent, type(seen.shows), seen.shows) if several else seen.place, []).append(seen)
    kept = [_merged(group) for group in alike.values()]
    places, below = {seen.place: at for at, seen in enumerate(kept)}, [list[int]() for _ in kept]
    for at, seen in enumerate(kept[1:], 1):
        below[places[seen.parent]].append(at)
    return tuple(
        attrs.evolve(seen, place=at, parent=places.get(seen.parent, -1), children=tuple(below[at]))
        for at, seen in enumerate(kept)
    )


def _merged(several: Sequence[Seen]) -> Seen:
    """One leaf with the rows of all; a mean is left out, for the weights that it would take are not known here."""
    first, *others = several
    if not others:
        return first
    costs = [seen.cost for seen in several]
    counts = [seen.counts for seen in several if seen.counts is not None]
    return attrs.evolve(
        first,
        answer=", ".join(seen.answer for seen in several),
        holds=" or ".join([first.holds, *(seen.answer for seen in others)]),
        rows=sum(seen.rows for seen in several),
        cost=None if any(isinstance(cost, tuple) for cost in costs) else sum(costs),
        counts=tuple(map(sum, zip(*counts, strict=True))) if counts else None,
        mean=None,
    )
