"""The whole paper in one call."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from apm.experiments.claims import Finding, judge_claims
from apm.experiments.datasets import PAPER_DATASETS, load
from apm.experiments.methods import ABLATIONS, ADDITIONS, CURVE_METHODS, PAPER_METHODS
from apm.experiments.report import write_report
from apm.experiments.results import Sheet, read_sheets, where_time_goes
from apm.experiments.sections import Pictures
from apm.experiments.statistics import Ranks, average_ranks
from apm.experiments.store import Store
from apm.experiments.study import Outcome, Plan, Study, run_study
from apm.experiments.tables import write_tables
from channelcode._validation import integer

TRIALS = 150
QUERIES = 40
LONGER = {"vehicle-cars": None, "wdbc": 100}  # the whole pool; long enough to see the peak pass
QUICK_DATASETS = ("vehicle-cars", "letterDP", "wdbc", "cross")
QUICK_TRIALS = 6
INFORMATION_DATASETS = ("letterDP", "austra", "cross")


@dataclass(frozen=True)
class Reproduction:
    """Where the report is, what it found, and what was run for it."""

    report: Path
    findings: list[Finding]
    outcome: Outcome
    time_shares: dict[str, float]


def plan_study(
    *,
    trials: int = TRIALS,
    datasets: Sequence[str] | None = None,
    methods: Sequence[str] | None = None,
    queries: int | None = None,
    seed: int = 0,
    data_dir: str | Path | None = None,
) -> Study:
    """The study of the paper: six methods and the additions everywhere, 40 queries.

    vehicle-cars also gets the two ablations and the exploration measures, and runs until its pool
    is exhausted (appendix B.6); wdbc runs for 100 queries. The additions stop at 40.
    `methods` and `queries` replace these everywhere.
    """
    chosen = tuple(PAPER_DATASETS if datasets is None else datasets)
    plans = []
    for name in chosen:
        failure = name == "vehicle-cars"
        usual = (*CURVE_METHODS, *(ABLATIONS if failure else ()), *ADDITIONS)
        own = tuple(usual if methods is None else methods)
        added = tuple(m for m in own if m in ADDITIONS) if name in LONGER else ()
        horizon = LONGER.get(name, QUERIES) if queries is None else queries
        plans.append(Plan(name, own, horizon, diversity=failure, brief=added))
    data = {name: load(name, data_dir=data_dir) for name in chosen}
    return Study(tuple(plans), trials=trials, seed=seed, data=data)


def reproduce(
    out: str | Path,
    *,
    quick: bool = False,
    workers: int | None = None,
    dask: str | None = None,
    trials: int | None = None,
    datasets: Sequence[str] | None = None,
    methods: Sequence[str] | None = None,
    queries: int | None = None,
    seed: int = 0,
    data_dir: str | Path | None = None,
    progress: bool = True,
) -> Reproduction:
    """Run the paper's experiments (or what is left of them) and write the report into `out`.

    `out/report.html` is one page with everything; `out/figures`, `out/tables` and `out/trials` hold
    the figures, the numbers and the raw runs. `quick` takes 6 trials on 4 data sets. `workers`
    defaults to the number of processors; `dask` is a scheduler's address instead. The same call
    continues after any interruption, and a longer study continues a shorter one.
    """
    default_trials = QUICK_TRIALS if quick else TRIALS
    if quick and datasets is None:
        datasets = QUICK_DATASETS
    study = plan_study(
        trials=integer("trials", default_trials if trials is None else trials, least=1),
        datasets=datasets, methods=methods, queries=queries, seed=seed, data_dir=data_dir,
    )  # fmt: skip
    folder = Path(out)
    count = _processors() if workers is None else workers
    outcome = run_study(study, folder, workers=count, dask=dask, progress=progress)
    sheets = read_sheets(study, Store(folder))
    findings = judge_claims(sheets)
    ranks = rank_methods(sheets)
    write_tables(sheets, ranks, findings, folder / "tables")
    pictures = draw(study, sheets, ranks, folder / "figures")
    shares = where_time_goes(sheets, outcome.cpu_seconds)
    report = write_report(
        folder / "report.html", study, sheets, findings, pictures, outcome, shares
    )
    return Reproduction(report, findings, outcome, shares)


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


def draw(study: Study, sheets: dict[str, Sheet], ranks: Ranks | None, folder: Path) -> Pictures:
    """All figures of the report."""
    from apm.experiments import figures

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
        cross=figures.cross_figure(study.dataset("cross"), folder, seed=study.seed)
        if "cross" in sheets
        else None,
        information=[
            figure
            for sheet in (information or list(sheets.values())[:1])
            for figure in figures.information_figures(sheet, folder)
        ],
    )  # fmt: skip


def _processors() -> int:
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else (os.cpu_count() or 1)
