"""What the report's sections show, as plain data for their templates; None where nothing is known of it."""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np

from streed.errors import InputError
from streed.plot.cards import brief
from streed.plot.chart_svg import front_svg, rates_svg, trace_svg
from streed.plot.measures import Rows
from streed.plot.series import front_of, rates_of, trace_of
from streed.plot.shading import default_shade, hues, shades
from streed.plot.survey import Seen, rule
from streed.report.rendering import markup
from streed.result import Result
from streed.tasks.fairness import DemographicParity, EqualizedOdds, ErrorRateParity, group_counts
from streed.tree import Tree
from streed.tree.models import tree_of

_MOST_CLASSES = 12
"""Of a table of classes; more than these nobody reads."""

_BAR = 120
"""Pixels of the bar of the largest leaf."""


def leaves(tree: Tree, nodes: Sequence[Seen]) -> dict[str, Any]:
    """Every leaf as a rule, the one with most rows first."""
    found = sorted((seen for seen in nodes if seen.is_leaf), key=lambda seen: -seen.rows)
    # As in the picture: a number has the colour of its size, a class its own.
    by_value = default_shade(tree) == "value"
    hue = dict(zip((seen.place for seen in nodes), shades(tree, nodes), strict=True)) if by_value else hues(tree)
    most = max(found[0].rows, 1)
    lines = [
        {
            "place": seen.place,
            "rule": rule(nodes, seen.place) or ("every row",),
            "colour": hue[seen.place if by_value else seen.shows],
            "shows": brief(seen.shows),
            "rows": f"{seen.rows:,}",
            "bar": round(_BAR * seen.rows / most),
            "right": f"{100 * _right(tree, seen):.1f} %" if seen.counts and sum(seen.counts) else "",
        }
        for seen in found
    ]
    return {"leaves": lines, "has_classes": any(seen.counts is not None for seen in found)}


def errors(tree: Tree, rows: Rows) -> dict[str, Any] | None:
    """How predictions and labels agree: a table of classes, or the errors of numbers."""
    predicted = rows.predicted(tree)
    if tree.shown is None and (predicted >= 0).all():
        return _confusion(rows, predicted)
    shows = tree.shows()
    if not all(isinstance(value, numbers.Real) for value in (*rows.labels, *shows)):
        return None
    truth = np.array([float(label) for label in rows.labels])[rows.y]
    said = np.array([float(shown) for shown in shows])[tree.apply(rows.X)]
    weights = rows.weights / rows.weights.sum()
    square = float(weights @ (truth - said) ** 2)
    spread = float(weights @ (truth - weights @ truth) ** 2)
    told = [
        ("root mean squared error", f"{math.sqrt(square):.4g}"),
        ("mean absolute error", f"{float(weights @ np.abs(truth - said)):.4g}"),
        ("R²", f"{1 - square / spread:.4f}" if spread else "undefined: all targets are equal"),
    ]
    return {"told": told}


def groups(tree: Tree, rows: Rows, told: Sequence[str] = ()) -> dict[str, Any]:
    """The rates and counts of the groups, where the favourable label is clear; `told`: what their limits come to."""
    try:
        found = rates_of(tree, rows.X, positive=tree.positive, **_given(rows))
    except InputError as reason:
        return {"told": told, "refused": str(reason)}
    data = rows.groups()
    positive = data.classes[-1] if tree.positive is None else tree.positive
    predicted = rows.predicted(tree)
    both = group_counts(EqualizedOdds(positive=positive), data, predicted)
    wrong = group_counts(ErrorRateParity(), data, predicted)["errors"]
    favoured = group_counts(DemographicParity(positive=positive), data, predicted)["all"]
    counts = [favoured, both["positive"], both["negative"], wrong]
    return {
        "told": told,
        "refused": None,
        "chart": markup(rates_svg(found)),
        "favourable": brief(positive),
        "lines": [(name, [_share(*count[name]) for count in counts]) for name in favoured],
    }


