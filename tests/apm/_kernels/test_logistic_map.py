"""The loss and Newton of the logistic MAP against their own Python and against scipy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import log_expit

from apm._kernels import logistic_map
from tests.kernel_checks import assert_matches_py_func


def problem(n: int, r: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return rng.standard_normal((n, r)), np.sign(rng.standard_normal(n)), rng.random(n) + 0.5


@pytest.mark.parametrize("scale", [0.0, 1.0, 1e3])
def test_loss(scale: float, rng: np.random.Generator) -> None:
    """Margins of either sign and size: no overflow, no cancellation."""
    Z, signs, weights = problem(9, 3, rng)
    v = scale * rng.standard_normal(3)
    found = assert_matches_py_func(logistic_map.loss, Z, signs, weights, v, np.zeros(9))
    margins = signs * (Z @ v)
    expected = 0.5 * v @ v - weights @ log_expit(margins)
    assert found == pytest.approx(expected, rel=1e-13)
    written = np.zeros(9)
    logistic_map.loss(Z, signs, weights, v, written)
    np.testing.assert_allclose(written, margins, rtol=1e-12)


@pytest.mark.parametrize("start", [0.0, 30.0])
def test_newton(start: float, rng: np.random.Generator) -> None:
    """From afar a whole step overshoots and the line search has work to do."""
    Z, signs, weights = problem(12, 3, rng)
    v = np.full(3, start)
    # the last step is rounding, so `change` is compared in absolute terms
    steps, change = assert_matches_py_func(
        logistic_map.newton, Z, signs, weights, v, 100, rtol=1e-9, atol=1e-9
    )
    assert steps < 30
    assert change <= 1e-8
    logistic_map.newton(Z, signs, weights, v, 100)
    gradient = v - Z.T @ (weights * signs / (1 + np.exp(signs * (Z @ v))))
    np.testing.assert_allclose(gradient, 0.0, atol=1e-12)
    best = minimize(
        lambda u: 0.5 * u @ u - weights @ log_expit(signs * (Z @ u)), np.zeros(3), method="BFGS"
    )
    np.testing.assert_allclose(v, best.x, atol=1e-4)  # BFGS stops on a gradient of 1e-5
