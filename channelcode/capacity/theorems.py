"""Problems whose optimal input is known with proof, so that the value itself is the upper bound."""

from __future__ import annotations

from math import sqrt

import numpy as np

from channelcode._validation import Array
from channelcode.capacity.problem import Problem
from channelcode.capacity.simplex import simplex_code
from channelcode.channels import Logistic, Probit, Softmax

_PROOFS: dict[type, str] = {
    Logistic: "the whole real line (Prop. 2.1)",
    Probit: "the whole real line (Singh, Dabeer and Madhow 2009)",
}


def theorem(problem: Problem, points: Array, weights: Array, multiplier: float) -> str | None:
    """Where the measure is the proved optimum, the scope of the proof; otherwise None.

    The measure is compared with the theorem's own, atom by atom, not taken on trust.
    """
    kind, limit = type(problem.channel), problem.limits
    if limit.cost is not None and not limit.is_power:
        return None
    budget = min(limit.budget, limit.peak**2)
    if budget == 0.0 and not problem.is_finite:
        return "the only input allowed, zero"
    if kind in _PROOFS and len(points) == 2 and budget < np.inf:
        radius = sqrt(budget)
        if tuple(points) == (-radius, radius) and tuple(weights) == (0.5, 0.5):
            return _PROOFS[kind]
    if kind is Softmax and budget < np.inf:
        expected = simplex_code(problem.channel.num_outputs, limit.budget, limit.peak)
        same = expected.points.shape == points.shape and (
            np.array_equal(expected.points, points) and np.array_equal(expected.weights, weights)
        )
        if same:
            return f"the whole of R^{problem.channel.dim} (maxima lie on the vertex rays)"
    return None
