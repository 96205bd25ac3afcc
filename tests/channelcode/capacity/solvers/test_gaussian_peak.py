"""Gaussian noise under a peak: Smith's atoms by Newton's method, against quadrature and KKT."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate

from channelcode import AdditiveGaussian, Peak, Status, capacity
from channelcode.capacity.noise.gaussian import peak_bound
from channelcode.capacity.problem import Problem
from channelcode.capacity.solvers.gaussian_peak import WIDEST_PEAK, gaussian_peak

TOL = 1e-10


def divergence(l, points, weights):
    """D(f_l || q) by SciPy's quadrature."""

    def integrand(y):
        f = np.exp(-0.5 * (y - l) ** 2) / np.sqrt(2 * np.pi)
        q = weights @ np.exp(-0.5 * (y - points) ** 2) / np.sqrt(2 * np.pi)
        return f * (np.log(f) - np.log(q)) if f > 0 else 0.0

    return integrate.quad(integrand, l - 9, l + 9, epsabs=1e-13, limit=400)[0]


@pytest.mark.parametrize(("peak", "atoms"), [(1.6, 2), (1.7, 3), (3.0, 4), (5.0, 5), (20.0, 25)])
def test_the_law_meets_its_conditions_by_another_quadrature(peak, atoms):
    found = gaussian_peak(1.0, peak, tol=TOL)
    assert found is not None
    assert len(found.points) == atoms
    each = np.array([divergence(l, found.points, found.weights) for l in found.points])
    assert np.ptp(each) < 1e-10
    between = np.linspace(-peak, peak, 41)
    assert max(divergence(l, found.points, found.weights) for l in between) < each.max() + 1e-9


@given(st.floats(0.01, 30.0), st.sampled_from([1e-80, 0.5, 1e80]))
@settings(max_examples=25, deadline=None)
def test_every_peak_is_certified_in_any_unit(ratio, noise):
    result = capacity(AdditiveGaussian(noise), Peak(ratio * noise))
    assert result.status is Status.OPTIMAL
    assert result.gap < 1e-9
    bound = peak_bound(Problem(AdditiveGaussian(noise), Peak(ratio * noise))) / np.log(2)
    assert result.bits <= bound + 1e-13  # the error that integrals are stated with is 1e-14
    law = result.input
    assert np.abs(law.atoms + law.atoms[::-1]).max() <= 1e-6 * ratio * noise  # symmetric


def test_a_wide_peak_is_put_together_and_proved():
    result = capacity(AdditiveGaussian(1.0), Peak(60.0))
    assert result.status is Status.OPTIMAL
    # an even output carries ln(2 A / sqrt(2 pi e)); both ends together are worth 3.98 deviations
    assert abs(2.0**result.bits * np.sqrt(2 * np.pi * np.e) - 120.0 - 3.981608) < 1e-5
    assert result.stats.method == "Newton (Smith)"


def test_what_is_not_for_it_is_left_to_others():
    assert gaussian_peak(1.0, 0.0, tol=TOL) is None
    assert gaussian_peak(1.0, 1.01 * WIDEST_PEAK, tol=TOL) is None
