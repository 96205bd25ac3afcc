"""The line: closed forms for Gaussians, quantiles for samples, Prop. 3.2, W_p."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import ot
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from channelcode.certificate import Status
from channelcode.errors import InvalidArgument
from channelcode.measures import (
    DiscreteMeasure,
    Empirical,
    EmpiricalPool,
    Gaussian,
    ScalarPool,
)
from channelcode.transport import (
    EarthMover,
    Line,
    Median,
    expected_maximum,
    line_constant,
    w2,
    w2_squared,
    wasserstein_line,
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


@given(mu=samples(1), radius=radii)
def test_proposition_3_2_for_every_law_and_every_median(mu, radius):
    nu = DiscreteMeasure.symmetric(radius)
    exact = emd_squared(mu, nu)
    scale = mu.second_moment + radius**2
    order = np.argsort(mu.atoms)
    x, below = mu.atoms[order], np.cumsum(mu.weights[order])
    # All medians: from the first point with half the mass to the first with more than half.
    low = x[np.searchsorted(below, 0.5 - 1e-12)]
    high = x[min(np.searchsorted(below, 0.5 + 1e-12), len(x) - 1)]
    for median in (low, high, 0.5 * (low + high)):
        identity = mu.second_moment + radius**2
        identity -= 2 * radius * (mu.weights @ np.abs(mu.atoms - median))
        assert abs(identity - exact) <= 1e-12 * (1 + scale)
    result = w2(mu, nu)
    assert result.method == "line, Prop. 3.2"
    assert abs(result.squared - exact) <= 1e-12 * (1 + scale)
    assert abs(result.squared - w2(mu, nu, solver=Line()).squared) <= 1e-12 * (1 + scale)
    assert result.gap <= 1e-12 * (1 + scale)


def test_proposition_3_2_for_continuous_laws(rng):
    # Laplace: E L^2 = 2, E|L - med| = 1. The quantile sample errs by its tail, near 1e-4.
    u = (np.arange(200_000) + 0.5) / 200_000
    quantiles = -np.sign(u - 0.5) * np.log1p(-2 * np.abs(u - 0.5))
    for radius in (0.5, 2.0):
        squared = w2(
            Empirical(quantiles), DiscreteMeasure.symmetric(radius), solver=Median()
        ).squared
        assert squared == pytest.approx(2 + radius**2 - 2 * radius, abs=2e-4)


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


@pytest.mark.parametrize("size", [1, 2, 7, 1000])
@pytest.mark.parametrize("atoms", [[-1.0, 1.0], [0.5], [-2.0, 0.3, 0.3, 4.0, 5.0]])
def test_pools_of_samples_equal_pot_one_by_one(rng, size, atoms):
    draws = rng.standard_normal((6, size)) * 3
    nu = DiscreteMeasure.uniform(atoms)
    looped: Any = [ot.emd2_1d(x, nu.atoms, None, np.array(nu.weights)) for x in draws]
    np.testing.assert_allclose(w2_squared(EmpiricalPool(draws), nu), looped, rtol=0, atol=1e-12)


@given(nu=targets(1), mean=means, deviation=st.floats(0, 20))
def test_pool_equals_single(nu, mean, deviation):
    pool = ScalarPool([mean, 0.0], [deviation**2, 1.0])
    single = [w2(law, nu).squared for law in pool]
    np.testing.assert_allclose(w2_squared(pool, nu), single, rtol=1e-13, atol=1e-14)


def test_zero_variance_is_one_atom():
    nu = DiscreteMeasure([-1.0, 2.0, 5.0], [0.2, 0.3, 0.5])
    squared = w2(Gaussian(0.5, 0.0), nu).squared
    assert squared == pytest.approx(nu.weights @ (nu.atoms - 0.5) ** 2, rel=1e-14)


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


@pytest.mark.parametrize("p", [0.5, 0.0, -1.0, np.nan])
def test_orders_below_one_are_refused(p):
    with pytest.raises(InvalidArgument):
        wasserstein_line(Gaussian(0.0, 1.0), Gaussian(0.0, 1.0), p=p)


def test_network_simplex_agrees_with_the_line(rng):
    mu, nu = Empirical(rng.standard_normal(40)), Empirical(rng.standard_normal(9))
    assert w2(mu, nu).squared == pytest.approx(w2(mu, nu, solver=EarthMover()).squared, rel=1e-13)
