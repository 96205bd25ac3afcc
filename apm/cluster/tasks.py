"""A list of independent tasks on a Dask cluster, a few under way at a time."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Mapping
from itertools import islice
from typing import Any

from apm.cluster.connection import ClusterError, connected
from apm.cluster.versions import require_same, versions

AHEAD = 4  # tasks under way for each thread of the cluster: none waits, and memory stays flat
LOOK_SECONDS = 5.0  # how often the threads are counted: workers may come and go


def on_dask(
    function: Callable[[Any], Any], tasks: Iterator[Any], dask: Any
) -> Generator[Any, None, None]:
    """`function` of every task on the cluster `dask` (see `connected`), as they finish.

    At most four tasks for each of the cluster's threads are under way. A task whose worker dies is
    run again on another by the scheduler. What a task raises is raised here.
    """
    with connected(dask) as client:
        from distributed import CancelledError, KilledWorker, as_completed
        from distributed.comm import CommClosedError

        expected, lost = versions(), (CancelledError, CommClosedError)
        flow: Any = as_completed(loop=client.loop)
        threads, looked, under_way = 1, -LOOK_SECONDS, 0
        try:
            while True:
                if time.monotonic() - looked >= LOOK_SECONDS:
                    threads, looked = sum(client.nthreads().values()), time.monotonic()
                room = AHEAD * max(1, threads) - under_way
                for task in islice(tasks, max(room, 0)):
                    flow.add(client.submit(_checked, function, task, expected, pure=False))
                    under_way += 1
                if not under_way:
                    return
                future = next(flow)
                under_way -= 1
                found = future.result()
                del future  # the cluster need not keep it
                yield found
        except KilledWorker as error:
            raise ClusterError(
                f"a task ended its worker again and again, often because memory ran out ({error})"
            ) from error
        except lost as error:
            raise ClusterError(f"the Dask scheduler was lost ({type(error).__name__})") from error


def _checked(function: Callable[[Any], Any], task: Any, expected: Mapping[str, str]) -> Any:
    from distributed import get_worker

    require_same(expected, get_worker().address)
    return function(task)
