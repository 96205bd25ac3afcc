"""Averages over targets against the same sums in NumPy."""

from __future__ import annotations

import numpy as np

from apm._kernels.multiclass_effective import slope_moments
from tests.kernel_checks import assert_matches_py_func


def test_slope_moments(rng: np.random.Generator) -> None:
    share, weights, variance = rng.random((5, 4)), rng.dirichlet(np.ones(4)), 3 * rng.random(5)
    share[0] = [0.0, 1.0, 0.5, 1.0]
    found = assert_matches_py_func(slope_moments, share, weights, variance, np.pi / 8)
    square = 1 / (1 + np.pi / 8 * variance[:, None] * (1 - share))
    slope = np.sqrt(square)
    terms = (square, square * share, slope * np.sqrt(share), slope, share)
    for left, right in zip(found, terms, strict=True):
        np.testing.assert_allclose(left, right @ weights, rtol=1e-13)
