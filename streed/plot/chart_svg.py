"""Charts as SVG text, without matplotlib: the front, the search over time, the rates of groups."""

from __future__ import annotations

import math
from collections.abc import Mapping

from streed.data.visible import escaped
from streed.plot.canvas import HEIGHT, LEFT, RIGHT, WIDTH, across, chart, step_path, text, upwards
from streed.plot.cards import brief
from streed.plot.series import KINDS, Front, Trace
from streed.plot.shading import HUES
from streed.tree.text import size_text


def front_svg(front: Front) -> str:
    """The points of a front, its nondominated ones joined by steps, the chosen one marked."""
    x, y = across([point.x for point in front.points]), upwards([point.y for point in front.points])
    best = front.nondominated
    steps = step_path([p.x for p in best], [p.y for p in best], x, y)
    inside = [f'<path d="{steps}" fill="none" stroke="{HUES[0]}" stroke-opacity="0.5" stroke-width="1.5"/>']
    # The chosen point is drawn last, so that its ring lies on top.
    for point in sorted(front.points, key=lambda point: point.chosen):
        values = f"{front.x_label} {brief(point.x)}, {front.y_label} {brief(point.y)}"
        said = escaped(f"{values}; {size_text(point.tree)}")
        fill = "#9aa5b1" if point.dominated else HUES[0]
        ring = f' stroke="{HUES[5]}" stroke-width="3"' if point.chosen else ""
        inside.append(
            f'<circle cx="{x(point.x):.1f}" cy="{y(point.y):.1f}" r="{6 if point.chosen else 4}" fill="{fill}"{ring}>'
            f"<title>{said}</title></circle>"
        )
    legend = [(HUES[0], "nondominated")]
    legend += [("#9aa5b1", "dominated by these measures")] if any(point.dominated for point in front.points) else []
    legend += [(HUES[5], "chosen")] if any(point.chosen for point in front.points) else []
    return chart("Front", front.x_label, front.y_label, x, y, inside, legend)


def trace_svg(trace: Trace) -> str:
    """The best value found and the proved bound over the seconds of the search."""
    x = across(trace.seconds, floor=0.0)
    y = upwards([*trace.incumbents, *trace.bounds])
    known = [
        place
        for place, pair in enumerate(zip(trace.incumbents, trace.bounds, strict=True))
        if all(map(math.isfinite, pair))
    ]
    inside = []
    if known:
        times = [trace.seconds[place] for place in known]
        upper = step_path(times, [trace.incumbents[place] for place in known], x, y)
        corners = []
        for at, place in reversed(list(enumerate(known))):
            corners.append(f"L{x(times[at]):.1f},{y(trace.bounds[place]):.1f}")
            if at:
                corners.append(f"L{x(times[at]):.1f},{y(trace.bounds[known[at - 1]]):.1f}")
        inside.append(f'<path d="{upper}{"".join(corners)}Z" fill="{HUES[0]}" fill-opacity="0.12"/>')
    for values, colour in ((trace.incumbents, HUES[0]), (trace.bounds, HUES[5])):
        inside.append(
            f'<path d="{step_path(trace.seconds, values, x, y)}" fill="none" stroke="{colour}" stroke-width="2"/>'
        )
    legend = [(HUES[0], "best tree so far"), (HUES[5], f"{'upper' if trace.maximized else 'lower'} bound")]
    if trace.proved:
        last = trace.incumbents[-1]
        inside.append(f'<circle cx="{x(trace.seconds[-1]):.1f}" cy="{y(last):.1f}" r="5" fill="{HUES[2]}"/>')
        legend.append((HUES[2], f"proved after {trace.seconds[-1]:.3g} s"))
    return chart("Search", "seconds", "value", x, y, inside, legend)


def rates_svg(rates: Mapping[str, Mapping[str, float]]) -> str:
    """A bar for every group, by kind of rate."""
    groups = list(dict.fromkeys(group for by in rates.values() for group in by))
    y = upwards([0.0, 1.0], floor=0.0)
    inside = []
    slot = (WIDTH - LEFT - RIGHT) / len(rates)
    wide = 0.8 * slot / len(groups)
    for place, (kind, by) in enumerate(rates.items()):
        middle = LEFT + slot * (place + 0.5)
        for at, group in enumerate(groups):
            left, top = middle + (at - len(groups) / 2) * wide, y(by[group])
            inside.append(
                f'<rect x="{left + 1:.1f}" y="{top:.1f}" width="{max(wide - 2, 1):.1f}" height="{y(0) - top:.1f}" '
                f'fill="{HUES[at % len(HUES)]}"><title>{escaped(f"{group}: {by[group]:.4g}")}</title></rect>'
            )
            if wide > 22:
                inside.append(text(left + wide / 2, top - 4, f"{by[group]:.2f}", size=11))
        gap = max(by.values()) - min(by.values())
        inside.append(text(middle, HEIGHT - 31, KINDS[kind]))
        inside.append(text(middle, HEIGHT - 15, f"gap {gap:.3g}", size=11, colour="#616e7c"))
    legend = [(HUES[at % len(HUES)], group) for at, group in enumerate(groups)]
    return chart("Rates of the groups", "", "rate", None, y, inside, legend)
