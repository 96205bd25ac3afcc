"""The softmax MAP: its kernel against its own Python, and against Newton."""

from __future__ import annotations

import numpy as np

from apm._kernels.multiclass_fit import softmax_loss, softmax_map
from apm.posteriors import Bohning
from tests.kernel_checks import assert_matches_py_func


def test_kernels_match_python() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(9, 3)), rng.integers(0, 4, size=9)
    start, inverse = np.zeros((4, 3)), np.linalg.inv(np.eye(3) + 0.5 * X.T @ X)
    assert_matches_py_func(softmax_loss, X, y, start + 0.1, 0.5, np.empty((4, 3)), rtol=1e-10)
    theta, steps = softmax_map(X, y, start, inverse, 0.5, 1e-10, 200)
    gradient = np.empty((4, 3))
    softmax_loss(X, y, theta, 0.5, gradient)
    assert np.abs(gradient).max() < 1e-9
    assert 0 < steps < 100
    reference = Bohning(4, 0.5, classes=np.arange(4)).fit(X, y)
    np.testing.assert_allclose(theta - theta.mean(axis=0), reference.mean, atol=1e-8)
