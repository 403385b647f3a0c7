"""Where the nodes of a tree go: a subtree has a strip of its own, a parent stands above the middle of its children."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from streed.plot.survey import Seen

GAP, LEVEL = 1.2, 3.2
"""What is kept between neighbours, and between a row of nodes and the next, in units of the font's size."""


@attrs.frozen
class Box:
    """A node's rectangle, by its centre."""

    x: float
    y: float
    width: float
    height: float


def place(
    nodes: Sequence[Seen], sizes: Sequence[tuple[float, float]], *, gap: float, level: float
) -> tuple[tuple[Box, ...], float, float]:
    """(a box per node, the picture's width and height).

    `sizes`: the (width, height) of every node; `gap` is kept between neighbours, `level` between a row of nodes and the
    next. Nothing overlaps: the strip of a subtree is as wide as its widest row.
    """
    strips = [width for width, _ in sizes]
    inner = [0.0] * len(nodes)
    for seen in reversed(nodes):
        if seen.children:
            inner[seen.place] = sum(strips[child] for child in seen.children) + gap * (len(seen.children) - 1)
            strips[seen.place] = max(strips[seen.place], inner[seen.place])
    lefts = [0.0] * len(nodes)
    for seen in nodes:
        left = lefts[seen.place] + (strips[seen.place] - inner[seen.place]) / 2
        for child in seen.children:
            lefts[child] = left
            left += strips[child] + gap
    heights = [0.0] * (1 + max(seen.depth for seen in nodes))
    for seen in nodes:
        heights[seen.depth] = max(heights[seen.depth], sizes[seen.place][1])
    tops = [0.0]
    for height in heights:
        tops.append(tops[-1] + height + level)
    xs = [0.0] * len(nodes)
    for seen in reversed(nodes):
        middle = lefts[seen.place] + strips[seen.place] / 2
        if seen.children:
            middle = (xs[seen.children[0]] + xs[seen.children[-1]]) / 2
            half = sizes[seen.place][0] / 2
            # Children of unequal strips would pull their parent out of its own strip.
            left, right = lefts[seen.place] + half, lefts[seen.place] + strips[seen.place] - half
            middle = min(max(middle, left), right)
        xs[seen.place] = middle
    boxes = tuple(
        Box(xs[seen.place], tops[seen.depth] + sizes[seen.place][1] / 2, *sizes[seen.place]) for seen in nodes
    )
    return boxes, strips[0], tops[-1] - level
