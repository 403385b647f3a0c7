"""Near-optimal trees as charts: how many have which value, the value against another quantity, and who asks what.

The functions take a `streed.RashomonSet`; those ending in `_of` give plain numbers, those ending in `_svg` SVG text.
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

import attrs

from streed.data.visible import escaped
from streed.errors import InputError
from streed.plot.canvas import BOTTOM, HEIGHT, LEFT, TOP, across, chart, text, upwards
from streed.plot.cards import brief
from streed.plot.shading import HUES

if TYPE_CHECKING:
    from streed.rashomon.rashomon_set import RashomonSet

_BARS = 48
"""Of values; where there are more, neighbours share a bar."""

_CELLS = 40
"""Columns and rows of points, likewise."""

_MOST_COLUMNS = 14
"""Of the data, drawn with their shares: those that most of the trees ask."""


@attrs.frozen
class Heap:
    """Trees that are drawn as one: their values lie between `low` and `high`."""

    low: float
    high: float
    trees: int


def values_of(trees: RashomonSet) -> tuple[Heap, ...]:
    """How many trees there are by value, from small to large, neighbours together where there are many values.

    Raises InputError for a set without trees.
    """
    found = sorted((float(value), count) for value, count in trees.histogram.items())
    if not found:
        raise _none()
    if len(found) <= _BARS:
        return tuple(Heap(value, value, count) for value, count in found)
    low, wide = found[0][0], (found[-1][0] - found[0][0]) / _BARS
    heaps: dict[int, tuple[float, float, int]] = {}
    for value, count in found:
        place = min(int((value - low) / wide), _BARS - 1)
        first, _, trees_there = heaps.get(place, (value, value, 0))
        heaps[place] = first, value, trees_there + count
    return tuple(Heap(*heap) for heap in heaps.values())


def against_of(trees: RashomonSet, by: Any) -> dict[tuple[float, float], int]:
    """How many trees there are by value and a further quantity, as `RashomonSet.histogram_of` takes it.

    Where there are many, neighbours are counted at the first of them. Raises InputError as that does.
    """
    found: dict[tuple[float, float], int] = {}
    for (value, quantity), count in trees.histogram_of(by).items():
        name = float(value), float(quantity)
        found[name] = found.get(name, 0) + count
    if not found:
        raise _none()
    lows = [min(point[axis] for point in found) for axis in (0, 1)]
    steps = [(max(point[axis] for point in found) - lows[axis]) / _CELLS for axis in (0, 1)]
    if len(found) <= _CELLS * _CELLS / 4:
        return found
    cells: dict[tuple[int, ...], tuple[float, float]] = {}
    joined: dict[tuple[float, float], int] = {}
    for point, count in sorted(found.items()):
        cell = tuple(int((point[axis] - lows[axis]) / steps[axis]) if steps[axis] else 0 for axis in (0, 1))
        at = cells.setdefault(cell, point)
        joined[at] = joined.get(at, 0) + count
    return joined


def values_svg(trees: RashomonSet) -> str:
    """A bar for every value, as high as the number of digits of its trees."""
    heaps = values_of(trees)
    x = across([heap.low for heap in heaps])
    y = upwards([_digits(heap.trees) for heap in heaps], floor=-0.3)
    middles = [x(heap.low) for heap in heaps]
    apart = min((b - a for a, b in itertools.pairwise(middles)), default=30.0)
    wide = max(3.0, min(30.0, 0.85 * apart))
    inside = []
    for heap in heaps:
        top, several = y(_digits(heap.trees)), "" if heap.low == heap.high else f" to {brief(heap.high)}"
        said = escaped(f"value {brief(heap.low)}{several}: {heap.trees:,} trees")
        inside.append(
            f'<rect x="{x(heap.low) - wide / 2:.1f}" y="{top:.1f}" width="{wide:.1f}" '
            f'height="{HEIGHT - BOTTOM - top:.1f}" fill="{HUES[0]}"><title>{said}</title></rect>'
        )
    return chart("Values of the trees", "value", "trees, in powers of ten", x, y, inside)


def against_svg(trees: RashomonSet, by: Any, label: str | None = None) -> str:
    """A disc for every value and further quantity, the larger the more trees have both."""
    found = against_of(trees, by)
    x, y = across([value for value, _ in found]), upwards([quantity for _, quantity in found])
    said_y = type(by).__name__ if label is None else label
    inside = []
    for (value, quantity), count in sorted(found.items(), key=lambda each: -each[1]):
        said = escaped(f"value {brief(value)}, {said_y} {brief(quantity)}: {count:,} trees")
        radius = 3 + 1.2 * min(_digits(count), 8.0)
        inside.append(
            f'<circle cx="{x(value):.1f}" cy="{y(quantity):.1f}" r="{radius:.1f}" fill="{HUES[0]}" '
            f'fill-opacity="0.55"><title>{said}</title></circle>'
        )
    return chart("Trees by value and another quantity", "value", said_y, x, y, inside)


def columns_svg(trees: RashomonSet) -> str:
    """A bar for each of the columns that most of the trees ask, as long as their share."""
    ranked = sorted(trees.importance().items(), key=lambda each: -each[1].share)[:_MOST_COLUMNS]
    x = across([0.0, 1.0], floor=0.0)
    high = (HEIGHT - BOTTOM - TOP) / len(ranked)
    inside = []
    for place, (name, column) in enumerate(ranked):
        top = TOP + place * high
        without = "all trees ask it" if column.best_without is None else f"best without it {brief(column.best_without)}"
        said = escaped(f"{name}: {column.share:.1%} of the trees; {without}")
        colour = HUES[5] if column.best_without is None else HUES[0]
        inside.append(
            f'<rect x="{LEFT:.1f}" y="{top + 1:.1f}" width="{max(x(column.share) - LEFT, 1):.1f}" '
            f'height="{high - 2:.1f}" fill="{colour}" fill-opacity="0.4"><title>{said}</title></rect>'
        )
        inside.append(
            text(LEFT + 5, top + high / 2 + 4, f"{name} {column.share:.0%}", anchor="start", colour="#102a43")
        )
    legend = [(HUES[0], "can be done without"), (HUES[5], "asked by all")]
    empty = upwards([0.0, 1.0], floor=0.0)
    return chart("Columns", "share of the trees", "", x, attrs.evolve(empty, ticks=()), inside, legend)


def _digits(count: int) -> float:
    return math.log10(count)


def _none() -> InputError:
    return InputError("trees", "the set has no trees", "widen the budget")
