from __future__ import annotations

import numpy as np
import pytest

from channelcode import InvalidArgument
from channelcode.feedback import Confidence, Dithered, Horstein, Rounded, Shifted, Uses
from channelcode.feedback.choices import as_stop


def test_stops_and_their_union():
    scheme = Horstein(0.1)
    state = scheme.start(messages=4)
    assert Uses(0).done(state)
    assert not Uses(1).done(state)
    assert not Confidence(0.5).done(state)  # three messages in four are wrong
    assert Confidence(0.75).done(state)
    assert (Confidence(0.1) | Uses(0)).done(state)
    assert not (Confidence(0.1) | Uses(3)).done(state)


@pytest.mark.parametrize("error", [0.0, 1.0, -0.1, 2, float("nan"), "a", None])
def test_confidence_out_of_range(error):
    with pytest.raises(InvalidArgument, match="error"):
        Confidence(error)


@pytest.mark.parametrize("n", [-1, 1.5, "3", None, True])
def test_uses_out_of_range(n):
    with pytest.raises(InvalidArgument, match="n must be"):
        Uses(n)


def test_a_stop_is_a_stop():
    with pytest.raises(InvalidArgument, match="stop must be Uses"):
        as_stop(5)
    with pytest.raises(TypeError):
        _ = Uses(3) | 5  # type: ignore[operator]


def test_digits_of_a_dither_go_on_where_they_were():
    dither = Dithered(7)
    assert dither.offset(2**100 + 1, 512) >> 256 == dither.offset(2**100 + 1, 256)
    assert dither.offset(1, 256) != dither.offset(2, 256)
    assert Dithered(8).offset(1, 256) != dither.offset(1, 256)


def test_shifts_follow_from_seed_and_time():
    shifts = [Shifted(3).shift(t) for t in range(200)]
    assert shifts == [Shifted(3).shift(t) for t in range(200)]
    assert len(set(shifts)) == 200
    assert abs(np.mean(shifts) - 0.5) < 0.1  # five standard errors of a uniform mean
    assert Shifted(np.random.default_rng(1)).seed == Shifted(np.random.default_rng(1)).seed
    assert Rounded() == Rounded()
