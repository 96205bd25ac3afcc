"""Inputs at all scales, for checks that must not miss a fault in a corner."""

from __future__ import annotations

import numpy as np

from channelcode._validation import Array

LARGEST = 1e30
_VALUES = 400_000  # numbers that a check may ask a member for in one sweep


def sweep(rng: np.random.Generator, columns: int) -> Array:
    """Inputs on the line: dense where channels usually bend, and of every size up to 1e30.

    Plain ones (whole numbers, halves, zero of either sign, the smallest numbers), even but not
    regular ones in [-10, 10], [-100, 100] and [-1000, 1000], and sizes spread evenly in their
    logarithm from 1e-300 to 1e30. `columns` numbers come back for each, so there are fewer when it
    is large.
    """
    count = int(np.clip(_VALUES // (4 * columns), 500, 10_000))
    plain = np.concatenate(
        [np.arange(-50.0, 50.5, 0.5), [-0.0, 5e-324, -5e-324, 2.0**-1022, 1e15, -1e15]]
    )
    even = [
        reach * (2.0 * (np.arange(count) + rng.random(count)) / count - 1.0)
        for reach in (10.0, 100.0, 1000.0)
    ]
    exponents = np.concatenate(
        [rng.uniform(-3.0, 30.0, count // 2), rng.uniform(-300.0, -3.0, count // 8)]
    )
    sizes = 10.0**exponents * rng.choice([-1.0, 1.0], len(exponents))
    return np.concatenate([plain, *even, sizes, [-LARGEST, LARGEST]])


def sweep_space(rng: np.random.Generator, dim: int, columns: int) -> Array:
    """Inputs in R^dim: `sweep` along random directions and along the axes, `(m, dim)`."""
    sizes = sweep(rng, columns * dim)
    directions = rng.standard_normal((len(sizes), dim))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    axis = rng.random(len(sizes)) < 0.3
    directions[axis] = np.eye(dim)[rng.integers(dim, size=int(axis.sum()))]
    return sizes[:, None] * directions
