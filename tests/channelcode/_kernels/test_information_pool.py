"""The compiled loops of pool information, against themselves uncompiled and against plain NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from channelcode._kernels import information_pool as kernels
from channelcode._numerics.quadrature import gauss_hermite
from tests.kernel_checks import assert_matches_py_func


def _normal(x, sigma):
    return np.exp(-0.5 * (x / sigma) ** 2) / (sigma * np.sqrt(2 * np.pi))


def test_smooth_grid(rng):
    grid = np.arange(-60, 60, 0.25)
    values = np.stack([np.sin(grid), 1 / (1 + np.exp(-grid)), np.ones_like(grid)], axis=-1)
    centres, sigmas = rng.uniform(-20, 20, 30), rng.uniform(0.6, 3.0, 30)
    result = np.zeros((30, 3))
    args = (values, -60.0, 0.25, centres, sigmas, result)
    assert_matches_py_func(kernels.smooth_grid, *args, rtol=1e-11, atol=1e-15)
    kernels.smooth_grid(*args)
    weights = 0.25 * _normal(grid - centres[:, None], sigmas[:, None])
    np.testing.assert_allclose(result, weights @ values, atol=1e-13)
    # E sin(c + s Z) = exp(-s^2/2) sin c: the trapezoid rule is exact to rounding here
    np.testing.assert_allclose(result[:, 0], np.exp(-0.5 * sigmas**2) * np.sin(centres), atol=1e-13)


def test_smooth_grid_near_the_ends():
    values = np.ones((10, 1))
    result = np.zeros((2, 1))
    kernels.smooth_grid(values, 0.0, 0.5, np.array([-3.0, 12.0]), np.array([1.0, 1.0]), result)
    assert (result >= 0).all()
    assert (result < 0.01).all()  # mass that the grid does not hold is lost, not invented


def test_smooth_panels(rng):
    nodes = np.sort(rng.uniform(-10, 10, 500))
    weights, values = rng.uniform(0, 0.1, 500), rng.standard_normal((500, 2))
    centres = np.linspace(-8, 8, 17)
    found = assert_matches_py_func(
        kernels.smooth_panels, nodes, weights, values, 0.7, centres, rtol=1e-11, atol=1e-15
    )
    wanted = (weights * _normal(nodes - centres[:, None], 0.7)) @ values
    np.testing.assert_allclose(found, wanted, atol=1e-14)


def test_logistic_narrow(rng):
    means, sigmas = rng.normal(0, 5, 20), rng.uniform(0, 0.7, 20)
    nodes, weights = gauss_hermite(20)
    value, output = np.zeros(20), np.zeros(20)
    args = (means, sigmas, nodes, weights, value, output)
    assert_matches_py_func(kernels.logistic_narrow, *args, rtol=1e-9, atol=1e-18)
    kernels.logistic_narrow(*args)
    p = 1 / (1 + np.exp(-(means[:, None] + sigmas[:, None] * nodes)))
    q = p @ weights
    h = lambda x: -x * np.log(x) - (1 - x) * np.log1p(-x)  # noqa: E731
    np.testing.assert_allclose(value, h(q) - h(p) @ weights, atol=1e-14)
    np.testing.assert_allclose(output, q, rtol=1e-13)


def test_logistic_narrow_far_out():
    means, sigmas = np.array([-1e4, -800.0, -700.0, 800.0]), np.array([0.5, 0.1, 1e-6, 0.0])
    nodes, weights = gauss_hermite(20)
    value, output = np.full(4, np.nan), np.full(4, np.nan)
    kernels.logistic_narrow(means, sigmas, nodes, weights, value, output)
    np.testing.assert_array_equal(value, np.zeros(4))
    np.testing.assert_allclose(output, [0.0, 0.0, np.exp(-700.0), 1.0], rtol=1e-9)


@pytest.mark.parametrize("d", [-1.0, -0.9, -0.02, -0.019, 0.0, 1e-9, 0.021, 5.0])
def test_excess_matches_its_numpy_twin(d):
    from channelcode._numerics.divergence import excess

    assert kernels.excess(d) == pytest.approx(float(excess(np.asarray(d))), rel=1e-12, abs=0)
    assert kernels.excess.py_func(d) == pytest.approx(kernels.excess(d), rel=1e-13, abs=0)
