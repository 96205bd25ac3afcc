"""Distances to discrete laws, against POT and the paper's formulas."""

from __future__ import annotations

import numpy as np
import ot
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtri

from channelcode._numerics.wasserstein import (
    atoms_to_atoms,
    gaussian_to_atoms,
    gaussian_upper_bound,
)


@given(st.floats(-20, 20), st.floats(0.01, 20), st.floats(0, 20))
def test_corollary_321(mean, sigma, t):
    """W2^2(N, B_t) = mu^2 + (sigma - sqrt(2/pi) t)^2 + (1 - 2/pi) t^2."""
    first, second = gaussian_to_atoms(mean, sigma, np.array([-t, t]), np.array([0.5, 0.5]))
    wanted = mean**2 + (sigma - np.sqrt(2 / np.pi) * t) ** 2 + (1 - 2 / np.pi) * t**2
    assert second**2 == pytest.approx(wanted, rel=1e-12)
    assert first <= second * (1 + 1e-12)


@pytest.mark.parametrize(("mean", "sigma"), [(0.0, 1.0), (2.5, 0.3), (-4.0, 7.0)])
def test_against_quantiles(mean, sigma):
    """W_p^p is the integral over levels of the distance of quantiles; a fine midpoint rule."""
    atoms, weights = np.array([3.0, -1.0, 0.5]), np.array([0.2, 0.5, 0.3])
    levels = (np.arange(200_000) + 0.5) / 200_000
    order = np.argsort(atoms)
    target = atoms[order][np.searchsorted(np.cumsum(weights[order]), levels)]
    gaps = np.abs(mean + sigma * ndtri(levels) - target)
    first, second = gaussian_to_atoms(mean, sigma, atoms, weights)
    # the midpoint rule loses the far tails: about sigma 1e-5
    assert first == pytest.approx(gaps.mean(), abs=3e-5 * (1 + sigma))
    assert second == pytest.approx(np.sqrt((gaps**2).mean()), abs=1e-4 * (1 + sigma))


def test_no_spread():
    first, second = gaussian_to_atoms(1.0, 0.0, np.array([0.0, 3.0]), np.array([0.5, 0.5]))
    assert first == pytest.approx(1.5)
    assert second == pytest.approx(np.sqrt(2.5))


@settings(max_examples=50)
@given(st.integers(1, 6), st.integers(1, 6), st.integers(0, 10**6))
def test_discrete_against_pot(m, n, seed):
    rng = np.random.default_rng(seed)
    x, y = rng.standard_normal(m).round(1), rng.standard_normal(n).round(1)
    a, b = rng.dirichlet(np.ones(m)), rng.dirichlet(np.ones(n))
    for p, found in zip((1, 2), atoms_to_atoms(x, a, y, b), strict=True):
        wanted = np.asarray(ot.wasserstein_1d(x, y, a, b, p=p)).item() ** (1 / p)
        assert found == pytest.approx(wanted, abs=1e-7)  # a square root at zero


def test_upper_bound_in_space_is_above_pot(rng):
    mean, factor = rng.standard_normal(3), rng.standard_normal((3, 3))
    atoms, weights = 2 * rng.standard_normal((4, 3)), rng.dirichlet(np.ones(4))
    bound = gaussian_upper_bound(mean, factor @ factor.T, atoms, weights)
    samples = mean + rng.standard_normal((2000, 3)) @ factor.T
    cost = ((samples[:, None, :] - atoms) ** 2).sum(axis=-1)
    exact = float(np.sqrt(ot.emd2(np.full(2000, 1 / 2000), weights, cost)))
    assert bound >= exact - 0.1  # sampling error of the oracle


def test_upper_bound_on_a_line_in_space_is_exact():
    """Two atoms on an axis of an isotropic law: the cut across that axis is optimal."""
    atoms = np.array([[-2.0, 0.0], [2.0, 0.0]])
    bound = gaussian_upper_bound(np.zeros(2), np.eye(2), atoms, np.array([0.5, 0.5]))
    line = gaussian_to_atoms(0.0, 1.0, np.array([-2.0, 2.0]), np.array([0.5, 0.5]))[1]
    assert bound == pytest.approx(np.sqrt(line**2 + 1.0))
