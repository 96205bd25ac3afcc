"""Which tests run a line: a plugin of pytest that writes it down, and the reader of its file.

    COVERED=covered.json python -m pytest -p benchmarks.mutation.covered -m "not slow" -p no:xdist

needs the package `coverage`. The file holds the tests, their CPU seconds, and for every line of
the two packages the numbers of the tests that came there. `run.py --covered covered.json` then
asks about a mutant only those tests that run its line, the closest and quickest first.
"""

from __future__ import annotations

import ast
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("channelcode", "apm")
EXAMPLES = 10  # of Hypothesis: which lines are run shows soon


class Covered:
    """The tests that run a line, closest first."""

    def __init__(self, file: Path) -> None:
        found = json.loads(file.read_text())
        self.tests: list[str] = found["tests"]
        self.seconds: list[float] = found["seconds"]
        self.lines: dict[str, dict[str, list[int]]] = found["lines"]
        self._known = frozenset(self.tests)

    def __contains__(self, test: object) -> bool:
        return test in self._known

    def of(self, path: str, line: int, source: str) -> list[str]:
        """Names of the tests that run the statement at `line` of `path`, which holds `source`.

        A statement that runs at import belongs to every test that runs a line of the file.
        """
        lines = self.lines.get(path, {})
        found = {test for each in _statement(source, line) for test in lines.get(str(each), ())}
        if not found:
            found = {test for tests in lines.values() for test in tests}
        return [self.tests[test] for test in sorted(found, key=lambda test: self._rank(path, test))]

    def _rank(self, path: str, test: int) -> tuple[int, float]:
        """Fewer parts of the path that differ come first, then fewer seconds."""
        parts = [*Path(path).with_suffix("").parts]
        file = self.tests[test].split("::")[0]
        other = [part.removeprefix("test_") for part in Path(file).with_suffix("").parts[1:]]
        shared = 0
        for one, two in zip(parts, other, strict=False):
            if one != two:
                break
            shared += 1
        return len(parts) - shared, self.seconds[test]


def _statement(source: str, line: int) -> range:
    """The lines of the innermost statement around `line`: of a compound one, those of its head."""
    best = range(line, line + 1)
    found: ast.stmt | None = None
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.stmt) or not node.lineno <= line <= (node.end_lineno or line):
            continue
        if found is None or node.lineno >= found.lineno:
            found = node
    if found is None:
        return best
    body: list[ast.stmt] = getattr(found, "body", [])
    last = body[0].lineno - 1 if body else found.end_lineno or found.lineno
    return range(found.lineno, max(last, found.lineno) + 1)


class Recorder:
    """The plugin: one context of coverage for each test."""

    def __init__(self, out: Path) -> None:
        from coverage import Coverage

        self.out, self.seconds = out, dict[str, float]()
        self.coverage = Coverage(
            data_file=None, source=[str(ROOT / name) for name in PACKAGES], config_file=False
        )
        self.coverage.start()

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.coverage.switch_context(nodeid)
        self.began = time.process_time()

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self.seconds[nodeid] = round(time.process_time() - self.began, 3)
        self.coverage.switch_context("")

    def pytest_sessionfinish(self) -> None:
        self.coverage.stop()
        data = self.coverage.get_data()
        number = {test: place for place, test in enumerate(self.seconds)}
        lines = dict(self._lines(data, number))
        content = {"tests": [*number], "seconds": [*self.seconds.values()], "lines": lines}
        self.out.write_text(json.dumps(content))

    def _lines(
        self, data: Any, number: dict[str, int]
    ) -> Iterator[tuple[str, dict[int, list[int]]]]:
        for file in data.measured_files():
            contexts = data.contexts_by_lineno(file)
            yield (
                str(Path(file).relative_to(ROOT)),
                {
                    line: sorted(number[test] for test in tests if test in number)
                    for line, tests in contexts.items()
                },
            )


def pytest_configure(config: Any) -> None:
    """Called when this module is loaded as a plugin."""
    from benchmarks.mutation.run import fewer_examples

    fewer_examples(EXAMPLES)
    config.pluginmanager.register(Recorder(Path(os.environ["COVERED"]).resolve()))
