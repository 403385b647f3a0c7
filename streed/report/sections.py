"""The report's sections as HTML, each None where nothing is known of what it shows."""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np

from streed.data.visible import escaped
from streed.errors import InputError
from streed.plot.cards import brief
from streed.plot.chart_svg import front_svg, rates_svg, trace_svg
from streed.plot.measures import Rows
from streed.plot.series import front_of, rates_of, trace_of
from streed.plot.shading import default_shade, hues, shades
from streed.plot.survey import Seen, rule
from streed.result import Result
from streed.tasks.fairness import DemographicParity, EqualizedOdds, ErrorRateParity, group_counts
from streed.tree import Tree
from streed.tree.models import tree_of

_MOST_CLASSES = 12
"""Of a table of classes; more than these nobody reads."""

_BAR = 120
"""Pixels of the bar of the largest leaf."""


def leaves(tree: Tree, nodes: Sequence[Seen]) -> str:
    """Every leaf as a rule, the one with most rows first."""
    found = sorted((seen for seen in nodes if seen.is_leaf), key=lambda seen: -seen.rows)
    known = [seen.counts is not None for seen in found]
    # As in the picture: a number has the colour of its size, a class its own.
    by_value = default_shade(tree) == "value"
    hue = dict(zip((seen.place for seen in nodes), shades(tree, nodes), strict=True)) if by_value else hues(tree)
    most = max(found[0].rows, 1)
    lines = []
    for seen in found:
        words = rule(nodes, seen.place) or ("every row",)
        steps = '<span class="and"> and </span>'.join(f"<span>{escaped(step)}</span>" for step in words)
        wide = round(_BAR * seen.rows / most)
        colour = hue[seen.place if by_value else seen.shows]
        cells = [
            f"<td>{steps}</td>",
            f'<td><i class="dot" style="background:{colour}"></i>{escaped(brief(seen.shows))}</td>',
            f'<td class="number">{seen.rows:,}<div class="bar" style="width:{wide}px"></div></td>',
        ]
        if any(known):
            right = "" if not seen.counts or not sum(seen.counts) else f"{100 * _right(tree, seen):.1f} %"
            cells.append(f'<td class="number">{right}</td>')
        lines.append(f'<tr data-node="{seen.place}">{"".join(cells)}</tr>')
    heads = ["rule", "predicts", "rows", *(["of its rows right"] if any(known) else [])]
    return _table(heads, "".join(lines), "leaves")


def errors(tree: Tree, nodes: Sequence[Seen], rows: Rows) -> str | None:
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
    return _pairs(told)


def groups(tree: Tree, rows: Rows, told: Sequence[str] = ()) -> str:
    """The rates and counts of the groups, where the favourable label is clear; `told`: what their limits come to."""
    lines = f"<p>{'<br>'.join(map(escaped, told))}</p>" if told else ""
    return lines + _rates(tree, rows)


def _rates(tree: Tree, rows: Rows) -> str:
    """A chart of the groups' rates, and a table of what they are taken of."""
    try:
        found = rates_of(tree, rows.X, **_given(rows))
    except InputError as reason:
        return f"<p>Not shown: {escaped(str(reason))}</p>"
    return (
        "<p>How often the tree predicts the favourable label, by group: among all rows, those that have it, and those "
        f"that have not. A limit that holds on the rows of the fit is no promise on others.</p>{rates_svg(found)}"
        + _group_counts(tree, rows)
    )


def _group_counts(tree: Tree, rows: Rows) -> str:
    """For each group how many rows are predicted favourably, of all and by label."""
    data = rows.groups()
    positive = data.classes[-1]
    lines = []
    predicted = rows.predicted(tree)
    both = group_counts(EqualizedOdds(positive=positive), data, predicted)
    wrong = group_counts(ErrorRateParity(), data, predicted)["errors"]
    for name, favoured in group_counts(DemographicParity(positive=positive), data, predicted)["all"].items():
        told = [favoured, both["positive"][name], both["negative"][name], wrong[name]]
        cells = "".join(f'<td class="number">{_share(k, n)}</td>' for k, n in told)
        lines.append(f"<tr><th>{escaped(name)}</th>{cells}</tr>")
    heads = ["group", "of all rows", "of the positive ones", "of the negative ones", "predicted wrongly"]
    return f"<p>favourable label: {escaped(brief(positive))}</p>" + _table(heads, "".join(lines), "groups")


def front(found: Any, compare: Sequence[Result], rows: Rows | None) -> str | None:
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
    return f'<div class="charts">{"".join(drawn)}</div>' if drawn else None


def search(found: Any) -> str | None:
    """The bounds over time; None too where the search was over before there were two entries to join."""
    if not isinstance(found, Result) or len(found.stats.get("trace") or ()) < 2:
        return None
    return trace_svg(trace_of(found))


def statistics(found: Any) -> str | None:
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
    return f"<details><summary>What the search counted</summary>{_pairs(told)}</details>"


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


def _confusion(rows: Rows, predicted: Any) -> str:
    k = len(rows.labels)
    counts = np.bincount(rows.y * k + predicted, weights=rows.weights, minlength=k * k).reshape(k, k)
    right = float(np.trace(counts) / counts.sum())
    said = f"<p>{100 * right:.2f} % of the rows are predicted as they are labelled.</p>"
    if k > _MOST_CLASSES:
        return said
    most = counts.max() or 1.0
    names = [escaped(brief(label)) for label in rows.labels]
    lines = "".join(
        f"<tr><th>{name}</th>"
        + "".join(
            f'<td class="number {"hit" if i == j else "miss"}" style="--share:{counts[i, j] / most:.3f}">'
            f"{counts[i, j]:,g}</td>"
            for j in range(k)
        )
        + "</tr>"
        for i, name in enumerate(names)
    )
    return said + _table(["labelled \\ predicted", *names], lines, "confusion")


def _table(heads: Sequence[str], lines: str, kind: str) -> str:
    head = "".join(f"<th>{name}</th>" for name in heads)
    return f'<div class="wide"><table class="{kind}"><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table></div>'


def _pairs(told: Sequence[tuple[str, str]]) -> str:
    lines = "".join(f"<tr><th>{escaped(name)}</th><td>{escaped(said)}</td></tr>" for name, said in told)
    return f'<table class="pairs"><tbody>{lines}</tbody></table>'


def _whole(value: Any) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)
