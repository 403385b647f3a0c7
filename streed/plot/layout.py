"""The one layout of trees: what is written on the nodes, how large that is, and where the nodes go.

A subtree has a strip of its own; a parent stands above the middle of its children.
"""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Sequence
from typing import Any

import attrs

from streed.plot.survey import Seen
from streed.tree import Tree
from streed.tree.text import number, worth_text

_LONGEST = 26
"""Letters a line, before it is broken."""
_MOST_LINES = 3
"""Lines of the counts of classes, before they end in an ellipsis."""
_GAP, _LEVEL = 1.2, 3.2
"""What is kept between neighbours, and between a row of nodes and the next, in units of the font's size."""


@attrs.frozen
class Card:
    """The text on a node."""

    title: tuple[str, ...]
    """A branching node's question, a leaf's prediction."""
    lines: tuple[str, ...]
    full: str
    """Everything in one line, for those who point at the node."""


@attrs.frozen
class Box:
    """A node's rectangle, by its centre."""

    x: float
    y: float
    width: float
    height: float


def card(tree: Tree, seen: Seen, total: int, *, show_cost: bool) -> Card:
    """What to write on a node: its rows of `total`, the rows of every class or their mean, and what a leaf costs."""
    said = seen.asks if seen.asks is not None else brief(seen.shows)
    title = tuple(textwrap.wrap(said, _LONGEST, break_long_words=True)) or (" ",)
    if len(title) > 3:
        title = (*title[:2], title[2][: _LONGEST - 1] + "…")
    share = f" ({100 * seen.rows / total:.1f} %)" if total and seen.rows != total else ""
    rows = f"{seen.rows:,} row{'' if seen.rows == 1 else 's'}{share}"
    counts = _counts(tree, seen.counts) if seen.counts is not None else ""
    last = [f"mean {brief(seen.mean)}"] if seen.mean is not None else []
    # Tuples are what the search compares, not what a reader of the tree asks for.
    if show_cost and seen.cost is not None and not isinstance(seen.cost, tuple):
        last.append(worth_text(tree, seen.cost))
    broken = textwrap.wrap(counts, _LONGEST + 4)
    if len(broken) > _MOST_LINES:
        broken = [*broken[: _MOST_LINES - 1], broken[_MOST_LINES - 1].rstrip(",") + ", …"]
    return Card(title, (rows, *broken, *last), f"{said}: {', '.join(filter(None, [rows, counts, *last]))}")


def brief(value: Any) -> str:
    """A value on one short line: floats to four digits."""
    if isinstance(value, float):
        return f"{value:,.0f}" if 1e4 <= abs(value) < 1e12 else f"{value:.4g}"
    return number(value)


def size(card: Card, font: float) -> tuple[float, float]:
    """(width, height) of a card whose text is `font` high, in the same unit."""
    widths = [1.11 * text_width(line, font) for line in card.title]  # bold letters are wider
    widths += [0.88 * text_width(line, font) for line in card.lines]
    return max(widths) + 1.6 * font, font * (1.3 * len(card.title) + 1.15 * len(card.lines) + 0.9)


def text_width(text: str, font: float) -> float:
    """A bound on the width of a text in Helvetica, Arial and the wider DejaVu Sans; no font is at hand to ask."""
    return font * sum(map(_letter_width, text))


def place(nodes: Sequence[Seen], cards: Sequence[Card], font: float) -> tuple[tuple[Box, ...], float, float]:
    """(a box per node, the picture's width and height).

    Nothing overlaps: the strip of a subtree is as wide as its widest row.
    """
    sizes = [size(card, font) for card in cards]
    gap = _GAP * font
    strips = [width for width, _ in sizes]
    inner = [0.0] * len(nodes)
    for seen in reversed(nodes):
        if seen.children:
            inner[seen.place] = sum(strips[child] for child in seen.children) + gap * (len(seen.children) - 1)
            strips[seen.place] = max(strips[seen.place], inner[seen.place])
    lefts = [0.0] * len(nodes)
    heights = [0.0] * (1 + max(seen.depth for seen in nodes))
    for seen in nodes:
        heights[seen.depth] = max(heights[seen.depth], sizes[seen.place][1])
        left = lefts[seen.place] + (strips[seen.place] - inner[seen.place]) / 2
        for child in seen.children:
            lefts[child] = left
            left += strips[child] + gap
    tops = [0.0]
    for height in heights:
        tops.append(tops[-1] + height + _LEVEL * font)
    xs = [0.0] * len(nodes)
    for seen in reversed(nodes):
        middle = lefts[seen.place] + strips[seen.place] / 2
        if seen.children:
            middle = (xs[seen.children[0]] + xs[seen.children[-1]]) / 2
            half = sizes[seen.place][0] / 2
            # Children of unequal strips would pull their parent out of its own strip.
            middle = max(middle, lefts[seen.place] + half)
            middle = min(middle, lefts[seen.place] + strips[seen.place] - half)
        xs[seen.place] = middle
    boxes = (Box(xs[seen.place], tops[seen.depth] + sizes[seen.place][1] / 2, *sizes[seen.place]) for seen in nodes)
    return tuple(boxes), strips[0], tops[-1] - _LEVEL * font


def _counts(tree: Tree, counts: tuple[float, ...]) -> str:
    """The rows of every class, the largest first where there are more than three."""
    pairs = list(zip(tree.labels, counts, strict=True))
    if len(pairs) > 3:
        pairs = sorted((pair for pair in pairs if pair[1]), key=lambda pair: -pair[1])
    # A break within "no: 12" would part a number from its class.
    return ", ".join(f"{label}:\N{NO-BREAK SPACE}{count:,g}" for label, count in pairs)


def _letter_width(letter: str) -> float:
    if letter in "mwMW@%—–&" or unicodedata.east_asian_width(letter) in "WF":
        return 1.0
    if letter in "iljtfrI.,:;|!'()[] ":
        return 0.41
    return 0.76 if letter.isupper() or letter in "<>=+" else 0.64
