"""The softmax channel's optimal input: the vertices of a simplex, switched on and off at low power.

With a uniform output law, a stationary point of D(W(.|l) || q) - s |l|^2 solves, for every class k,
x_k = ln p_k and H the entropy of p,

    exp(x_k) (x_k + H) = 2 s (x_k - mean x).

The difference of the two sides falls and then rises in x_k, so the x_k take at most two values, and
along e_i - e_j with x_i = x_j the second derivative has the sign of that slope: at a maximum the
upper value is taken by one class only. So the maxima lie on the rays a v_k, v_k = e_k - 1/K (or at
zero), inside a ball as well as in the whole space. On a ray the gain G(u) = ln K - H at power
u = a^2 (1 - 1/K) has G'(u) = K r (1 - r) / (2 (K - 1)), r = 1 - p_k, which rises until r = 1/2 and
falls after: G is convex, then concave, and its concave envelope is a line from the origin to its
tangent point u*, then G itself. This proves the formula of the theory's section 1.
"""

from __future__ import annotations

from functools import lru_cache
from math import exp, inf, log, log1p, sqrt
from typing import NamedTuple

import numpy as np

from channelcode._validation import Array

SATURATED = 800.0  # exp(-SATURATED) is zero in double precision


class SimplexCode(NamedTuple):
    """Atoms `(m, K)`, weights `(m,)` and the multiplier in nats per unit power."""

    points: Array
    weights: Array
    multiplier: float


def simplex_code(num_classes: int, power: float, peak: float = inf) -> SimplexCode:
    """The optimal input of the softmax channel with `num_classes` classes.

    >>> simplex_code(3, 1.0).points.round(3)
    array([[ 0.816, -0.408, -0.408],
           [-0.408,  0.816, -0.408],
           [-0.408, -0.408,  0.816]])
    """
    highest = min(peak * peak, SATURATED**2)
    onset = min(_onset(num_classes), highest)
    if power == 0.0 or highest == 0.0:
        return SimplexCode(np.zeros((1, num_classes)), np.ones(1), _slope(num_classes, 0.0))
    if power < onset:
        points = np.vstack([np.zeros(num_classes), _vertices(num_classes, onset)])
        weights = np.full(num_classes + 1, power / onset / num_classes)
        weights[0] = 1.0 - power / onset
        return SimplexCode(points, weights, _gain(num_classes, onset) / onset)
    used = min(power, highest)
    weights = np.full(num_classes, 1.0 / num_classes)
    multiplier = _slope(num_classes, used) if used == power else 0.0
    return SimplexCode(_vertices(num_classes, used), weights, multiplier)


def _vertices(count: int, power: float) -> Array:
    radius = sqrt(power / (1.0 - 1.0 / count))
    return radius * (_identity(count) - 1.0 / count)


@lru_cache(maxsize=32)
def _identity(count: int) -> Array:
    return np.eye(count)


def _miss(count: int, power: float) -> float:
    """r, the probability of the other classes at a vertex."""
    odds = (count - 1) * exp(-sqrt(power / (1.0 - 1.0 / count)))
    return odds / (1.0 + odds)


def _gain(count: int, power: float) -> float:
    """G(u) = ln K - H in nats."""
    radius = sqrt(power / (1.0 - 1.0 / count))
    odds = (count - 1) * exp(-radius)
    return log(count) - log1p(odds) - radius * odds / (1.0 + odds)


def _slope(count: int, power: float) -> float:
    """G'(u) in nats per unit power."""
    miss = _miss(count, power)
    return count * miss * (1.0 - miss) / (2.0 * (count - 1))


@lru_cache(maxsize=128)
def _onset(count: int) -> float:
    """u*, where the line from the origin touches G; zero for two classes."""
    if count == 2:
        return 0.0
    # G(u) - u G'(u) is negative at the inflection and grows without bound after it
    low = log(count - 1.0) ** 2 * (1.0 - 1.0 / count)
    high = 2.0 * low + 1.0
    while _gain(count, high) < high * _slope(count, high):
        high *= 2.0
    while True:
        middle = 0.5 * (low + high)
        if middle in (low, high):
            return middle
        if _gain(count, middle) < middle * _slope(count, middle):
            low = middle
        else:
            high = middle
