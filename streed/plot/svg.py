"""A tree as SVG text, without Graphviz and without matplotlib.

A subtree has a strip of its own, as wide as its widest row, so that nothing overlaps.
"""

from __future__ import annotations

import numbers
import textwrap
import unicodedata
from collections.abc import Sequence
from types import NoneType
from typing import Any

import attrs

from streed.errors import InputError, check_choice, check_kind, escaped
from streed.plot.measures import survey
from streed.tree import Seen, Tree, number, tree_of, worth_text

SHADES = ("class", "rows", "value", "none")

HUES = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8c6bb1", "#9c9c3b", "#7f7f7f", "#b15928")
"""Told apart by colour-blind readers too (M. Okabe, K. Ito: Color Universal Design, 2008), and some more."""

NEUTRAL = "#ffffff"
INK = "#1f2933"
_COLD, _WARM = "#d6e6f2", "#08519c"
"""Of little and of much."""

_FONTS = "Helvetica, Arial, 'Liberation Sans', sans-serif"

# What a browser changes where its reader's system is dark; nodes keep their colours, which their texts are made for.
# The colours are written at the elements too, for print and for what knows no style sheets.
_PAGE = (
    "<style>@media screen and (prefers-color-scheme: dark) { .streed-page { fill: #1d242c }"
    " .streed-ink { fill: #e4e7eb } .streed-edge { stroke: #9aa5b1 } }</style>"
    f'<rect class="streed-page" width="100%" height="100%" fill="{NEUTRAL}"/>'
)
_FONT, _SMALL = 12.0, 10.56
"""The size of the text, and of what is less important, in pixels."""
_MARGIN, _GAP, _LEVEL = 12.0, 14.4, 38.4
"""What is kept around the picture, between neighbours, and between a row of nodes and the next."""
_LONGEST, _MOST_LINES = 26, 3
"""Letters a line, before it is broken; lines of the counts of classes, before they end in an ellipsis."""


class Svg(str):
    """The text of an SVG picture, which notebooks show as the picture."""

    __slots__ = ()

    def _repr_svg_(self) -> str:
        return str(self)


def tree_svg(
    tree: Any,
    X: Any = None,
    y: Any = None,
    *,
    sample_weight: Any = None,
    shade: str | None = None,
    show_cost: bool = True,
    gather: bool = False,
    title: str | None = None,
) -> Svg:
    """The tree as the text of an SVG file; `tree` is a Tree, or a Result or a fitted estimator whose tree it is.

    `X`, `y`, `sample_weight`, `gather`: rows to count at the nodes, as `survey` takes them; without them, the rows that
    the tree remembers. `shade`: what the colours mean, "class", "rows", "value" or "none"; by default "value" where
    leaves predict measured numbers, else "class". `show_cost`: whether leaves say what they cost. Raises InputError for
    a result without a tree, for rows that the tree cannot read, and for a shade that needs what is not known.
    """
    check_kind("title", title, (str, NoneType))
    grown = tree_of(tree)
    nodes = survey(grown, X, y, sample_weight, gather=gather)
    fills, legend = colours(grown, nodes, shade)
    cards = [_card(grown, seen, nodes[0].rows, show_cost) for seen in nodes]
    width, height = _place(nodes, cards)
    below_title = _MARGIN + (1.8 * _FONT if title else 0.0)
    head = below_title + (2.0 * _FONT if legend else 0.0)
    room = max(width, sum(_width(label) + 2.8 * _FONT for _, label in legend), 1.3 * _width(title or ""))
    wide, high = room + 2 * _MARGIN, height + head + _MARGIN
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide:.1f} {high:.1f}"',
        f'width="{wide:.0f}" height="{high:.0f}" font-family="{_FONTS}" role="img">',
        f"<title>{escaped(title or repr(grown)[1:-1])}</title>",
        _PAGE,
    ]
    if title:
        lines.append(_text(_MARGIN, _MARGIN + _FONT, title, 1.15 * _FONT, "start", bold=True))
    x = _MARGIN
    for colour, label in legend:
        lines.append(_rect(x, below_title, _FONT, _FONT, f'rx="2" fill="{colour}" stroke="#52606d" stroke-width="0.5"'))
        lines.append(_text(x + 1.4 * _FONT, below_title + 0.88 * _FONT, label, _FONT, "start"))
        x += _width(label) + 2.8 * _FONT
    lines.append(f'<g transform="translate({_MARGIN + (room - width) / 2:.1f},{head:.1f})">')
    lines += [_edge(seen, cards[seen.parent], cards[seen.place]) for seen in nodes if seen.parent >= 0]
    lines += [_node(seen, card, fill) for seen, card, fill in zip(nodes, cards, fills, strict=True)]
    return Svg("\n".join([*lines, "</g>", "</svg>"]) + "\n")


