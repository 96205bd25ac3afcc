"""Averages over targets against the same sums in NumPy."""

from __future__ import annotations

import numpy as np

from apm._kernels.multiclass_effective import slope_moments, table_terms
from tests.kernel_checks import assert_matches_py_func


def test_slope_moments(rng: np.random.Generator) -> None:
    share, weights, variance = rng.random((5, 4)), rng.dirichlet(np.ones(4)), 3 * rng.random(5)
    share[0] = [0.0, 1.0, 0.5, 1.0]
    found = assert_matches_py_func(slope_moments, share, weights, variance, np.pi / 8)
    square = 1 / (1 + np.pi / 8 * variance[:, None] * (1 - share))
    slope = np.sqrt(square)
    terms = (square, square * share, slope * np.sqrt(share), slope)
    for left, right in zip(found, terms, strict=True):
        np.testing.assert_allclose(left, right @ weights, rtol=1e-13)


def test_table_terms(rng: np.random.Generator) -> None:
    """Linear between the rows of the table; beyond its end the last two rows are continued."""
    share, weights = rng.random((5, 4)), rng.dirichlet(np.ones(4))
    mean, deviation, step = rng.normal(size=5), np.array([0.0, 0.3, 1.0, 4.0, 40.0]), 0.5
    table = rng.random((6, 4))
    found = assert_matches_py_func(table_terms, share, weights, mean, deviation, step, table)
    place = np.arcsinh(deviation[:, None] * np.sqrt(1 - share)) / step
    assert place.max() > 5  # some lie beyond the table
    low = np.minimum(place.astype(int), 4)
    rows = table[low] + (place - low)[..., None] * (table[low + 1] - table[low])
    slope, centre, constant, variance = np.moveaxis(rows, -1, 0)
    spread = slope * deviation[:, None] * np.sqrt(share)
    cost = (slope * mean[:, None] - centre) ** 2 + spread**2 + variance - 2 * spread * constant
    np.testing.assert_allclose(found, cost @ weights, rtol=1e-12)
