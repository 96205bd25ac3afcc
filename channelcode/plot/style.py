"""What the pictures share: colours, and figures made without pyplot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from channelcode.errors import MissingExtra

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Okabe and Ito's palette: told apart by colour-blind readers, and in grey.
BLUE, ORANGE, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#666666"
COLOURS = (BLUE, ORANGE, GREEN, "#CC79A7", "#E69F00", "#56B4E9", "#000000")


def new_figure(rows: int = 1, columns: int = 1, **options: Any) -> tuple[Figure, Any]:
    """A figure with its axes, made without pyplot."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtra("matplotlib", "plot") from None
    size = options.pop("figsize", (7.0 * columns, 4.0 * rows))
    figure = Figure(figsize=size, layout="constrained")
    return figure, figure.subplots(rows, columns, **options)
