"""Would the tests notice? Mutants of the library, each run against the tests that stand closest.

    python benchmarks/mutation/run.py --count 320 --seed 0 --out mutants.jsonl

The tree is copied, and a mutant is made in the copy only. A parent imports what is heavy once and
forks a child for each run of pytest, so that a mutant costs seconds. A mutant is caught when a
test fails, cannot be collected, or does not end in time. Results are added to the file line by
line, and a run that was interrupted goes on where it stopped. `--again` runs the survivors of the
file once more. A first pass with `--stages 1 --examples 10 --budget 5` is quick; `--again
--covered FILE` then asks every test that runs the line (see `covered.py`) about what is left.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks.mutation.covered import Covered  # noqa: E402
from benchmarks.mutation.mutate import Mutant, mutants  # noqa: E402
from benchmarks.mutation.nearest import SUBJECTS, stages  # noqa: E402

LEAST = 16  # mutants of the smallest subject
Stage = tuple[list[str], list[str]]


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
    """A plugin of pytest: tests known to be quick first, until `budget` CPU seconds are used up.

    Of the tests collected only the `wanted` ones run, if any are named. The seconds of every test
    that ran are left in a file for the next run.
    """

    def __init__(self, file: Path, budget: float, wanted: frozenset[str]) -> None:
        self.file, self.budget, self.wanted = file, budget, wanted
        self.known: dict[str, float] = json.loads(file.read_text()) if file.is_file() else {}
        self.spent = 0.0

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        if self.wanted:
            items[:] = [item for item in items if item.nodeid in self.wanted]
        items.sort(key=lambda item: self.known.get(item.nodeid, 0.0))

    def pytest_runtest_protocol(self, item: Any) -> Any:
        """True says that the test is dealt with: without running it, once the budget is used up."""
        self.began = time.process_time()
        return True if self.spent > self.budget else None

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        seconds = time.process_time() - self.began
        self.spent += seconds
        self.known[nodeid] = round(seconds, 2)

    def pytest_sessionfinish(self) -> None:
        if self.file != Path(os.devnull):
            self.file.write_text(json.dumps(self.known))


def fewer_examples(most: int) -> None:
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


def run_tests(tree: Path, files: Iterable[str], wanted: Iterable[str] = ()) -> str:
    """`passed`, `failed`, or `out of time`, from a child of its own."""
    child = os.fork()
    if child == 0:
        _test_in_child(tree, [*files], frozenset(wanted))
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)  # what the tests started and left
    if code in (-signal.SIGXCPU, -signal.SIGKILL):
        return "out of time"
    return "passed" if code in (0, 5) else "failed"


def _test_in_child(tree: Path, files: list[str], wanted: frozenset[str]) -> None:
    os.setpgid(0, 0)
    most = int(4 * float(os.environ["MUTANT_BUDGET"])) + 20
    resource.setrlimit(resource.RLIMIT_CPU, (most, most))  # a mutant may loop for ever
    os.chdir(tree)
    sys.path[:] = [str(tree), *(place for place in sys.path if place != str(ROOT))]
    os.environ["PYTHONPATH"] = str(tree)
    for name in [n for n in sys.modules if n.split(".")[0] in ("benchmarks", "tests")]:
        del sys.modules[name]
    silent = os.open(os.environ.get("MUTANT_LOG", os.devnull), os.O_RDWR | os.O_CREAT | os.O_APPEND)
    for stream in (0, 1, 2):
        os.dup2(silent, stream)
    fewer_examples(int(os.environ.get("MUTANT_EXAMPLES", "0")))
    import pytest

    options = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-m", "not slow"]
    # hypothesis is imported already, by the parent
    options += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]
    code = 1
    budget = float(os.environ["MUTANT_BUDGET"])
    order = Quickest(Path(os.environ["MUTANT_TIMES"]), budget, wanted)
    try:
        code = int(pytest.main([*options, *files], plugins=[order]))
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def asked(mutant: Mutant, source: str, covered: Covered | None) -> Iterator[Stage]:
    """Files of tests to run one stage after the other, and which of their tests; none means all."""
    if covered is None:
        for files in stages(ROOT, mutant.path):
            yield files, []
        return
    wanted: dict[str, list[str]] = {}
    for test in covered.of(mutant.path, mutant.line, source):
        wanted.setdefault(test.split("::")[0], []).append(test)
    files = [*wanted]
    for start, end in ((0, 3), (3, 12), (12, len(files))):
        chosen = files[start:end]
        if chosen:
            yield chosen, [test for file in chosen for test in wanted[file]]


def judged(tree: Path, mutant: Mutant, most: int, covered: Covered | None) -> dict[str, Any]:
    """What became of a mutant: caught by which stage, or survived."""
    place, source = tree / mutant.path, (ROOT / mutant.path).read_text()
    record: dict[str, Any] = {**mutant._asdict(), "shown": mutant.shown(source)}
    began = time.monotonic()
    place.write_text(mutant.applied(source))
    try:
        record["verdict"] = "survived"
        for number, (files, tests) in enumerate(islice(asked(mutant, source, covered), most)):
            outcome = run_tests(tree, files, tests)
            if outcome != "passed":
                record.update(verdict="caught", stage=number, outcome=outcome, tests=files)
                break
    finally:
        place.write_text(source)
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


def check(tree: Path, records: list[dict[str, Any]]) -> None:
    """Without a mutant the tests that caught one must pass."""
    names = {tuple(each["tests"]) for each in records if each["verdict"] == "caught"}
    for files in sorted(names):
        print(f"{run_tests(tree, files):8s} without a mutant: {' '.join(files)}", flush=True)


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
    parser.add_argument("--part", default="1/1", help="as 1/2: the first half of the mutants")
    parser.add_argument("--again", action="store_true", help="run the survivors of --out again")
    parser.add_argument("--stages", type=int, default=9, help="run at most this many")
    parser.add_argument("--examples", type=int, default=0, help="of Hypothesis, at most")
    parser.add_argument(
        "--budget", type=float, default=60.0, help="CPU seconds of tests in a stage"
    )
    parser.add_argument("--covered", type=Path, help="a file made by covered.py")
    parser.add_argument("--check", action="store_true", help="run the tests without a mutant")
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
    part, parts = map(int, options.part.split("/"))
    chosen = sampled(options.count, options.seed, options.only)[part - 1 :: parts]
    covered = Covered(options.covered) if options.covered else None
    tree = copied()
    try:
        if options.check:
            check(tree, [*done.values()])
            return
        for mutant in chosen:
            shown = mutant.shown((ROOT / mutant.path).read_text())
            if shown in done and not (options.again and done[shown]["verdict"] == "survived"):
                continue
            record = done[shown] = judged(tree, mutant, options.stages, covered)
            with options.out.open("a") as file:
                file.write(json.dumps(record) + "\n")
            print(f"{record['seconds']:6.1f} s {record['verdict']:8s} {shown}", flush=True)
    finally:
        shutil.rmtree(tree, ignore_errors=True)
    summary([*done.values()])


if __name__ == "__main__":
    main()
