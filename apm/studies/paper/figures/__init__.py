"""The figures of the report on the paper."""

from apm.studies.paper.figures.areas import area_figure
from apm.studies.paper.figures.curves import (
    failure_figures,
    information_figures,
    learning_curve,
    legend,
)
from apm.studies.paper.figures.illustration import cross_figure
from apm.studies.report.ranks import rank_figure
from apm.studies.report.style import INK, Figure

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
