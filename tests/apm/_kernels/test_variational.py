"""The evidence bound and its state against dense algebra (the rest: tests/apm/posteriors)."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import log_expit

from apm._kernels import variational
from tests.kernel_checks import assert_matches_py_func


@pytest.mark.parametrize("n, r", [(6, 3), (2, 5)])
def test_evaluate(n: int, r: int, rng: np.random.Generator) -> None:
    """The Jaakkola-Jordan bound with prior N(0, I), weights included, from its definition."""
    Z, weights, t = rng.standard_normal((n, r)), rng.random(n) + 0.5, rng.random(n) + 0.1
    half = weights * (rng.integers(0, 2, n) - 0.5)
    U, G, shift, work = np.zeros((r, r)), np.zeros((r, n)), np.zeros(r), np.zeros((8, n))
    arguments = (Z, half, weights, t, U, G, shift, work)
    bound = assert_matches_py_func(variational.evaluate, *arguments, rtol=1e-11, atol=1e-13)
    variational.evaluate(*arguments)
    xi = np.sqrt(t)
    lam = np.tanh(xi / 2) / (4 * xi)
    precision = np.eye(r) + 2 * (Z.T * (weights * lam)) @ Z
    sigma = np.linalg.inv(precision)
    mean = sigma @ (Z.T @ half)
    expected = 0.5 * mean @ precision @ mean - 0.5 * np.linalg.slogdet(precision)[1]
    expected += weights @ (log_expit(xi) - xi / 2 + lam * t)
    assert bound == pytest.approx(expected, rel=1e-11)
    np.testing.assert_allclose(work[variational.MEAN], Z @ mean, rtol=1e-10, atol=1e-13)
    second = sigma + np.outer(mean, mean)
    image = np.einsum("ni,ij,nj->n", Z, second, Z)
    np.testing.assert_allclose(work[variational.IMAGE], image, rtol=1e-10)
    np.testing.assert_allclose(np.triu(U).T @ np.triu(U), precision, rtol=1e-11, atol=1e-13)
