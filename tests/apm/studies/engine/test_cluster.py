"""Studies on a cluster: the same results, whoever dies in between."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from apm import Margin, Random, compare
from apm.cluster.versions import VersionMismatch, versions
from apm.studies.engine.execution import StudyError
from apm.studies.engine.store import Store
from apm.studies.engine.study import Study, run_study
from tests.apm.clusters import PATIENCE, local_cluster
from tests.apm.studies.engine.test_study import assert_same

pytest.importorskip("distributed", reason="dask.distributed is not installed")


def test_the_same_as_in_one_process(tmp_path: Path, make_study: Callable[..., Study]) -> None:
    with local_cluster(1, processes=False) as cluster:
        for place, dask in enumerate((cluster.scheduler_address, cluster)):
            run_study(make_study(), tmp_path / f"dask{place}", dask=dask, progress=False)
    run_study(make_study(), tmp_path / "one", progress=False)
    for place in range(2):
        assert_same(tmp_path / f"dask{place}", tmp_path / "one")


def test_comparisons() -> None:
    X = np.random.default_rng(0).normal(size=(40, 2))
    rules = {"margin": Margin(), "random": Random()}
    given: dict[str, Any] = {"labels": 3, "trials": 3}
    one = compare(X, X[:, 0] > 0, rules, **given)
    with local_cluster(1, processes=False) as cluster:
        other = compare(X, X[:, 0] > 0, rules, dask=cluster.scheduler_address, **given)
    np.testing.assert_array_equal(one.accuracy, other.accuracy)


def test_other_versions_are_told_before_any_work(
    tmp_path: Path, make_study: Callable[..., Study], monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = versions() | {"numpy": "1.0", "channelcode": "0.0", "python": "2.7.18"}
    monkeypatch.setattr("apm.cluster.versions._versions", lambda: tuple(wrong.items()))
    with local_cluster(1) as cluster, pytest.raises(VersionMismatch) as caught:
        run_study(make_study(), tmp_path, dask=cluster, progress=False)
    for words in ("numpy 1.0 here", "channelcode 0.0 here", "python 2.7 here", "same versions"):
        assert words in str(caught.value)


class Watched(Store):
    """A store that does something after some trials were written."""

    act: Callable[[], None]
    after = 2

    def save(self, *args: Any) -> None:
        super().save(*args)
        self.after -= 1
        if self.after == 0:
            self.act()


@pytest.mark.slow
def test_a_worker_is_killed(
    tmp_path: Path, make_study: Callable[..., Study], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is lost: its trials are run again by the other, and the study ends by itself."""
    study = make_study(trials=8)
    monkeypatch.setattr("apm.studies.engine.study.Store", Watched)
    with local_cluster(2) as cluster:
        victim = next(iter(cluster.workers.values())).pid
        monkeypatch.setattr(
            Watched, "act", lambda _: os.kill(victim, signal.SIGKILL), raising=False
        )
        done = run_study(study, tmp_path / "dask", dask=cluster, progress=False)
        assert victim not in {nanny.pid for nanny in cluster.workers.values()}
    assert (done.found, done.ran, done.repaired) == (0, 16, ())
    monkeypatch.undo()
    run_study(study, tmp_path / "one", progress=False)
    assert_same(tmp_path / "dask", tmp_path / "one")


@contextmanager
def started(folder: Path) -> Iterator[tuple[Path, subprocess.Popen[Any]]]:
    """A scheduler and a worker as programs of their own, and the file that tells where they are."""
    folder.mkdir()
    told = folder / "scheduler.json"
    common: dict[str, Any] = {
        "cwd": folder,
        "stdout": subprocess.DEVNULL,
        "stderr": subprocess.DEVNULL,
    }
    cli = [sys.executable, "-m"]
    scheduler: subprocess.Popen[Any] = subprocess.Popen(
        [*cli, "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0",
         "--no-dashboard", "--dashboard-address", "127.0.0.1:0",
         "--scheduler-file", str(told)], **common,
    )  # fmt: skip
    programs = [scheduler]
    try:
        end = time.monotonic() + PATIENCE
        while not told.exists():
            assert scheduler.poll() is None
            assert time.monotonic() < end
            time.sleep(0.05)
        programs.append(
            subprocess.Popen(
                [
                    *cli,
                    "distributed.cli.dask_worker",
                    "--scheduler-file",
                    str(told),
                    "--no-nanny",
                    "--no-dashboard",
                    "--nthreads",
                    "1",
                    "--host",
                    "127.0.0.1",
                    "--local-directory",
                    str(folder),
                ],
                **common,
            )
        )
        yield told, scheduler
    finally:
        for program in programs:
            program.kill()
            program.wait(PATIENCE)


@pytest.mark.slow
def test_a_scheduler_is_killed_and_another_goes_on(
    tmp_path: Path, make_study: Callable[..., Study], monkeypatch: pytest.MonkeyPatch
) -> None:
    study = make_study(trials=8)
    monkeypatch.setattr("apm.studies.engine.study.Store", Watched)
    with started(tmp_path / "first") as (told, scheduler):
        monkeypatch.setattr(Watched, "act", lambda _: scheduler.kill(), raising=False)
        with pytest.raises(StudyError, match=r"scheduler was lost.*run the same command again"):
            run_study(study, tmp_path / "dask", dask=str(told), progress=False)
    monkeypatch.undo()
    with started(tmp_path / "second") as (told, _):
        done = run_study(study, tmp_path / "dask", dask=str(told), progress=False)
    assert done.found >= 2
    assert done.found + done.ran == 16
    assert done.ran > 0
    assert done.repaired == ()
    run_study(study, tmp_path / "one", progress=False)
    assert_same(tmp_path / "dask", tmp_path / "one")
