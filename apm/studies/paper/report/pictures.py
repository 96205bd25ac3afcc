"""All figures of the report, drawn once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from apm.studies.engine.statistics import Ranks, average_ranks
from apm.studies.paper.methods import ABLATIONS, ADDITIONS, CURVE_METHODS, PAPER_METHODS
from apm.studies.paper.protocol import PaperPlan
from apm.studies.paper.results import Sheet
from apm.studies.report.style import Figure

INFORMATION_DATASETS = ("letterDP", "austra", "cross")


@dataclass(frozen=True)
class Pictures:
    """The figures of a report, by where they stand."""

    legend: Figure
    curves: list[Figure]
    ranks: Figure | None
    areas: list[Figure]
    failure_legend: Figure | None
    failure: list[Figure]
    cross: Figure | None
    information: list[Figure]


def rank_methods(sheets: dict[str, Sheet]) -> Ranks | None:
    """Average ranks of the methods that ran on every data set; None for fewer than two."""
    shared = [
        m
        for m in next(iter(sheets.values())).methods
        if all(m in s.methods for s in sheets.values())
    ]
    if len(shared) < 2:
        return None
    scores = [[sheet.areas[m].mean() for m in shared] for sheet in sheets.values()]
    return average_ranks(scores, tuple(shared))


def draw(
    plans: Sequence[PaperPlan], sheets: dict[str, Sheet], ranks: Ranks | None, folder: Path
) -> Pictures:
    """All figures of the report."""
    from apm.studies.paper import figures

    present = tuple(dict.fromkeys(m for sheet in sheets.values() for m in sheet.methods))
    shown = tuple(m for m in CURVE_METHODS if m in present) or present
    cars = sheets.get("vehicle-cars")
    has_failure = cars is not None and "maximin" in cars.arrays
    rated = [m for m in present if m not in ABLATIONS and m != "Random"]
    areas = []
    if all("Random" in sheet.methods for sheet in sheets.values()):
        groups = {
            "areas": ("The paper's methods", [m for m in rated if m in PAPER_METHODS]),
            "areas-beyond": (
                "Beyond the paper",
                [m for m in rated if m in (*ADDITIONS, "APM-LR", "InfoGain")],
            ),
        }
        for name, (title, members) in groups.items():
            if members and (name == "areas" or any(m in ADDITIONS for m in members)):
                areas.append(
                    figures.area_figure(sheets, tuple(members), folder, name=name, title=title)
                )
    information = [sheets[name] for name in INFORMATION_DATASETS if name in sheets]
    return Pictures(
        legend=figures.legend(shown, "legend", folder),
        curves=[figures.learning_curve(sheet, folder) for sheet in sheets.values()],
        ranks=None if ranks is None else figures.rank_figure(ranks, folder),
        areas=areas,
        failure_legend=figures.legend(
            tuple(m for m in PAPER_METHODS if m in present), "legend-failure", folder
        ) if has_failure else None,
        failure=figures.failure_figures(cars, folder) if has_failure and cars is not None else [],
        cross=next(
            (figures.cross_figure(p.data, folder, seed=p.seed) for p in plans if p.name == "cross"),
            None,
        ),
        information=[
            figure
            for sheet in (information or list(sheets.values())[:1])
            for figure in figures.information_figures(sheet, folder)
        ],
    )  # fmt: skip
