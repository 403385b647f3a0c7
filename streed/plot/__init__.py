"""Pictures, one call each.

`tree_svg` draws a tree as SVG text, which needs nothing further and which notebooks show. The other functions draw
charts on matplotlib's axes (the extra `plot`): `front`, `trace` and `rates` of results, `values`, `against` and
`columns` of near-optimal trees. They take `ax`, the axes to draw on, and `title`; without `ax` they make a figure of
their own. They return the axes, and raise MissingPackageError without matplotlib. `front_of` and `rates_of` give what
their charts show as plain numbers.
"""

from __future__ import annotations

import math
import numbers
from types import NoneType
from typing import TYPE_CHECKING, Any

import numpy as np

import streed
from streed.errors import InputError, MissingPackageError, check_kind, visible
from streed.plot.measures import KINDS, front_of, rates_of, survey
from streed.plot.svg import HUES, tree_svg

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from streed.rashomon.rashomon_set import RashomonSet
    from streed.result import Result

__all__ = ["against", "columns", "front", "front_of", "rates", "rates_of", "survey", "trace", "tree_svg", "values"]

_GREY = "#9aa5b1"
_BARS = 48
"""Of values; where there are more, neighbours share a bar."""
_MOST_COLUMNS = 14
"""Of the data, drawn with their shares: those that most of the trees ask."""


def front(
    found: Any, x: Any = None, y: Any = None, *, title: str | None = None, ax: Axes | None = None, **rows: Any
) -> Axes:
    """Every tree of a front as a point: the nondominated ones joined by steps, the chosen one marked.

    `found`, `x`, `y`, `rows` (X, labels, sample_weight, sensitive_features, chosen) and errors: as of `front_of`.
    """
    shown = front_of(found, x, y, **rows)
    drawn = _axes(ax)
    best, behind = ([point for point in shown.points if point.dominated == each] for each in (False, True))
    drawn.step([p.x for p in best], [p.y for p in best], where="post", color=HUES[0], alpha=0.5, linewidth=1.2)
    drawn.scatter([p.x for p in best], [p.y for p in best], color=HUES[0], s=26, zorder=3, label="nondominated")
    if behind:
        drawn.scatter([p.x for p in behind], [p.y for p in behind], color=_GREY, s=18, label="dominated here")
    chosen = [point for point in shown.points if point.chosen]
    if chosen and len(shown.points) > 1:
        ring = [p.x for p in chosen], [p.y for p in chosen], "o"
        drawn.plot(*ring, markersize=11, markerfacecolor="none", color=HUES[5], markeredgewidth=2, label="chosen")
    if behind or chosen:
        drawn.legend(frameon=False)
    _whole(drawn.xaxis, [p.x for p in shown.points])
    _whole(drawn.yaxis, [p.y for p in shown.points])
    return _finished(drawn, shown.x_label, shown.y_label, title)


def trace(result: Result, *, title: str | None = None, ax: Axes | None = None) -> Axes:
    """The best value found and the proved bound over the seconds of the search, the gap between them shaded.

    Raises InputError where the result's statistics hold no trace.
    """
    check_kind("result", result, streed.Result)
    kept = result.stats.get("trace")
    if not kept:
        raise InputError("result", "its search kept no trace", "solve with a driver that keeps one in stats['trace']")
    known = [[float(x) if isinstance(x, numbers.Real) and math.isfinite(x) else math.nan for x in e[:3]] for e in kept]
    seconds, incumbents, bounds = zip(*known, strict=True)
    drawn = _axes(ax)
    drawn.fill_between(seconds, bounds, incumbents, step="post", color=HUES[0], alpha=0.12, lw=0)
    drawn.step(seconds, incumbents, where="post", color=HUES[0], label="best tree so far")
    bound = "upper bound" if result.task.larger_is_better else "lower bound"
    drawn.step(seconds, bounds, where="post", color=HUES[5], label=bound)
    if result.status == "optimal":
        drawn.plot(seconds[-1], incumbents[-1], "o", color=HUES[2], label=f"proved after {seconds[-1]:.3g} s")
    drawn.legend(frameon=False)
    drawn.set_xlim(left=0)
    return _finished(drawn, "seconds", result.task.value_unit, title)


