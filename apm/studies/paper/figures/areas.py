"""Every method's area against Random's."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from apm.studies.engine.statistics import bootstrap_interval
from apm.studies.paper.results import Sheet
from apm.studies.report.style import (
    INK,
    Figure,
    dress,
    dress_legend,
    finish,
    look,
    new_figure,
)


def area_figure(
    sheets: dict[str, Sheet], methods: tuple[str, ...], folder: Path, *, name: str, title: str
) -> Figure:
    """The area under the curve of each method less Random's, with bootstrap intervals."""
    canvas, axis = new_figure(6.4, 0.5 * len(sheets) + 1.5)
    datasets = list(sheets)[::-1]
    offsets = np.linspace(0.32, -0.32, len(methods)) if len(methods) > 1 else [0.0]
    for method, offset in zip(methods, offsets, strict=True):
        style = look(method)
        for place, dataset in enumerate(datasets):
            areas = sheets[dataset].areas
            if method not in areas:
                continue
            found = bootstrap_interval(areas[method] - areas["Random"])
            axis.plot(
                [100 * found.low, 100 * found.high], [place + offset] * 2, color=style.colour,
                linewidth=1.3,
            )  # fmt: skip
            label = method if place == len(datasets) - 1 else None
            axis.plot(
                100 * found.estimate, place + offset, color=style.colour, marker=style.marker,
                markersize=5, linestyle="none", label=label,
            )  # fmt: skip
    axis.axvline(0.0, color=INK, linewidth=0.8)
    axis.set_yticks(range(len(datasets)), datasets)
    axis.set_ylim(-0.6, len(datasets) - 0.4)
    dress(axis, title=title, x="mean accuracy over 40 queries, points above Random")
    legend = canvas.legend(loc="outside lower center", ncols=3, fontsize=9)
    dress_legend(legend)
    caption = "Area under the curve less that of Random, in points, with 95 % bootstrap intervals."
    return finish(canvas, name, caption, folder)
