"""A list of tasks on a cluster: all are done, few are under way, and losses are told."""

from __future__ import annotations

import os
import signal

import pytest

from apm.cluster import tasks as module
from apm.cluster.connection import ClusterError
from apm.cluster.tasks import AHEAD, on_dask
from apm.cluster.versions import VersionMismatch, versions
from tests.apm.clusters import local_cluster


def square(task):
    return task**2


def unlucky(task):
    raise OSError(f"disk full at {task}")


def deadly(task):
    os.kill(os.getpid(), signal.SIGKILL)


def test_at_most_four_tasks_for_each_thread():
    taken = []

    def tasks():
        for task in range(30):
            taken.append(task)
            yield task

    with local_cluster(2, processes=False) as cluster:
        found = []
        for value in on_dask(square, tasks(), cluster):
            found.append(value)
            assert len(taken) <= len(found) + 2 * AHEAD
    assert sorted(found) == [task**2 for task in range(30)]


def test_what_a_task_raises_is_raised_and_nothing_hangs():
    with local_cluster(1, processes=False) as cluster:
        with pytest.raises(OSError, match="disk full at 0"):
            list(on_dask(unlucky, iter([0]), cluster))
        assert list(on_dask(square, iter([]), cluster)) == []
        few = on_dask(square, iter(range(99)), cluster)
        next(few)
        few.close()  # as Ctrl-C does
        assert sorted(on_dask(square, iter(range(3)), cluster)) == [0, 1, 4]


def test_a_worker_that_comes_later_is_asked_too(monkeypatch):
    """The first question is passed, and the task itself refuses."""
    wrong = versions() | {"numpy": "1.0"}
    monkeypatch.setattr(module, "versions", lambda: wrong)
    told = r"numpy 1\.0 here"
    with local_cluster(1, processes=False) as cluster, pytest.raises(VersionMismatch, match=told):
        list(on_dask(square, iter([1]), cluster))


@pytest.mark.slow
def test_a_task_that_ends_every_worker():
    import dask

    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        local_cluster(1) as cluster,
        pytest.raises(ClusterError, match="ended its worker again and again"),
    ):
        list(on_dask(deadly, iter([1]), cluster))
