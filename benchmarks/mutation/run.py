"""Would the tests notice? Mutants of the library, each run against the tests that stand closest.

    python benchmarks/mutation/run.py --count 320 --seed 0 --out mutants.jsonl

The tree is copied, and a mutant is made in the copy only. A parent imports what is heavy once and
forks a child for each run of pytest, so that a mutant costs seconds. A mutant is caught when a
test fails, cannot be collected, or does not end in time. Results are added to the file line by
line, and a run that was interrupted goes on where it stopped. `--again` runs the survivors of the
file once more. A first pass with `--stages 1 --examples 10 --budget 10` is quick; `--again` then
asks the
wider tests about what is left.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks.mutation.mutate import Mutant, mutants  # noqa: E402
from benchmarks.mutation.nearest import SUBJECTS, stages  # noqa: E402

SECONDS = 600  # for one stage of tests: a mutant may loop for ever
LEAST = 16  # mutants of the smallest subject


def sampled(count: int, seed: int, only: str) -> list[Mutant]:
    """Mutants from every subject, in proportion to its size but at least `LEAST` of each."""
    rng = random.Random(seed)
    pools: dict[str, list[Mutant]] = {}
    for subject, patterns in SUBJECTS.items():
        files = sorted(path for pattern in patterns for path in ROOT.glob(pattern))
        pools[subject] = [
            mutant
            for path in files
            for mutant in mutants(str(path.relative_to(ROOT)), path.read_text())
        ]
    total = sum(map(len, pools.values()))
    chosen: list[Mutant] = []
    for subject, pool in pools.items():
        share = max(LEAST, round(count * len(pool) / total))
        rng.shuffle(pool)
        if only in subject:
            chosen += islice(filter(compiles, pool), share)
    rng.shuffle(chosen)
    return chosen


class Quickest:
    """A plugin of pytest: quick tests first, and no more than fit into `budget` seconds.

    The run without a mutant leaves the seconds of each test in a file.
    """

    def __init__(self, file: Path, budget: float) -> None:
        self.file, self.budget = file, budget
        self.known: dict[str, float] = json.loads(file.read_text()) if file.is_file() else {}

    def pytest_collection_modifyitems(self, config: Any, items: list[Any]) -> None:
        items.sort(key=lambda item: self.known.get(item.nodeid, 0.0))
        spent, kept = 0.0, 0
        for item in items:
            spent += self.known.get(item.nodeid, 0.0)
            kept += spent <= self.budget
        config.hook.pytest_deselected(items=items[kept:])
        del items[max(kept, 1) :]

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.nodeid not in self.known or report.when != "call":
            self.known[report.nodeid] = self.known.get(report.nodeid, 0.0) + report.duration

    def pytest_sessionfinish(self) -> None:
        if not os.environ.get("MUTANT_PATH"):
            self.file.write_text(json.dumps(self.known))


def _fewer_examples(most: int) -> None:
    """Let Hypothesis draw at most so many examples a test; 0 leaves it as it is."""
    if not most:
        return
    from hypothesis import settings

    begin: Any = settings.__init__

    def brief(self: Any, *args: Any, **options: Any) -> None:
        if isinstance(options.get("max_examples"), int):
            options["max_examples"] = min(options["max_examples"], most)
        begin(self, *args, **options)

    settings.__init__ = brief  # type: ignore[method-assign]
    settings.register_profile("brief", max_examples=most)
    settings.load_profile("brief")


def compiles(mutant: Mutant) -> bool:
    """Whether the changed file is Python at all."""
    try:
        compile(mutant.applied((ROOT / mutant.path).read_text()), mutant.path, "exec")
    except (SyntaxError, ValueError):
        return False
    return True


def run_tests(tree: Path, files: Iterable[str]) -> str:
    """`passed`, `failed`, or `out of time`, from a child of its own."""
    child = os.fork()
    if child == 0:
        _test_in_child(tree, [*files])
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return "passed" if os.waitstatus_to_exitcode(status) in (0, 5) else "failed"
        time.sleep(0.05)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return "out of time"


def _test_in_child(tree: Path, files: list[str]) -> None:
    os.setpgid(0, 0)
    os.chdir(tree)
    sys.path[:] = [str(tree), *(place for place in sys.path if place != str(ROOT))]
    os.environ["PYTHONPATH"] = str(tree)
    for name in [n for n in sys.modules if n.split(".")[0] in ("benchmarks", "tests")]:
        del sys.modules[name]
    silent = os.open(os.environ.get("MUTANT_LOG", os.devnull), os.O_RDWR | os.O_CREAT | os.O_APPEND)
    for stream in (0, 1, 2):
        os.dup2(silent, stream)
    _fewer_examples(int(os.environ.get("MUTANT_EXAMPLES", "0")))
    import pytest

    options = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-m", "not slow"]
    # hypothesis is imported already, by the parent
    options += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]
    code, order = 1, Quickest(Path(os.environ["MUTANT_TIMES"]), float(os.environ["MUTANT_BUDGET"]))
    try:
        code = int(pytest.main([*options, *files], plugins=[order]))
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


_sound: dict[str, bool] = {}


def passes(tree: Path, files: list[str]) -> bool:
    """Whether these tests pass without a mutant; asked once. Others could catch nothing."""
    name = " ".join(files)
    if name not in _sound:
        began = time.monotonic()
        _sound[name] = (outcome := run_tests(tree, files)) == "passed"
        print(
            f"{time.monotonic() - began:6.1f} s {outcome:8s} without a mutant: {name}", flush=True
        )
    return _sound[name]


def judged(tree: Path, mutant: Mutant, most: int) -> dict[str, Any]:
    """What became of a mutant: caught by which stage, or survived."""
    place, source = tree / mutant.path, (ROOT / mutant.path).read_text()
    record: dict[str, Any] = {**mutant._asdict(), "shown": mutant.shown(source)}
    nearest = list(islice(stages(ROOT, mutant.path), most))
    usable = [files for files in nearest if passes(tree, files)]
    began = time.monotonic()
    place.write_text(mutant.applied(source))
    os.environ["MUTANT_PATH"] = mutant.path
    try:
        record["verdict"] = "survived"
        for number, files in enumerate(usable):
            outcome = run_tests(tree, files)
            if outcome != "passed":
                record.update(verdict="caught", stage=number, outcome=outcome)
                break
    finally:
        place.write_text(source)
        del os.environ["MUTANT_PATH"]
    record["seconds"] = round(time.monotonic() - began, 1)
    return record


def copied() -> Path:
    """A copy of the tree, with its compiled kernels, outside of it."""
    tree = Path(tempfile.mkdtemp(prefix="mutants-"))
    for name in ("channelcode", "apm", "tests", "benchmarks", "docs", "examples"):
        shutil.copytree(ROOT / name, tree / name)
    for path in ROOT.iterdir():
        if path.is_file():
            shutil.copy2(path, tree / path.name)
    return tree


def warm_up() -> None:
    """Import what every test needs and the library does not own."""
    os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MPLBACKEND="Agg", CI="true")
    sys.dont_write_bytecode = True
    import hypothesis.extra.numpy
    import mpmath
    import numba
    import ot
    import pytest
    import scipy.optimize
    import scipy.stats

    _ = hypothesis, mpmath, numba, ot, pytest, scipy


def summary(records: list[dict[str, Any]]) -> None:
    """The count, by subject, and the survivors."""
    caught = [record for record in records if record["verdict"] == "caught"]
    share = len(caught) / max(1, len(records))
    print(f"caught {len(caught)} of {len(records)} ({share:.1%})")
    kinds = Counter(record["kind"] for record in records)
    missed = Counter(record["kind"] for record in records if record["verdict"] != "caught")
    print(", ".join(f"{kind} {missed[kind]}/{number}" for kind, number in kinds.most_common()))
    for record in sorted(records, key=lambda record: record["shown"]):
        if record["verdict"] != "caught":
            print("  survived:", record["shown"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=320)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="subjects whose name contains this")
    parser.add_argument("--out", type=Path, default=Path("mutants.jsonl"))
    parser.add_argument("--again", action="store_true", help="run the survivors of --out again")
    parser.add_argument("--stages", type=int, default=9, help="run at most this many")
    parser.add_argument("--examples", type=int, default=0, help="of Hypothesis, at most")
    parser.add_argument("--budget", type=float, default=60.0, help="seconds of tests in a stage")
    parser.add_argument("--list", action="store_true", help="show the result, run nothing")
    options = parser.parse_args()
    lines = options.out.read_text().splitlines() if options.out.exists() else []
    done = {record["shown"]: record for record in map(json.loads, lines)}
    if options.list:
        summary([*done.values()])
        return
    os.environ["MUTANT_EXAMPLES"] = str(options.examples)
    os.environ["MUTANT_BUDGET"] = str(options.budget)
    os.environ["MUTANT_TIMES"] = str(options.out.resolve().with_suffix(".times.json"))
    warm_up()
    chosen = sampled(options.count, options.seed, options.only)
    tree = copied()
    try:
        for mutant in chosen:
            shown = mutant.shown((ROOT / mutant.path).read_text())
            if shown in done and not (options.again and done[shown]["verdict"] == "survived"):
                continue
            record = done[shown] = judged(tree, mutant, options.stages)
            with options.out.open("a") as file:
                file.write(json.dumps(record) + "\n")
            print(f"{record['seconds']:6.1f} s {record['verdict']:8s} {shown}", flush=True)
    finally:
        shutil.rmtree(tree, ignore_errors=True)
    summary([*done.values()])


if __name__ == "__main__":
    main()
