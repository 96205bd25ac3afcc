"""Pools beyond memory: questions as multiples of reading the same bytes, and the memory they take.

    python benchmarks/bench_scale.py [rows] [columns]

Times are CPU seconds, least of repeats, over those of reading the file once in the same run. The
peak of memory is the kernel's own (VmHWM) of another process, less what it was before the pool.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

LABELS = 20
READ = 1 << 20


def make(path: Path, rows: int, columns: int) -> None:
    """Standard normal rows in single precision, written by pieces."""
    rng = np.random.default_rng(0)
    pool = np.lib.format.open_memmap(path, "w+", dtype=np.float32, shape=(rows, columns))
    for start in range(0, rows, 100_000):
        part = pool[start : start + 100_000]
        part[:] = rng.standard_normal(part.shape, dtype=np.float32)
    pool.flush()


def read(path: Path) -> None:
    """Read every byte of the file into one small buffer."""
    into = memoryview(bytearray(READ))
    with open(path, "rb", buffering=0) as file:
        while file.readinto(into):
            pass


def least(function: Callable[[], Any], repeats: int) -> float:
    """The least CPU seconds of several calls."""
    found = []
    for _ in range(repeats):
        started = process_time()
        function()
        found.append(process_time() - started)
    return min(found)


def peak() -> float:
    """The largest resident memory of this process so far, in MB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


def products(path: Path, columns: int) -> None:
    """The matrix products of one question alone, on a tile that stays in the cache."""
    rows = (path.stat().st_size - 128) // (4 * columns)
    tile = np.ones((4096, columns), dtype=np.float32)
    factor = np.ones((columns, columns), dtype=np.float32)
    for _ in range(rows // len(tile)):
        _ = tile @ factor


def measure(path: Path, columns: int) -> None:
    """Print the table; in a process of its own, so that its peak of memory is its own."""
    from apm import APM, InformationGain, Learner, VariationalLogistic

    first = np.array(np.load(path, mmap_mode="r")[:LABELS])
    labels = (first[:, 0] > 0).astype(int)
    warm = np.random.default_rng(1).normal(size=(40_000, columns)).astype(np.float32)
    for rule in (APM(), InformationGain()):
        learner = Learner(warm, VariationalLogistic(), rule, seed=0)
        learner.tell(range(LABELS), labels)
        learner.ask(2)
        learner.explain(30)
    del warm, learner
    before = peak()
    unit = least(lambda: read(path), 3)
    print(f"reading {path.stat().st_size / 1e6:.0f} MB: {unit:.3f} CPU s")
    print(
        f"{'the matrix products alone':32s}{least(lambda: products(path, columns), 2) / unit:8.1f}"
    )
    for rule in (APM(), InformationGain()):
        started = process_time()
        learner = Learner(path, VariationalLogistic(), rule, seed=0)
        print(f"{type(rule).__name__ + ': make':32s}{(process_time() - started) / unit:8.1f}")
        learner.tell(range(LABELS), labels)
        for name, call, repeats in (
            ("ask()", learner.ask, 2),
            ("ask(3)", partial(learner.ask, 3), 1),
            ("explain", partial(learner.explain, LABELS + 1), 1),
        ):
            print(f"{type(rule).__name__ + ': ' + name:32s}{least(call, repeats) / unit:8.1f}")
        print(f"{'memory on top so far, MB':32s}{peak() - before:8.1f}")
    file = path.with_suffix(".learner.npz")
    started = process_time()
    learner.save(file)
    print(f"{'save':32s}{(process_time() - started) / unit:8.1f}  {os.path.getsize(file)} bytes")
    started = process_time()
    Learner.load(file)
    print(f"{'load':32s}{(process_time() - started) / unit:8.1f}")
    print(f"{'memory on top at the end, MB':32s}{peak() - before:8.1f}")


def main(rows: int = 1_000_000, columns: int = 64) -> None:
    """Write a pool and measure it in another process."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "pool.npy")
        make(path, rows, columns)
        one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
        command = [sys.executable, __file__, "--measure", str(path), str(columns)]
        subprocess.run(command, check=True, env={**os.environ, **one})


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        measure(Path(sys.argv[2]), int(sys.argv[3]))
    else:
        main(*(int(argument) for argument in sys.argv[1:3]))
