"""What the charts show, as plain numbers: the points of a front, the steps of a search, the rates of groups."""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from typing import Any

import attrs

from streed.errors import InputError
from streed.plot.measures import Rows, label, measure
from streed.result import Result
from streed.tasks.fairness import DemographicParity, EqualOpportunity, PredictiveEquality, group_rates
from streed.tree import Tree
from streed.tree.models import tree_of

KINDS = {"all": "favourable rate", "positive": "true positive rate", "negative": "false positive rate"}
"""What the rates of a kind are called."""


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

    @property
    def nondominated(self) -> tuple[Point, ...]:
        return tuple(point for point in self.points if not point.dominated)


@attrs.frozen
class Trace:
    """The bounds of a search over time; entries where nothing was known yet are nan."""

    seconds: tuple[float, ...]
    incumbents: tuple[float, ...]
    bounds: tuple[float, ...]
    nodes: tuple[int, ...]
    proved: bool
    maximized: bool


def front_of(
    found: Any,
    x: Any = None,
    y: Any = None,
    *,
    X: Any = None,
    labels: Any = None,
    sample_weight: Any = None,
    sensitive_features: Any = None,
    chosen: Tree | None = None,
) -> Front:
    """The trees of `found`, measured by `x` and `y`, less being better by both.

    `found`: a Result (its front), several Results (the tree of each), or (value, tree) pairs. `x`, `y`: measures as
    `streed.plot.measures.measure` takes them, or the number of a component of the values; without them, the first two
    components where values have such, else branching nodes and errors. `X`, `labels` (the rows' y), `sample_weight` and
    `sensitive_features`: the rows that trees are measured on; a Dataset brings its own. `chosen`: the tree to mark,
    where `found` is no Result. Raises InputError where there is no tree, where a value has no such component, and for
    measures that need what is not given.
    """
    pairs = _pairs(found)
    marked = found.tree if isinstance(found, Result) else chosen
    tuples = all(isinstance(value, tuple) and len(value) > 1 for value, _ in pairs)
    x = x if x is not None else 0 if tuples else "nodes"
    y = y if y is not None else 1 if tuples else "errors"
    rows = None if X is None else Rows.make(X, labels, sample_weight, sensitive_features)
    names = _components(found)
    xs, x_label = _coordinate(pairs, x, rows, names)
    ys, y_label = _coordinate(pairs, y, rows, names)
    places = sorted(range(len(pairs)), key=lambda place: (xs[place], ys[place]))
    points: list[Point] = []
    least = math.inf
    for place in places:
        same = bool(points) and (points[-1].x, points[-1].y) == (xs[place], ys[place])
        dominated = points[-1].dominated if same else ys[place] >= least
        least = min(least, ys[place])
        points.append(Point(xs[place], ys[place], pairs[place][1], pairs[place][1] is marked, dominated))
    return Front(tuple(points), x_label, y_label)


def trace_of(result: Result) -> Trace:
    """The search of a result over time; raises InputError where its statistics hold no trace."""
    kept = result.stats.get("trace")
    if not kept:
        raise InputError("result", "its search kept no trace", "solve with a driver that keeps one in stats['trace']")
    seconds, incumbents, bounds, nodes = zip(*kept, strict=True)
    return Trace(
        tuple(map(float, seconds)),
        tuple(map(_known, incumbents)),
        tuple(map(_known, bounds)),
        tuple(map(int, nodes)),
        result.status == "optimal",
        bool(result.task.larger_is_better),
    )


def rates_of(
    tree: Any,
    X: Any,
    y: Any = None,
    *,
    sensitive_features: Any = None,
    sample_weight: Any = None,
    feature: Any = None,
    positive: Any = None,
) -> dict[str, dict[str, float]]:
    """The rate of every group by kind: of favourable predictions, among all rows, the positive and the negative ones.

    `tree`: a Tree or a Result. `feature`: which sensitive column, where there are several; `positive`: the favourable
    label, where there are more than two. A kind that is undefined, because a group has no such rows, is left out.
    Raises InputError where no groups are given, or the favourable label is not clear.
    """
    rows = Rows.make(X, y, sample_weight, sensitive_features)
    data, predicted = rows.groups(), rows.predicted(tree_of(tree))
    found: dict[str, dict[str, float]] = {}
    for notion in (DemographicParity, EqualOpportunity, PredictiveEquality):
        try:
            _, rates = group_rates(notion(feature, positive=positive), data, predicted)
        except ZeroDivisionError:
            continue
        found |= {kind: {group: float(rate) for group, rate in by.items()} for kind, by in rates.items()}
    return found


def _pairs(found: Any) -> list[tuple[Any, Tree]]:
    """The values with their trees."""
    if isinstance(found, Result):
        pairs = list(found.front)
    else:
        listed: Sequence[Any] = list(found)
        results = [each for each in listed if isinstance(each, Result)]
        pairs = [(each.value, each.tree) for each in results if each.tree is not None] if results else list(listed)
    if not pairs or not all(isinstance(tree, Tree) for _, tree in pairs):
        raise InputError("result", "it has no tree to show", "give a Result with a front, several Results, or pairs")
    return pairs


def _components(found: Any) -> tuple[str, ...]:
    """What the components of the values are called, where the task says."""
    parts = found.task.value_parts if isinstance(found, Result) else None
    return tuple(type(part).__name__ for part in parts or ())


def _coordinate(
    pairs: list[tuple[Any, Tree]], what: Any, rows: Rows | None, names: tuple[str, ...]
) -> tuple[list[float], str]:
    if isinstance(what, int):
        try:
            values = [float(value[what]) for value, _ in pairs]
        except (TypeError, IndexError):
            raise InputError("x, y", f"there is no component {what} of {pairs[0][0]!r}", "name a measure") from None
        return values, names[what] if what < len(names) else f"component {what} of the value"
    return measure([tree for _, tree in pairs], what, rows), label(what)


def _known(value: Any) -> float:
    return float(value) if isinstance(value, numbers.Real) and math.isfinite(value) else math.nan
