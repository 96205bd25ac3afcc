"""The figures of the report; the only part of the experiments that imports matplotlib."""

from apm.experiments.figures.curves import (
    failure_figures,
    information_figures,
    learning_curve,
    legend,
)
from apm.experiments.figures.illustration import cross_figure
from apm.experiments.figures.overview import area_figure, rank_figure
from apm.experiments.figures.style import INK, Figure

__all__ = [
    "INK",
    "Figure",
    "area_figure",
    "cross_figure",
    "failure_figures",
    "information_figures",
    "learning_curve",
    "legend",
    "rank_figure",
]
