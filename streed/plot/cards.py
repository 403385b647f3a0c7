"""What is written on the nodes: a headline, a few lines below it, and how large all that is."""

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

_WIDE = frozenset("mwMW@%—–&")
_NARROW = frozenset("iljtfrI.,:;|!'()[] ")
_WIDEST = {"wide": 0.98, "narrow": 0.41, "capital": 0.76, "ideograph": 1.0, "other": 0.64}
"""Widths in units of the font's size: bounds for words in Helvetica and Arial, and in the wider DejaVu Sans, which
stands in for them where neither is installed."""

_BOLD = 1.11
"""How much wider the bold letters of those fonts are."""


@attrs.frozen
class Card:
    """The text on a node."""

    title: tuple[str, ...]
    """A branching node's question, a leaf's prediction."""
    lines: tuple[str, ...]
    full: str
    """Everything in one line, for those who point at the node."""


def cards(tree: Tree, nodes: Sequence[Seen], *, show_counts: bool = True, show_cost: bool = True) -> tuple[Card, ...]:
    """(nodes,) what to write on every node: rows, the rows of every class or their mean, and what a leaf costs."""
    return tuple(_card(tree, seen, nodes[0].rows, show_counts, show_cost) for seen in nodes)


def size(card: Card, font: float) -> tuple[float, float]:
    """(width, height) of a card whose text is `font` high, in the same unit."""
    widths = [text_width(line, font, bold=True) for line in card.title]
    widths += [0.88 * text_width(line, font) for line in card.lines]
    return max(widths) + 1.6 * font, font * (1.3 * len(card.title) + 1.15 * len(card.lines) + 0.9)


def text_width(text: str, font: float, *, bold: bool = False) -> float:
    """About how wide a text is in the widest of the usual sans-serif fonts; none is at hand to ask."""
    return font * (_BOLD if bold else 1.0) * sum(_WIDEST[_kind(letter)] for letter in text)


def _kind(letter: str) -> str:
    if letter in _WIDE:
        return "wide"
    if letter in _NARROW:
        return "narrow"
    if unicodedata.east_asian_width(letter) in "WF":
        return "ideograph"
    return "capital" if letter.isupper() or letter in "<>=+" else "other"


def brief(value: Any) -> str:
    """A value on one short line: floats to four digits."""
    if isinstance(value, float):
        return f"{value:,.0f}" if 1e4 <= abs(value) < 1e12 else f"{value:.4g}"
    return number(value)


def _card(tree: Tree, seen: Seen, total: int, show_counts: bool, show_cost: bool) -> Card:
    said = seen.asks if seen.asks is not None else brief(seen.shows)
    title = tuple(textwrap.wrap(said, _LONGEST, break_long_words=True)) or (" ",)
    if len(title) > 3:
        title = (*title[:2], title[2][: _LONGEST - 1] + "…")
    share = f" ({100 * seen.rows / total:.1f} %)" if total and seen.rows != total else ""
    rows = f"{seen.rows:,} row{'' if seen.rows == 1 else 's'}{share}"
    counts = [_counts(tree, seen.counts)] if show_counts and seen.counts is not None else []
    last = [f"mean {brief(seen.mean)}"] if show_counts and seen.mean is not None else []
    # Tuples are what the search compares, not what a reader of the tree asks for.
    if show_cost and seen.cost is not None and not isinstance(seen.cost, tuple):
        last.append(worth_text(tree, seen.cost))
    broken = _shortened([line for each in counts for line in textwrap.wrap(each, _LONGEST + 4)])
    return Card(title, (rows, *broken, *last), f"{said}: {', '.join([rows, *counts, *last])}")


def _shortened(lines: list[str]) -> list[str]:
    """The first few lines, with an ellipsis where there are more."""
    if len(lines) <= _MOST_LINES:
        return lines
    return [*lines[: _MOST_LINES - 1], lines[_MOST_LINES - 1].rstrip(",") + ", …"]


def _counts(tree: Tree, counts: tuple[float, ...]) -> str:
    """The rows of every class, the largest first where there are more than three."""
    pairs = list(zip(tree.labels, counts, strict=True))
    if len(pairs) > 3:
        pairs = sorted((pair for pair in pairs if pair[1]), key=lambda pair: -pair[1])
    # A break within "no: 12" would part a number from its class.
    return ", ".join(f"{label}:\N{NO-BREAK SPACE}{count:,g}" for label, count in pairs)
