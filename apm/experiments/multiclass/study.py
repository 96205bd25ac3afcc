"""Run the study: every rule on every cell and seed, one file for each finished trial."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from apm.experiments.datasets import Dataset, load
from apm.experiments.multiclass.loop import TOLERANCE, run_rule
from apm.experiments.multiclass.protocol import CELLS, LABELS, POOL_CAP, Cell, split_cell
from apm.experiments.multiclass.results import write_results
from apm.experiments.multiclass.rules import EPIG_TARGETS, METHODS, SAMPLES
from apm.experiments.names import nearest_name
from apm.experiments.progress import Progress
from apm.experiments.store import FORMAT, Store, StoreError
from apm.experiments.streams import stream
from apm.experiments.study import versions
from apm.experiments.trial import Run
from channelcode._validation import integer
from channelcode.errors import InvalidArgument

NUM_TARGETS = 200


@dataclass(frozen=True)
class _Task:
    data: Dataset
    cell: Cell
    trial: int
    labels: int
    methods: tuple[str, ...]
    seed: int


def run_multiclass(
    out: str | Path,
    *,
    workers: int = 2,
    seeds: int | None = None,
    progress: bool = True,
    cells: tuple[str, ...] | None = None,
    methods: tuple[str, ...] | None = None,
    labels: int = LABELS,
    seed: int = 0,
) -> Path:
    """Run what is not finished yet, then write the tables and the page; returns the page's path.

    May be killed and called again at any time; the results are the same for any number of workers.
    `seeds` caps the paired seeds of a cell (20 or 10); `cells` and `methods` choose by name.
    """
    integer("workers", workers, least=1)
    integer("labels", labels, least=1)
    chosen = _chosen("cells", cells, {cell.name: cell for cell in CELLS})
    rules = tuple(_chosen("methods", methods, {name: name for name in METHODS}))
    folder = Path(out)
    data = {name: load(name) for name in {cell.dataset for cell in chosen}}
    counts = {
        cell: cell.seeds if seeds is None else min(integer("seeds", seeds, least=1), cell.seeds)
        for cell in chosen
    }
    store = Store(folder)
    marks = {c.name: _fingerprint(c, data[c.dataset], rules, labels, seed) for c in chosen}
    store.open(marks, {"seeds": {cell.name: count for cell, count in counts.items()}})
    todo: list[_Task] = []
    repaired: list[str] = []
    for trial in range(max(counts.values())):  # all cells advance together
        for cell in chosen:
            if trial >= counts[cell]:
                continue
            state = store.check(cell.name, trial, marks[cell.name])
            if state == "foreign":
                path = store.path(cell.name, trial)
                raise StoreError(f"{path} was made with other settings: name another directory")
            if state == "damaged":
                repaired.append(store.path(cell.name, trial).name)
            if state != "finished":
                todo.append(_Task(data[cell.dataset], cell, trial, labels, rules, seed))
    total = sum(counts.values())
    with Progress(total, finished=total - len(todo), shown=progress) as display:
        for name in repaired:
            display.say(f"{name} is damaged: that trial is run again")
        for task, runs in _results(todo, workers):
            meta = {
                "seed": seed,
                "trial": task.trial,
                "fingerprint": marks[task.cell.name],
                "versions": versions(),
            }
            store.save(task.cell.name, task.trial, runs, meta)
            display.advance(f"{task.cell.name} {task.trial}")
    write_results(store, counts, folder / "results")
    from apm.experiments.multiclass.report import write_page

    return write_page(folder / "results", folder)


def _chosen(argument: str, names: tuple[str, ...] | None, known: dict[str, Any]) -> list[Any]:
    if names is None:
        return list(known.values())
    for name in names:
        if name not in known:
            raise InvalidArgument(argument, f"must be known{nearest_name(name, known)}", name)
    if not names:
        raise InvalidArgument(argument, "must not be empty", names)
    return [known[name] for name in names]


def _fingerprint(
    cell: Cell, data: Dataset, methods: tuple[str, ...], labels: int, seed: int
) -> str:
    settings = {
        "format": FORMAT,
        "cell": cell.name,
        "data": data.digest,
        "methods": list(methods),
        "labels": labels,
        "pool": POOL_CAP,
        "targets": NUM_TARGETS,
        "samples": [SAMPLES, EPIG_TARGETS],
        "tolerance": TOLERANCE,
        "seed": seed,
    }
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()[:16]


def _execute(task: _Task) -> tuple[_Task, list[Run]]:
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):  # one thread: the same rounding whoever runs the trial
        split = split_cell(task.data, task.cell, task.trial, seed=task.seed)
        name, rows = task.cell.dataset, len(split.labels)
        draw = stream(task.seed, name, task.trial, "targets")
        targets = draw.choice(rows, min(NUM_TARGETS, rows), replace=False)
        runs = [
            run_rule(
                split,
                method,
                METHODS[method],
                precision=task.cell.precision,
                labels=min(task.labels, rows - len(split.seeds)),
                targets=targets,
                rng=stream(task.seed, name, task.trial, "rule", method),
            )
            for method in task.methods
        ]
    return task, runs


def _results(tasks: list[_Task], workers: int) -> Iterator[tuple[_Task, list[Run]]]:
    if workers == 1 or len(tasks) < 2:
        yield from map(_execute, tasks)
        return
    from joblib import Parallel, delayed

    pool = Parallel(n_jobs=workers, return_as="generator_unordered")
    yield from pool(delayed(_execute)(task) for task in tasks)  # type: ignore[misc]
