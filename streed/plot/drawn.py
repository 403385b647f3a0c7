"""Matplotlib's axes, loaded when the first picture is drawn on them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from streed.errors import MissingPackageError

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def axes(ax: Axes | None, room: tuple[float, float]) -> tuple[Axes, float]:
    """(the axes to draw on, by how much text must shrink to fit them); new ones are `room` inches wide and high.

    Raises MissingPackageError without matplotlib.
    """
    if ax is not None:
        figure: Any = ax.figure
        frame = ax.get_position()
        width, height = figure.get_figwidth() * frame.width, figure.get_figheight() * frame.height
        return ax, min(1.0, width / room[0], height / room[1])
    try:
        from matplotlib import pyplot as plt
    except ModuleNotFoundError:
        raise MissingPackageError(
            'drawing on axes needs matplotlib: pip install "streed[plot]", or use the functions that end in _svg'
        ) from None
    _, made = plt.subplots(figsize=room, layout="constrained")
    return made, 1.0
