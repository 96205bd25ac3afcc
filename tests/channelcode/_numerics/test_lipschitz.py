"""Lipschitz constants by search."""

from __future__ import annotations

import numpy as np
import pytest

from channelcode._numerics.lipschitz import steepest_in_space, steepest_on_line


@pytest.mark.parametrize(
    ("function", "constant"),
    [
        (np.sin, 1.0),
        (lambda x: np.tanh(30 * (x - 0.123)), 30.0),
        (np.abs, 1.0),
        (lambda x: np.clip(3 * x, -1, 1), 3.0),
        (lambda x: 0 * x, 0.0),
        (lambda x: np.exp(-(x**2)), np.sqrt(2 / np.e)),
    ],
)
def test_known_constants(function, constant):
    found = steepest_on_line(function, np.linspace(-10, 10, 2001))
    # never below by more than rounding in a secant, above by the margin
    assert constant * (1 - 1e-9) <= found <= constant * (1 + 1e-5)


def test_a_jump_is_infinite():
    assert (
        steepest_on_line(lambda x: np.where(x > 0.1234, 1.0, 0.0), np.linspace(-1, 1, 101))
        == np.inf
    )


def test_close_grid_points_do_not_pretend_to_be_steep():
    grid = np.concatenate([np.linspace(-5, 5, 1001), np.linspace(-5, 5, 1001) + 1e-16, [1e-17]])
    assert steepest_on_line(lambda x: np.log1p(np.exp(x)), grid) == pytest.approx(1.0, rel=1e-2)


def test_in_space():
    """|grad| of exp(-|x - c|^2 / 2) is r exp(-r^2/2), largest exp(-1/2) at r = 1."""
    centre = np.array([0.5, -0.3, 0.2])

    def size(points):
        r = np.linalg.norm(points - centre, axis=-1)
        return r * np.exp(-0.5 * r * r)

    found = steepest_in_space(size, 3, np.zeros((1, 3)))
    assert np.exp(-0.5) <= found <= 1.03 * np.exp(-0.5)
