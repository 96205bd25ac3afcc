"""The study: seconds per run, where they go, a second worker, memory, start-up; `--full` for all.

Aims: the full study under 600 s on two cores; two workers at least 1.8 times as fast as one; memory
flat in the number of trials; the first trial stored within 5 s of the start with warm kernels.

The gain from a second worker includes its start, some 0.7 s, so it needs enough work: with 60
trials of three sets it was 1.90 (41.8 s and 22.1 s, quiet machine with two cores), with 30 trials
1.79, with 12 trials 1.59.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

from apm.studies import Study, reproduce, run_study  # noqa: E402
from apm.studies.engine.store import Store  # noqa: E402
from apm.studies.paper.protocol import plan_study  # noqa: E402
from apm.studies.paper.results import SECONDS, read_sheets, where_time_goes  # noqa: E402

ROOT = Path(__file__).parent.parent
SETS = ("letterDP", "cross", "wdbc", "vehicle-cars")


def costs(folder: Path, data: str | None) -> None:
    """CPU milliseconds per run of each method and data set, and the shares of a study's time."""
    plans = plan_study(trials=4, datasets=SETS, data_dir=data)
    warm = Study(plan_study(trials=1, datasets=SETS, data_dir=data))
    run_study(warm, folder / "warm", progress=False)
    outcome = run_study(Study(plans), folder / "costs", progress=False)
    sheets = read_sheets(plans, Store(folder / "costs"))
    print(f"{'CPU ms per run':18s}" + "".join(f"{name:>16s}" for name in sheets))
    rows: dict[str, dict[str, float]] = defaultdict(dict)
    for name, sheet in sheets.items():
        for place, method in enumerate(sheet.methods):
            spent = [sheet.arrays[kind][place] for kind in SECONDS]
            total = sum(part[part == part].sum() for part in spent) / plans[0].trials
            rows[method][name] = 1000 * float(total)
    for method, found in rows.items():
        cells = "".join(f"{found[n]:16.1f}" if n in found else f"{'-':>16s}" for n in sheets)
        print(f"{method:18s}{cells}")
    shares = where_time_goes(sheets, outcome.cpu_seconds)
    total = sum(shares.values())
    print(
        "where the time goes: "
        + ", ".join(f"{k} {100 * v / total:.0f} %" for k, v in shares.items())
    )


def workers(folder: Path, trials: int) -> None:
    """Wall-clock time with one worker and with two, start-up of the workers included."""
    seconds = []
    for count in (1, 2):
        study = Study(plan_study(trials=trials, datasets=("letterDP", "cross", "wdbc")))
        begin = time.perf_counter()
        run_study(study, folder / f"workers{count}", workers=count, progress=False)
        seconds.append(time.perf_counter() - begin)
    gain = seconds[0] / seconds[1]
    times = f"1 worker {seconds[0]:.1f} s, 2 workers {seconds[1]:.1f} s"
    print(f"{trials} trials x 3 sets: {times}: {gain:.2f} x (aim 1.8)")


CHILD = """
import resource, sys
from apm.studies import Study, run_study
from apm.studies.paper.protocol import plan_study
plans = plan_study(trials=int(sys.argv[2]), datasets=("cross",), methods=("APM-LR", "Random"))
run_study(Study(plans), sys.argv[1], progress=False)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def memory(folder: Path) -> None:
    """Peak resident memory of a process against the number of trials."""
    peaks = {}
    for trials in (10, 400):
        command = [sys.executable, "-c", CHILD, str(folder / f"memory{trials}"), str(trials)]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
        peaks[trials] = int(done.stdout.split()[-1]) / 1024
    print("peak memory: " + ", ".join(f"{t} trials {mb:.0f} MB" for t, mb in peaks.items()))


def start_up(folder: Path) -> None:
    """From a fresh interpreter to the first stored trial, kernels in the cache."""
    begin = time.perf_counter()
    command = [sys.executable, "-c", CHILD, str(folder / "start"), "1"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run(command, capture_output=True, check=True, env=environment)
    print(f"start-up to the first trial: {time.perf_counter() - begin:.1f} s (aim 5)")


def full(out: Path, count: int, data: str | None) -> None:
    """The whole study with its report."""
    begin = time.perf_counter()
    result = reproduce(out, workers=count, data_dir=data)
    seconds = time.perf_counter() - begin
    total = sum(result.time_shares.values()) or 1.0
    shares = ", ".join(f"{k} {100 * v / total:.0f} %" for k, v in result.time_shares.items())
    spent, rest = result.outcome.cpu_seconds, seconds - result.outcome.seconds
    print(f"full study, {count} workers: {seconds:.0f} s (aim 600), {spent:.0f} CPU s in trials")
    print(f"trials {result.outcome.seconds:.0f} s; statistics, figures, report {rest:.0f} s")
    print(f"where the CPU time goes: {shares}")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak memory of the main process {peak:.0f} MB; report: {result.report}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", metavar="OUT", help="run the whole study into this folder")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument(
        "--trials", type=int, default=60, help="trials for the comparison of workers"
    )
    parser.add_argument("--data", help="folder with UCI originals")
    options = parser.parse_args()
    if options.full:
        full(Path(options.full), options.workers, options.data)
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        costs(folder, options.data)
        workers(folder, options.trials)
        memory(folder)
        start_up(folder)


if __name__ == "__main__":
    main()
