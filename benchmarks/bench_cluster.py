"""A pool on a Dask cluster of two processes: time and bytes of a question, scored there or fetched.

    python benchmarks/bench_cluster.py [rows] [columns]

`bytes sent` are what the workers sent each other and what this machine's loopback carried while
the question ran (other traffic of the machine included). "fetched" reads every partition into the
asking process, as the library did before pools were scored where they lie.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import numpy as np  # noqa: E402

from apm import APM, Learner, VariationalLogistic  # noqa: E402
from apm.pools import StreamedRows  # noqa: E402
from apm.pools.partitions import DaskRows  # noqa: E402

LABELS = 20
REPEATS = 3


def sent(dask_worker: Any) -> int:
    """The bytes that a worker has sent to others; runs there."""
    return dask_worker.transfer_outgoing_bytes_total


def loopback() -> int:
    """The bytes that the loopback device has carried."""
    for line in Path("/proc/net/dev").read_text().splitlines():
        name, _, numbers = line.partition(":")
        if name.strip() == "lo":
            return int(numbers.split()[8])
    return 0


def told(pool: Any, labels: Any) -> Learner:
    learner = Learner(pool, VariationalLogistic(), APM(), seed=0)
    learner.tell(range(LABELS), labels[:LABELS])
    return learner


def measure(name: str, learner: Learner, client: Any, expected: int | None) -> int:
    best, between, carried, row = np.inf, 0, 0, -1
    for _ in range(REPEATS):
        workers, lo, begin = sum(client.run(sent).values()), loopback(), time.perf_counter()
        row = int(learner.ask())
        seconds = time.perf_counter() - begin
        if seconds < best:
            best, carried = seconds, loopback() - lo
            between = sum(client.run(sent).values()) - workers
        learner.skip(row)
        learner.undo()
    same = "" if expected in (None, row) else f" BUT ROW {row}, NOT {expected}"
    print(f"{name:34s} {best:8.3f} s {between:12,} {carried:14,}{same}")
    return row


def main(rows: int, columns: int) -> None:
    import dask.array as array
    from distributed import Client, LocalCluster

    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "pool.npy")
        X = rng.normal(size=(rows, columns)).astype(np.float32)
        np.save(path, X)
        labels = (X[:, 0] > 0).astype(int)
        height = max(1, rows // 8 + 1)  # no multiple of a tile

        def part(block_info: Any = None) -> Any:
            (first, last), _ = block_info[None]["array-location"]
            return np.array(np.load(path, mmap_mode="r")[first:last])

        heights = tuple(min(height, rows - start) for start in range(0, rows, height))
        options: dict[str, Any] = {
            "dashboard": False, "dashboard_address": "127.0.0.1:0"}  # fmt: skip
        no_dashboard: dict[str, Any] = {"dashboard_address": None}
        with (
            LocalCluster(
                n_workers=2, threads_per_worker=1, host="127.0.0.1", memory_limit=0,
                scheduler_kwargs=options, **no_dashboard,
            ) as cluster,
            Client(cluster) as client,
        ):  # fmt: skip
            on_disk = array.map_blocks(part, chunks=(heights, (columns,)), dtype=np.float32)
            chunks: Any = (height, columns)
            here = array.from_array(X, chunks=chunks)
            print(f"{rows:,} x {columns} float32, {X.nbytes:,} bytes, two processes")
            print(f"{'one question of APM()':34s} {'time':>10s} {'between':>12s} {'loopback':>14s}")
            row = measure("memory", told(X, labels), client, None)
            row = measure("stream from the file", told(str(path), labels), client, row)
            measure("on disk, scored there", told(on_disk, labels), client, row)
            measure("on disk, fetched", told(StreamedRows(DaskRows(on_disk)), labels), client, row)
            measure("from_array, scored there", told(here, labels), client, row)
            measure("from_array, fetched", told(StreamedRows(DaskRows(here)), labels), client, row)


if __name__ == "__main__":
    main(*[int(float(word)) for word in sys.argv[1:3]] or [1_000_000, 64])
