"""The experiment in one call: run what is left of a stage, then write its tables."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from apm.studies.data.catalogue import load
from apm.studies.engine.store import Store
from apm.studies.engine.study import Study, chosen, run_study
from apm.studies.engine.tables import read_csv, write_csv
from apm.studies.engine.trial import area_under_curve
from apm.studies.rule.protocol import CONFIRM, Condition, RulePlan, Stage, conditions
from apm.studies.rule.verdict import Areas, decide
from channelcode._validation import integer

AREAS = "areas.csv.gz"  # every trial, so that the statistics can be done again


def run_rule(
    out: str | Path,
    *,
    stage: Stage = CONFIRM,
    workers: int = 2,
    dask: Any = None,
    seeds: int | None = None,
    names: Sequence[str] | None = None,
    labels: int | None = None,
    progress: bool = True,
    extend: bool = False,
) -> Path:
    """Run what is not finished yet, then write the tables; returns their folder.

    May be killed and called again at any time; the results are the same for any number of workers.
    `extend` adds methods to finished trials that lack them. `seeds` caps the paired seeds of a
    condition, `names` chooses conditions, `labels` asks for fewer labels: these three are for
    trials of the program, and the tables then are no confirmation.
    """
    if seeds is not None:
        integer("seeds", seeds, least=1)
    every = conditions(stage)
    wanted = chosen("names", names, [each.name for each in every])
    kept = [each for each in every if each.name in wanted]
    data = {name: load(name) for name in {each.dataset for each in kept}}
    plans = []
    for each in kept:
        count = stage.seeds[each.kind] if seeds is None else min(seeds, stage.seeds[each.kind])
        plan = RulePlan(each, data[each.dataset], stage.first_seed, count, labels)
        plans.append(plan)
    folder = Path(out)
    run_study(Study(plans), folder, workers=workers, dask=dask, progress=progress, extend=extend)
    return write_tables(Store(folder), plans, folder / "results")


def write_tables(store: Store, plans: Sequence[RulePlan], folder: Path) -> Path:
    """`areas.csv.gz` and `seconds.csv` from the finished trials, and `standings.csv` from those."""
    areas, seconds = [], []
    for plan in plans:
        wanted = ("accuracy", "select_seconds")
        trials = list(store.runs(plan.name, plan.trials, wanted, fingerprint=plan.fingerprint()))
        for place, method in enumerate(plan.methods):
            curves = np.array([runs[place].arrays["accuracy"] for runs in trials])
            for trial, area in enumerate(area_under_curve(curves)):
                seed = plan.first_seed + trial
                areas.append((plan.name, plan.condition.kind, seed, method, f"{area:.5f}"))
            times = [runs[place].arrays["select_seconds"] for runs in trials]
            seconds.append((plan.name, method, f"{np.median(times):.2e}"))
    write_csv(folder / AREAS, ("condition", "kind", "seed", "method", "area"), areas)
    write_csv(folder / "seconds.csv", ("condition", "method", "median_seconds"), seconds)
    write_standings(read_areas(folder), folder)
    return folder


def read_areas(folder: str | Path) -> Areas:
    """The areas of `areas.csv.gz` by condition and method, `(seeds,)` each."""
    known: dict[str, Condition] = {each.name: each for each in conditions(CONFIRM)}
    found: dict[Condition, dict[str, list[float]]] = {}
    for row in read_csv(Path(folder) / AREAS):
        by_method = found.setdefault(known[row["condition"]], {})
        by_method.setdefault(row["method"], []).append(float(row["area"]))
    return {c: {m: np.array(v) for m, v in by.items()} for c, by in found.items()}


def write_standings(areas: Areas, folder: Path) -> Path:
    """One row for each candidate and kind: what the decision rests on."""
    rows = []
    for kind in sorted({condition.kind for condition in areas}):
        decision = decide(areas, kind)
        for each in decision.standings:
            counts = (len(each.comparisons), each.lost, each.level)
            numbers = [
                f"{value:.5f}"
                for interval in (each.lead, each.against_present)
                for value in (interval.estimate, interval.low, interval.high)
            ]
            winner = each.candidate == decision.winner
            rows.append((kind, each.candidate, *counts, *numbers, winner))
    header = ("kind", "candidate", "conditions", "lost", "level or ahead")
    header += tuple(
        f"{what}{end}" for what in ("lead", "to present") for end in ("", " low", " high")
    )
    return write_csv(folder / "standings.csv", (*header, "winner"), rows)
