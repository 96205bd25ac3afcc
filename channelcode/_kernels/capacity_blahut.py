"""Blahut-Arimoto with the cost inside each update, extrapolated (see `capacity.blahut_arimoto`)."""

from __future__ import annotations

import numpy as np

from channelcode._kernels.capacity_interior import kkt_values
from channelcode._kernels.jit import kernel

FLOOR = -700.0  # letters below exp(FLOOR) are out: their weights would be subnormal soon


@kernel
def tilt(log_weights, cost, budget, guess):
    """The s >= 0 at which weights exp(log_weights - s cost), normalised, meet the budget.

    Newton steps on the mean cost, which falls in s, inside a bracket; zero if it is met without.
    """
    count = log_weights.shape[0]
    low, high, s = 0.0, np.inf, max(guess, 0.0)
    for attempt in range(200):
        if attempt == 0:
            s = 0.0
        elif attempt == 1 and guess > 0.0:
            s = guess
        top = -np.inf
        for i in range(count):
            top = max(top, log_weights[i] - s * cost[i])
        mass, first, second = 0.0, 0.0, 0.0
        for i in range(count):
            weight = np.exp(log_weights[i] - s * cost[i] - top)
            away = cost[i] - budget
            mass += weight
            first += weight * away
            second += weight * away * away
        excess = first / mass
        if attempt == 0 and excess <= 0.0:
            return 0.0
        if excess > 0.0:
            low = s
        else:
            high = s
        if abs(excess) <= 1e-15 * budget and excess <= 0.0:
            return s
        slope = second / mass - excess * excess
        following = s + excess / slope if slope > 0.0 else np.inf
        if not (low < following < high):
            following = 0.5 * (low + high) if high < np.inf else 2.0 * s + 1.0
        if abs(following - s) <= 1e-15 * (abs(s) + 1e-300):
            return high if high < np.inf else following
        s = following
    return high if high < np.inf else s


@kernel
def update(matrix, entropy, cost, budget, log_weights, divergence, out, guess):
    """One tilted update, p <- p exp(D - s b) / Z (theory: section 2), in logs.

    Returns (I(p), s, highest D - s b) for the weights that came in.
    """
    count, size = matrix.shape
    weights = np.exp(log_weights)
    value = kkt_values(matrix, entropy, weights, divergence, np.empty(size))
    for i in range(count):
        out[i] = log_weights[i] + divergence[i]
    s = tilt(out, cost, budget, guess) if budget < np.inf else 0.0
    top, highest = -np.inf, -np.inf
    for i in range(count):
        highest = max(highest, divergence[i] - s * cost[i])
        out[i] -= s * cost[i]
        top = max(top, out[i])
    total = 0.0
    for i in range(count):
        total += np.exp(out[i] - top)
    total = top + np.log(total)
    for i in range(count):
        out[i] = max(out[i] - total, FLOOR)
    return value, s, highest


@kernel
def put(source, target):
    """Copy a vector; a slice assignment would compile numba's text for a shape error (3 s)."""
    for i in range(source.shape[0]):
        target[i] = source[i]


@kernel
def blahut_arimoto(matrix, entropy, cost, budget, weights, tol, max_steps):
    """Updates in pairs, each pair extrapolated (SQUAREM) unless that loses information.

    Stops on the certified gap alone. Returns (weights, multiplier, steps, gap), gap in nats.
    """
    count = matrix.shape[0]
    x0 = np.log(weights)
    x1, x2, x3 = np.empty(count), np.empty(count), np.empty(count)
    divergence = np.empty(count)
    best, best_s, best_gap, steps = x0.copy(), 0.0, np.inf, 0
    longest, s = 1.0, 0.0
    while steps < max_steps:
        value, s, highest = update(matrix, entropy, cost, budget, x0, divergence, x1, s)
        spent = np.dot(np.exp(x0), cost)
        gap = highest + (s * budget if budget < np.inf else 0.0) - value
        if spent <= budget * (1.0 + 1e-12) and gap < best_gap:
            best_gap, best_s = gap, s
            put(x0, best)
            if gap <= tol:
                break
        middle, s, _ = update(matrix, entropy, cost, budget, x1, divergence, x2, s)
        steps += 2
        above, below = 0.0, 0.0
        for i in range(count):
            weight = np.exp(x1[i])
            r = x1[i] - x0[i]
            v = (x2[i] - x1[i]) - r
            above += weight * r * r
            below += weight * v * v
        length = min(np.sqrt(above / below), longest) if below > 0.0 else 1.0
        if length <= 1.0:
            longest = max(longest, 4.0)
            put(x2, x0)
            continue
        for i in range(count):
            r = x1[i] - x0[i]
            v = (x2[i] - x1[i]) - r
            x3[i] = max(x0[i] + 2.0 * length * r + length * length * v, FLOOR)
        top = x3.max()
        total = top + np.log(np.exp(x3 - top).sum())
        for i in range(count):
            x3[i] -= total
        update(matrix, entropy, cost, budget, x3, divergence, x1, s)
        reached, s, _ = update(matrix, entropy, cost, budget, x1, divergence, x3, s)
        steps += 2
        if reached >= middle - 1e-14 * abs(middle):
            put(x3, x0)
            if length == longest:
                longest *= 4.0
        else:
            longest = max(1.0, 0.25 * longest)
            put(x2, x0)
    return np.exp(best), best_s, steps, best_gap