@attrs.define(eq=False)
class _Card:
    """A node's rectangle and the text on it."""

    title: list[str]
    """A branching node's question, a leaf's prediction."""
    lines: list[str]
    full: str
    """Everything in one line, for those who point at the node."""
    width: float = attrs.field(init=False)
    height: float = attrs.field(init=False)
    x: float = attrs.field(init=False)
    """Of its middle."""
    top: float = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        bold = max(1.11 * _width(line) for line in self.title)  # bold letters are wider
        self.width = max([bold, *(_width(line, _SMALL) for line in self.lines)]) + 1.6 * _FONT
        self.height = _FONT * (1.3 * len(self.title) + 1.15 * len(self.lines) + 0.9)


def _card(tree: Tree, seen: Seen, total: int, show_cost: bool) -> _Card:
    """What to write on a node: its rows of `total`, the rows of every class or their mean, and what a leaf costs."""
    said = seen.asks if seen.asks is not None else brief(seen.shows)
    title = textwrap.wrap(said, _LONGEST) or [" "]
    if len(title) > 3:
        title[2:] = [title[2][: _LONGEST - 1] + "…"]
    share = f" ({100 * seen.rows / total:.1f} %)" if total and seen.rows != total else ""
    rows = f"{seen.rows:,} row{'' if seen.rows == 1 else 's'}{share}"
    pairs = list(zip(tree.labels, seen.counts or (), strict=seen.counts is not None))
    if len(pairs) > 3:  # the largest first
        pairs = sorted((pair for pair in pairs if pair[1]), key=lambda pair: -pair[1])
    # A break within "no: 12" or "not yet: 3" would part a number from its class, or a class.
    counts = ", ".join(f"{label}: {count:,g}".replace(" ", "\N{NO-BREAK SPACE}") for label, count in pairs)
    broken = textwrap.wrap(counts, _LONGEST + 4)
    if len(broken) > _MOST_LINES:
        broken[_MOST_LINES - 1 :] = [broken[_MOST_LINES - 1].rstrip(",") + ", …"]
    last = [f"mean {brief(seen.mean)}"] if seen.mean is not None and brief(seen.mean) != said else []
    # Tuples are what the search compares, not what a reader of the tree asks for.
    if show_cost and seen.cost is not None and not isinstance(seen.cost, tuple):
        last.append(worth_text(tree, seen.cost))
    return _Card(title, [rows, *broken, *last], f"{said}: {', '.join(filter(None, [rows, counts, *last]))}")


