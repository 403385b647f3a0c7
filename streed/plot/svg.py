"""A tree as SVG text, without Graphviz and without matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from streed.data.visible import escaped
from streed.plot.cards import Card, brief, cards, size, text_width
from streed.plot.gathering import gathered
from streed.plot.layout import GAP, LEVEL, Box, place
from streed.plot.shading import HUES, INK, NEUTRAL, default_shade, hues, ink, shades, value_of
from streed.plot.survey import Seen, survey
from streed.tree import Tree
from streed.tree.models import tree_of

FONTS = "Helvetica, Arial, 'Liberation Sans', sans-serif"

DARK = (
    "<style>@media screen and (prefers-color-scheme: dark) { .streed-page { fill: #1d242c }"
    " .streed-ink { fill: #e4e7eb } .streed-edge { stroke: #9aa5b1 } .streed-grid { stroke: #37424d } }</style>"
)
"""What a browser changes where its reader's system is dark; nodes keep their colours, which their texts are made for.

The colours are written at the elements too, for print and for what knows no style sheets."""

PAGE = f'<rect class="streed-page" width="100%" height="100%" fill="{NEUTRAL}"/>'
"""What lies below a picture."""

_MARGIN = 12.0


def tree_svg(
    tree: Any,
    X: Any = None,
    y: Any = None,
    *,
    sample_weight: Any = None,
    shade: str | None = None,
    show_counts: bool = True,
    show_cost: bool = True,
    gather: bool = False,
    title: str | None = None,
    font: float = 12.0,
) -> str:
    """The tree as the text of an SVG file; `tree` is a Tree, or a Result whose tree it is.

    `X`, `y`, `sample_weight`: rows to count at the nodes, as `streed.plot.survey.survey` takes them; without them, the
    rows that the tree remembers. `shade`: as `streed.plot.shading.shades` takes it. `show_counts`, `show_cost`: the
    rows of every class (or their mean), and what leaves cost. `gather`: draw leaves that predict the same, below a node
    with a child per category, as one. `font`: the size of the text, in pixels. Raises InputError for a result without a
    tree, for rows that the tree cannot read, and for a shade that needs what is not known.
    """
    grown = tree_of(tree)
    nodes = survey(grown, X, y, sample_weight)
    nodes = gathered(nodes) if gather else nodes
    written = cards(grown, nodes, show_counts=show_counts, show_cost=show_cost)
    fills = shades(grown, nodes, shade)
    boxes, width, height = place(nodes, [size(card, font) for card in written], gap=GAP * font, level=LEVEL * font)
    legend = _legend(grown, nodes, shade, font)
    head = (1.8 * font if title else 0.0) + (2.0 * font if legend else 0.0)
    width = max(width, sum(text_width(label, font) + 2.6 * font for _, label in legend), text_width(title or "", font))
    shift = max(0.0, (width - max(box.x + box.width / 2 for box in boxes)) / 2) if len(nodes) == 1 else 0.0
    total = (width + 2 * _MARGIN, height + head + 2 * _MARGIN)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {total[0]:.1f} {total[1]:.1f}"',
        f'width="{total[0]:.0f}" height="{total[1]:.0f}" font-family="{FONTS}" role="img">',
        f"<title>{escaped(title or repr(grown)[1:-1])}</title>",
        DARK,
        PAGE,
    ]
    at = _MARGIN
    if title:
        lines.append(_text(_MARGIN, at + font, title, 1.15 * font, None, "start", bold=True))
        at += 1.8 * font
    if legend:
        lines += _drawn_legend(legend, at, font)
    lines.append(f'<g transform="translate({_MARGIN + shift:.1f},{_MARGIN + head:.1f})">')
    lines += [_edge(seen, boxes, font) for seen in nodes if seen.parent >= 0]
    lines += [
        _drawn(card, box, fill, seen.is_leaf, font)
        for seen, card, box, fill in zip(nodes, written, boxes, fills, strict=True)
    ]
    return "\n".join([*lines, "</g>", "</svg>"]) + "\n"


def _drawn(card: Card, box: Box, fill: str, is_leaf: bool, font: float) -> str:
    colour = ink(fill)
    radius = 3 if is_leaf else min(box.height / 2, 1.1 * font)
    left, top = box.x - box.width / 2, box.y - box.height / 2
    parts = [
        f'<g class="{"leaf" if is_leaf else "branch"}"><title>{escaped(card.full)}</title>',
        f'<rect x="{left:.1f}" y="{top:.1f}" width="{box.width:.1f}" height="{box.height:.1f}" rx="{radius:.1f}"',
        f' fill="{fill}" stroke="#52606d" stroke-width="1"/>',
    ]
    baseline = top + 0.45 * font
    for line in card.title:
        baseline += 1.3 * font
        parts.append(_text(box.x, baseline - 0.25 * font, line, font, colour, "middle", bold=True))
    for line in card.lines:
        baseline += 1.15 * font
        parts.append(_text(box.x, baseline - 0.2 * font, line, 0.88 * font, colour, "middle"))
    return "".join([*parts, "</g>"])


def _edge(seen: Seen, boxes: Sequence[Box], font: float) -> str:
    above, below = boxes[seen.parent], boxes[seen.place]
    start, end = above.y + above.height / 2, below.y - below.height / 2
    middle = (start + end) / 2
    said = seen.answer if len(seen.answer) <= 20 else seen.answer[:19] + "…"
    wide = text_width(said, 0.88 * font) + 0.5 * font
    # The label sits low, where the edges to several children have parted.
    x, y = above.x + (below.x - above.x) * 0.78, start + (end - start) * 0.68
    return (
        f'<path d="M{above.x:.1f},{start:.1f} C{above.x:.1f},{middle:.1f} {below.x:.1f},{middle:.1f} '
        f'{below.x:.1f},{end:.1f}" class="streed-edge" fill="none" stroke="#7b8794" stroke-width="1.2"/>'
        f'<rect x="{x - wide / 2:.1f}" y="{y - 0.62 * font:.1f}" width="{wide:.1f}" height="{1.15 * font:.1f}" '
        f'class="streed-page" fill="{NEUTRAL}" fill-opacity="0.9"/>'
        + _text(x, y + 0.28 * font, said, 0.88 * font, None, "middle")
    )


def _legend(tree: Tree, nodes: Sequence[Seen], shade: str | None, font: float) -> list[tuple[str, str]]:
    """(colour, label) of what the colours mean, where that is not written on the nodes."""
    chosen = default_shade(tree) if shade is None else shade
    if chosen == "class":
        found = hues(tree)
        return [(hue, brief(label)) for label, hue in found.items()][: len(HUES)] if len(found) > 1 else []
    if chosen == "value":
        values = [value for value in map(value_of, nodes) if value is not None]
        low, high = brief(float(min(values))), brief(float(max(values)))
        return [("#d6e6f2", low), ("#08519c", high)]
    if chosen == "purity":
        return [("#fff7e6", "mixed"), ("#b5530d", "pure")]
    return [("#d6e6f2", "few rows"), ("#08519c", "all rows")] if chosen == "rows" else []


def _drawn_legend(legend: list[tuple[str, str]], top: float, font: float) -> list[str]:
    lines, x = [], _MARGIN
    for colour, label in legend:
        lines.append(
            f'<rect x="{x:.1f}" y="{top:.1f}" width="{font:.1f}" height="{font:.1f}" rx="2" fill="{colour}" '
            'stroke="#52606d" stroke-width="0.5"/>'
        )
        lines.append(_text(x + 1.4 * font, top + 0.88 * font, label, font, None, "start"))
        x += text_width(label, font) + 2.8 * font
    return lines


def _text(x: float, y: float, said: str, font: float, colour: str | None, anchor: str, *, bold: bool = False) -> str:
    """A line of text; without a colour it lies on the page, not on a node."""
    drawn = f'class="streed-ink" fill="{INK}"' if colour is None else f'fill="{colour}"'
    weight = ' font-weight="bold"' if bold else ""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{font:.1f}" {drawn} text-anchor="{anchor}"{weight}>'
        f"{escaped(said)}</text>"
    )
