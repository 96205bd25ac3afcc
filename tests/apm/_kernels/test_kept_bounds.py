"""Ranges of forms and bounds on lines against the same in NumPy."""

from __future__ import annotations

import numpy as np

from apm._kernels.kept_bounds import (
    changed_forms,
    line_bounds,
    moved_form,
    onward_form,
    plain_bounds,
    range_scores,
)
from tests.kernel_checks import assert_matches_py_func


def test_moved_form(rng: np.random.Generator) -> None:
    codes, moved = rng.integers(256, size=9).astype(np.uint8), rng.normal(size=9)
    gauge = rng.random(9)
    numbers = (0.5, 0.01, 1e-9, 1.1, -0.2, 0.3, -0.05, 0.06)
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
    rule = (0.4, 1.6, 1.0, 0.0, 1.0, 1.0, 1.0, 0.0)
    found = assert_matches_py_func(
        line_bounds, size, np.zeros(9), variance, variance, signal, signal, rule
    )
    slope = 1 / (1 + 0.4 * (variance - signal))
    np.testing.assert_allclose(found[0], -slope * (size**2 + signal))
    np.testing.assert_allclose(found[1], 1.6 * np.sqrt(slope * signal))
    np.testing.assert_allclose(found[2], slope * (size**2 + signal))
    np.testing.assert_allclose(found[3], size**2)


def test_plain_bounds_are_those_of_the_rules(rng: np.random.Generator) -> None:
    near, least = rng.random(9), 4 * rng.random(9)
    most = least + rng.random(9)
    for charge, root in ((1.0, 1.2), (0.0, 1.2), (-1.0, 0.0)):
        weight = float(charge >= 0)
        rule = np.array([weight, root, charge, 0.01, 0.02])
        high, later = assert_matches_py_func(plain_bounds, near, least, most, rule)
        s = np.linspace(np.sqrt(least), np.sqrt(most), 400)
        values = s * (2 * root - charge * s) - weight * near**2
        np.testing.assert_allclose(high, values.max(axis=0), atol=1e-4)
        assert (high >= values.max(axis=0) - 1e-12).all()
        assert (later >= high).all()


def test_changes_are_weighted_squares(rng: np.random.Generator) -> None:
    image, turn = rng.normal(size=(3, 9)).astype(np.float32), rng.normal(size=(3, 2))
    turn[1, 0] = 0.0
    found = assert_matches_py_func(changed_forms, image, turn)
    np.testing.assert_allclose(found, turn.T @ np.square(image.astype(np.float64)), rtol=1e-12)
    assert changed_forms(image[:0], turn[:0]).shape == (2, 9)


def test_scores_of_ranges_are_lines(rng: np.random.Generator) -> None:
    mean = rng.normal(size=9).astype(np.float32)
    weak, width, more = rng.random(9), rng.random(9), rng.random(9)
    strong, least, most = weak + width, weak + more, weak + more + width
    rule, roots = (0.4, 1.6, 1.0, 0.0, 1.0, 1.0, 1.0, 0.0), (1.0, 1.1, 2.0)
    found = assert_matches_py_func(range_scores, mean, 0.01, least, most, weak, strong, rule, roots)
    size = np.abs(mean.astype(np.float64))
    height, slope, amount, _ = line_bounds(size, np.full(9, 0.01), least, most, weak, strong, rule)
    for each, root in zip(found, roots):
        np.testing.assert_allclose(each, height + root * slope, rtol=1e-6)
    np.testing.assert_allclose(found[3], amount, rtol=1e-6)


def test_ranges_go_on_from_ranges(rng: np.random.Generator) -> None:
    least, gauge, change = rng.random(9), rng.random(9), rng.normal(size=9)
    most, numbers = least + rng.random(9), (1.1, -0.02, 0.03, -0.05, 0.06)
    low, high = assert_matches_py_func(onward_form, least, most, gauge, change, numbers)
    expected = np.maximum(1.1 * least + change - 0.02 * gauge - 0.05, 0.0)
    np.testing.assert_allclose(low, expected, rtol=1e-12, atol=1e-15)
    expected = np.maximum(1.1 * most + change + 0.03 * gauge + 0.06, 0.0)
    np.testing.assert_allclose(high, expected, rtol=1e-12, atol=1e-15)
