"""A channel seen from another origin."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from channelcode import (
    BinarySymmetric,
    Cloglog,
    InvalidArgument,
    Ordinal,
    Peak,
    Power,
    Recentred,
    Softmax,
    capacity,
)
from channelcode.channels.tails import broken_promise


@given(st.floats(-50, 50), st.floats(-30, 30))
def test_it_is_the_channel_at_the_moved_input(origin, l):
    seen = Recentred(Cloglog(), origin)
    np.testing.assert_array_equal(
        seen.log_prob(np.array(l)), Cloglog().log_prob(np.array(l + origin))
    )
    np.testing.assert_array_equal(
        seen.derivatives(np.array(l)).gradient, Cloglog().derivatives(np.array(l + origin)).gradient
    )


@pytest.mark.parametrize("origin", [-7.5, 0.0, 3.0, 4990.0])
def test_its_promise_about_far_inputs_holds(origin):
    assert broken_promise(Recentred(Ordinal([-1.0, 5.0]), origin)) is None


def test_a_symmetric_channel_seen_from_its_centre_has_symmetric_input():
    seen = capacity(Recentred(Ordinal([9.0, 11.0]), 10.0), Power(2.0))
    plain = capacity(Ordinal([-1.0, 1.0]), Power(2.0))
    assert seen.bits == pytest.approx(plain.bits, abs=1e-9)
    np.testing.assert_allclose(seen.input.atoms, plain.input.atoms, atol=1e-5)


@pytest.mark.parametrize("channel", [Softmax(3), BinarySymmetric(0.1), 3.0])
def test_only_channels_on_the_line(channel):
    with pytest.raises(InvalidArgument, match="inputs on the line"):
        Recentred(channel, 1.0)


def test_the_origin_is_a_number():
    with pytest.raises(InvalidArgument, match="origin"):
        Recentred(Cloglog(), np.nan)


def test_equal_channels_are_equal():
    assert Recentred(Cloglog(), 1) == Recentred(Cloglog(), 1.0) != Recentred(Cloglog(), 2.0)
    assert capacity(Recentred(Cloglog(), 1.0), Peak(1.0)).status.ok


def test_landmarks_move_with_the_origin():
    inner, seen = Cloglog().tails(), Recentred(Cloglog(), 3.0).tails()
    assert seen is not None
    assert [place + 3.0 for place, _ in seen.landmarks] == pytest.approx(
        [place for place, _ in inner.landmarks]
    )