def front(found: Any, compare: Sequence[Result], rows: Rows | None) -> dict[str, Any] | None:
    """The trees that the result chose from, or those of other results, by pairs of measures."""
    own = found if isinstance(found, Result) else None
    several: Any = own
    if own is None or len(own.front) < 2:
        several = [*compare, *([own] if own is not None and compare else [])]
        if len(several) < 2:
            return None
    given = {} if rows is None else {"X": rows.X, **_labels(rows)}
    pictures: list[tuple[Any, Any]] = []
    values = [value for value, _ in (several.front if isinstance(several, Result) else [(r.value, r) for r in several])]
    if isinstance(several, Result) and all(isinstance(value, tuple) for value in values):
        pictures.append((None, None))
    elif all(isinstance(value, numbers.Real) for value in values):
        # The shell and `solve` compare the task's own values against sizes first.
        pictures.append(("nodes", _worth(several)))
    if rows is not None and len(rows.labels) == 2:
        pictures.append(("false positives", "false negatives"))
    if rows is not None and rows.sensitive is not None and len(rows.labels) == 2:
        pictures.append((DemographicParity(), "error rate"))
    drawn = [front_svg(front_of(several, x, y, chosen=tree_of(found), **given)) for x, y in pictures]
    return charts(drawn) if drawn else None


def search(found: Any) -> dict[str, Any] | None:
    """The bounds over time; None too where the search was over before there were two entries to join."""
    if not isinstance(found, Result) or len(found.stats.get("trace") or ()) < 2:
        return None
    return charts([trace_svg(trace_of(found))])


def charts(drawn: Sequence[str], said: str = "") -> dict[str, Any]:
    """A sentence, if there is one, above pictures in SVG."""
    return {"said": said, "charts": list(map(markup, drawn))}


def statistics(found: Any) -> dict[str, Any] | None:
    """What the search counted, in two columns."""
    if not isinstance(found, Result):
        return None
    told = [("task", str(found.task))]
    told += [
        (
            key.replace("_", " "),
            f"{value:,.4g}" if isinstance(value, float) else f"{value:,}" if _whole(value) else str(value),
        )
        for key, value in found.stats.items()
        if key not in ("trace", "limits") and value is not None
    ]
    return {"told": told}


def _share(part: int, whole: int) -> str:
    return f"{part:,} of {whole:,}" + (f" ({100 * part / whole:.1f} %)" if whole else "")


def _worth(several: Any) -> Any:
    """The measure of a tree that is its own value, by the task that it was found for."""
    pairs = several.front if isinstance(several, Result) else [(each.value, each.tree) for each in several]
    by_tree = {id(tree): float(value) for value, tree in pairs}

    def value(tree: Tree) -> float:
        return by_tree[id(tree)]

    return value


def _right(tree: Tree, seen: Seen) -> float:
    """The share of a leaf's rows that have the label that it shows."""
    assert seen.counts is not None
    return seen.counts[tree.labels.index(seen.shows)] / sum(seen.counts)


def _given(rows: Rows) -> dict[str, Any]:
    return {} if _is_dataset(rows.X) else {**_labels(rows, "y")}


def _labels(rows: Rows, name: str = "labels") -> dict[str, Any]:
    """The rows' labels, weights and groups as arguments, where the rows are no Dataset that has them."""
    if _is_dataset(rows.X):
        return {}
    sensitive = rows.sensitive
    if sensitive is not None and sensitive.dtype.names is not None:
        sensitive = {column: sensitive[column].tolist() for column in sensitive.dtype.names}
    labels = [rows.labels[k] for k in rows.y.tolist()]
    return {name: labels, "sample_weight": rows.weights, "sensitive_features": sensitive}


def _is_dataset(X: Any) -> bool:
    from streed.data import Dataset

    return isinstance(X, Dataset)


def _confusion(rows: Rows, predicted: Any) -> dict[str, Any]:
    k = len(rows.labels)
    counts = np.bincount(rows.y * k + predicted, weights=rows.weights, minlength=k * k).reshape(k, k)
    right = f"{100 * float(np.trace(counts) / counts.sum()):.2f}"
    most = counts.max() or 1.0
    names = [brief(label) for label in rows.labels] if k <= _MOST_CLASSES else []
    lines = [
        (
            name,
            [(f"{count:,g}", f"{count / most:.3f}", "hit" if i == j else "miss") for j, count in enumerate(counts[i])],
        )
        for i, name in enumerate(names)
    ]
    return {"told": None, "right": right, "classes": names, "lines": lines}


def _whole(value: Any) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)
