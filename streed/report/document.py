"""The tree as the report's script reads it: plain data, texts and colours ready to be shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from streed.errors import InputError
from streed.plot.cards import brief, cards
from streed.plot.shading import SHADES, default_shade, hues, shades
from streed.plot.survey import Seen, rule
from streed.tree import Tree


def tree_document(tree: Tree, nodes: Sequence[Seen]) -> dict[str, Any]:
    """The nodes with their texts and rules, and a colour each for every shade that can be had, the best one first."""
    fills = {}
    for shade in sorted(SHADES, key=lambda shade: (shade != default_shade(tree), SHADES.index(shade))):
        try:
            fills[shade] = shades(tree, nodes, shade)
        except InputError:
            continue  # it needs what is not known of the rows
    return {
        "shades": list(fills),
        "legend": [[hue, brief(label)] for label, hue in hues(tree).items()],
        "nodes": [
            {
                "parent": seen.parent,
                "children": list(seen.children),
                "depth": seen.depth,
                "answer": seen.answer,
                "title": list(card.title),
                "lines": list(card.lines),
                "full": card.full,
                "leaf": seen.is_leaf,
                "rows": seen.rows,
                "rule": rule(nodes, seen.place),
                "fills": {shade: colours[seen.place] for shade, colours in fills.items()},
            }
            for seen, card in zip(nodes, cards(tree, nodes), strict=True)
        ],
    }