def rates(tree: Any, X: Any, y: Any = None, *, title: str | None = None, ax: Axes | None = None, **rows: Any) -> Axes:
    """A bar for every group: how often it gets the favourable label, among all, the positive and the negative rows.

    `tree`, `X`, `y`, `rows` (sensitive_features, sample_weight, feature, positive) and errors: as of `rates_of`.
    """
    found = rates_of(tree, X, y, **rows)
    drawn = _axes(ax)
    groups = list(dict.fromkeys(group for by in found.values() for group in by))
    width, crowded = 0.8 / len(groups), len(groups) > 4
    for at, group in enumerate(groups):
        places = [place + (at - (len(groups) - 1) / 2) * width for place in range(len(found))]
        heights = [by[group] for by in found.values()]
        bars = drawn.bar(places, heights, 0.92 * width, color=HUES[at % len(HUES)], label=visible(f" {group}"))
        drawn.bar_label(bars, fmt="%.2f", fontsize=8, padding=2, rotation=90 * crowded)
    names = [f"{KINDS[kind]}\n(gap {max(by.values()) - min(by.values()):.3g})" for kind, by in found.items()]
    drawn.set_xticks(range(len(found)), names)
    drawn.set_ylim(0, 1.08 + 0.1 * crowded)
    drawn.legend(frameon=False, ncols=min(len(groups), 4), loc="lower center", bbox_to_anchor=(0.5, 1))
    return _finished(drawn, "", "rate", title, pad=8 + 16 * math.ceil(len(groups) / 4))


def values(trees: RashomonSet, *, title: str | None = None, ax: Axes | None = None) -> Axes:
    """How many near-optimal trees have which value; neighbours share a bar where there are many.

    Raises InputError for a set without trees.
    """
    _check_set(trees)
    places = sorted(map(float, trees.histogram))
    apart, wide = min(np.diff(places), default=1.0), places[-1] - places[0]
    bars = min(_BARS, round(wide / apart) + 1)
    half = wide / (bars - 1) / 2 if bars > 1 else apart / 2
    counts = [float(min(count, 10**300)) for _, count in sorted(trees.histogram.items())]
    drawn = _axes(ax)
    ends = places[0] - half, places[-1] + half
    drawn.hist(places, bars, range=ends, weights=counts, log=True, rwidth=0.85, color=HUES[0])
    drawn.set_ylim(bottom=0.5)  # where a single tree is seen
    drawn.yaxis.set_major_formatter("{x:g}")
    _whole(drawn.xaxis, places)
    return _finished(drawn, "value", "trees", title)


def against(
    trees: RashomonSet, by: Any, *, label: str | None = None, title: str | None = None, ax: Axes | None = None
) -> Axes:
    """A disc for every value and further quantity of near-optimal trees, the larger the more trees have both.

    `by`: as `RashomonSet.histogram_of` takes it. Raises InputError as that does, and for a set without trees.
    """
    _check_set(trees)
    found = sorted(trees.histogram_of(by).items(), key=lambda each: -each[1])
    drawn = _axes(ax)
    areas = [12 + 28 * min(math.log10(count), 8.0) for _, count in found]
    places = [float(value) for (value, _), _ in found], [float(other) for (_, other), _ in found]
    drawn.scatter(*places, s=areas, color=HUES[0], alpha=0.55, linewidth=0)
    return _finished(drawn, "value", type(by).__name__ if label is None else label, title)


def columns(trees: RashomonSet, *, title: str | None = None, ax: Axes | None = None) -> Axes:
    """A bar for each of the columns that most of the near-optimal trees ask, as long as their share."""
    _check_set(trees)
    ranked = sorted(trees.importance().items(), key=lambda each: -each[1].share)[:_MOST_COLUMNS][::-1]
    drawn = _axes(ax)
    drawn.barh(range(len(ranked)), [100 * column.share for _, column in ranked], color=HUES[0], alpha=0.6)
    needed = {True: " (asked by all)", False: ""}
    names = [visible(str(name)) + needed[column.best_without is None] for name, column in ranked]
    drawn.set_yticks(range(len(ranked)), names)
    return _finished(drawn, "% of the trees", "", title)


def _axes(ax: Axes | None) -> Axes:
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot as plt
    except ModuleNotFoundError:
        raise MissingPackageError('charts need matplotlib: pip install "streed[plot]"') from None
    return plt.subplots(figsize=(5.6, 3.8), layout="constrained")[1]


def _whole(axis: Any, numbers: list[float]) -> None:
    """Has ticks at whole numbers alone, where all that is drawn along the axis are."""
    from matplotlib.ticker import MaxNLocator

    if all(each == round(each) for each in numbers):
        axis.set_major_locator(MaxNLocator("auto", integer=True, min_n_ticks=1))


def _finished(drawn: Axes, x_label: str, y_label: str, title: str | None, pad: float | None = None) -> Axes:
    check_kind("title", title, (str, NoneType))
    drawn.set_xlabel(visible(x_label), parse_math=False)
    drawn.set_ylabel(visible(y_label), parse_math=False)
    drawn.spines[["top", "right"]].set_visible(False)
    legend = drawn.get_legend()
    for text in (*drawn.get_xticklabels(), *drawn.get_yticklabels(), *(legend.get_texts() if legend else ())):
        text.set_parse_math(False)  # a dollar sign in the name of a group or a column is one
    if title:
        drawn.set_title(title, pad=pad, parse_math=False)
    return drawn


def _check_set(trees: RashomonSet) -> None:
    check_kind("trees", trees, streed.RashomonSet)
    if not trees.count:
        raise InputError("trees", "the set has no trees", "widen the budget")
