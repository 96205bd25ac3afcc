"""How long the imports take, beside `import numpy, scipy.special`, and the first calls.

A first call compiles what it needs; the next process loads it from the disk. Every figure is from
fresh interpreters, run in turn so that a busy moment hits all alike.
Aim: imports within 0.15 s on top of numpy and scipy.special.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
BASELINE = "import numpy, scipy.special"
AIM = 0.15

# A package may load its names late, and then `import apm` alone costs nothing: the last two rows of
# the project ask for every public name, which is the most a user can pay before the first call.
EVERY_NAME = "import {0}; [getattr({0}, name) for name in getattr({0}, '__all__', ())]"
IMPORTS = {
    "numpy, scipy.special": BASELINE,
    "channelcode": f"{BASELINE}; import channelcode",
    "apm": f"{BASELINE}; import apm",
    "channelcode, all names": f"{BASELINE}; {EVERY_NAME.format('channelcode')}",
    "apm, all names": f"{BASELINE}; {EVERY_NAME.format('apm')}",
    "numba": f"{BASELINE}; import numba",
}

KERNEL = """
from channelcode._kernels.jit import kernel

@kernel
def rows(values, weights):
    total = 0.0
    for i in range(values.shape[0]):
        for j in range(values.shape[1]):
            total += weights[i] * values[i, j] ** 2
    return total
"""
FIRST_CALL = "rows(numpy.ones((3, 2)), numpy.ones(3))"

# What a user may call first: (setup, statement). Each is timed from an empty cache and from a full.
LEARNER = """
import numpy as np
from apm import Learner, VariationalLogistic
rng = np.random.default_rng(0)
pool = rng.normal(size=(500, 5))
labels = (pool @ [2.0, -1.0, 0.5, 0.0, 0.0] > 0).astype(int)
def first():
    learner = Learner(pool, VariationalLogistic(), seed=0)
    for _ in range(3):
        row = int(learner.ask())
        learner.tell(row, labels[row])
    return learner
"""
CALLS = {
    "first ask and tell": (LEARNER, "first()"),
    "Learner.run after it": (LEARNER + "learner = first()", "learner.run(labels, 5)"),
    "capacity, ordinal": (
        "from channelcode import Ordinal, Power, capacity",
        "capacity(Ordinal((-1.0, 1.0)), Power(16.0))",
    ),
    "w2 in the plane": (
        "import numpy as np; from channelcode import DiscreteMeasure, Gaussian, w2",
        "w2(Gaussian([0, 0], np.eye(2)), DiscreteMeasure([[0, 1], [1, 0], [0, 0]], np.ones(3)/3))",
    ),
    "w2 of samples": (
        "import numpy as np; from channelcode import DiscreteMeasure, Empirical, w2\n"
        "x = np.random.default_rng(0).normal(size=(55, 3))",
        "w2(Empirical(x[:50]), DiscreteMeasure(x[50:], np.ones(5) / 5))",
    ),
}


def seconds(
    statement: str, *, setup: str = "pass", clock: str = "perf_counter", **environment: str
) -> float:
    """Time one statement in an interpreter of its own."""
    program = (
        f"import time\n{setup}\nstart = time.{clock}()\n{statement}\nprint(time.{clock}() - start)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return float(done.stdout)


def bench_imports(repeats: int) -> None:
    times: dict[str, list[float]] = {name: [] for name in IMPORTS}
    for statement in IMPORTS.values():
        seconds(statement)  # write the bytecode
    for _ in range(repeats):
        for name, statement in IMPORTS.items():
            times[name].append(seconds(statement))
    base = times["numpy, scipy.special"]
    print(f"{'import':<24}{'best s':>9}{'median s':>10}{'on top':>9}")
    for name, values in times.items():
        # The median of the differences within a round: a busy spell falls on both sides of it.
        extra = statistics.median(value - zero for value, zero in zip(values, base, strict=True))
        verdict = ""
        if name in ("channelcode", "apm"):
            verdict = f"  within {AIM} s" if extra < AIM else f"  OVER {AIM} s"
        row = f"{name:<24}{min(values):>9.3f}{statistics.median(values):>10.3f}{extra:>9.3f}"
        print(row + verdict)


def bench_first_call(repeats: int) -> None:
    """Compile on an empty cache, then load what was stored."""
    cold, warm = [], []
    with tempfile.TemporaryDirectory() as folder:
        module = Path(folder) / "rows_kernel.py"
        module.write_text(KERNEL)
        setup = f"import sys, numpy; sys.path.insert(0, {folder!r}); from rows_kernel import rows"
        cache = Path(folder) / "cache"
        for _ in range(repeats):
            shutil.rmtree(cache, ignore_errors=True)
            cold.append(seconds(FIRST_CALL, setup=setup, NUMBA_CACHE_DIR=str(cache)))
            warm.append(seconds(FIRST_CALL, setup=setup, NUMBA_CACHE_DIR=str(cache)))
    print(f"\n{'first call of a kernel':<24}{'best s':>9}{'median s':>10}")
    for name, values in (("compiled", cold), ("from disk", warm)):
        print(f"{name:<24}{min(values):>9.3f}{statistics.median(values):>10.3f}")


def bench_calls(repeats: int) -> None:
    """CPU seconds of whole first calls, numba's own import among them."""
    print(f"\n{'first call, CPU seconds':<24}{'compiled':>9}{'from disk':>10}")
    for name, (setup, statement) in CALLS.items():
        cold, warm = [], []
        for _ in range(repeats):
            with tempfile.TemporaryDirectory() as cache:
                for times in (cold, warm):
                    times.append(
                        seconds(
                            statement,
                            setup=setup,
                            clock="process_time",
                            NUMBA_CACHE_DIR=cache,
                            OMP_NUM_THREADS="1",
                        )
                    )
        print(f"{name:<24}{statistics.median(cold):>9.2f}{statistics.median(warm):>10.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=7)
    repeats = parser.parse_args().repeats
    bench_imports(repeats)
    bench_first_call(max(1, repeats // 2))
    bench_calls(max(1, repeats // 5))


if __name__ == "__main__":
    main()
