"""The colours of nodes: by class, by number of rows, or by value. Colours are texts such as "#1f77b4"."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any

from streed.errors import InputError
from streed.plot.survey import Seen
from streed.tree import Tree
from streed.tree.text import number

SHADES = ("class", "rows", "value", "none")

HUES = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8c6bb1", "#9c9c3b", "#7f7f7f", "#b15928")
"""Told apart by colour-blind readers too (M. Okabe, K. Ito: Color Universal Design, 2008), and some more."""

NEUTRAL = "#ffffff"
INK = "#1f2933"
_COLD, _WARM = "#d6e6f2", "#08519c"
"""Of little and of much."""


def colours(tree: Tree, nodes: Sequence[Seen], shade: str | None = None) -> tuple[list[str], list[tuple[str, str]]]:
    """((nodes,) the fill of every node, (colour, label) of what the colours mean where the nodes do not say it).

    `shade`: "class" (the hue of a leaf's label, or of a node's most frequent class, the stronger the purer), "rows"
    (the share of all rows), "value" (what a leaf predicts, or the mean of a node's rows), "none"; None is "value" where
    leaves predict measured numbers, else "class". Raises InputError for another name, and for "value" where leaves
    predict none.
    """
    if shade is None:
        shade = "value" if tree.shown is not None and all(_is_number(shown) for shown in tree.shown) else "class"
    if shade not in SHADES:
        raise InputError("shade", f"{shade!r}", f"use one of {', '.join(SHADES)}")
    if shade == "none":
        return [NEUTRAL] * len(nodes), []
    if shade == "class":
        shown = dict.fromkeys([*(tree.labels if tree.shown is None else ()), *tree.shows()])
        hue = {label: HUES[place % len(HUES)] for place, label in enumerate(shown)}
        legend = [(colour, brief(label)) for label, colour in hue.items()][: len(HUES)]
        return [_by_class(tree, seen, hue) for seen in nodes], legend if len(legend) > 1 else []
    # the number that a leaf predicts, or the mean of a branching node's rows; None where there is none
    values = [seen.mean if not seen.is_leaf else seen.shows if _is_number(seen.shows) else None for seen in nodes]
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
    if seen.is_leaf:
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
