"""A response held between two floors."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from channelcode import BinarySymmetric, InvalidArgument, Lapse, Link, Logistic, Softmax
from tests.channelcode.channels.tails import assert_log_probs


def test_tails():
    low, high = mpmath.mpf(0.03), mpmath.mpf(0.2)

    def exact(l):
        up = low + (1 - low - high) / (1 + mpmath.exp(-l))
        return [1 - up, up]

    assert_log_probs(Lapse(Logistic(), low=0.03, high=0.2), exact, rtol=1e-12)


@given(st.floats(0, 0.45), st.floats(0, 0.45), st.floats(-50, 50))
def test_response_runs_between_the_floors(low, high, l):
    up = Lapse(Logistic(), low=low, high=high).prob(l)[1]
    assert low - 1e-15 <= up <= 1 - high + 1e-15


def test_no_lapse_changes_nothing():
    l = np.array([-1e4, -5.0, 0.0, 5.0, 1e4])
    np.testing.assert_allclose(Lapse(Logistic()).log_prob(l), Logistic().log_prob(l), rtol=1e-15)


@pytest.mark.parametrize("kwargs", [{"low": -0.1}, {"high": 1.1}, {"low": np.nan}, {"high": "a"}])
def test_bad_rates(kwargs):
    with pytest.raises(InvalidArgument, match=f"^{next(iter(kwargs))} must"):
        Lapse(Logistic(), **kwargs)


def test_rates_that_leave_no_room():
    with pytest.raises(InvalidArgument, match="low \\+ high must be below one"):
        Lapse(Logistic(), low=0.5, high=0.5)


@pytest.mark.parametrize("inner", [Softmax(3), BinarySymmetric(0.1), Logistic, None])
def test_bad_inner_channel(inner):
    with pytest.raises(InvalidArgument, match=r"^channel must be"):
        Lapse(inner)


def test_over_a_saturated_link():
    lapse = Lapse(Link(lambda l: np.where(l > 0, 1.0, 0.0)), low=0.1, high=0.2)
    np.testing.assert_allclose(lapse.prob([-1.0, 1.0]), [[0.9, 0.1], [0.2, 0.8]], rtol=1e-15)
