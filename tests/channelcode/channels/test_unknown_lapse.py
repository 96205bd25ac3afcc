"""A lapse rate as part of the input: the channel of that rate, and refusals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from channelcode import Cloglog, Lapse, Logistic, Probit, Softmax, UnknownGuess, UnknownLapse
from channelcode.errors import InvalidArgument


@given(st.floats(-1e6, 1e6), st.floats(0.0, 0.49), st.floats(0.0, 0.5))
def test_at_a_known_rate_it_is_lapse(l, rate, low):
    for link in (Logistic(), Probit(), Cloglog()):
        expected = Lapse(link, low=low, high=rate).log_prob(l)
        np.testing.assert_allclose(UnknownLapse(link, low).log_prob([l, rate]), expected)
        both = Lapse(link, low=rate, high=rate).log_prob(l)
        found = UnknownLapse(link, symmetric=True).log_prob([l, rate])
        np.testing.assert_allclose(found, both, atol=1e-12)


@pytest.mark.parametrize("symmetric", [False, True])
def test_ends_of_the_range(symmetric):
    channel = UnknownLapse(Logistic(), symmetric=symmetric)
    np.testing.assert_allclose(channel.prob([0.3, 0.0]), Logistic().prob(0.3))
    last = channel.prob([5.0, channel.largest_rate])
    np.testing.assert_allclose(last, [0.5, 0.5] if symmetric else [1.0, 0.0], atol=1e-15)
    np.testing.assert_allclose(channel.prob(np.zeros((3, 4, 2))).sum(axis=-1), 1.0)


@pytest.mark.parametrize("rate", [-1e-12, 0.51, 2.0, -3.0])
def test_what_is_no_rate_is_refused(rate):
    with pytest.raises(InvalidArgument, match=r"lapse rate in \[0, 0\.5\]"):
        UnknownLapse(Logistic(), low=0.5).log_prob([[0.0, 0.1], [1.0, rate]])
    with pytest.raises(InvalidArgument, match="lapse rate"):
        UnknownLapse(Logistic(), symmetric=True).prob([1.0, rate])


def test_arguments():
    for bad in (-0.1, 1.0, np.nan):
        with pytest.raises(InvalidArgument, match="low"):
            UnknownLapse(Logistic(), low=bad)
    with pytest.raises(InvalidArgument, match="symmetric"):
        UnknownLapse(Logistic(), low=0.1, symmetric=True)
    with pytest.raises(InvalidArgument, match="channel"):
        UnknownLapse(Softmax(3))
    assert not UnknownLapse(Logistic()).same_units
    assert Logistic().same_units


@given(st.floats(-1e6, 1e6), st.floats(0.0, 0.49), st.floats(0.0, 0.5))
def test_at_a_known_guess_rate_it_is_lapse(l, rate, high):
    for link in (Logistic(), Probit(), Cloglog()):
        expected = Lapse(link, low=rate, high=high).log_prob(l)
        np.testing.assert_allclose(UnknownGuess(link, high).log_prob([l, rate]), expected)


def test_guess_rates_are_checked():
    for rate in (-1e-9, 0.91):
        with pytest.raises(InvalidArgument, match=r"guess rate in \[0, 0\.9\]"):
            UnknownGuess(Logistic(), high=0.1).log_prob([0.0, rate])
    for bad in (-0.1, 1.0, np.nan):
        with pytest.raises(InvalidArgument, match="high"):
            UnknownGuess(Logistic(), high=bad)
    assert not UnknownGuess(Logistic()).same_units
