"""Gaussian noise under a power, with and without a peak."""

from __future__ import annotations

import numpy as np
import pytest

from channelcode import AdditiveGaussian, Peak, Power, Status, capacity
from channelcode.capacity.noise.gaussian import lattice_information, shannon_bound
from channelcode.capacity.problem import Problem
from channelcode.information.densities import atoms_information


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


def test_the_bound_is_for_gaussian_noise_under_power():
    channel = AdditiveGaussian(1.0)
    assert shannon_bound(Problem(channel, Power(3.0))) == pytest.approx(np.log(2.0))
    assert shannon_bound(Problem(channel, Peak(3.0))) == np.inf


@pytest.mark.parametrize(("power", "peak"), [(300.0, 200.0), (1e4, 1e6), (1e6, 1e4)])
def test_a_wide_law_on_a_lattice(power, peak):
    """Many deviations of the noise wide: Gauss and Hermite's nodes would be too far apart."""
    result = capacity(AdditiveGaussian(1.0), Power(power) & Peak(peak))
    assert result.status is Status.OPTIMAL
    assert abs(result.input.atoms).max() <= peak
    assert result.input.second_moment <= power * (1 + 1e-12)
    assert result.lower <= 0.5 * np.log2(1.0 + power) <= result.upper


def test_a_lattice_carries_what_quadrature_says():
    points = 1.7 * np.arange(-6.0, 7.0)
    weights = np.exp(-0.02 * points**2)
    weights /= weights.sum()
    for noise in (1.0, 0.5):
        channel = AdditiveGaussian(noise)
        ours = lattice_information(channel, points, weights)
        other = atoms_information(channel, points, weights)
        assert ours.nats == pytest.approx(other.nats, abs=1e-12)
