"""A law with as few atoms as the theory promises, the same output and the same cost."""

from __future__ import annotations

import numpy as np

from channelcode._validation import Array
from channelcode.capacity.law_value import quiet_log_prob
from channelcode.capacity.problem import Problem


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
    scale = np.abs(columns).max(axis=0)
    columns = columns / np.where(scale > 0, scale, 1.0)
    with np.errstate(invalid="ignore"):
        negentropy = np.where(prob > 0, prob * log_prob, 0.0).sum(axis=1)
    weights = weights.copy()
    kept = list(range(len(weights)))
    while len(kept) > most:
        chosen = kept[: most + 1]
        direction = np.linalg.svd(columns[chosen].T)[2][-1]
        if direction @ negentropy[chosen] < 0 or not (direction < 0).any():
            direction = -direction
        falling = direction < 0
        masses = weights[chosen]
        with np.errstate(over="ignore"):  # a direction of 1e-320 empties no atom first
            ratio = np.where(falling, masses / np.where(falling, -direction, 1.0), np.inf)
        first = int(np.argmin(ratio))
        weights[chosen] = np.maximum(masses + ratio[first] * direction, 0.0)
        weights[chosen[first]] = 0.0
        kept = [j for j in kept if weights[j] > 0]
    return points[kept], weights[kept] / weights[kept].sum()
