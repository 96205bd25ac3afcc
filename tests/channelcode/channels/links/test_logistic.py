"""The logistic channel against its formula in 60 digits."""

from __future__ import annotations

import mpmath
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from channelcode import Logistic
from tests.channelcode.channels.tails import assert_log_probs


def _exact(l):
    return [1 / (1 + mpmath.exp(l)), 1 / (1 + mpmath.exp(-l))]


def test_tails():
    assert_log_probs(Logistic(), _exact)


@given(st.floats(-1e4, 1e4))
def test_symmetry(l):
    np.testing.assert_array_equal(Logistic().log_prob(l), Logistic().log_prob(-l)[::-1])


@given(st.floats(-30, 30))
def test_score_identities(l):
    p, (g, h) = Logistic().prob(l), Logistic().derivatives(l)
    assert abs(p @ g) < 1e-15
    assert abs(p @ (h + g * g)) < 1e-15


def test_entropy_is_known_far_out():
    # h_b(f(l)) = (1 + l) e^-l to first order
    np.testing.assert_allclose(Logistic().conditional_entropy(40.0), 41 * np.exp(-40.0), rtol=1e-12)
