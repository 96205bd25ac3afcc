"""Mutants that once survived: each must be caught by the tests named beside it.

python benchmarks/mutation/named.py
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.mutation.run import ROOT, copied, run_tests, warm_up

FSYNC = "os.fsync(file.fileno())"
# File, what stands there, what the mutant has, and the tests.
NAMED = [
    ("channelcode/guarantees.py", "first) + divergence + shortfall", "first) + shortfall",
     "tests/channelcode/test_guarantees.py"),
    ("channelcode/measures/pool.py", "return squared + self.total_variance",
     "return self.total_variance", "tests/channelcode/measures/test_pool.py"),
    ("apm/power.py", "candidates.laws.second_moment.max()", "candidates.laws.total_variance.max()",
     "tests/apm/test_power.py"),
    ("apm/journal.py", "best.certificate.upper - gain", "best.certificate.lower - gain",
     "tests/apm/test_journal.py"),
    ("channelcode/information/mutual.py", "size > 1e-8 * size.max()", "size > 1e-2 * size.max()",
     "tests/channelcode/information/test_error_bars.py"),
    ("channelcode/information/mutual.py", "np.maximum(nats, 0.0), error / LOG_TWO",
     "np.maximum(nats, 0.0), error", "tests/channelcode/information/test_error_bars.py"),
    ("channelcode/information/mutual.py", "float(error[0]) / LOG_TWO", "float(error[0])",
     "tests/channelcode/information/test_error_bars.py"),
    ("channelcode/information/pool.py", "TABLE_ERROR = 1e-12", "TABLE_ERROR = 1e-6",
     "tests/channelcode/information/test_error_bars.py"),
    ("channelcode/information/pool.py", "TABLE_ERROR = 1e-12", "TABLE_ERROR = 0.0",
     "tests/channelcode/information/test_error_bars.py"),
    ("channelcode/measures/gaussian.py", "PSD_RTOL = 1e-10", "PSD_RTOL = 1e-3",
     "tests/channelcode/measures/test_gaussian.py"),
    ("channelcode/measures/discrete.py", "(weight / total)", "weight",
     "tests/channelcode/measures/test_discrete.py"),
    ("apm/learner.py", "(self._setup.seed << 64) + len(self._state.journal)",
     "(self._setup.seed << 64)", "tests/apm/test_learner.py"),
    ("apm/archive/learner_file.py", 'header.get("version") != VERSION',
     'header.get("version", 9) > VERSION', "tests/apm/archive"),
    ("apm/storage/whole.py", FSYNC, "pass", "tests/torture/test_durability.py"),
    ("apm/storage/whole.py", "os.fsync(handle)", "pass", "tests/torture/test_durability.py"),
    *(("apm/storage/lines.py", f"@{number}@{FSYNC}", "pass", "tests/torture/test_journal_file.py")
      for number in range(4)),
]  # fmt: skip


def changed(source: str, old: str, new: str) -> str:
    """The source with one place changed; `@n@` before the text means the n-th of several."""
    number = 0
    if old.startswith("@"):
        _, place, old = old.split("@", 2)
        number = int(place)
    parts = source.split(old)
    if len(parts) < number + 2:
        raise SystemExit(f"{old!r} is not there any more: mend the list")
    return old.join(parts[: number + 1]) + new + old.join(parts[number + 1 :])


def main() -> None:
    chosen = [each for each in NAMED if sys.argv[1:] == [] or sys.argv[1] in each[0]]
    os.environ.update(MUTANT_TIMES=os.devnull, MUTANT_BUDGET="60")
    warm_up()
    tree = copied()
    caught = 0
    for path, old, new, tests in chosen:
        source = (ROOT / path).read_text()
        (tree / path).write_text(changed(source, old, new))
        outcome = run_tests(tree, [tests])
        (tree / path).write_text(source)
        caught += outcome != "passed"
        print(f"{'survived' if outcome == 'passed' else 'caught':8s} {path}: {old}", flush=True)
    shutil.rmtree(tree, ignore_errors=True)
    print(f"caught {caught} of {len(chosen)}")


if __name__ == "__main__":
    main()
