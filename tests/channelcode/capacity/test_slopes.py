"""The slopes are the derivatives of 1 - h_b, by mpmath, down to zero."""

from __future__ import annotations

import mpmath
import pytest

from channelcode.capacity.slopes import logistic_slope, probit_slope


def slope(response, t):
    """-d h_b(f(sqrt u))/du at u = t^2, in nats."""
    with mpmath.workdps(400):

        def gain(u):
            p = response(mpmath.sqrt(u))
            return p * mpmath.log(p) + (1 - p) * mpmath.log(1 - p)

        return float(mpmath.diff(gain, mpmath.mpf(t) ** 2, h=mpmath.mpf(t) ** 2 * 1e-15))


@pytest.mark.parametrize("t", [1e-150, 1e-8, 2e-5, 1.1e-4, 0.3, 2.0, 7.0])
def test_slopes(t):
    # below 1e-4 the probit takes its value at zero: off by t^2 (pi - 2) / (2 pi) or so
    assert logistic_slope(t) == pytest.approx(
        slope(lambda x: 1 / (1 + mpmath.exp(-x)), t), rel=1e-9
    )
    assert probit_slope(t) == pytest.approx(slope(mpmath.ncdf, t), rel=1e-8)
