"""W_p on the line for every order."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import ot
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import gammaln

from channelcode.errors import InvalidArgument
from channelcode.measures import DiscreteMeasure, Gaussian
from channelcode.transport import (
    wasserstein_line,
)
from tests.channelcode.transport.laws import (
    samples,
    targets,
)
from tests.channelcode.transport.oracles import line_quadrature

means = st.floats(-5, 5)
deviations = st.floats(0.01, 20)


@settings(max_examples=40)  # adaptive quadrature is slow
@given(nu=targets(1), p=st.sampled_from([1.0, 1.5, 2.0, 3.0]), mean=means, deviation=deviations)
def test_any_order_for_a_gaussian_is_the_quantile_integral(nu, p, mean, deviation):
    distance = wasserstein_line(Gaussian(mean, deviation**2), nu, p=p)
    exact = line_quadrature(mean, deviation**2, nu, p) ** (1 / p)
    assert distance == pytest.approx(exact, rel=1e-11, abs=1e-11)
    assert wasserstein_line(nu, Gaussian(mean, deviation**2), p=p) == distance


@given(mu=samples(1), nu=samples(1, largest=12), p=st.sampled_from([1.0, 1.7, 2.0, 4.0]))
def test_any_order_for_samples_equals_pot(mu, nu, p):
    exact: Any = ot.wasserstein_1d(mu.atoms, nu.atoms, mu.weights, nu.weights, p=p)
    # POT returns the p-th power; its root loses digits near zero.
    assert wasserstein_line(mu, nu, p=p) ** p == pytest.approx(float(exact), rel=1e-9, abs=1e-11)


@given(mu=samples(1), nu=samples(1, largest=8))
def test_orders_grow(mu, nu):
    distances = [wasserstein_line(mu, nu, p=p) for p in (1, 1.5, 2, 3)]
    assert all(b >= a - 1e-12 for a, b in pairwise(distances))


@pytest.mark.parametrize("p", [1.0, 2.0, 3.0])
def test_two_gaussians_on_the_line(p):
    # E|Z|^p for the difference N(0, (2 - 1)^2).
    moments = {1.0: np.sqrt(2 / np.pi), 2.0: 1.0, 3.0: 2 * np.sqrt(2 / np.pi)}
    distance = wasserstein_line(Gaussian(0.0, 4.0), Gaussian(0.0, 1.0), p=p)
    assert distance == pytest.approx(moments[p] ** (1 / p), rel=1e-13)


@pytest.mark.parametrize("p", [0.5, 0.0, -1.0, np.nan])
def test_orders_below_one_are_refused(p):
    with pytest.raises(InvalidArgument):
        wasserstein_line(Gaussian(0.0, 1.0), Gaussian(0.0, 1.0), p=p)


@pytest.mark.parametrize("p", [2.0, 20.0, 200.0, 1000.0])
def test_high_orders_are_numbers(p):
    """p = 200 used to be NaN. E|Z|^p = 2^(p/2) Gamma((p+1)/2) / sqrt(pi)."""
    log_moment = 0.5 * p * np.log(2) + gammaln(0.5 * (p + 1)) - 0.5 * np.log(np.pi)
    one = DiscreteMeasure([3.0], [1.0])
    assert wasserstein_line(Gaussian(3.0, 4.0), one, p=p) == pytest.approx(
        2 * np.exp(log_moment / p), rel=1e-12
    )
    for unit in (2.0**-200, 2.0**200):
        far = DiscreteMeasure([-1.0 * unit, 2.0 * unit], [0.3, 0.7])
        near = DiscreteMeasure([-1.0, 2.0], [0.3, 0.7])
        scaled = wasserstein_line(Gaussian(0.0, unit**2), far, p=p)
        assert scaled == pytest.approx(unit * wasserstein_line(Gaussian(0.0, 1.0), near, p=p))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("variance", [5e-324, 1e-300])
@pytest.mark.parametrize("far", [1e150, 1e300])
@pytest.mark.parametrize("p", [1.0, 1.5, 2.0, 7.0])
def test_gaussians_that_are_nearly_points(variance, far, p):
    """The distance in deviations overflowed."""
    nu = DiscreteMeasure([0.0, far], [0.5, 0.5])
    expected = far * 0.5 ** (1 / p)
    assert wasserstein_line(Gaussian(0.0, variance), nu, p=p) == pytest.approx(expected, rel=1e-14)
    # A far atom of hardly any mass leaves the deviation its share.
    light = DiscreteMeasure([0.0, 1e40], [1.0, 1e-70])
    assert wasserstein_line(Gaussian(0.0, 1.0), light, p=1) == pytest.approx(np.sqrt(2 / np.pi))
