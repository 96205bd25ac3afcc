"""Sheets: what was stored, areas, costs and where the time went."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from apm.studies.engine.store import Store
from apm.studies.engine.study import Study, run_study
from apm.studies.paper.protocol import PaperPlan
from apm.studies.paper.results import Sheet, read_sheet, read_sheets, where_time_goes
from tests.apm.studies.made_up import sheet


def plans_of(study: Study) -> list[PaperPlan]:
    return [plan for plan in study.plans if isinstance(plan, PaperPlan)]


def test_sheets_hold_every_trial(tmp_path: Path, make_study: Callable[..., Study]) -> None:
    study = make_study()
    run_study(study, tmp_path, progress=False)
    sheets = read_sheets(plans_of(study), Store(tmp_path))
    assert sheets["small"].arrays["accuracy"].shape == (4, 3, 7)
    assert sheets["small"].arrays["gram"].shape == (4, 3, 6)
    assert "gram" not in sheets["other"].arrays
    assert not np.isnan(sheets["small"].arrays["accuracy"]).any()


def test_a_sheet_is_what_the_trials_stored(
    tmp_path: Path, make_study: Callable[..., Study]
) -> None:
    study = make_study(trials=2, names=("small",))
    run_study(study, tmp_path, progress=False)
    (plan,) = plans_of(study)
    found = read_sheet(plan, Store(tmp_path), ("accuracy",))
    assert list(found.arrays) == ["accuracy"]
    for trial in range(2):
        with np.load(Store(tmp_path).path("small", trial)) as archive:
            for method in plan.methods:
                stored = archive[f"array/{method}/accuracy"]
                np.testing.assert_array_equal(found.of(method, "accuracy")[trial], stored)


def timed(seconds: list[list[float]]) -> Sheet:
    """One method whose trials take the given seconds for each query, for each of three costs."""
    values = np.array(seconds)[None]
    names = ("select_seconds", "posterior_seconds", "retrain_seconds")
    arrays = {name: factor * values for factor, name in zip((1, 10, 100), names, strict=True)}
    return Sheet("a", ("x",), arrays)


def test_costs_are_medians_of_sums_over_forty_queries() -> None:
    rows = [[1.0] * 40 + [1e6], [2.0] * 40 + [1e6], [9.0] * 40 + [1e6]]
    found = timed(rows).cumulative_seconds("x")
    assert found == {"selection": 80, "posterior": 800, "retraining": 8000, "total": 8880}


def test_areas_are_of_the_first_forty_queries() -> None:
    made = sheet("a", {"x": 0.8, "y": 0.6}, trials=5)
    curves = made.arrays["accuracy"]
    longer = np.concatenate([curves, np.zeros((2, 5, 10))], axis=2)
    found = Sheet("a", made.methods, {**made.arrays, "accuracy": longer})
    for method in ("x", "y"):
        np.testing.assert_array_equal(found.areas[method], made.areas[method])
    # the levels differ by 0.2, and the noise of 0.002 averages over 41 points and 5 trials
    assert abs(found.difference("x", "y").estimate - 0.2) < 0.001


def test_what_did_not_run_is_named() -> None:
    made = sheet("a", {"x": 0.8})
    with pytest.raises(KeyError, match="y on a"):
        made.of("y", "accuracy")
    with pytest.raises(KeyError, match="y on a"):
        made.difference("x", "y")


def test_the_rest_of_the_time_is_measuring() -> None:
    made = timed([[1.0, np.nan], [2.0, 3.0]])
    shares = {"selection": 6.0, "posterior": 60.0, "retraining": 600.0}
    assert where_time_goes({"a": made}, 700.0) == {**shares, "measuring": 34.0}
    assert where_time_goes({"a": made}, 600.0) == shares  # of trials that ran before
