"""Ranges of forms and bounds on lines against the same in NumPy."""

from __future__ import annotations

import numpy as np

from apm._kernels.kept_bounds import line_bounds, moved_form
from tests.kernel_checks import assert_matches_py_func


def test_moved_form(rng: np.random.Generator) -> None:
    codes, moved = rng.integers(256, size=9).astype(np.uint8), rng.normal(size=9)
    gauge = rng.random(9)
    numbers = np.array([0.5, 0.01, 1e-9, 1.1, -0.2, 0.3, -0.05, 0.06])
    least, most, then = assert_matches_py_func(moved_form, codes, moved, gauge, numbers)
    low = 0.5 + 0.01 * codes
    np.testing.assert_allclose(then, low + 0.01, rtol=1e-7)
    expected = np.maximum(1.1 * low + moved - 0.2 * gauge - 0.05, 0.0)
    np.testing.assert_allclose(least, expected, rtol=1e-6, atol=1e-8)
    expected = np.maximum(1.1 * (low + 0.01) + moved + 0.3 * gauge + 0.06, 0.0)
    np.testing.assert_allclose(most, expected, rtol=1e-6, atol=1e-8)


def test_lines_of_known_forms_are_their_own_bounds(rng: np.random.Generator) -> None:
    size, variance = rng.random(9), 1 + 3 * rng.random(9)
    signal = variance * rng.random(9)
    rule = np.array([0.4, 1.6, 1.0, 0.0, 1.0, 1.0, 1.0, 0.0])
    found = assert_matches_py_func(
        line_bounds, size, np.zeros(9), variance, variance, signal, signal, rule
    )
    slope = 1 / (1 + 0.4 * (variance - signal))
    np.testing.assert_allclose(found[0], -slope * (size**2 + signal))
    np.testing.assert_allclose(found[1], 1.6 * np.sqrt(slope * signal))
    np.testing.assert_allclose(found[2], slope * (size**2 + signal))
    np.testing.assert_allclose(found[3], size**2)
