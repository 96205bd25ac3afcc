"""Average ranks over all data sets."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from apm.studies.engine.statistics import Ranks
from apm.studies.report.style import Figure, dress, finish, look, new_figure


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
