"""The statistics of the experiment on the default rule."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from apm.studies.rule.methods import CANDIDATES, PRESENT, RIVALS
from apm.studies.rule.protocol import Condition
from apm.studies.rule.verdict import MARGIN, decide, holm, standings


def made_up(leads, *, seeds=20, noise=0.01, conditions=6, seed=0):
    """Areas in which each candidate leads the best rival by a given amount, plus noise."""
    rng = np.random.default_rng(seed)
    areas = {}
    for index in range(conditions):
        base = 0.8 + 0.05 * rng.standard_normal(seeds)
        by = {name: base - 0.05 + noise * rng.standard_normal(seeds) for name in RIVALS["two"]}
        by["EPIG"] = base
        for name in CANDIDATES["two"]:
            by[name] = base + leads.get(name, 0.0) + noise * rng.standard_normal(seeds)
        areas[Condition(f"made-up-{index}", "two")] = by
    return areas


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_holm_rejects_in_order_and_no_more_than_uncorrected(p_values):
    p = np.array(p_values)
    rejected = holm(p)
    assert not (rejected & (p > 0.05)).any()
    assert rejected[p <= 0.05 / len(p)].all()  # Bonferroni rejects no more
    if rejected.any():
        assert rejected[p < p[rejected].max()].all()


def test_holm_against_a_textbook_example():
    # Holm (1979) at 0.05: 0.0125, 0.0167, 0.025, 0.05 in turn
    assert holm(np.array([0.01, 0.04, 0.03, 0.005])).tolist() == [True, False, False, True]


def test_comparisons_are_paired_t_tests():
    areas = made_up({PRESENT: -0.004})
    (standing, *_) = standings(areas, "two")
    for each in standing.comparisons:
        by = areas[each.condition]
        assert each.rival == "EPIG"
        expected = stats.ttest_rel(by[PRESENT], by["EPIG"])
        assert each.p_value == pytest.approx(expected.pvalue)
        interval = expected.confidence_interval(0.90)
        assert each.difference.low == pytest.approx(interval.low)
        assert each.level_or_ahead == (interval.low > -MARGIN)


def test_a_candidate_that_leads_everywhere_wins_and_becomes_the_default():
    decision = decide(made_up({"b-lin": 0.02}), "two")
    assert decision.winner == "b-lin"
    assert decision.change
    best = next(each for each in decision.standings if each.candidate == "b-lin")
    assert best.lost == 0
    assert best.level == 6
    assert best.lead.low > 0.01


def test_losses_count_before_the_mean_lead():
    areas = made_up({"b-var": 0.0, PRESENT: -0.01, "share": -0.01, "matched": -0.01})
    worst = next(iter(areas))
    areas[worst]["b-lin"] = areas[worst]["EPIG"] - 0.2  # one bad loss
    for condition in list(areas)[1:]:
        areas[condition]["b-lin"] = areas[condition]["EPIG"] + 0.2
    decision = decide(areas, "two")
    assert decision.winner != "b-lin"


def test_the_present_rule_stays_if_nothing_beats_it():
    decision = decide(made_up(dict.fromkeys(CANDIDATES["two"], -0.05) | {PRESENT: 0.0}), "two")
    assert decision.winner == PRESENT
    assert not decision.change


def test_data_sets_count_once_however_many_conditions_they_have():
    areas = made_up({}, noise=0.0, conditions=2)
    first, second = areas
    for candidate in CANDIDATES["two"]:
        areas[first][candidate] = areas[first]["EPIG"] + 0.02
        areas[second][candidate] = areas[second]["EPIG"] - 0.02
    twin = Condition(first.dataset, "two", "unit-norm")
    areas[twin] = areas[first]
    (standing, *_) = standings(areas, "two")
    assert standing.lead.estimate == pytest.approx(0.0, abs=1e-12)
