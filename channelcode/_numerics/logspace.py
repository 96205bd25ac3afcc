"""Arithmetic on logarithms of probabilities, exact in the tails."""

from __future__ import annotations

import numpy as np
from scipy.special import erfcx, log_ndtr

from channelcode._validation import Array

LOG_TWO = float(np.log(2.0))
HALF_LOG_TWO_PI = 0.5 * float(np.log(2.0 * np.pi))
SQRT_TWO = float(np.sqrt(2.0))
SQRT_TWO_OVER_PI = float(np.sqrt(2.0 / np.pi))
LARGEST = float(np.finfo(np.float64).max)


def log1mexp(x: Array) -> Array:
    """log(1 - exp(x)) for x <= 0, accurate at both ends (-inf at x = 0)."""
    x = np.asarray(x, dtype=np.float64)
    with np.errstate(divide="ignore", under="ignore"):
        return np.where(x > -LOG_TWO, np.log(-np.expm1(x)), np.log1p(-np.exp(x)))


def log_difference(larger: Array, smaller: Array) -> Array:
    """log(exp(larger) - exp(smaller)) for larger >= smaller."""
    return larger + log1mexp(np.minimum(smaller - larger, 0.0))


def normal_hazard(x: Array) -> Array:
    """phi(x) / Phi(x) of the standard normal law, to rounding in both tails."""
    x = np.asarray(x, dtype=np.float64)
    with np.errstate(under="ignore", over="ignore"):
        lower = SQRT_TWO_OVER_PI / erfcx(-np.minimum(x, 0.0) / SQRT_TWO)
        upper = np.exp(-0.5 * np.square(x) - HALF_LOG_TWO_PI - log_ndtr(x))
    return np.where(x < 0, lower, upper)


def saturated(log_probability: Array) -> Array:
    """Log-probabilities below the range of doubles, at its lower end instead of -inf.

    Some channels leave that range for moderate inputs (complementary log-log: -exp(l)); the end of
    the range is the nearest finite number and keeps p log p = 0.
    """
    return np.maximum(log_probability, -LARGEST)


def plogp(log_probability: Array) -> Array:
    """p log p from log p, with 0 log 0 = 0; keeps tiny deficits such as p = 1 - 1e-20."""
    with np.errstate(invalid="ignore", under="ignore"):
        product = np.exp(log_probability) * log_probability
    return np.where(np.isneginf(log_probability), 0.0, product)
