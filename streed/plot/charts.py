"""Charts on matplotlib's axes: the front, the search over time, the rates of groups."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from streed.plot.drawn import axes
from streed.plot.series import KINDS, front_of, rates_of, trace_of
from streed.plot.shading import HUES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from streed.result import Result

_ROOM = (5.6, 3.8)
"""Inches of a new chart."""


def front(
    found: Any,
    x: Any = None,
    y: Any = None,
    *,
    X: Any = None,
    labels: Any = None,
    sample_weight: Any = None,
    sensitive_features: Any = None,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """The axes with every tree of a front as a point, the nondominated ones joined by steps, the chosen one marked.

    Arguments and errors as of `streed.plot.series.front_of`: `x` and `y` are component numbers, names such as "error
    rate", "false negatives", "false positives", "nodes", a notion such as DemographicParity(), or functions of a tree.
    """
    drawn_front = front_of(
        found, x, y, X=X, labels=labels, sample_weight=sample_weight, sensitive_features=sensitive_features
    )
    drawn, _ = axes(ax, _ROOM)
    best = drawn_front.nondominated
    drawn.step([p.x for p in best], [p.y for p in best], where="post", color=HUES[0], alpha=0.5, linewidth=1.2)
    drawn.scatter([p.x for p in best], [p.y for p in best], color=HUES[0], s=26, zorder=3, label="nondominated")
    behind = [p for p in drawn_front.points if p.dominated]
    if behind:
        drawn.scatter([p.x for p in behind], [p.y for p in behind], color="#9aa5b1", s=18, label="dominated here")
    chosen = [p for p in drawn_front.points if p.chosen]
    if chosen and len(drawn_front.points) > 1:
        drawn.scatter(
            [p.x for p in chosen],
            [p.y for p in chosen],
            facecolor="none",
            edgecolor=HUES[5],
            linewidth=2,
            s=110,
            zorder=4,
            label="chosen",
        )
    if behind or chosen:
        drawn.legend(frameon=False)
    return _finished(drawn, drawn_front.x_label, drawn_front.y_label, title)


def trace(result: Result, *, title: str | None = None, ax: Axes | None = None) -> Axes:
    """The axes with the best value found and the proved bound over the seconds of the search, the gap between shaded.

    Raises InputError where the result's statistics hold no trace.
    """
    kept = trace_of(result)
    drawn, _ = axes(ax, _ROOM)
    drawn.fill_between(kept.seconds, kept.bounds, kept.incumbents, step="post", color=HUES[0], alpha=0.12, lw=0)
    drawn.step(kept.seconds, kept.incumbents, where="post", color=HUES[0], label="best tree so far")
    drawn.step(
        kept.seconds, kept.bounds, where="post", color=HUES[5], label=f"{'upper' if kept.maximized else 'lower'} bound"
    )
    if kept.proved:
        drawn.plot(
            kept.seconds[-1], kept.incumbents[-1], "o", color=HUES[2], label=f"proved after {kept.seconds[-1]:.3g} s"
        )
    drawn.legend(frameon=False)
    return _finished(drawn, "seconds", "value", title)


def rates(
    tree: Any,
    X: Any,
    y: Any = None,
    *,
    sensitive_features: Any = None,
    sample_weight: Any = None,
    feature: Any = None,
    positive: Any = None,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """The axes with a bar for every group: how often the tree is favourable among all rows, positive and negative ones.

    `tree`: a Tree or a Result; other arguments and errors as of `streed.plot.series.rates_of`.
    """
    found = rates_of(
        tree,
        X,
        y,
        sensitive_features=sensitive_features,
        sample_weight=sample_weight,
        feature=feature,
        positive=positive,
    )
    drawn, _ = axes(ax, _ROOM)
    groups = list(dict.fromkeys(group for by in found.values() for group in by))
    width = 0.8 / len(groups)
    for at, group in enumerate(groups):
        heights = [by[group] for by in found.values()]
        places = [place + (at - (len(groups) - 1) / 2) * width for place in range(len(found))]
        bars = drawn.bar(places, heights, 0.92 * width, color=HUES[at % len(HUES)], label=group)
        drawn.bar_label(bars, fmt="%.2f", fontsize=8, padding=2)
    names = [f"{KINDS[kind]}\n(gap {max(by.values()) - min(by.values()):.3g})" for kind, by in found.items()]
    drawn.set_xticks(range(len(found)), names)
    drawn.set_ylim(0, 1.08)
    drawn.legend(frameon=False, ncols=min(len(groups), 4))
    return _finished(drawn, "", "rate", title)


def _finished(drawn: Axes, x_label: str, y_label: str, title: str | None) -> Axes:
    drawn.set_xlabel(x_label)
    drawn.set_ylabel(y_label)
    drawn.spines[["top", "right"]].set_visible(False)
    if title:
        drawn.set_title(title)
    return drawn
