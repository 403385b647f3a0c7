"""A tree as SVG text, without Graphviz and without matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from streed.data.visible import escaped
from streed.plot.layout import Box, Card, card, place, text_width
from streed.plot.shading import INK, NEUTRAL, colours, ink
from streed.plot.survey import Seen, survey
from streed.tree.tree import tree_of

_FONTS = "Helvetica, Arial, 'Liberation Sans', sans-serif"

# What a browser changes where its reader's system is dark; nodes keep their colours, which their texts are made for.
# The colours are written at the elements too, for print and for what knows no style sheets.
_PAGE = (
    "<style>@media screen and (prefers-color-scheme: dark) { .streed-page { fill: #1d242c }"
    " .streed-ink { fill: #e4e7eb } .streed-edge { stroke: #9aa5b1 } }</style>"
    f'<rect class="streed-page" width="100%" height="100%" fill="{NEUTRAL}"/>'
)
_MARGIN = 12.0
_FONT = 12.0
"""The size of the text, in pixels."""


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
    grown, font = tree_of(tree), _FONT
    nodes = survey(grown, X, y, sample_weight, gather=gather)
    written = [card(grown, seen, nodes[0].rows, show_cost=show_cost) for seen in nodes]
    fills, legend = colours(grown, nodes, shade)
    boxes, width, height = place(nodes, written, font)
    head = (1.8 * font if title else 0.0) + (2.0 * font if legend else 0.0)
    room = [
        width,
        sum(text_width(label, font) + 2.8 * font for _, label in legend),
        1.3 * text_width(title or "", font),
    ]
    wide, high = max(room) + 2 * _MARGIN, height + head + 2 * _MARGIN
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide:.1f} {high:.1f}"',
        f'width="{wide:.0f}" height="{high:.0f}" font-family="{_FONTS}" role="img">',
        f"<title>{escaped(title or repr(grown)[1:-1])}</title>",
        _PAGE,
    ]
    if title:
        lines.append(_text(_MARGIN, _MARGIN + font, title, 1.15 * font, None, "start", bold=True))
    lines += _drawn_legend(legend, _MARGIN + (1.8 * font if title else 0.0), font)
    left = _MARGIN + (max(room) - width) / 2
    lines.append(f'<g transform="translate({left:.1f},{_MARGIN + head:.1f})">')
    lines += [_edge(seen, boxes, font) for seen in nodes if seen.parent >= 0]
    for seen, said, box, fill in zip(nodes, written, boxes, fills, strict=True):
        lines.append(_drawn(said, box, fill, seen.is_leaf, font))
    return Svg("\n".join([*lines, "</g>", "</svg>"]) + "\n")


def _drawn(card: Card, box: Box, fill: str, is_leaf: bool, font: float) -> str:
    colour = ink(fill)
    radius = 3 if is_leaf else min(box.height / 2, 1.1 * font)
    left, top = box.x - box.width / 2, box.y - box.height / 2
    parts = [
        f'<g class="{"leaf" if is_leaf else "branch"}"><title>{escaped(card.full)}</title>',
        f'<rect x="{left:.1f}" y="{top:.1f}" width="{box.width:.1f}" height="{box.height:.1f}" rx="{radius:.1f}"',
        f' fill="{fill}" stroke="#52606d" stroke-width="1"/>',
    ]
    lines = [(line, 1.3, 1.0) for line in card.title] + [(line, 1.15, 0.88) for line in card.lines]
    baseline = top + 0.22 * font
    for line, step, high in lines:
        baseline += step * font
        parts.append(_text(box.x, baseline, line, high * font, colour, "middle", bold=high == 1))
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
