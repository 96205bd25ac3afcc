"""Rules as functions of a mean and a deviation, and their bounds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apm.pairs.scores import Gain, Spread, Transport
from channelcode import Cauchit, DiscreteMeasure, Gaussian, Logistic, Probit, w2
from tests.naming import plain

SCORES = [Spread(), Transport(0.0), Transport(4.0), Gain(Logistic()), Gain(Probit())]
sizes = st.floats(0, 30)


@pytest.mark.parametrize("channel", [Logistic(), Probit(), Cauchit()], ids=plain)
def test_gain_falls_with_the_mean_and_rises_with_the_deviation(channel):
    """The corner bound rests on this; checked on a grid from 1e-3 to 1e3, not proved."""
    m, d = np.append(0.0, np.geomspace(1e-3, 1e3, 60)), np.geomspace(1e-3, 1e3, 61)
    table = Gain(channel).values(*np.meshgrid(m, d, indexing="ij"))
    assert (np.diff(table, axis=0) <= 1e-9).all()
    assert (np.diff(table, axis=1) >= -1e-9).all()


@given(st.floats(0, 5), st.floats(0.05, 5), st.floats(0.1, 30))
def test_transport_is_minus_the_squared_distance_to_two_atoms(m, d, power):
    target = DiscreteMeasure.symmetric(np.sqrt(power))
    expected = -w2(Gaussian(m, d * d), target).squared
    found = Transport(power).values(np.array([m]), np.array([d]))[0]
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("score", SCORES, ids=plain)
@given(m=sizes, low=sizes, span=sizes, more=sizes, part=st.floats(0, 1))
def test_bounds_hold_inside_the_range(score, m, low, span, more, part):
    d = low + part * span
    bound = score.bound(np.array([m]), np.array([low]), np.array([low + span]))
    value = score.values(np.array([m + more]), np.array([d]))
    assert value[0] <= bound[0] + 1e-9 * (1.0 + abs(bound[0]))


@pytest.mark.parametrize("score", SCORES, ids=plain)
@given(m=sizes, d=sizes, level_m=sizes, level_d=sizes)
def test_no_pair_beyond_the_limits_reaches_the_level(score, m, d, level_m, level_d):
    level = float(score.values(np.array([level_m]), np.array([level_d]))[0])
    most, least = score.limits(level, 30.0, 30.0)
    value = score.values(np.array([m]), np.array([d]))[0]
    if m > most * (1 + 1e-9) or d < least * (1 - 1e-9):
        assert value <= level + 1e-12 * (1.0 + abs(level))
