"""What every test shares: one thread, Hypothesis profiles, a generator, the reference figures."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

# Before numpy is imported: the machine's cores belong to the test workers.
for _variable in (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
):
    os.environ.setdefault(_variable, "1")
os.environ.setdefault("MPLBACKEND", "Agg")

import numpy as np  # noqa: E402
import pytest  # noqa: E402
from hypothesis import HealthCheck, settings  # noqa: E402

# No deadline: a first call compiles. In CI the examples are the same every time, so that a change
# is judged by what it changes; at a desk they are fresh, and a failure prints how to repeat it.
_COMMON: dict[str, Any] = {
    "deadline": None,
    "print_blob": True,
    "suppress_health_check": [HealthCheck.too_slow],
}
settings.register_profile("dev", **_COMMON)
settings.register_profile("ci", derandomize=True, database=None, **_COMMON)
settings.register_profile("thorough", max_examples=2000, **_COMMON)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci" if os.environ.get("CI") else "dev"))

DATA = Path(__file__).parent / "data"


@pytest.fixture
def rng() -> np.random.Generator:
    """A generator with a fixed seed, fresh for each test."""
    return np.random.default_rng(20240229)


@pytest.fixture(scope="session")
def reference() -> Callable[[str], Any]:
    """Read `tests/data/<name>.json`, figures computed by independent programs (see its README)."""

    def read(name: str) -> Any:
        return json.loads((DATA / f"{name}.json").read_text())

    return read


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Under NO_SKIPS, as in `.ci/run`, a skipped test fails the run: what it needs is installed."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if not os.environ.get("NO_SKIPS") or reporter is None:  # a worker of xdist has no reporter
        return
    if reporter.stats.get("skipped"):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """How many of the torture cases held; on the controller too, where xdist collects nothing."""
    held, fell = set(), set()
    for reports in terminalreporter.stats.values():
        for report in reports:
            name = getattr(report, "nodeid", "")
            if name.startswith("tests/torture/") and hasattr(report, "when"):
                if report.failed:
                    fell.add(name)
                elif report.when == "call" and report.passed:
                    held.add(name)
    if held or fell:
        counted = len(held - fell)
        terminalreporter.write_line(f"torture: held {counted} of {len(held | fell)}")
