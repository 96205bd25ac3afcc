"""A client of a Dask cluster, whose workers have the versions of this process."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from apm.cluster.versions import VersionMismatch, differences, told, versions
from channelcode.errors import ChannelCodeError, InvalidArgument, MissingExtra

PATIENCE = "30s"  # for a scheduler to answer


class ClusterError(ChannelCodeError):
    """A cluster could not be reached or was lost; the message says what to do."""


@contextmanager
def connected(dask: Any) -> Iterator[Any]:
    """A client for `dask`, all of whose workers have the versions of this process.

    `dask` is a scheduler's address ("tcp://host:8786"), the path of a scheduler file (".json"), a
    cluster object (`LocalCluster`, `SLURMCluster`, `KubeCluster`) or a `distributed.Client`. What
    is opened here is closed here; a client that was given stays open.
    """
    try:
        from distributed import Client
    except ImportError:
        raise MissingExtra("dask.distributed", "dask") from None
    if isinstance(dask, Client):
        require_same_versions(dask)
        yield dask
        return
    if not isinstance(dask, str) and not hasattr(dask, "scheduler_address"):
        rule = "must be a scheduler's address, a scheduler file, a cluster or a client"
        raise InvalidArgument("dask", rule, dask)
    try:
        is_file = isinstance(dask, str) and dask.endswith(".json")
        if is_file:
            os.stat(dask)  # a client would wait for it without end
        where: dict[str, Any] = {"scheduler_file": dask} if is_file else {"address": dask}
        client = Client(**where, timeout=PATIENCE, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise ClusterError(f"no Dask scheduler answers at {dask}: {error}") from error
    with client:
        require_same_versions(client)
        yield client


def require_same_versions(client: Any) -> None:
    """Raise `VersionMismatch` if a worker lacks this package or has other versions.

    Workers that come later are asked when their first task begins.
    """
    answers: dict[str, Any] = client.run(versions, on_error="return")
    here, found = versions(), {}
    for worker, answer in answers.items():
        if isinstance(answer, BaseException):
            found[worker] = [f"{type(answer).__name__}: {answer}"]
        elif what := differences(here, answer):
            found[worker] = what
    if found:
        raise VersionMismatch(told(found))
