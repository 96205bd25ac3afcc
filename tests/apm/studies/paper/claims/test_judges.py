"""Judges: each on made-up results with a known answer."""

from __future__ import annotations

import numpy as np
import pytest

from apm.studies.paper.claims import judge_claims, judges
from apm.studies.paper.claims.verdicts import comparable, exceeds
from apm.studies.paper.methods import CURVE_METHODS
from apm.studies.paper.results import Sheet
from tests.apm.studies.made_up import sheet


def verdict(sheets: dict[str, Sheet], text: str) -> str:
    (found,) = [f for f in judge_claims(sheets) if f.claim == text]
    return found.verdict


def measured(name: str, values: dict[str, float]) -> dict[str, Sheet]:
    """A sheet "a" on which the measure `name` of each method is constant, but for a little."""
    made = sheet("a", dict.fromkeys(values, 0.7))
    noise = np.random.default_rng(0).normal(scale=1e-3, size=made.arrays[name].shape)
    made.arrays[name][:] = np.array(list(values.values()))[:, None, None] + noise
    return {"a": made}


def test_pairing_removes_what_the_trials_share() -> None:
    """Trials differ by 0.05, methods by 0.01: only paired differences can tell."""
    found = sheet("cross", {"APM-LR": 0.81, "Uncertainty": 0.80}).difference(
        "APM-LR", "Uncertainty"
    )
    assert 0 < found.low < 0.01 < found.high < 0.02


def test_one_pair_that_fails_refutes() -> None:
    levels = dict.fromkeys(CURVE_METHODS, 0.5) | {"APM-LR": 0.6, "Random": 0.6, "MaxVar": 0.4}
    cars = {"vehicle-cars": sheet("vehicle-cars", levels)}
    assert verdict(cars, "APM-LR, Random and MaxVar lead on vehicle-cars") == "not held"
    levels["MaxVar"] = 0.6
    cars = {"vehicle-cars": sheet("vehicle-cars", levels)}
    assert verdict(cars, "APM-LR, Random and MaxVar lead on vehicle-cars") == "held"


def test_comparable_is_about_a_margin() -> None:
    same = {
        "a": sheet("a", dict.fromkeys(CURVE_METHODS, 0.7)),
        "b": sheet("b", dict.fromkeys(CURVE_METHODS, 0.9)),
    }
    assert verdict(same, "APM-LR generally performs similarly to BALD") == "held"
    apart = {"a": sheet("a", dict.fromkeys(CURVE_METHODS, 0.7) | {"BALD": 0.6})}
    assert verdict(apart, "APM-LR generally performs similarly to BALD") == "not held"


def test_costs_are_ratios_over_data_sets() -> None:
    quick = sheet("cross", dict.fromkeys(CURVE_METHODS, 0.7))
    place = quick.methods.index("InfoGain")
    quick.arrays["select_seconds"][place] *= 50
    sheets = {"cross": quick}
    assert verdict(sheets, "InfoGain is the most expensive selection") == "held"
    assert verdict(sheets, "APM-LR selects an order of magnitude faster than InfoGain") == "held"
    assert verdict(sheets, "APM-LR selects an order of magnitude faster than BALD") == "not held"


def test_a_peak_is_judged_on_other_trials_than_it_was_found_on() -> None:
    levels = dict.fromkeys(CURVE_METHODS, 0.7)
    flat = sheet("wdbc", levels, noise=0.01)
    text = "On wdbc the active methods' accuracy peaks early and then decreases"
    assert verdict({"wdbc": flat}, text) == "not resolved"
    peaked = sheet("wdbc", levels)
    peaked.arrays["accuracy"][:, :, 8:12] += 0.1
    assert verdict({"wdbc": peaked}, text) == "held"


def test_a_peak_of_one_half_alone_is_no_peak() -> None:
    made = sheet("a", {"x": 0.7})
    made.arrays["accuracy"][:, 0::2, 20] += 0.1  # where it is looked for, not where it is judged
    found, _, measure = judges.peaks_early("a", ("x",))({"a": made})
    assert found != "held"
    assert "x, peak at query 20" in measure


def test_the_mean_over_sets_counts_each_set_once() -> None:
    sheets = {
        "a": sheet("a", {"APM-LR": 0.8, "Random": 0.7}, trials=10),
        "b": sheet("b", {"APM-LR": 0.6, "Random": 0.7}, trials=40),
    }
    assert abs(judges.mean_difference(sheets, "APM-LR", "Random").estimate) < 0.002


def test_the_worst_pair_is_shown() -> None:
    sheets = {"a": sheet("a", {"x": 0.9, "y": 0.8, "z": 0.7})}
    found, number, measure = judges.ahead_on("a", ("x",), ("y", "z"))(sheets)
    assert (found, measure) == ("held", "area, x - y")
    assert number.low < 0.1 < number.high
    assert judges.ahead_on("a", ("y",), ("x", "z"))(sheets)[0] == "not held"


