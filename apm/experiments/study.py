"""A study: data sets x methods x trials, run on any number of workers with the same result."""

from __future__ import annotations

import hashlib
import json
import platform
import time
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from apm.experiments.datasets import Dataset, load
from apm.experiments.execution import Task, results_of
from apm.experiments.methods import check_method
from apm.experiments.progress import Progress
from apm.experiments.store import FORMAT, Store, StoreError
from channelcode._validation import integer, positive
from channelcode.errors import InvalidArgument


@dataclass(frozen=True)
class Plan:
    """What is run on one data set; `queries=None` goes on until the pool is exhausted.

    `diversity` adds the exploration measures of the failure analysis (appendix B.6). Methods in
    `brief` stop after 40 queries where the others go on.
    """

    dataset: str
    methods: tuple[str, ...]
    queries: int | None = 40
    diversity: bool = False
    brief: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "methods", tuple(check_method(name) for name in self.methods))
        if not self.methods or len(set(self.methods)) < len(self.methods):
            raise InvalidArgument("methods", "must be one or more different names", self.methods)
        object.__setattr__(self, "brief", tuple(self.brief))
        if not set(self.brief) <= set(self.methods):
            raise InvalidArgument("brief", "must be among the methods", self.brief)
        if self.queries is not None:
            integer("queries", self.queries, least=1)


@dataclass(frozen=True)
class Study:
    """A frozen description of an experiment: plans, number of trials, prior and seed.

    The posterior is `VariationalLogistic(prior_precision)` and the power the paper's
    `SpectralPower`. Trial t of a data set depends on its plan, the data, `prior_precision`, `seed`
    and t alone, so more trials or more data sets continue a study.
    """

    plans: tuple[Plan, ...]
    trials: int = 150
    seed: int = 0
    prior_precision: float = 0.01
    data: dict[str, Dataset] = field(default_factory=dict, repr=False, compare=False)

    def __post_init__(self) -> None:
        integer("trials", self.trials, least=1)
        integer("seed", self.seed, least=0)
        positive("prior_precision", self.prior_precision)
        names = [plan.dataset for plan in self.plans]
        if not names or len(set(names)) < len(names):
            raise InvalidArgument("plans", "must name one or more different data sets", names)

    def dataset(self, name: str) -> Dataset:
        """The data of a plan, loaded at its first use."""
        if name not in self.data:
            self.data[name] = load(name)
        return self.data[name]

    def queries(self, plan: Plan) -> int:
        """The number of queries of a plan; at most what the pool has after the seeds."""
        data = self.dataset(plan.dataset)
        if data.num_classes != 2:
            rule = f"must be data sets of two classes, not {data.num_classes}"
            raise InvalidArgument("plans", rule, plan.dataset)
        left = len(data.y) // 2 - data.num_classes
        if plan.queries is not None and plan.queries > left:
            rule = f"must be at most {left}, what the pool of {plan.dataset} has after the seeds"
            raise InvalidArgument("queries", rule, plan.queries)
        return left if plan.queries is None else plan.queries

    def settings(self, plan: Plan) -> dict[str, Any]:
        """Everything that decides the trials of a plan, in plain values."""
        return {
            "format": FORMAT,
            "dataset": plan.dataset,
            "data": self.dataset(plan.dataset).digest,
            "methods": list(plan.methods),
            "queries": self.queries(plan),
            "diversity": plan.diversity,
            "brief": list(plan.brief),
            "posterior": "VariationalLogistic",
            "prior_precision": self.prior_precision,
            "power": "SpectralPower",
            "seed": self.seed,
        }

    def fingerprint(self, plan: Plan) -> str:
        """A short digest of `settings`."""
        text = json.dumps(self.settings(plan), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Outcome:
    """What a call of `run_study` did: trials found finished, run now, run again, and seconds."""

    found: int
    ran: int
    repaired: tuple[str, ...]
    seconds: float
    cpu_seconds: float


def run_study(
    study: Study,
    folder: str | Path,
    *,
    workers: int = 1,
    dask: str | None = None,
    progress: bool = True,
) -> Outcome:
    """Run what is not finished yet, one file per trial; may be killed and called again at any time.

    `workers` processes on this machine (joblib), or the Dask cluster at the address `dask`. The
    results are the same for any number of workers and after any interruption.
    """
    integer("workers", workers, least=1)
    begin = time.perf_counter()
    store = Store(folder)
    marks = {plan.dataset: study.fingerprint(plan) for plan in study.plans}
    store.open(marks, {"trials": study.trials, "plans": [study.settings(p) for p in study.plans]})
    todo, repaired = _unfinished(study, store, marks)
    total = study.trials * len(study.plans)
    meta = {"seed": study.seed, "versions": versions()}
    cpu_seconds = 0.0
    with Progress(total, finished=total - len(todo), shown=progress) as display:
        for name in repaired:
            display.say(f"{name} is damaged: that trial is run again")
        results = results_of(_tasks(study, todo), workers, dask)
        try:
            for name, trial, runs, seconds in results:
                own = {**meta, "trial": trial, "fingerprint": marks[name]}
                store.save(name, trial, runs, own)
                cpu_seconds += seconds
                display.advance(f"{name} {trial}")
        except KeyboardInterrupt:
            display.say(
                f"Stopped; {display.finished} of {total} trials are kept. The same command goes on."
            )
            raise
        finally:
            with warnings.catch_warnings():  # joblib speaks of tasks that are cancelled: on purpose
                warnings.simplefilter("ignore")
                results.close()
    return Outcome(
        found=total - len(todo),
        ran=len(todo),
        repaired=tuple(repaired),
        seconds=time.perf_counter() - begin,
        cpu_seconds=cpu_seconds,
    )


def _unfinished(
    study: Study, store: Store, marks: dict[str, str]
) -> tuple[list[tuple[Plan, int]], list[str]]:
    todo, repaired = [], []
    for trial in range(study.trials):  # all data sets advance together: a fair estimate of the end
        for plan in study.plans:
            state = store.check(plan.dataset, trial, marks[plan.dataset])
            if state == "foreign":
                path = store.path(plan.dataset, trial)
                raise StoreError(
                    f"{path} was made with other settings. Name another output directory, or "
                    f"remove {path.parent} to start over."
                )
            if state == "damaged":
                repaired.append(f"{plan.dataset}/{store.path(plan.dataset, trial).name}")
            if state != "finished":
                todo.append((plan, trial))
    return todo, repaired


def _tasks(study: Study, todo: Iterable[tuple[Plan, int]]) -> Iterator[Task]:
    for plan, trial in todo:
        options = {
            "methods": plan.methods,
            "queries": study.queries(plan),
            "brief": plan.brief,
            "seed": study.seed,
            "prior_precision": study.prior_precision,
            "diversity": plan.diversity,
        }
        yield Task(study.dataset(plan.dataset), trial, options)


@cache
def _versions() -> tuple[tuple[str, str], ...]:
    found = [("python", platform.python_version()), ("machine", platform.machine())]
    for name in ("channelcode", "numpy", "scipy", "numba", "scikit-learn"):
        try:
            found.append((name, version(name)))
        except PackageNotFoundError:
            found.append((name, "not installed"))
    return tuple(found)


def versions() -> dict[str, str]:
    """The versions that a result was made with.

    >>> "numpy" in versions()
    True
    """
    return dict(_versions())
