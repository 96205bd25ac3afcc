"""The cauchit channel against the arctangent in 60 digits."""

from __future__ import annotations

import mpmath

from channelcode import Cauchit
from tests.channelcode.channels.tails import assert_log_probs


def test_tails():
    def exact(l):
        up = mpmath.mpf(1) / 2 + mpmath.atan(l) / mpmath.pi
        return [1 - up, up]

    assert_log_probs(Cauchit(), exact)


def test_heavy_tail():
    # 1/2 - atan(l)/pi is 1/(pi l) for large l
    assert abs(Cauchit().prob(1e4)[0] * mpmath.pi * 1e4 - 1) < 1e-8
