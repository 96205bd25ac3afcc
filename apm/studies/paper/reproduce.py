"""The whole paper in one call."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from apm.studies.engine.store import Store
from apm.studies.engine.study import Outcome, Study, run_study
from apm.studies.paper.claims import Finding, judge_claims
from apm.studies.paper.protocol import TRIALS, plan_study
from apm.studies.paper.report.pictures import draw, rank_methods
from apm.studies.paper.report.summary import write_report
from apm.studies.paper.report.tables import write_tables
from apm.studies.paper.results import read_sheets, where_time_goes
from channelcode._validation import integer

QUICK_DATASETS = ("vehicle-cars", "letterDP", "wdbc", "cross")
QUICK_TRIALS = 6


@dataclass(frozen=True)
class Reproduction:
    """Where the report is, what it found, and what was run for it."""

    report: Path
    findings: list[Finding]
    outcome: Outcome
    time_shares: dict[str, float]


def reproduce(
    out: str | Path,
    *,
    quick: bool = False,
    workers: int | None = None,
    dask: Any = None,
    trials: int | None = None,
    datasets: Sequence[str] | None = None,
    methods: Sequence[str] | None = None,
    queries: int | None = None,
    seed: int = 0,
    data_dir: str | Path | None = None,
    progress: bool = True,
    extend: bool = False,
) -> Reproduction:
    """Run the paper's experiments (or what is left of them) and write the report into `out`.

    `out/report.html` is one page with everything; `out/figures`, `out/tables` and `out/trials` hold
    the figures, the numbers and the raw runs. `quick` takes 6 trials on 4 data sets. `workers`
    defaults to the number of processors; `dask` is a scheduler's address instead. The same call
    continues after any interruption, and a longer study continues a shorter one. With
    `extend=True` a study with more methods continues one with fewer: see `run_study`.
    """
    default_trials = QUICK_TRIALS if quick else TRIALS
    if quick and datasets is None:
        datasets = QUICK_DATASETS
    plans = plan_study(
        trials=integer("trials", default_trials if trials is None else trials, least=1),
        datasets=datasets, methods=methods, queries=queries, seed=seed, data_dir=data_dir,
    )  # fmt: skip
    folder = Path(out)
    count = _processors() if workers is None else workers
    outcome = run_study(
        Study(plans), folder, workers=count, dask=dask, progress=progress, extend=extend
    )
    sheets = read_sheets(plans, Store(folder))
    findings = judge_claims(sheets)
    ranks = rank_methods(sheets)
    write_tables(sheets, ranks, findings, folder / "tables")
    pictures = draw(plans, sheets, ranks, folder / "figures")
    shares = where_time_goes(sheets, outcome.cpu_seconds)
    report = write_report(
        folder / "report.html", plans, sheets, findings, pictures, outcome, shares
    )
    return Reproduction(report, findings, outcome, shares)


def _processors() -> int:
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else (os.cpu_count() or 1)
