"""The whole paper in one call: what is planned, ranked and drawn."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from apm.experiments import reproduce as in_package
from apm.experiments.methods import ADDITIONS, CURVE_METHODS
from apm.experiments.reproduce import (
    QUICK_DATASETS,
    plan_study,
    rank_methods,
    reproduce,
)
from channelcode.errors import InvalidArgument
from tests.apm.experiments.made_up import sheet


def test_the_plan_is_the_papers() -> None:
    study = plan_study(datasets=("vehicle-cars", "wdbc", "cross"))
    plans = {plan.dataset: plan for plan in study.plans}
    assert study.trials == 150
    assert {"APM-LR-U", "APM-LR-V"} <= set(plans["vehicle-cars"].methods)
    assert study.queries(plans["vehicle-cars"]) == 429 // 2 - 2
    assert study.queries(plans["cross"]) == 40
    assert "APM-LR-U" not in plans["cross"].methods


def test_other_methods_and_horizons(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    made = reproduce(
        tmp_path, trials=2, datasets=("clouds",), methods=("BALD",), queries=3, workers=1,
        progress=False,
    )  # fmt: skip
    assert "test accuracy" in made.report.read_text()
    assert {finding.verdict for finding in made.findings} == {"not run"}


def test_additions_stop_at_forty_where_others_go_on() -> None:
    plans = {plan.dataset: plan for plan in plan_study(datasets=("wdbc", "cross")).plans}
    assert (plans["wdbc"].queries, plans["wdbc"].brief) == (100, ADDITIONS)
    assert (plans["cross"].queries, plans["cross"].brief) == (40, ())
    assert plans["cross"].methods == (*CURVE_METHODS, *ADDITIONS)


def test_one_choice_replaces_all() -> None:
    study = plan_study(datasets=("wdbc", "cross"), methods=("BALD", "EPIG"), queries=7, seed=3)
    assert {plan.methods for plan in study.plans} == {("BALD", "EPIG")}
    assert {study.queries(plan) for plan in study.plans} == {7}
    assert (study.seed, study.plans[0].brief) == (3, ("EPIG",))


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


def test_ranks_are_of_the_methods_that_ran_everywhere() -> None:
    sheets = {
        "a": sheet("a", {"x": 0.9, "y": 0.8, "z": 0.7, "only here": 1.0}),
        "bb": sheet("bb", {"z": 0.5, "y": 0.6, "x": 0.8}),
    }
    found = rank_methods(sheets)
    assert found is not None
    assert found.methods == ("x", "y", "z")
    np.testing.assert_array_equal(found.average, [1.0, 2.0, 3.0])
    assert rank_methods({"a": sheet("a", {"x": 0.9})}) is None
