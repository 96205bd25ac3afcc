"""The study in one call: run what is left, then write its numbers and its page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from apm.studies.data.catalogue import load
from apm.studies.engine.store import Store
from apm.studies.engine.study import Study, chosen, run_study
from apm.studies.multiclass.methods import METHODS
from apm.studies.multiclass.protocol import CELLS, LABELS, CellPlan
from apm.studies.multiclass.report import write_page
from apm.studies.multiclass.results import write_results
from channelcode._validation import integer


def run_multiclass(
    out: str | Path,
    *,
    workers: int = 2,
    dask: Any = None,
    seeds: int | None = None,
    progress: bool = True,
    cells: Sequence[str] | None = None,
    methods: Sequence[str] | None = None,
    labels: int = LABELS,
    seed: int = 0,
    extend: bool = False,
) -> Path:
    """Run what is not finished yet, then write the tables and the page; returns the page's path.

    May be killed and called again at any time; the results are the same for any number of workers.
    `seeds` caps the paired seeds of a cell (20 or 10); `cells` and `methods` choose by name.
    With `extend=True` trials of fewer methods are given those that they lack: see `run_study`.
    """
    integer("labels", labels, least=1)
    if seeds is not None:
        integer("seeds", seeds, least=1)
    names = chosen("cells", cells, [cell.name for cell in CELLS])
    rules = chosen("methods", methods, tuple(METHODS))
    wanted = [cell for cell in CELLS if cell.name in names]
    data = {name: load(name) for name in {cell.dataset for cell in wanted}}
    plans = [
        CellPlan(
            cell,
            data[cell.dataset],
            rules,
            trials=cell.seeds if seeds is None else min(seeds, cell.seeds),
            labels=labels,
            seed=seed,
        )
        for cell in wanted
    ]
    folder = Path(out)
    run_study(Study(plans), folder, workers=workers, dask=dask, progress=progress, extend=extend)
    counts = {plan.cell: plan.trials for plan in plans}
    marks = {plan.name: plan.fingerprint() for plan in plans}
    write_results(Store(folder), counts, folder / "results", marks)
    return write_page(folder / "results", folder)
