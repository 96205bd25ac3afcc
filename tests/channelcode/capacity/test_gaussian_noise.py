"""Gaussian noise under a power, with and without a peak."""

from __future__ import annotations

import numpy as np
import pytest

from channelcode import AdditiveGaussian, Peak, Power, Status, capacity
from channelcode.capacity.gaussian_noise import shannon_bound
from channelcode.capacity.problem import Problem


@pytest.mark.parametrize(("noise", "power", "peak"), [(1.0, 1.0, 100.0), (2.0, 9.0, 40.0)])
def test_a_peak_far_out_costs_nothing(noise, power, peak):
    result = capacity(AdditiveGaussian(noise), Power(power) & Peak(peak))
    exact = 0.5 * np.log2(1 + power / noise**2)
    assert result.status is Status.OPTIMAL
    assert result.lower <= exact <= result.upper
    assert np.abs(result.input.atoms).max() <= peak
    assert result.input.weights @ result.input.atoms**2 <= power * (1 + 1e-12)


def test_a_peak_that_binds_is_searched():
    result = capacity(AdditiveGaussian(1.0), Power(2.0) & Peak(4.0))
    assert result.gap <= 1e-9
    assert "Shannon" not in result.scope
    assert result.upper < 0.5 * np.log2(3.0)


@pytest.mark.slow
def test_what_cannot_be_solved_has_an_honest_interval():
    result = capacity(AdditiveGaussian(1.0), Power(1e4) & Peak(1e6), throw=False)
    assert not result.status.ok
    assert result.upper == pytest.approx(0.5 * np.log2(1 + 1e4), rel=1e-12)


def test_the_bound_is_for_gaussian_noise_under_power():
    channel = AdditiveGaussian(1.0)
    assert shannon_bound(Problem(channel, Power(3.0))) == pytest.approx(np.log(2.0))
    assert shannon_bound(Problem(channel, Peak(3.0))) == np.inf
