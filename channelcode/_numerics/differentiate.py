"""Numerical first and second derivatives by extrapolated central differences."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from channelcode._validation import Array

FIRST_STEP = 0.5  # in units of the channel input; halved LEVELS - 1 times
LEVELS = 13
EPSILON = float(np.finfo(np.float64).eps)


def along_line(function: Callable[[Array], Array], levels: int = LEVELS) -> tuple[Array, Array]:
    """First and second derivative at t = 0 of `function(t)`, an array for each scalar t.

    Central differences at steps 1/2, 1/4, ... are extrapolated to step zero (Richardson), and each
    entry takes the element of its own table with the least estimated error (Ridders), so that a
    smooth entry uses large steps, where rounding is harmless, and a sharp one small steps.
    """
    centre = function(np.asarray(0.0))
    steps = FIRST_STEP * 0.5 ** np.arange(levels)
    firsts, seconds, first_noise, second_noise = [], [], [], []
    for h in steps:
        ahead, behind = function(np.asarray(h)), function(np.asarray(-h))
        with np.errstate(invalid="ignore", over="ignore"):
            firsts.append((ahead - behind) / (2 * h))
            seconds.append(((ahead - centre) - (centre - behind)) / (h * h))
            size = EPSILON * np.maximum(np.maximum(np.abs(ahead), np.abs(behind)), np.abs(centre))
            first_noise.append(size / h)
            second_noise.append(size / (h * h))
    return _extrapolated(firsts, first_noise), _extrapolated(seconds, second_noise)


def _extrapolated(differences: list[Array], noise: list[Array]) -> Array:
    """The table's element of least error; agreement by chance below the rounding does not count."""
    best = np.full(differences[0].shape, np.nan)
    least = np.full(best.shape, np.inf)
    previous: list[Array] = []
    with np.errstate(invalid="ignore", over="ignore"):
        for difference, rounding in zip(differences, noise, strict=True):
            row = [difference]
            for order, above in enumerate(previous, start=1):
                factor = 4.0**order
                value = (factor * row[-1] - above) / (factor - 1.0)
                error = np.maximum(np.abs(value - row[-1]), np.abs(value - above))
                error = np.maximum(error, rounding)
                error = np.where(np.isfinite(error), error, np.inf)
                better = error < least
                best, least = np.where(better, value, best), np.where(better, error, least)
                row.append(value)
            previous = row
    return best
