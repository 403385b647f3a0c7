"""A tree on matplotlib's axes: the same boxes as the SVG, to be put into figures of one's own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from streed.plot.cards import cards, size
from streed.plot.drawn import axes
from streed.plot.gathering import gathered
from streed.plot.layout import place
from streed.plot.shading import ink, shades
from streed.plot.survey import survey
from streed.tree.models import tree_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def tree(
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
    ax: Axes | None = None,
) -> Axes:
    """The axes that the tree is drawn on; arguments as of `tree_svg`.

    `ax`: axes to draw on; without them, a new figure of the tree's own size, on which text is 10 points high. Raises
    InputError as `tree_svg` does, and MissingPackageError without matplotlib.
    """
    grown = tree_of(tree)
    nodes = survey(grown, X, y, sample_weight)
    nodes = gathered(nodes) if gather else nodes
    written = cards(grown, nodes, show_counts=show_counts, show_cost=show_cost)
    fills = shades(grown, nodes, shade)
    font = 10.0
    boxes, width, height = place(
        nodes, [_wider(*size(card, font)) for card in written], gap=1.2 * font, level=3.4 * font
    )
    head = 2.2 * font if title else 0.0
    room = ((width + 2 * font) / 72, (height + head + 2 * font) / 72)
    drawn, scale = axes(ax, room)
    drawn.set_xlim(-font, width + font)
    drawn.set_ylim(height + font, -font - head)
    drawn.axis("off")
    from matplotlib.patches import FancyBboxPatch

    for seen in nodes:
        if seen.parent >= 0:
            above, below = boxes[seen.parent], boxes[seen.place]
            start, end = above.y + above.height / 2, below.y - below.height / 2
            drawn.plot([above.x, below.x], [start, end], color="#7b8794", linewidth=1.2 * scale, zorder=1)
            drawn.text(
                above.x + (below.x - above.x) * 0.6,
                start + (end - start) * 0.6,
                seen.answer,
                ha="center",
                va="center",
                fontsize=0.88 * font * scale,
                color="#3e4c59",
                bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.9, "pad": 0.8},
                parse_math=False,
            )
    for seen, card, box, fill in zip(nodes, written, boxes, fills, strict=True):
        left, top, round_by = box.x - box.width / 2, box.y - box.height / 2, 2.0 if seen.is_leaf else font
        drawn.add_patch(
            FancyBboxPatch(
                (left + round_by, top + round_by),
                box.width - 2 * round_by,
                box.height - 2 * round_by,
                boxstyle=f"round,pad={round_by}",
                facecolor=fill,
                edgecolor="#52606d",
                linewidth=scale,
                zorder=2,
            )
        )
        baseline = top + 0.45 * font
        for line in card.title:
            baseline += 1.3 * font
            _write(drawn, box.x, baseline - 0.65 * font, line, font * scale, ink(fill), weight="bold")
        for line in card.lines:
            baseline += 1.15 * font
            _write(drawn, box.x, baseline - 0.55 * font, line, 0.88 * font * scale, ink(fill))
    if title:
        drawn.set_title(title, fontsize=1.2 * font * scale)
    return drawn


def _wider(width: float, height: float) -> tuple[float, float]:
    """The size of a box: matplotlib's own font is wider than those that browsers take."""
    return 1.1 * width, height


def _write(drawn: Axes, x: float, y: float, said: str, font: float, colour: str, **further: Any) -> None:
    drawn.text(x, y, said, ha="center", va="center", fontsize=font, color=colour, zorder=3, parse_math=False, **further)
