"""Verdicts: made-up results with known answers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apm.studies.engine.statistics import Interval
from apm.studies.paper.claims import judge_claims
from apm.studies.paper.claims.statements import CLAIMS
from apm.studies.paper.claims.verdicts import comparable, every, exceeds
from apm.studies.paper.results import Sheet
from tests.apm.studies.made_up import sheet


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


def test_what_was_not_run_is_said() -> None:
    findings = judge_claims({"cross": sheet("cross", {"APM-LR": 0.8, "Uncertainty": 0.7})})
    assert len(findings) == len(CLAIMS)
    by_claim = {finding.claim: finding for finding in findings}
    missing = by_claim["APM-LR, Random and MaxVar lead on vehicle-cars"]
    assert (missing.verdict, missing.measure) == ("not run", "needs vehicle-cars")


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
