"""The upper bound over a finite alphabet: a maximum over its letters, exact to rounding."""

from __future__ import annotations

import numpy as np

from channelcode._validation import Array
from channelcode.capacity.kkt import priced
from channelcode.capacity.law_value import divergence
from channelcode.capacity.problem import Problem


def finite_bound(problem: Problem, output: Array, multiplier: float) -> tuple[float, str]:
    """The largest F over the letters, in nats, and its scope."""
    letters, matrix, _ = problem.letters()
    with np.errstate(divide="ignore"):
        values = divergence(np.log(matrix), output)
    kkt = priced(problem, letters, values, multiplier)
    return float(kkt.max()), f"all {len(letters)} input letters"
