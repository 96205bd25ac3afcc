"""Trials on a Dask cluster (the extra `dask`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from channelcode.errors import ChannelCodeError, MissingExtra


def on_dask(function: Callable[[Any], Any], tasks: Iterator[Any], address: str) -> Iterator[Any]:
    """`function` of every task on the cluster at `address` ("tcp://host:8786"), as they finish.

    At most four tasks for each of the cluster's threads are under way, so that memory stays flat.
    """
    try:
        from distributed import Client, as_completed
    except ImportError:
        raise MissingExtra("dask.distributed", "dask") from None
    try:
        client = Client(address, timeout="10s")
    except (OSError, TimeoutError, ValueError) as error:
        raise ChannelCodeError(f"no Dask scheduler answers at {address}: {error}") from error
    with client:
        ahead = 4 * max(1, sum(client.nthreads().values()))
        first = [client.submit(function, task, pure=False) for task in islice(tasks, ahead)]
        finished = as_completed(first)
        for future in finished:
            yield future.result()
            for task in islice(tasks, 1):
                finished.add(client.submit(function, task, pure=False))
