"""A chart's frame in SVG: scales, round ticks, axes. What is drawn in it comes as SVG text."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import attrs

from streed.data.visible import escaped
from streed.plot.svg import DARK, FONTS, PAGE

WIDTH, HEIGHT = 520.0, 330.0
LEFT, RIGHT, TOP, BOTTOM = 70.0, 18.0, 34.0, 48.0


@attrs.frozen
class Scale:
    """From numbers to pixels, with round numbers to label."""

    low: float
    high: float
    start: float
    end: float
    ticks: tuple[float, ...]

    def __call__(self, value: float) -> float:
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)


def scale(values: Sequence[float], start: float, end: float, *, floor: float | None = None) -> Scale:
    """A scale over the finite values, with some room at both ends; `floor`: a value that it must hold as its end."""
    finite = [value for value in values if math.isfinite(value)] or [0.0]
    low, high = min(finite), max(finite)
    room = (high - low or abs(high) or 1.0) * 0.06
    low, high = (low - room if floor is None else floor), high + room
    if high <= low:
        high = low + 1.0
    step = _round_step((high - low) / 6.5)
    first = math.ceil(low / step - 1e-9)
    ticks = tuple(step * place for place in range(first, math.floor(high / step + 1e-9) + 1))
    return Scale(low, high, start, end, ticks)


def across(values: Sequence[float], *, floor: float | None = None) -> Scale:
    """The scale of the horizontal axis."""
    return scale(values, LEFT, WIDTH - RIGHT, floor=floor)


def upwards(values: Sequence[float], *, floor: float | None = None) -> Scale:
    """The scale of the vertical axis."""
    return scale(values, HEIGHT - BOTTOM, TOP, floor=floor)


def chart(
    title: str,
    x_label: str,
    y_label: str,
    x: Scale | None,
    y: Scale,
    inside: Sequence[str],
    legend: Sequence[tuple[str, str]] = (),
) -> str:
    """The chart as SVG text; `inside` is drawn over the grid, `legend` lists (colour, label)."""
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="chart" viewBox="0 0 {WIDTH:.0f} {HEIGHT:.0f}"',
        f'width="{WIDTH:.0f}" height="{HEIGHT:.0f}" font-family="{FONTS}" role="img">',
        f"<title>{escaped(title)}</title>",
        DARK,
        PAGE,
    ]
    for tick, said in zip(y.ticks, tick_labels(y.ticks), strict=True):
        at = y(tick)
        grid = 'class="streed-grid" stroke="#e4e7eb"'
        lines.append(_line(LEFT, WIDTH - RIGHT, at, at, grid) + text(LEFT - 7, at + 4, said, anchor="end"))
    if x is not None:
        for tick, said in zip(x.ticks, tick_labels(x.ticks), strict=True):
            at, foot = x(tick), HEIGHT - BOTTOM
            lines.append(_line(at, at, foot, foot + 4, _AXIS) + text(at, foot + 17, said))
    base = HEIGHT - BOTTOM
    lines.append(_line(LEFT, WIDTH - RIGHT, base, base, _AXIS))
    lines += inside
    lines.append(text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 10, x_label))
    middle = (TOP + base) / 2
    lines.append(f'<g transform="translate(15,{middle:.0f}) rotate(-90)">{text(0, 0, y_label)}</g>')
    lines += _legend(legend)
    return "\n".join([*lines, "</svg>"]) + "\n"


def step_path(
    xs: Sequence[float], ys: Sequence[float], x: Callable[[float], float], y: Callable[[float], float]
) -> str:
    """The d of a path that goes right, then up or down, through the points that are known."""
    known = [(x(a), y(b)) for a, b in zip(xs, ys, strict=True) if math.isfinite(b)]
    if not known:
        return ""
    parts = [f"M{known[0][0]:.1f},{known[0][1]:.1f}"]
    parts += [f"H{a:.1f}V{b:.1f}" for a, b in known[1:]]
    return "".join(parts)


def text(x: float, y: float, said: str, *, anchor: str = "middle", size: float = 12, colour: str = "#3e4c59") -> str:
    """A line of text."""
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
    return f'<text {place} class="streed-ink" font-size="{size:g}" fill="{colour}">{escaped(said)}</text>'


def tick_labels(ticks: Sequence[float]) -> list[str]:
    """The ticks' numbers, to as many digits as tell them apart."""
    for digits in range(8):
        said = [f"{tick + 0.0:,.{digits}f}" for tick in ticks]
        if all(
            math.isclose(float(s.replace(",", "")), tick, abs_tol=1e-9) for s, tick in zip(said, ticks, strict=True)
        ):
            return said
    return [f"{tick:.4g}" for tick in ticks]


_AXIS = 'class="streed-edge" stroke="#7b8794"'


def _line(x1: float, x2: float, y1: float, y2: float, drawn: str) -> str:
    return f'<line x1="{x1:.1f}" x2="{x2:.1f}" y1="{y1:.1f}" y2="{y2:.1f}" {drawn}/>'


def _legend(legend: Sequence[tuple[str, str]]) -> list[str]:
    lines, x = [], LEFT
    for colour, label in legend:
        lines.append(f'<rect x="{x:.0f}" y="10" width="11" height="11" rx="2" fill="{colour}"/>')
        lines.append(text(x + 16, 20, label, anchor="start"))
        x += 34 + 6.6 * len(label)
    return lines


def _round_step(step: float) -> float:
    """The least of 1, 2 and 5 times a power of ten that is no less."""
    power: float = 10.0 ** math.floor(math.log10(step))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= step * (1 - 1e-9))
