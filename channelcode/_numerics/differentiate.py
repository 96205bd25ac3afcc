"""Numerical first and second derivatives by extrapolated central differences."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from channelcode._validation import Array

FIRST_STEP = 0.5  # in units of the channel input; halved LEVELS - 1 times
LEVELS = 13
ORDERS = 8  # of Richardson's extrapolation; rounding decides long before
EPSILON = float(np.finfo(np.float64).eps)


def along_line(
    function: Callable[[Array], Array], levels: int = LEVELS, *, unit: float = 1.0
) -> tuple[Array, Array]:
    """First and second derivative at t = 0 of `function(t)`, an array for each scalar t.

    Central differences at steps 1/2, 1/4, ... of `unit` are extrapolated to step zero (Richardson),
    and each entry takes the element of its own table with the least estimated error (Ridders), so
    that a smooth entry uses large steps, where rounding is harmless, and a sharp one small steps.
    """
    shifts = steps(levels, unit)
    return from_values(np.stack([function(t) for t in shifts]), levels, unit=unit)


def steps(levels: int = LEVELS, unit: float = 1.0) -> Array:
    """The shifts that `from_values` needs: zero, then the steps ahead, then the steps back."""
    sizes = unit * FIRST_STEP * 0.5 ** np.arange(levels)
    return np.concatenate([[0.0], sizes, -sizes])


def from_values(values: Array, levels: int = LEVELS, *, unit: float = 1.0) -> tuple[Array, Array]:
    """The derivatives from the values at `steps`, along the first axis."""
    sizes = unit * FIRST_STEP * 0.5 ** np.arange(levels)
    h = sizes.reshape(-1, *(1,) * (values.ndim - 1))
    centre, ahead, behind = values[0], values[1 : levels + 1], values[levels + 1 :]
    with np.errstate(invalid="ignore", over="ignore"):
        size = EPSILON * np.maximum(np.maximum(np.abs(ahead), np.abs(behind)), np.abs(centre))
        first = (ahead - behind) / (2 * h)
        second = ((ahead - centre) - (centre - behind)) / (h * h)
        both = np.stack([first, second], axis=1)
        noise = np.stack([size / h, size / (h * h)], axis=1)
    best = _extrapolated(both, noise)
    return best[0], best[1]


def _extrapolated(differences: Array, noise: Array) -> Array:
    """The table's element of least error; agreement by chance below the rounding does not count.

    `differences` and `noise` have the levels along their first axis; so has each column of the
    table, one level less than the one before.
    """
    best = np.full(differences.shape[1:], np.nan)
    least = np.full(best.shape, np.inf)
    column = differences
    with np.errstate(invalid="ignore", over="ignore"):
        for order in range(1, min(ORDERS, len(differences) - 1) + 1):
            factor = 4.0**order
            value = (factor * column[1:] - column[:-1]) / (factor - 1.0)
            error = np.maximum(np.abs(value - column[1:]), np.abs(value - column[:-1]))
            error = np.maximum(error, noise[order:])
            error = np.where(np.isfinite(error), error, np.inf)
            place = error.argmin(axis=0)[None]
            chosen = np.take_along_axis(error, place, axis=0)[0]
            better = chosen < least
            best = np.where(better, np.take_along_axis(value, place, axis=0)[0], best)
            least = np.where(better, chosen, least)
            column = value
    return best
