"""Problems whose optimal input is known with proof, so that the value itself is the upper bound."""

from __future__ import annotations

from math import sqrt

import numpy as np

from channelcode._validation import Array
from channelcode.capacity.problem import Problem
from channelcode.capacity.simplex import simplex_code
from channelcode.capacity.slopes import logistic_slope, probit_slope
from channelcode.channels import Logistic, Probit, Softmax

_PROOFS = {
    Logistic: ("the whole real line (Prop. 2.1)", logistic_slope),
    Probit: ("the whole real line (Singh, Dabeer and Madhow 2009)", probit_slope),
}
SAME = 1e-6  # multipliers that agree to this, relatively, are the theorem's own


def theorem(problem: Problem, points: Array, weights: Array, multiplier: float) -> str | None:
    """Where the measure is the proved optimum, the scope of the proof; otherwise None.

    Measure and multiplier are compared with the theorem's own, not taken on trust.
    """
    kind, limit = type(problem.channel), problem.limits
    if limit.cost is not None and not limit.is_power:
        return None
    if (limit.budget == 0.0 or limit.peak == 0.0) and not problem.is_finite:
        return "the only input allowed, zero"
    budget = min(limit.budget, limit.peak**2)  # zero for a peak below 1e-162, which is not none
    if budget == 0.0:
        smooth = kind in _PROOFS or kind is Softmax
        return "inputs too small for doubles to tell" if smooth else None
    if kind in _PROOFS and len(points) == 2 and budget < np.inf:
        radius = sqrt(budget)
        scope, slope = _PROOFS[kind]
        scale = getattr(problem.channel, "scale", 1.0)
        price = slope(radius / scale) / scale**2 if limit.budget <= limit.peak**2 else 0.0
        same = tuple(points) == (-radius, radius) and tuple(weights) == (0.5, 0.5)
        if same and _agree(multiplier, price):
            return scope
    if kind is Softmax and budget < np.inf:
        expected = simplex_code(problem.channel.num_outputs, limit.budget, limit.peak)
        same = expected.points.shape == points.shape and (
            np.array_equal(expected.points, points) and np.array_equal(expected.weights, weights)
        )
        same = same and _agree(multiplier, expected.multiplier)
        if same:
            return f"the whole of R^{problem.channel.dim} (maxima lie on the vertex rays)"
    return None


def _agree(multiplier: float, expected: float) -> bool:
    return abs(multiplier - expected) <= SAME * expected