def _place(nodes: Sequence[Seen], cards: Sequence[_Card]) -> tuple[float, float]:
    """Gives every card its place; the picture's width and height."""
    strips, inner, lefts = [card.width for card in cards], [0.0] * len(nodes), [0.0] * len(nodes)
    for seen in reversed(nodes):
        if seen.children:
            inner[seen.place] = sum(strips[child] for child in seen.children) + _GAP * (len(seen.children) - 1)
            strips[seen.place] = max(strips[seen.place], inner[seen.place])
    heights = [0.0] * (1 + max(seen.depth for seen in nodes))
    for seen, card in zip(nodes, cards, strict=True):
        heights[seen.depth] = max(heights[seen.depth], card.height)
        left = lefts[seen.place] + (strips[seen.place] - inner[seen.place]) / 2
        for child in seen.children:
            lefts[child] = left
            left += strips[child] + _GAP
    for seen in reversed(nodes):
        card, left, strip = cards[seen.place], lefts[seen.place], strips[seen.place]
        middle = left + strip / 2
        if seen.children:
            middle = (cards[seen.children[0]].x + cards[seen.children[-1]].x) / 2
            # Children of unequal strips would pull their parent out of its own strip.
            middle = min(max(middle, left + card.width / 2), left + strip - card.width / 2)
        card.x, card.top = middle, sum(heights[: seen.depth]) + _LEVEL * seen.depth
    return strips[0], sum(heights) + _LEVEL * (len(heights) - 1)


def _node(seen: Seen, card: _Card, fill: str) -> str:
    radius = 3 if seen.asks is None else min(card.height / 2, 1.1 * _FONT)
    drawn = f'rx="{radius:.1f}" fill="{fill}" stroke="#52606d" stroke-width="1"'
    head = f'<g class="{"leaf" if seen.asks is None else "branch"}"><title>{escaped(card.full)}</title>'
    parts = [head, _rect(card.x - card.width / 2, card.top, card.width, card.height, drawn)]
    baseline = card.top + 0.22 * _FONT
    for lines, step, font in ((card.title, 1.3, _FONT), (card.lines, 1.15, _SMALL)):
        for line in lines:
            baseline += step * _FONT
            parts.append(_text(card.x, baseline, line, font, "middle", ink(fill), bold=font == _FONT))
    return "".join([*parts, "</g>"])


def _edge(seen: Seen, above: _Card, below: _Card) -> str:
    start, end = above.top + above.height, below.top
    middle = (start + end) / 2
    said = seen.answer if len(seen.answer) <= 20 else seen.answer[:19] + "…"
    wide = _width(said, _SMALL) + 0.5 * _FONT
    # The label sits low, where the edges to several children have parted.
    x, y = above.x + (below.x - above.x) * 0.78, start + (end - start) * 0.68
    back = f'class="streed-page" fill="{NEUTRAL}" fill-opacity="0.9"'
    return (
        f'<path d="M{above.x:.1f},{start:.1f} C{above.x:.1f},{middle:.1f} {below.x:.1f},{middle:.1f} '
        f'{below.x:.1f},{end:.1f}" class="streed-edge" fill="none" stroke="#7b8794" stroke-width="1.2"/>'
        + _rect(x - wide / 2, y - 0.62 * _FONT, wide, 1.15 * _FONT, back)
        + _text(x, y + 0.28 * _FONT, said, _SMALL, "middle")
    )


def _rect(x: float, y: float, width: float, height: float, drawn: str) -> str:
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" {drawn}/>'


def _text(x: float, y: float, said: str, font: float, anchor: str, colour: str = "", *, bold: bool = False) -> str:
    """A line of text; without a colour it lies on the page, not on a node."""
    drawn = f'class="streed-ink" fill="{INK}"' if not colour else f'fill="{colour}"'
    weight = ' font-weight="bold"' if bold else ""
    place = f'x="{x:.1f}" y="{y:.1f}" font-size="{font:.1f}"'
    return f'<text {place} {drawn} text-anchor="{anchor}"{weight}>{escaped(said)}</text>'


def _width(text: str, font: float = _FONT) -> float:
    """A bound on the width of a text in Helvetica, Arial and the wider DejaVu Sans; no font is at hand to ask."""
    return font * sum(map(_letter_width, text))


