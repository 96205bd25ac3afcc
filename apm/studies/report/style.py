"""Colours that colour-blind readers tell apart, line styles, and saving in two formats."""

from __future__ import annotations

import io
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from apm.studies.engine.store import write_whole
from channelcode.errors import MissingExtra

INK = "#1c1e21"  # text and axes; the report replaces it by the page's own colour
_SIZE = {"dpi": 160}


@dataclass(frozen=True)
class Look:
    """How a method is drawn everywhere: colour, dashes, marker."""

    colour: str
    dashes: Any
    marker: str


# Okabe and Ito's palette; dashes and markers carry the difference where colours do not.
LOOKS: dict[str, Look] = {
    "APM-LR": Look("#0072B2", "-", "o"),
    "Uncertainty": Look("#D55E00", (0, (5, 1.5)), "s"),
    "BALD": Look("#009E73", (0, (3, 1, 1, 1)), "^"),
    "InfoGain": Look("#CC79A7", (0, (1.2, 1)), "D"),
    "Random": Look(INK, (0, (6, 2, 1, 2)), "x"),
    "MaxVar": Look("#E69F00", (0, (8, 2)), "v"),
    "APM-LR-U": Look("#56B4E9", (0, (2, 1.5)), "<"),
    "APM-LR-V": Look("#A88432", (0, (4, 1, 1, 1, 1, 1)), ">"),
    "InfoGain-exact": Look("#A06CC8", "-", "P"),
    "EPIG": Look("#C44E52", (0, (5, 1, 1, 1)), "*"),
    "APM-predictions": Look("#56B4E9", "-", "h"),
    "APM-matched": Look("#117733", (0, (7, 1.5, 1, 1.5)), "d"),
}


def look(method: str) -> Look:
    """The look of a method; grey for one that has none of its own."""
    return LOOKS.get(method, Look("#767676", "-", "."))


@dataclass(frozen=True)
class Figure:
    """A finished figure: its file name, what it shows, and its SVG text with INK as ink."""

    name: str
    caption: str
    svg: str = field(repr=False)
    files: tuple[Path, ...] = ()


def new_figure(width: float, height: float, **options: Any) -> tuple[Any, Any]:
    """A figure and its axes, without any global state of pyplot."""
    try:
        from matplotlib.figure import Figure as Canvas
    except ImportError:
        raise MissingExtra("matplotlib", "plot") from None
    canvas = Canvas(figsize=(width, height), layout="constrained")
    axes = canvas.subplots(**options)
    return canvas, axes


def dress(axis: Any, *, title: str = "", x: str = "", y: str = "", grid: bool = True) -> None:
    """Labels, a light grid, and ink that the report can recolour."""
    axis.set_title(title, fontsize=11, color=INK)
    axis.set_xlabel(x, fontsize=10, color=INK)
    axis.set_ylabel(y, fontsize=10, color=INK)
    axis.tick_params(labelsize=9, colors=INK)
    axis.grid(grid, **({"alpha": 0.25, "linewidth": 0.6} if grid else {}))
    for side, spine in axis.spines.items():
        spine.set_visible(side in ("left", "bottom"))
        spine.set_color(INK)


def dress_legend(legend: Any) -> None:
    """A legend without a box, in the page's ink."""
    legend.set_frame_on(False)
    for text in legend.get_texts():
        text.set_color(INK)


def finish(canvas: Any, name: str, caption: str, folder: Path) -> Figure:
    """Write `name.png` and `name.svg` into `folder`, and keep the SVG for the report."""
    from matplotlib import rc_context

    svg = io.StringIO()
    with rc_context({"svg.hashsalt": name, "svg.fonttype": "path"}):
        canvas.savefig(svg, format="svg", transparent=True, metadata={"Date": None})
    canvas.set_layout_engine("none")  # the second format keeps the places of the first
    text = re.sub(r"^.*?(?=<svg)", "", svg.getvalue(), flags=re.DOTALL)
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    picture = io.BytesIO()
    canvas.savefig(picture, format="png", facecolor="white", **_SIZE)
    files = (folder / f"{name}.png", folder / f"{name}.svg")
    write_whole(files[0], picture.getvalue())
    on_white = text.replace("<defs>", '<rect width="100%" height="100%" fill="white"/>\n<defs>', 1)
    write_whole(files[1], on_white.encode())
    return Figure(name, caption, text, files)
