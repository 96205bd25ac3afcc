"""The line: closed forms for Gaussians, quantiles for samples, Prop. 3.2, W_p."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from channelcode.certificate import Status
from channelcode.measures import (
    DiscreteMeasure,
    Gaussian,
)
from channelcode.transport import (
    Line,
    expected_maximum,
    line_constant,
    w2,
)
from tests.channelcode.transport.laws import samples, targets
from tests.channelcode.transport.oracles import emd_squared, line_quadrature

means = st.floats(-5, 5)
deviations = st.floats(0.01, 20)
radii = st.floats(0, 10)


@settings(max_examples=40)  # adaptive quadrature is slow
@given(mean=means, deviation=deviations, nu=targets(1, least=0))
def test_gaussian_closed_form_is_the_quantile_integral(mean, deviation, nu):
    result = w2(Gaussian(mean, deviation**2), nu)
    exact = line_quadrature(mean, deviation**2, nu)
    # Adaptive quadrature reaches 1e-13 of the second moments.
    scale = 1 + mean**2 + deviation**2 + nu.second_moment
    assert abs(result.squared - exact) <= 1e-12 * scale
    assert result.lower <= result.squared <= result.upper
    assert result.gap <= 1e-13 * scale
    assert result.status is Status.OPTIMAL


@given(mean=means, deviation=deviations, radius=radii)
def test_two_symmetric_atoms_are_corollary_3_2_1(mean, deviation, radius):
    squared = w2(Gaussian(mean, deviation**2), DiscreteMeasure.symmetric(radius)).squared
    root = np.sqrt(2 / np.pi)
    corollary = mean**2 + (deviation - root * radius) ** 2 + (1 - 2 / np.pi) * radius**2
    assert squared == pytest.approx(corollary, rel=1e-13, abs=1e-14)


@given(mu=samples(1), nu=samples(1, largest=12))
def test_samples_on_the_line_equal_pot(mu, nu):
    result = w2(mu, nu, solver=Line())
    scale = 1 + mu.second_moment + nu.second_moment
    assert abs(result.squared - emd_squared(mu, nu)) <= 1e-12 * scale
    assert result.gap <= 1e-12 * scale
    np.testing.assert_allclose(result.plan.sum(axis=1), mu.weights, atol=1e-15)
    np.testing.assert_allclose(result.plan.sum(axis=0), nu.weights, atol=1e-15)
    source, target = result.potentials
    assert source is not None
    slack = (mu.atoms[:, None] - nu.atoms) ** 2 - source[:, None] - target
    assert slack.min() >= -1e-12 * scale
    assert abs(mu.weights @ source + nu.weights @ target - result.squared) <= 1e-12 * scale


def test_zero_variance_is_one_atom():
    nu = DiscreteMeasure([-1.0, 2.0, 5.0], [0.2, 0.3, 0.5])
    squared = w2(Gaussian(0.5, 0.0), nu).squared
    assert squared == pytest.approx(nu.weights @ (nu.atoms - 0.5) ** 2, rel=1e-14)


def test_constant_of_order_statistics():
    # Equal weights at the means of normal cells: rho_1 is their spread, sum_j y_j^2 w_j.
    assert line_constant(np.array([-1.0, 1.0]), np.array([0.5, 0.5])) == pytest.approx(
        np.sqrt(2 / np.pi), rel=1e-15
    )
    assert expected_maximum(2) == pytest.approx(1 / np.sqrt(np.pi), rel=1e-14)
    assert expected_maximum(3) == pytest.approx(1.5 / np.sqrt(np.pi), rel=1e-14)


def test_small_weights_keep_their_digits():
    # phi(Phi^{-1}(w)) near w = 0 and near w = 1 must agree: the tails are symmetric.
    tiny = 1e-14
    left = line_constant(np.array([-1.0, 0.0]), np.array([tiny, 1 - tiny]))
    right = line_constant(np.array([0.0, 1.0]), np.array([1 - tiny, tiny]))
    assert left == pytest.approx(right, rel=1e-12)
    assert left > 0
