"""The law of a softmax label when the logits are independent Gaussians of one variance."""

from __future__ import annotations

from functools import cache

import numpy as np
from scipy.special import ndtr

from channelcode._validation import Array

EULER = 0.5772156649015329  # the mean of a Gumbel variable
SPREAD = np.pi**2 / 6.0  # and its variance
UNIT, LEVEL_STEP, LEVELS = 0.2, 0.2, 60  # noise s in equal steps of asinh(s / 0.2), to 1e4
LOW, NODE_STEP, NODES = -9.0, 0.125, 249  # the standardised sum v: to 22, past the Gumbel tail
STEP = 0.25  # of the trapezoid rule in v
FLOOR = -80.0  # ln F is cut off here: e^-80 adds nothing, and interpolation stays tame
_NARROW = 0.5  # below, the integral runs over the Gaussian; above, over the Gumbel variable


def isotropic_softmax_output(mean: Array, deviation: Array) -> Array:
    """E softmax(m + s Z) for every row, Z standard normal: `mean (n, K)`, `deviation (n,)`.

    The likeliest of l_k + G_k with independent Gumbel G_k is class k with probability softmax(l)_k.
    With F the distribution function of s Z + G the K-fold expectation is one integral,

        p_k = int F'(w - m_k) prod_{j != k} F(w - m_j) dw,

    for all k at once, by the trapezoid rule, F from a table in (w, s). A common shift of all logits
    changes nothing, so a covariance c (I - 11'/K) is the same as c I. Errors are below 1e-6.

    >>> isotropic_softmax_output(np.array([[0.0, 2.0]]), np.array([1.0])).round(5)
    array([[0.18394, 0.81606]])
    """
    from channelcode._kernels.softmax_output import softmax_output

    output = np.empty(mean.shape)
    softmax_output(
        np.ascontiguousarray(mean), np.ascontiguousarray(deviation), _table(), UNIT, LEVEL_STEP,
        LOW, NODE_STEP, STEP, SPREAD, output,
    )  # fmt: skip
    return output


def isotropic_part(shape: Array) -> float | None:
    """a if `shape (K, K)` is a I + b 11' to rounding: what a softmax sees is a I; else None.

    >>> isotropic_part(np.eye(3) - 1 / 3), isotropic_part(np.diag([1.0, 2.0]))
    (1.0, None)
    """
    k = len(shape)
    if k < 2:
        return None
    across = float(shape[0, 1])
    along = float(shape[0, 0]) - across
    expected = np.full((k, k), across)
    expected[np.diag_indices(k)] += along
    return along if np.abs(shape - expected).max() <= 1e-12 * abs(along) else None


@cache
def _table() -> Array:
    """ln F(v), its first and second derivative, `(LEVELS, NODES, 3)`; see the kernel."""
    v = LOW + NODE_STEP * np.arange(NODES, dtype=np.float64)
    table = np.empty((LEVELS, NODES, 3))
    for level in range(LEVELS):
        s = UNIT * float(np.sinh(LEVEL_STEP * level))
        scale = float(np.sqrt(s * s + SPREAD))
        total, density, slope = _smoothed(np.asarray(EULER + scale * v, dtype=np.float64), s)
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.log(total)
            rate = scale * density / total
            change = scale**2 * slope / total - rate**2
        known = logs > FLOOR
        begin = int(np.argmax(known))  # F increases: all below the first is cut off
        logs[:begin], rate[:begin], change[:begin] = FLOOR, rate[begin], 0.0
        table[level] = np.stack([logs, rate, change], axis=1)
    return table


def _smoothed(w: Array, s: float) -> tuple[Array, Array, Array]:
    """Distribution function, density and its derivative of s Z + G at `w (m,)`.

    The trapezoid rule over the smoother of the two: over Z for narrow noise, over G for wide.
    """
    if s < _NARROW:
        z = np.arange(-9.0, 9.01, 0.25)
        weights = np.exp(-0.5 * z * z)
        weights /= weights.sum()
        x = w[:, None] - s * z
        with np.errstate(over="ignore", under="ignore"):
            tail = np.exp(-x)
            below = np.exp(-tail)
            density = np.where(below > 0, tail * below, 0.0)
            slope = np.where(below > 0, density * (tail - 1.0), 0.0)
        return below @ weights, density @ weights, slope @ weights
    g = np.arange(-4.0, 42.0, 0.3)
    weights = np.exp(-g - np.exp(-g))
    weights /= weights.sum()
    z = (w[:, None] - g) / s
    with np.errstate(under="ignore"):
        density = np.exp(-0.5 * z * z) / (np.sqrt(2.0 * np.pi) * s)
    return ndtr(z) @ weights, density @ weights, (-z / s * density) @ weights
