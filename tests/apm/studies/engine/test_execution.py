"""Running tasks: here, in workers, on a cluster; one at a time from the list."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from apm.studies.engine import execution
from apm.studies.engine.execution import StudyError, Task, execute, on_dask, results_of
from apm.studies.engine.study import Study, run_study
from apm.studies.paper.protocol import PaperPlan
from channelcode.errors import ChannelCodeError, MissingExtra
from tests.apm.studies.conftest import small_dataset

KINDS = ("select", "posterior", "retrain")
PLAN = PaperPlan(small_dataset(), ("Random", "APM-LR"), 3, trials=9, seed=1)


def test_a_task_is_its_trial() -> None:
    name, trial, runs, seconds = execute(Task(PLAN, 4))
    assert (name, trial, [run.method for run in runs]) == ("small", 4, ["Random", "APM-LR"])
    for run, expected in zip(runs, PLAN.run(4), strict=True):
        np.testing.assert_array_equal(run.arrays["picks"], expected.arrays["picks"])
    spent = sum(run.arrays[f"{kind}_seconds"].sum() for run in runs for kind in KINDS)
    assert spent <= seconds < 60


def test_in_one_process_tasks_are_taken_as_they_are_needed() -> None:
    taken = []

    def tasks() -> Iterator[Task]:
        for trial in range(3):
            taken.append(trial)
            yield Task(PLAN, trial)

    results = results_of(tasks(), 1, None)
    assert taken == []
    assert next(results)[1] == 0
    assert taken == [0]
    assert [trial for _, trial, _, _ in results] == [1, 2]


def test_a_cluster_has_at_most_four_tasks_for_each_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cluster that finishes the latest task first: all are done, few are under way."""
    waiting: list[Any] = []
    most = []

    class Client:
        def __init__(self, address: str, timeout: str) -> None:
            assert address == "tcp://here:1"

        def __enter__(self) -> Client:
            return self

        def __exit__(self, *error: object) -> None:
            waiting.clear()

        def nthreads(self) -> dict[str, int]:
            return {"one": 2, "two": 1}

        def submit(self, function: Callable[[Any], Any], task: Any, *, pure: bool) -> Any:
            assert not pure  # the same trial is run again when it is asked for again
            future = SimpleNamespace(result=lambda: function(task))
            waiting.append(future)
            most.append(len(waiting))
            return future

    class Completed:
        def __init__(self, futures: list[Any]) -> None:
            assert futures == waiting

        def __iter__(self) -> Iterator[Any]:
            while waiting:
                yield waiting.pop()

        def add(self, future: Any) -> None:
            assert future is waiting[-1]

    module: Any = ModuleType("distributed")
    module.Client, module.as_completed = Client, Completed
    monkeypatch.setitem(sys.modules, "distributed", module)
    found = list(on_dask(lambda task: task**2, iter(range(30)), "tcp://here:1"))
    assert sorted(found) == [task**2 for task in range(30)]
    assert max(most) == 12


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingExtra, match="dask"):
        next(on_dask(abs, iter([1]), "tcp://here:1"))


def test_a_worker_that_is_ended_from_outside(
    tmp_path: Path, make_study: Callable[..., Study], monkeypatch: pytest.MonkeyPatch
) -> None:
    here = os.getpid()

    def fall(task: Any) -> Any:
        if task.trial == 2 and os.getpid() != here:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(task)

    real = execution.execute
    monkeypatch.setattr(execution, "execute", fall)
    with pytest.raises(StudyError, match="run the same command again"):
        run_study(make_study(), tmp_path, workers=2, progress=False)
    monkeypatch.undo()
    assert run_study(make_study(), tmp_path, progress=False).repaired == ()


def test_dask_without_dask_or_without_a_scheduler(
    tmp_path: Path, make_study: Callable[..., Study]
) -> None:
    with pytest.raises((MissingExtra, ChannelCodeError), match=r"dask|scheduler"):
        run_study(make_study(), tmp_path, dask="tcp://127.0.0.1:9", progress=False)
