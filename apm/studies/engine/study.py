"""A study: plans x trials, run on any number of workers with the same result."""

from __future__ import annotations

import hashlib
import json
import time
import warnings
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from apm.cluster.versions import versions as versions
from apm.studies.engine.execution import Task, results_of
from apm.studies.engine.extension import earlier_marks, joined, lacking
from apm.studies.engine.progress import Progress
from apm.studies.engine.store import FORMAT, NAME, Store, StoreError
from apm.studies.engine.trial import Run
from apm.studies.suggestions import nearest_name
from channelcode._validation import integer
from channelcode.errors import InvalidArgument


class Plan(ABC):
    """One condition of a study: some methods on one data set, trial by trial.

    Trial t depends on `settings()` and t alone, so that more trials or more plans continue a study.
    A plan goes to the workers with its data, so that they need no files. A plan whose trials may be
    extended names its `methods`, in the order of its runs, and writes `with_methods`.
    """

    methods: tuple[str, ...]

    @property
    @abstractmethod
    def name(self) -> str:
        """What the plan is called in files and tables."""

    @property
    @abstractmethod
    def num_trials(self) -> int:
        """How many trials it has."""

    @abstractmethod
    def settings(self) -> dict[str, Any]:
        """Everything that decides its trials, in plain values."""

    @abstractmethod
    def run(self, trial: int) -> list[Run]:
        """One trial of every method."""

    def with_methods(self, methods: Sequence[str]) -> Plan:
        """The same plan with only these of its methods; every method has a stream of its own."""
        raise InvalidArgument("plans", "must have methods that can be run by themselves", self.name)

    def fingerprint(self) -> str:
        """A short digest of `settings`."""
        text = json.dumps({"format": FORMAT, **self.settings()}, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Study:
    """The plans of an experiment, each with a name of its own."""

    plans: Sequence[Plan]

    def __post_init__(self) -> None:
        names = [plan.name for plan in self.plans]
        if not names or len(set(names)) < len(names):
            raise InvalidArgument("plans", "must have one or more different names", names)
        for name in names:
            if not NAME.fullmatch(name):
                rule = "must have names of letters, digits, dots and hyphens"
                raise InvalidArgument("plans", rule, name)

    @property
    def num_trials(self) -> int:
        """The trials of all plans together."""
        return sum(plan.num_trials for plan in self.plans)


@dataclass(frozen=True)
class Outcome:
    """What a call of `run_study` did: trials found finished, run now, run again, and seconds.

    `extended` of the trials run now were there without some of their methods.
    """

    found: int
    ran: int
    repaired: tuple[str, ...]
    seconds: float
    cpu_seconds: float
    extended: int = 0


def run_study(
    study: Study,
    folder: str | Path,
    *,
    workers: int = 1,
    dask: Any = None,
    progress: bool = True,
    extend: bool = False,
) -> Outcome:
    """Run what is not finished yet, one file per trial; may be killed and called again at any time.

    `workers` processes on this machine (joblib), or the Dask cluster at the address `dask`. The
    results are the same for any number of workers and after any interruption. One process at a time
    runs a study in a folder.

    With `extend=True` trials that were made with some of the methods and otherwise the same
    settings are kept, and only the methods that they lack are run: a trial's split, its first
    labels and each method's stream depend on nothing else. What was run when, and with which
    versions, stands in the trial's file (`apm.studies.engine.extension`).
    """
    integer("workers", workers, least=1)
    store = Store(folder)
    with store.held():
        return _run(study, store, workers, dask, progress, extend)


def _run(
    study: Study, store: Store, workers: int, dask: Any, progress: bool, extend: bool
) -> Outcome:
    begin = time.perf_counter()
    marks = {plan.name: plan.fingerprint() for plan in study.plans}
    earlier = {
        plan.name: earlier_marks(store, plan, marks[plan.name]) if extend else frozenset()
        for plan in study.plans
    }
    store.open(
        marks,
        {"plans": [{"trials": plan.num_trials, **plan.settings()} for plan in study.plans]},
        replacing=earlier,
    )
    todo, repaired = _unfinished(study, store, marks, extend)
    total = study.num_trials
    whole = {id(plan) for plan in study.plans}
    partial = {(plan.name, trial) for plan, trial in todo if id(plan) not in whole}
    cpu_seconds = 0.0
    with Progress(total, finished=total - len(todo), shown=progress) as display:
        for name in repaired:
            display.say(f"{name} is damaged: that trial is run again")
        results = results_of((Task(plan, trial) for plan, trial in todo), workers, dask)
        wanted = {plan.name: plan for plan in study.plans}
        try:
            for name, trial, runs, seconds in results:
                meta = {"trial": trial, "fingerprint": marks[name], "versions": versions()}
                if (name, trial) in partial:
                    runs, meta = joined(store, wanted[name], trial, runs, meta)
                store.save(name, trial, runs, meta)
                cpu_seconds += seconds
                display.advance(f"{name} {trial}")
        except KeyboardInterrupt:
            display.say(
                f"Stopped; {display.finished} of {total} trials are kept. The same command "
                "continues from there."
            )
            raise
        finally:
            with warnings.catch_warnings():  # joblib warns of cancelled tasks: it is on purpose
                warnings.simplefilter("ignore")
                results.close()
    return Outcome(
        found=total - len(todo),
        ran=len(todo),
        repaired=tuple(repaired),
        seconds=time.perf_counter() - begin,
        cpu_seconds=cpu_seconds,
        extended=len(partial),
    )


def chosen(argument: str, names: Sequence[str] | None, known: Sequence[str]) -> tuple[str, ...]:
    """The names that a caller chose, all of `known` for None; each known, none twice.

    >>> chosen("methods", ["b"], ["a", "b"]), chosen("methods", None, ["a", "b"])
    (('b',), ('a', 'b'))
    """
    if names is None:
        return tuple(known)
    for name in names:
        if name not in known:
            raise InvalidArgument(argument, f"must be known{nearest_name(name, known)}", name)
    if not names or len(set(names)) < len(names):
        raise InvalidArgument(argument, "must be one or more different names", names)
    return tuple(names)


def _unfinished(
    study: Study, store: Store, marks: dict[str, str], extend: bool
) -> tuple[list[tuple[Plan, int]], list[str]]:
    """Each plan and trial still to run, of a trial to be extended the plan of what it lacks."""
    todo, repaired = [], []
    for trial in range(max(plan.num_trials for plan in study.plans)):
        for plan in study.plans:  # all plans advance together: a fair estimate of the end
            if trial >= plan.num_trials:
                continue
            state = store.check(plan.name, trial, marks[plan.name])
            rest = lacking(store, plan, trial) if extend and state == "foreign" else None
            if rest is not None:
                todo.append((rest, trial))
                continue
            if state == "foreign":
                path = store.path(plan.name, trial)
                raise StoreError(
                    f"{path} was made with other settings. Name another output directory, or "
                    f"remove {path.parent} to start over."
                )
            if state == "damaged":
                repaired.append(f"{plan.name}/{store.path(plan.name, trial).name}")
            if state != "finished":
                todo.append((plan, trial))
    return todo, repaired
