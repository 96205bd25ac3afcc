"""Verdicts: made-up results with known answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apm.experiments.claims import comparable, every, exceeds, judge_claims
from apm.experiments.judges import mean_difference
from apm.experiments.methods import CURVE_METHODS, PAPER_METHODS
from apm.experiments.paper_claims import CLAIMS
from apm.experiments.results import Sheet
from apm.experiments.statistics import Interval


def sheet(
    name: str, levels: Mapping[Any, float], *, noise: float = 0.002, trials: int = 30
) -> Sheet:
    """Runs of 40 queries whose accuracies lie about the given levels, trial by trial."""
    rng = np.random.default_rng(len(name))
    methods = tuple(levels)
    shared = rng.normal(scale=0.05, size=(1, trials, 1))  # a hard split is hard for everybody
    own = rng.normal(scale=noise, size=(len(methods), trials, 41))
    curves = np.array(list(levels.values()))[:, None, None] + shared + own
    steps = rng.random((len(methods), trials, 40))
    seconds = np.full((len(methods), trials, 40), 1e-3)
    arrays = {"accuracy": curves, "gain": steps, "distance": steps, "maximin": steps, "gram": steps}
    for kind in ("select_seconds", "posterior_seconds", "retrain_seconds"):
        arrays[kind] = seconds.copy()
    return Sheet(name, methods, arrays)


def verdict(sheets: dict[str, Sheet], text: str) -> str:
    (found,) = [f for f in judge_claims(sheets) if f.claim == text]
    return found.verdict


CROSS = "APM-LR outperforms Uncertainty on cross"


@pytest.mark.parametrize(
    ("lead", "expected"), [(0.05, "held"), (-0.05, "not held"), (0.0, "not resolved")]
)
def test_a_claim_about_two_methods(lead: float, expected: str) -> None:
    levels = {"APM-LR": 0.8 + lead, "Uncertainty": 0.8}
    # equal levels with noise: whether zero lies inside is decided by the seed, which is fixed
    assert verdict({"cross": sheet("cross", levels)}, CROSS) == expected


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


def test_what_was_not_run_is_said() -> None:
    findings = judge_claims({"cross": sheet("cross", {"APM-LR": 0.8, "Uncertainty": 0.7})})
    assert len(findings) == len(CLAIMS)
    by_claim = {finding.claim: finding for finding in findings}
    missing = by_claim["APM-LR, Random and MaxVar lead on vehicle-cars"]
    assert (missing.verdict, missing.measure) == ("not run", "needs vehicle-cars")


def test_every_claim_can_be_judged_on_a_whole_study() -> None:
    names = ("letterDP", "letterEF", "letterIJ", "letterMN", "letterUV", "letterVY", "austra")
    names = (*names, "wdbc", "clouds", "cross", "vehicle-cars")
    sheets = {name: sheet(name, dict.fromkeys(PAPER_METHODS, 0.8)) for name in names}
    findings = judge_claims(sheets)
    assert all(f.verdict != "not run" and f.number is not None for f in findings)


intervals = st.tuples(st.floats(-1, 1), st.floats(0, 1), st.floats(0, 1)).map(
    lambda t: Interval(t[0], t[0] - t[1], t[0] + t[2])
)


@given(intervals)
def test_verdicts_partition_the_intervals(interval: Interval) -> None:
    assert (exceeds(interval) == "held") == (interval.low > 0)
    assert (exceeds(interval) == "not held") == (interval.high < 0)
    mirrored = Interval(-interval.estimate, -interval.high, -interval.low)
    assert comparable(interval) == comparable(mirrored)
    opposite = {"held": "not held", "not held": "held", "not resolved": "not resolved"}
    assert exceeds(mirrored) == opposite[exceeds(interval)]


@given(st.lists(intervals, min_size=1, max_size=5))
def test_a_joint_claim_is_as_good_as_its_worst_pair(found: list[Interval]) -> None:
    pairs = [(str(place), interval) for place, interval in enumerate(found)]
    verdicts = {exceeds(interval) for interval in found}
    joint, label, worst = every(pairs, exceeds)
    expected = next(v for v in ("not held", "not resolved", "held") if v in verdicts)
    assert joint == expected
    assert found[int(label)] == worst


def test_the_mean_over_sets_counts_each_set_once() -> None:
    sheets = {
        "a": sheet("a", {"APM-LR": 0.8, "Random": 0.7}, trials=10),
        "b": sheet("b", {"APM-LR": 0.6, "Random": 0.7}, trials=40),
    }
    assert abs(mean_difference(sheets, "APM-LR", "Random").estimate) < 0.002
