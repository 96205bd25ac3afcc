"""Divergences as sums of non-negative terms, so that small ones keep their digits."""

from __future__ import annotations

import numpy as np
from scipy.special import xlog1py, xlogy

from channelcode._validation import Array

_SERIES_BELOW = 0.01
# (1 + d) ln(1 + d) - d = sum_{k >= 2} (-d)^k / (k (k - 1)); nine terms reach rounding at d = 0.01
_SERIES = np.array([(-1.0) ** k / (k * (k - 1)) for k in range(2, 11)])


def excess(d: Array) -> Array:
    """(1 + d) ln(1 + d) - d for d >= -1: never negative, and accurate to rounding near zero."""
    d = np.asarray(d, dtype=np.float64)
    near = np.abs(d) < _SERIES_BELOW
    small = np.where(near, d, 0.0)
    large = np.where(near, 0.0, d)
    series = np.polynomial.polynomial.polyval(small, _SERIES) * small * small
    return np.where(near, series, np.maximum(xlog1py(1.0 + large, large) - large, 0.0))


def pointwise_divergence(rows: Array, law: Array) -> Array:
    """D(row || law) in nats for laws along the last axis, `(..., Y)` to `(...)`.

    D = sum_y q_y e((p_y - q_y) / q_y) with e = `excess`: the linear parts cancel because both laws
    sum to one, and what is left is a sum of non-negative terms. Outputs of law zero are left out,
    as the law of a mixture is zero by underflow only; see `missed` for the other case.
    """
    safe = np.where(law > 0, law, 1.0)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        ratio = np.maximum((rows - law) / safe, -1.0)
        # q e(p/q - 1) = p ln(p/q) - p + q; the direct form where the ratio is out of range
        far = ratio > 1e100
        direct = xlogy(rows, rows) - xlogy(rows, safe) - rows + law
        terms = np.where(far, direct, law * excess(np.where(far, 0.0, ratio)))
    return np.where(law > 0, terms, 0.0).sum(axis=-1)


def missed(rows: Array, law: Array) -> Array:
    """Where `law` misses an output that the row has, so that D(row || law) is infinite."""
    return ((law == 0) & (rows > 0)).any(axis=-1)


def shannon(law: Array) -> Array:
    """-sum q ln q in nats along the last axis, with 0 ln 0 = 0."""
    return -xlogy(law, law).sum(axis=-1)
