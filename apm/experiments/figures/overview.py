"""Ranks over all data sets, and every method's area against Random's."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from apm.experiments.figures.style import (
    INK,
    Figure,
    dress,
    dress_legend,
    finish,
    look,
    new_figure,
)
from apm.experiments.results import Sheet
from apm.experiments.statistics import Ranks, bootstrap_interval


def rank_figure(ranks: Ranks, folder: Path, *, name: str = "ranks") -> Figure:
    """Average ranks with bars of half the critical difference: methods differ if bars are apart."""
    order = np.argsort(ranks.average)[::-1]
    canvas, axis = new_figure(5.6, 0.42 * len(order) + 1.1)
    for place, index in enumerate(order):
        style = look(ranks.methods[index])
        axis.errorbar(
            ranks.average[index], place, xerr=ranks.critical_difference / 2, color=style.colour,
            marker=style.marker, markersize=7, capsize=4, linewidth=1.8,
        )  # fmt: skip
    axis.set_yticks(range(len(order)), [ranks.methods[index] for index in order])
    dress(axis, x="average rank (1 is best)")
    caption = (
        f"Average rank by area under the curve over {ranks.num_datasets} data sets; methods whose "
        "bars do not overlap differ (Nemenyi, critical difference "
        f"{ranks.critical_difference:.2f}; Friedman p = {ranks.friedman_p:.2g})."
    )
    return finish(canvas, name, caption, folder)


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
