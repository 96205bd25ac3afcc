"""Which channels may serve as a binary response."""

from __future__ import annotations

import pytest

from channelcode import (
    BinarySymmetric,
    Binomial,
    Cauchit,
    InvalidArgument,
    Lapse,
    Link,
    Logistic,
    Probit,
    Softmax,
)
from channelcode.channels.binary import binary_response


@pytest.mark.parametrize(
    "channel", [Logistic(), Probit(), Lapse(Cauchit()), Binomial(1), Link(abs)]
)
def test_taken(channel):
    assert binary_response("link", channel) is channel


@pytest.mark.parametrize("bad", [Softmax(2), Binomial(2), BinarySymmetric(0.1)])
def test_other_channels_are_refused(bad):
    with pytest.raises(InvalidArgument, match="link must be a scalar channel with two outputs"):
        binary_response("link", bad)


@pytest.mark.parametrize("bad", [None, Logistic, abs])
def test_other_things_are_refused(bad):
    with pytest.raises(InvalidArgument, match="channel must be a channel"):
        binary_response("channel", bad)
