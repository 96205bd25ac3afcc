"""The first pass over a sample of mutants: one import, one collection, a fork for each mutant.

    COVERED=covered.json python -m pytest -p benchmarks.mutation.covered -p no:xdist tests/apm
    python benchmarks/mutation/quick.py --covered covered.json --tests tests/apm --only apm/

Each mutant is asked the tests that run its line, closest and quickest first, until `--budget` CPU
seconds are used up (see `swap.py`). The whole ends after `--limit` CPU seconds and goes on where it
stopped when it is called again; results are lines of `--out`, as those of `run.py`.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks.mutation.covered import Covered  # noqa: E402
from benchmarks.mutation.mutate import Mutant  # noqa: E402
from benchmarks.mutation.run import fewer_examples, sampled, summary, warm_up  # noqa: E402
from benchmarks.mutation.swap import Server  # noqa: E402


def wanted(server: Server, covered: Covered, mutant: Mutant, source: str) -> list[str]:
    """The tests that run the line, and those of the module's own file that `covered` lacks."""
    names = covered.of(mutant.path, mutant.line, source)
    own = f"test_{Path(mutant.path).stem}.py::"
    return [*names, *(name for name in server.items if own in name and name not in covered)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=330)
    parser.add_argument("--seed", type=int, default=18)
    parser.add_argument("--covered", type=Path, required=True)
    parser.add_argument("--tests", nargs="+", default=["tests"])
    parser.add_argument("--only", default="", help="mutants of paths that start so")
    parser.add_argument("--out", type=Path, default=Path("mutants.jsonl"))
    parser.add_argument("--budget", type=float, default=3.0, help="CPU seconds for a mutant")
    parser.add_argument("--limit", type=float, default=1e9, help="CPU seconds for everything")
    parser.add_argument("--again", action="store_true", help="ask again about survivors")
    options = parser.parse_args()
    lines = options.out.read_text().splitlines() if options.out.exists() else []
    done: dict[str, dict[str, Any]] = {each["shown"]: each for each in map(json.loads, lines)}
    covered = Covered(options.covered)
    warm_up()
    fewer_examples(10)
    os.chdir(ROOT)
    server = Server(ROOT, options.tests)

    def serve() -> None:
        for mutant in sampled(options.count, options.seed, ""):
            source = (ROOT / mutant.path).read_text()
            shown = mutant.shown(source)
            known = done.get(shown, {}).get("verdict", "")
            if not mutant.path.startswith(options.only) or known == "caught":
                continue
            if known and not options.again:
                continue
            if sum(os.times()[:4]) > options.limit:
                return
            began = time.monotonic()
            names = wanted(server, covered, mutant, source)
            verdict, by = server.judge(mutant, source, names, options.budget)
            done[shown] = {**mutant._asdict(), "shown": shown, "verdict": verdict, "by": by}
            with options.out.open("a") as file:
                file.write(json.dumps(done[shown]) + "\n")
            seconds = time.monotonic() - began
            print(f"{seconds:6.1f} s {verdict:9s} {shown} | {by}", file=sys.__stderr__, flush=True)

    server.main(serve)
    summary([*done.values()])


if __name__ == "__main__":
    main()
