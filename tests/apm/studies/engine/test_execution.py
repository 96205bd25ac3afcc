"""Running tasks: here, in workers, on a cluster; one at a time from the list."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from apm.cluster import connection
from apm.studies.engine import execution
from apm.studies.engine.execution import StudyError, Task, execute, results_of
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
    tmp_path: Path, make_study: Callable[..., Study], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "PATIENCE", "1s")
    with pytest.raises((MissingExtra, ChannelCodeError), match=r"dask|scheduler"):
        run_study(make_study(), tmp_path, dask="tcp://127.0.0.1:9", progress=False)
