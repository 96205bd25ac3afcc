"""Light atoms where the KKT function of a law rises above its level, as it does far out."""

from __future__ import annotations

import numpy as np

from channelcode._validation import Array

_BISECTIONS = 60
_LIGHTEST = -690.0  # ln of a weight
LEAST = -1e300  # for the logarithm of nothing, so that nothing times it is nothing


def light_atoms(
    logs: Array, log_output: Array, limits: Array, *, slack: float, depth: float, most: int = 400
) -> Array:
    """Weights `(n,)` to add at n candidates so that D(W_i || q) <= limits_i + slack for all.

    `logs (n, Y)` are the log-probabilities at the candidates and `log_output (Y,)` those of the law
    so far. Atoms are added one by one, each at the candidate that is farthest above its limit
    and as heavy as brings it to `depth` below it; beside the mass of the law they are next to
    nothing, and they come on top of it.

    >>> rows = np.log([[0.9, 0.1 - 1e-9, 1e-9], [0.1, 0.1, 0.8]])
    >>> light_atoms(rows, rows[0], np.array([1.0, 12.0]), slack=1e-6, depth=0.0).round(9)
    array([0.00e+00, 2.31e-07])
    """
    found = log_weights(logs, log_output, limits, slack=slack, depth=depth, most=most)
    return np.exp(found)


def log_weights(
    logs: Array,
    log_output: Array,
    limits: Array,
    *,
    slack: float,
    depth: float,
    most: int = 400,
    lightest: float = _LIGHTEST,
) -> Array:
    """The logarithms of the weights of `light_atoms`, down to `lightest`; -inf where none is."""
    weights, level = np.full(len(logs), -np.inf), log_output.astype(np.float64)
    with np.errstate(under="ignore"):
        rows = np.exp(logs)
    with np.errstate(invalid="ignore"):
        own = np.where(rows > 0.0, rows * logs, 0.0).sum(axis=1)
    for _ in range(most):
        above = own - rows @ np.maximum(level, LEAST) - limits
        place = int(np.argmax(above))
        if not above[place] > slack:
            break
        row, log_row = rows[place], logs[place]
        low, high = lightest, 0.0
        for _ in range(_BISECTIONS):
            middle = 0.5 * (low + high)
            mixed = np.maximum(np.logaddexp(level, middle + log_row), LEAST)
            height = own[place] - float(row @ mixed)
            low, high = (middle, high) if height > limits[place] - depth else (low, middle)
        weights[place] = np.logaddexp(weights[place], high)
        level = np.logaddexp(level, high + log_row)
    return weights