def test_level_needs_every_set() -> None:
    same = sheet("a", {"x": 0.8, "y": 0.8})
    apart = sheet("b", {"x": 0.8, "y": 0.85})
    assert judges.level_on(("a",), "x", ("y",))({"a": same})[0] == "held"
    found, _, measure = judges.level_on(("a", "b"), "x", ("y",))({"a": same, "b": apart})
    assert (found, measure) == ("not held", "area, x - y, b")


def test_over_all_counts_the_sets_won_and_lost() -> None:
    sheets = {
        "a": sheet("a", {"x": 0.9, "y": 0.7}),
        "bb": sheet("bb", {"x": 0.7, "y": 0.75}),
        "ccc": sheet("ccc", {"x": 0.8, "y": 0.7}),
    }
    found, _, measure = judges.over_all((("x", "y"),), exceeds)(sheets)
    assert (found, measure) == ("held", "mean area, x - y; ahead on 2, behind on 1 of 3 sets")
    assert judges.over_all((("x", "y"),), comparable)(sheets)[0] == "not held"


def test_early_is_the_first_forty_queries() -> None:
    sheets = measured("gram", {"x": 1.0, "y": 2.0})
    judge = judges.smaller_early("a", "gram", ("x",), ("y",))
    assert judge(sheets)[0] == "held"
    later = np.full((2, 30, 200), -1e6)
    later[0] = 1e6  # what comes after 40 queries would refute it
    sheets["a"].arrays["gram"] = np.concatenate([sheets["a"].arrays["gram"], later], axis=2)
    assert judge(sheets)[0] == "held"
    assert judges.smaller_early("a", "gram", ("y",), ("x",))(sheets)[0] == "not held"
    del sheets["a"].arrays["gram"]
    with pytest.raises(KeyError, match="the measure gram on a"):
        judge(sheets)


def test_a_cost_ratio_is_the_median_over_sets() -> None:
    sheets = {name: sheet(name, {"x": 0.7, "y": 0.7}) for name in ("a", "bb", "ccc")}
    for factor, made in zip((3.0, 4.0, 20.0), sheets.values(), strict=True):
        made.arrays["select_seconds"][0] *= factor
    found, number, _ = judges.cost_ratio("selection", ("x",), ("y",), 3.4)(sheets)
    # quartiles of 3, 4, 20 by linear interpolation: 3.5, 4, 12
    np.testing.assert_allclose([number.low, number.estimate, number.high], [3.5, 4.0, 12.0])
    assert found == "held"
    assert judges.cost_ratio("selection", ("x",), ("y",), 5.0)(sheets)[0] == "not resolved"
    assert judges.cost_ratio("selection", ("x",), ("y",), 13.0)(sheets)[0] == "not held"
    assert judges.cost_ratio("posterior", ("x",), ("y",), 1.5)(sheets)[0] == "not held"


def test_the_full_horizon_is_longer_than_the_area() -> None:
    made = sheet("a", {"x": 0.7, "y": 0.7})
    late = made.arrays["accuracy"][:, :, 1:] + np.array([0.1, 0.0])[:, None, None]
    made.arrays["accuracy"] = np.concatenate([made.arrays["accuracy"], late], axis=2)
    assert judges.level_on(("a",), "x", ("y",))({"a": made})[0] == "held"
    assert judges.full_horizon_level("a", (("x", "y"),))({"a": made})[0] == "not held"


def test_order_is_a_rank_correlation() -> None:
    methods = ("w", "x", "y", "z")
    up = dict(zip(methods, (0.6, 0.7, 0.8, 0.9), strict=True))
    down = dict(zip(methods, (0.9, 0.8, 0.7, 0.6), strict=True))
    sheets = {"a": sheet("a", up), "bb": sheet("bb", up), "ccc": sheet("ccc", down)}
    same, number, _ = judges.same_order("a", ("bb",), methods)(sheets)
    assert (same, round(number.estimate, 12)) == ("held", 1.0)
    other, number, _ = judges.same_order("a", ("ccc",), methods)(sheets)
    assert (other, round(number.estimate, 12)) == ("not held", -1.0)
    mixed, number, _ = judges.same_order("a", ("bb", "ccc"), methods)(sheets)
    assert abs(number.estimate) < 1e-12
    assert mixed != "held"


def test_a_peak_needs_enough_trials() -> None:
    few = sheet("a", {"x": 0.7}, trials=judges.FEWEST - 1)
    with pytest.raises(KeyError, match="20 trials of a"):
        judges.peaks_early("a", ("x",))({"a": few})
