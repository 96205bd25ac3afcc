"""Samples in R^k: equal to POT on the same points, primal equal to dual."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from channelcode.certificate import Status
from channelcode.measures import DiscreteMeasure, Empirical, EmpiricalPool
from channelcode.transport import EarthMover, SemiDual, w2, w2_squared
from tests.channelcode.transport.laws import samples, targets
from tests.channelcode.transport.oracles import emd_squared


@settings(max_examples=100)
@given(data=st.data(), dim=st.integers(2, 4))
def test_equal_to_pot_with_ties_and_massless_atoms(data, dim):
    mu = data.draw(samples(dim, largest=40))
    nu = data.draw(targets(dim, largest=7, least=0))
    result = w2(mu, nu, solver=SemiDual())
    scale = 1 + mu.second_moment + nu.second_moment
    assert abs(result.squared - emd_squared(mu, nu)) <= 1e-12 * scale
    assert result.gap <= 1e-12 * scale
    assert result.status is Status.OPTIMAL
    np.testing.assert_allclose(result.plan.sum(axis=1), mu.weights, atol=1e-14)
    np.testing.assert_allclose(result.plan.sum(axis=0), nu.weights, atol=1e-14)
    source, target = result.potentials
    assert source is not None
    cost = ((mu.points[:, None] - nu.points[None]) ** 2).sum(axis=2)
    assert (cost - source[:, None] - target).min() >= -1e-12 * scale
    assert abs(mu.weights @ source + nu.weights @ target - result.lower) <= 1e-12 * scale
    assert abs((result.plan.toarray() * cost).sum() - result.upper) <= 1e-12 * scale


@pytest.mark.parametrize(("dim", "m"), [(2, 3), (2, 5), (3, 4), (5, 5), (10, 5), (10, 10), (6, 20)])
def test_pools_equal_pot(rng, dim, m):
    nu = DiscreteMeasure(rng.standard_normal((m, dim)), rng.dirichlet(np.full(m, 2.0)))
    factors = rng.standard_normal((12, dim, dim))
    draws = rng.standard_normal((12, 512, dim)) @ factors
    looped = np.array([emd_squared(Empirical(x), nu) for x in draws])
    # Second moments reach about 50 here; POT itself sums 512 costs.
    np.testing.assert_allclose(w2_squared(EmpiricalPool(draws), nu), looped, rtol=1e-13, atol=1e-12)


def test_heavy_tails_and_clusters(rng):
    nu = DiscreteMeasure(rng.standard_normal((6, 3)), [0.5, 0.3, 0.1, 0.05, 0.04, 0.01])
    clusters = rng.integers(0, 3, (8, 256, 1)) * 10.0 + 0.01 * rng.standard_normal((8, 256, 3))
    heavy = rng.standard_t(1.5, (8, 256, 3))
    for draws in (clusters, heavy):
        looped = [emd_squared(Empirical(x), nu) for x in draws]
        np.testing.assert_allclose(w2_squared(EmpiricalPool(draws), nu), looped, rtol=1e-12)


def test_solvers_agree(rng):
    mu = Empirical(rng.standard_normal((200, 3)), rng.dirichlet(np.ones(200)))
    nu = DiscreteMeasure(rng.standard_normal((6, 3)), rng.dirichlet(np.ones(6)))
    ours, theirs = w2(mu, nu), w2(mu, nu, solver=EarthMover())
    assert ours.method.startswith("samples")
    assert ours.squared == pytest.approx(theirs.squared, rel=1e-13)
    assert w2(nu, mu).squared == pytest.approx(ours.squared, rel=1e-13)
    assert w2(nu, mu).plan.shape == (6, 200)


def test_large_samples_with_few_places():
    """Thousands of equal points are solved as one."""
    places = np.repeat(np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]), 4000, axis=0)
    nu = DiscreteMeasure([[0.0, 0.0], [2.0, 1.0], [-1.0, 3.0]], [0.5, 0.25, 0.25])
    small = DiscreteMeasure([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]], np.full(3, 1 / 3))
    assert w2(Empirical(places), nu).squared == pytest.approx(emd_squared(small, nu), rel=1e-12)
