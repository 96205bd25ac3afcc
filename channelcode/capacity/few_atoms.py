"""A law with as few atoms as the theory promises, the same output and the same cost."""

from __future__ import annotations

import numpy as np

from channelcode._validation import Array
from channelcode.capacity.law_value import quiet_log_prob
from channelcode.capacity.problem import Problem

AT_ONCE = 64  # atoms that leave by one null space


def most_atoms(problem: Problem) -> int:
    """The number of outputs, and one more with a mean cost: some optimal law needs no more."""
    return problem.channel.num_outputs + (problem.limits.cost is not None)


def few_atoms(problem: Problem, points: Array, weights: Array) -> tuple[Array, Array]:
    """Drop atoms while output law and mean cost stay the same: at most `most_atoms` remain.

    Among one atom more than that, a vector in the null space of (W', b) moves mass without
    changing either; it is followed, in the direction that does not lose information, until a
    weight is zero (Caratheodory).
    """
    used = weights > 0
    points, weights = points[used], weights[used]
    most = most_atoms(problem)
    if len(weights) <= most:
        return points, weights
    log_prob = quiet_log_prob(problem.channel, points)
    prob = np.exp(log_prob)
    columns = prob
    if problem.limits.cost is not None:
        columns = np.column_stack([prob, problem.cost(points)])
    with np.errstate(invalid="ignore"):
        negentropy = np.where(prob > 0, prob * log_prob, 0.0).sum(axis=1)
    weights = fewer_weights(columns, negentropy, weights, most)
    kept = weights > 0
    return points[kept], weights[kept] / weights[kept].sum()


def fewer_weights(columns: Array, negentropy: Array, weights: Array, most: int) -> Array:
    """Weights `(n,)`, `most` of them above zero, with the same sums of `columns` `(n, k)`.

    k is at most `most`; the mean `negentropy` is no less, to rounding.

    >>> columns = np.array([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]])
    >>> fewer_weights(columns, np.array([0.0, -0.7, 0.0]), np.array([0.25, 0.5, 0.25]), 2).round(9)
    array([0.5, 0. , 0.5])
    """
    scale = np.abs(columns).max(axis=0)
    columns = columns / np.where(scale > 0, scale, 1.0)
    weights = weights.copy()
    kept = np.flatnonzero(weights > 0)
    while len(kept) > most:
        chosen = kept[: most + AT_ONCE]
        weights[chosen] = _emptied(columns[chosen], negentropy[chosen], weights[chosen], most)
        kept = kept[weights[kept] > 0]
    return weights


def _emptied(columns: Array, negentropy: Array, masses: Array, most: int) -> Array:
    """The masses `(n,)` with at most `most` of them above zero and the same `columns' masses`.

    The null space is found once; where an atom is empty it is turned until one of its vectors alone
    has a part there, and that vector leaves.
    """
    masses = masses.copy()
    null = np.linalg.qr(columns, mode="complete")[0][:, columns.shape[1] :]
    while np.count_nonzero(masses) > most:
        direction = null[:, 0]
        if direction @ negentropy < 0 or not (direction < 0).any():
            direction = -direction
        falling = (direction < 0) & (masses > 0)
        with np.errstate(over="ignore"):  # a direction of 1e-320 empties no atom first
            ratio = np.where(falling, masses / np.where(falling, -direction, 1.0), np.inf)
        first = int(np.argmin(ratio))
        masses = np.where(masses > 0, np.maximum(masses + ratio[first] * direction, 0.0), 0.0)
        masses[first] = 0.0
        for place in np.flatnonzero((masses == 0.0) & (null != 0.0).any(axis=1)):
            null = _without(null, int(place))
    return masses


def _without(null: Array, place: int) -> Array:
    """An orthonormal basis of the vectors in the span of `null` that vanish at `place`."""
    row = null[place] / np.abs(null[place]).max()
    mirror = row.copy()
    mirror[0] += np.copysign(np.linalg.norm(row), row[0])
    turned = null - np.outer(null @ mirror, mirror) * (2.0 / (mirror @ mirror))
    turned[place] = 0.0
    return turned[:, 1:]
