"""Clusters that the tests start: loopback only, no dashboard, always closed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

PATIENCE = 120  # seconds for what takes one on a quiet machine


@contextmanager
def local_cluster(workers: int = 2, *, processes: bool = True) -> Iterator[Any]:
    """A cluster of this machine with one thread for each worker."""
    distributed = pytest.importorskip("distributed", reason="dask.distributed is not installed")
    import dask

    with (
        dask.config.set({
            "distributed.comm.timeouts.connect": f"{PATIENCE}s",
            "distributed.comm.timeouts.tcp": f"{PATIENCE}s",
            "distributed.deploy.lost-worker-timeout": f"{PATIENCE}s",
        }),
        distributed.LocalCluster(
            n_workers=workers, threads_per_worker=1, processes=processes, host="127.0.0.1", protocol="tcp://",
            dashboard_address=None, memory_limit=0, silence_logs=50,
            # port 0: the scheduler's own page, without the dashboard, takes any free port
            scheduler_kwargs={"dashboard": False, "dashboard_address": "127.0.0.1:0"},
            worker_dashboard_address=None,
        ) as cluster,
    ):  # fmt: skip
        yield cluster


@contextmanager
def local_client(workers: int = 2, *, processes: bool = True) -> Iterator[Any]:
    """A client of such a cluster, which Dask computes with by default."""
    with local_cluster(workers, processes=processes) as cluster:
        from distributed import Client

        with Client(cluster, timeout=f"{PATIENCE}s") as client:
            client.wait_for_workers(workers, timeout=PATIENCE)
            yield client