def _letter_width(letter: str) -> float:
    if letter in "mwMW@%—–&" or unicodedata.east_asian_width(letter) in "WF":
        return 1.0
    if letter in "iljtfrI.,:;|!'()[] ":
        return 0.41
    return 0.76 if letter.isupper() or letter in "<>=+" else 0.64


def colours(tree: Tree, nodes: Sequence[Seen], shade: str | None = None) -> tuple[list[str], list[tuple[str, str]]]:
    """((nodes,) the fill of every node, (colour, label) of what the colours mean where the nodes do not say it).

    `shade`: "class" (the hue of a leaf's label, or of a node's most frequent class, the stronger the purer), "rows"
    (the share of all rows), "value" (what a leaf predicts, or the mean of a node's rows), "none"; None is "value" where
    leaves predict measured numbers, else "class". Raises InputError for another name, and for "value" where leaves
    predict none.
    """
    if shade is None:
        shade = "value" if tree.shown is not None and all(_is_number(shown) for shown in tree.shown) else "class"
    check_choice("shade", shade, SHADES)
    if shade == "none":
        return [NEUTRAL] * len(nodes), []
    if shade == "class":
        shown = dict.fromkeys([*(tree.labels if tree.shown is None else ()), *tree.shows()])
        hue = {label: HUES[place % len(HUES)] for place, label in enumerate(shown)}
        legend = [(colour, brief(label)) for label, colour in hue.items()][: len(HUES)]
        return [_by_class(tree, seen, hue) for seen in nodes], legend if len(legend) > 1 else []
    # the number that a leaf predicts, or the mean of a branching node's rows; None where there is none
    values = [seen.mean if seen.asks is not None else seen.shows if _is_number(seen.shows) else None for seen in nodes]
    amounts = [seen.rows for seen in nodes] if shade == "rows" else values
    known = [float(amount) for amount in amounts if amount is not None]
    if not known:
        raise InputError("shade", "'value', and the leaves predict no numbers", "shade by class or rows")
    low, high = 0.0 if shade == "rows" else min(known), max(known)
    share = [None if each is None else (float(each) - low) / (high - low or 1.0) for each in amounts]
    fills = [NEUTRAL if each is None else _mix(_COLD, _WARM, each) for each in share]
    ends = ("few rows", "all rows") if shade == "rows" else (brief(low), brief(high))
    return fills, list(zip((_COLD, _WARM), ends, strict=True))


def brief(value: Any) -> str:
    """A value on one short line: floats to four digits."""
    if isinstance(value, float):
        return f"{value:,.0f}" if 1e4 <= abs(value) < 1e12 else f"{value:.4g}"
    return number(value)


def ink(fill: str) -> str:
    """Dark or white, whichever can be read on the fill."""
    red, green, blue = _parts(fill)
    return INK if 0.299 * red + 0.587 * green + 0.114 * blue > 140 else "#ffffff"


def _mix(low: str, high: str, share: float) -> str:
    """The colour at `share` of the way from one to the other."""
    share = min(max(share, 0.0), 1.0)
    return "#" + bytes(round(a + (b - a) * share) for a, b in zip(_parts(low), _parts(high), strict=True)).hex()


def _by_class(tree: Tree, seen: Seen, hue: dict[Any, str]) -> str:
    if seen.asks is None:
        # A leaf is coloured by what it says: under a limit or unequal costs that may not be its most frequent class.
        share = seen.right(tree)
        return _mix(NEUTRAL, hue[seen.shows], 0.25 + 0.5 * (1.0 if share is None else share))
    if seen.counts is None or not sum(seen.counts):
        return NEUTRAL
    most = max(range(len(seen.counts)), key=seen.counts.__getitem__)
    least, share = 1 / len(seen.counts), seen.counts[most] / sum(seen.counts)
    return _mix(NEUTRAL, hue[tree.labels[most]], 0.05 + 0.45 * (share - least) / (1 - least or 1))


def _is_number(value: Any) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def _parts(colour: str) -> bytes:
    return bytes.fromhex(colour[1:])
