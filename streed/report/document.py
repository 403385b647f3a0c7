"""The tree as the report's script reads it: plain data, texts and colours ready to be shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from streed.errors import InputError
from streed.plot.cards import Card, cards, size
from streed.plot.layout import GAP, LEVEL, place
from streed.plot.shading import SHADES, default_shade, shades
from streed.plot.survey import Seen, renumbered, rule
from streed.tree import Tree

_FONT = 13.0

_MOST_LAYOUTS = 12
"""Depths to which the tree may be opened in a layout of its own; deeper ones are shown in that of the whole tree."""


def tree_document(tree: Tree, nodes: Sequence[Seen]) -> dict[str, Any]:
    """The nodes with their texts and rules, and a colour each for every shade that can be had, the best one first.

    `layouts`: for trees that are open to some depths, ascending, the middles of the nodes down to there, in order, and
    the tops of the rows, as `streed.plot.layout` places them in every picture.
    """
    written = cards(tree, nodes)
    fills = {}
    for shade in sorted(SHADES, key=lambda shade: (shade != default_shade(tree), SHADES.index(shade))):
        try:
            fills[shade] = shades(tree, nodes, shade)
        except InputError:
            continue  # it needs what is not known of the rows
    return {
        "shades": list(fills),
        "font": _FONT,
        "gap": GAP * _FONT,
        "layouts": _layouts(nodes, written),
        "nodes": [
            {
                "parent": seen.parent,
                "children": list(seen.children),
                "depth": seen.depth,
                "answer": seen.answer,
                "title": list(card.title),
                "lines": list(card.lines),
                "full": card.full,
                "size": [round(length, 1) for length in size(card, _FONT)],
                "leaf": seen.is_leaf,
                "rows": seen.rows,
                "rule": rule(nodes, seen.place),
                "fills": {shade: colours[seen.place] for shade, colours in fills.items()},
            }
            for seen, card in zip(nodes, written, strict=True)
        ],
    }


def _layouts(nodes: Sequence[Seen], written: Sequence[Card]) -> list[dict[str, Any]]:
    deepest = max(seen.depth for seen in nodes)
    found = []
    for depth in sorted({*range(min(deepest, _MOST_LAYOUTS)), deepest}):
        kept = renumbered([seen for seen in nodes if seen.depth <= depth])
        sizes = [size(card, _FONT) for card, seen in zip(written, nodes, strict=True) if seen.depth <= depth]
        boxes, _, _ = place(kept, sizes, gap=GAP * _FONT, level=LEVEL * _FONT)
        tops = [
            min(box.y - box.height / 2 for box, seen in zip(boxes, kept, strict=True) if seen.depth == level)
            for level in range(depth + 1)
        ]
        found.append(
            {
                "depth": depth,
                "middles": [round(box.x, 1) for box in boxes],
                "tops": [round(top, 1) for top in tops],
            }
        )
    return found
