"""Pools beyond memory: questions as multiples of reading the same bytes, and the memory they take.

    python benchmarks/bench_scale.py [rows] [columns]

Times are CPU seconds over those of reading the file, from the page cache into one buffer of a MiB
on one core: the mean of a reading just before and one just after, so that other work on the machine
slows both. The peak of memory is the kernel's own (VmHWM) of another process, less what it was
before the pool.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

LABELS = 20
READ = 1 << 20
CLUSTERS, SPREAD = 200, 0.3  # of the pool that is sorted by cluster
QUESTIONS = 12
LATER = 6  # questions after the first


def make(path: Path, rows: int, columns: int, *, clusters: int = 0) -> None:
    """Standard normal rows in single precision, or clusters of them in order; by pieces."""
    rng = np.random.default_rng(0)
    pool = np.lib.format.open_memmap(path, "w+", dtype=np.float32, shape=(rows, columns))
    centres = rng.standard_normal((max(clusters, 1), columns), dtype=np.float32)
    for start in range(0, rows, 100_000):
        part = pool[start : start + 100_000]
        part[:] = rng.standard_normal(part.shape, dtype=np.float32)
        if clusters:
            where = (np.arange(start, start + len(part)) * clusters) // rows
            part[:] = centres[where] + np.float32(SPREAD) * part
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


def rules() -> dict[str, Any]:
    """The rules that are measured; the first is the default of `Learner`."""
    from apm import APM, InformationGain, MaxVariance, PoolMaxPower, Predictions

    default = APM(PoolMaxPower(), message=Predictions())
    return {
        "default": default, "APM()": APM(), "InformationGain": InformationGain(),
        "MaxVariance": MaxVariance(),
    }  # fmt: skip


def beside(path: Path, function: Callable[[], Any]) -> tuple[float, Any]:
    """The CPU time of a call over that of reading the file before and after it, and its value."""
    before = least(lambda: read(path), 1)
    started = process_time()
    found = function()
    spent = process_time() - started
    return 2.0 * spent / (before + least(lambda: read(path), 1)), found


def asked(path: Path, learner: Any, n: int, repeats: int) -> Any:
    """The times of questions, each after another label."""
    found = []
    for _ in range(repeats):
        times, rows = beside(path, lambda: learner.ask(n))
        found.append(times)
        learner.tell(rows[:1], (learner.pool[rows[:1]][:, 0] > 0).astype(int))
    return np.array(found)


def measure(path: Path, columns: int) -> None:
    """Print the table; in a process of its own, so that its peak of memory is its own."""
    from apm import Learner, VariationalLogistic

    first = np.array(np.load(path, mmap_mode="r")[:LABELS])
    labels = (first[:, 0] > 0).astype(int)
    warm = np.random.default_rng(1).standard_normal((9_000, columns), dtype=np.float32)
    np.save(path.with_name("warm.npy"), warm)
    learner: Any = None
    for rule in rules().values():
        learner = Learner(path.with_name("warm.npy"), VariationalLogistic(), rule, seed=0)
        learner.tell(range(LABELS), labels)
        for _ in range(2):
            learner.tell(learner.ask(2)[:1], [1])
        learner.explain(LABELS + 10)
    Learner.load(learner.save(path.with_name("warm.npz")))
    learner = None
    before = peak()
    unit = least(lambda: read(path), 3)
    size = path.stat().st_size
    print(f"reading {size / 1e6:.0f} MB: {unit:.3f} CPU s, {size / unit / 1e9:.0f} GB/s")
    alone = least(lambda: products(path, columns), 2) / unit
    print(f"{'the matrix products alone':32s}{alone:8.1f}")
    for name, rule in rules().items():
        learner = None  # one pool at a time
        times, learner = beside(
            path, lambda rule=rule: Learner(path, VariationalLogistic(), rule, seed=0)
        )
        print(f"{name + ': make':32s}{times:8.1f}")
        learner.tell(range(LABELS), labels)
        one = float(asked(path, learner, 1, 1)[0])
        print(f"{name + ': first ask()':32s}{one:8.1f}")
        for n in (1, 3):
            found = asked(path, learner, n, LATER)
            middle, mean = np.median(found), found.mean()
            some = f"{middle:8.1f} median, {mean:.1f} mean:" + " ".join(f"{t:5.1f}" for t in found)
            print(f"{name + f': ask({n})':32s}{some}")
        learner = Learner(learner.pool, VariationalLogistic(), rule, seed=0)
        learner.pool.records = learner.pool.kept = None
        learner.tell(range(LABELS), labels)
        three = float(asked(path, learner, 3, 1)[0])
        print(f"{name + ': first ask(3)':32s}{three:8.1f}  {three / one:.2f} of first ask()")
        print(f"{'memory on top so far, MB':32s}{peak() - before:8.1f}")
    times, _ = beside(path, lambda: learner.explain(LABELS + 1))
    print(f"{'MaxVariance: explain':32s}{times:8.1f}")
    learner = Learner(learner.pool, VariationalLogistic(), seed=0)
    learner.tell(range(LABELS), labels)
    times, _ = beside(path, lambda: learner.explain(LABELS + 1))
    print(f"{'default: explain':32s}{times:8.1f}")
    file = path.with_suffix(".learner.npz")
    times, _ = beside(path, lambda: learner.save(file))
    print(f"{'save':32s}{times:8.1f}  {os.path.getsize(file)} bytes")
    learner = None
    print(f"{'load':32s}{beside(path, lambda: Learner.load(file))[0]:8.1f}")
    print(f"{'memory on top at the end, MB':32s}{peak() - before:8.1f}")


def tiles_read(path: Path, kind: str) -> None:
    """Print which part of the tiles questions read after the first, with a label between."""
    from apm import Learner, Uncertainty, VariationalLogistic
    from apm.pools.files import RawFile

    source: Any = RawFile.npy(path)
    counted, whole = [], source._from

    def counting(file: Any, start: int, stop: int, into: Any) -> Any:
        counted.append(stop - start)
        return whole(file, start, stop, into)

    source._from = counting
    rng = np.random.default_rng(2)
    for name, rule in {**rules(), "Uncertainty": Uncertainty()}.items():
        learner = Learner(source, VariationalLogistic(), rule, seed=0)
        rows = rng.choice(len(learner.pool), LABELS, replace=False)
        weights = rng.normal(size=learner.pool.shape[1])
        learner.tell(rows, (learner.pool[rows] @ weights > 0).astype(int))
        shares = []
        for _ in range(QUESTIONS):
            counted.clear()
            row = learner.ask()
            shares.append(sum(counted) / len(learner.pool))
            learner.tell(row, (learner.pool[row] @ weights > 0).astype(int))
        later = shares[1:]
        line = f"{kind + ', ' + name + ': tiles read':42s}"
        print(f"{line}{np.median(later):6.2f} median, {min(later):.2f} to {max(later):.2f}")


def main(rows: int = 1_000_000, columns: int = 64) -> None:
    """Write pools and measure them in another process."""
    one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "pool.npy")

        def run(what: str, more: str) -> None:
            command = [sys.executable, __file__, what, str(path), more]
            subprocess.run(command, check=True, env={**os.environ, **one})

        make(path, rows, columns)
        run("--measure", str(columns))
        make(path, min(rows, 1_000_000), columns)
        run("--tiles", "normal")
        make(path, min(rows, 1_000_000), columns, clusters=CLUSTERS)
        run("--tiles", "clusters")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        measure(Path(sys.argv[2]), int(sys.argv[3]))
    elif sys.argv[1:2] == ["--tiles"]:
        tiles_read(Path(sys.argv[2]), sys.argv[3])
    else:
        main(*(int(argument) for argument in sys.argv[1:3]))
