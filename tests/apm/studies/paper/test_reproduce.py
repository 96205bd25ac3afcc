"""The whole paper in one call."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from apm.studies import reproduce as in_package
from apm.studies.paper.reproduce import QUICK_DATASETS, reproduce
from channelcode.errors import InvalidArgument


def test_other_methods_and_horizons(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    made = reproduce(
        tmp_path, trials=2, datasets=("clouds",), methods=("BALD",), queries=3, workers=1,
        progress=False,
    )  # fmt: skip
    assert "test accuracy" in made.report.read_text()
    assert {finding.verdict for finding in made.findings} == {"not run"}


class Planned(Exception):
    """Raised in place of running a study."""


@pytest.mark.parametrize(
    ("given", "trials", "datasets"),
    [
        ({}, 150, None),
        ({"quick": True}, 6, QUICK_DATASETS),
        ({"quick": True, "trials": 2, "datasets": ("cross",)}, 2, ("cross",)),
    ],
)
def test_quick_is_a_smaller_study(
    given: dict[str, Any],
    trials: int,
    datasets: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def stop(**options: Any) -> None:
        raise Planned(options["trials"], options["datasets"])

    monkeypatch.setitem(in_package.__globals__, "plan_study", stop)
    with pytest.raises(Planned) as found:
        reproduce(tmp_path, **given)
    assert found.value.args == (trials, datasets)


def test_no_trials_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match="trials must be at least 1"):
        reproduce(tmp_path, trials=0)
    assert list(tmp_path.iterdir()) == []
