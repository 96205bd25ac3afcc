"""Loops behind the information of a pool of Gaussian laws on the line."""

import math

import numpy as np

from channelcode._kernels.jit import kernel

TINY = 1e-290
REACH = 8.5  # standard deviations: 2e-17 of the mass lies beyond


@kernel
def smooth_panels(nodes, weights, values, sigma, centres):
    """Averages of `values (m, F)` at sorted `nodes` under N(centre, sigma^2): `(n, F)`."""
    count, columns = centres.shape[0], values.shape[1]
    result = np.zeros((count, columns))
    scale = 1.0 / (sigma * math.sqrt(2.0 * math.pi))
    first = 0
    last = nodes.shape[0]
    for i in range(count):
        centre = centres[i]
        while first < last and nodes[first] < centre - REACH * sigma:
            first += 1
        j = first
        while j < last and nodes[j] <= centre + REACH * sigma:
            t = (nodes[j] - centre) / sigma
            weight = weights[j] * scale * math.exp(-0.5 * t * t)
            for column in range(columns):
                result[i, column] += weight * values[j, column]
            j += 1
    return result


@kernel
def smooth_grid(values, start, step, centres, sigmas, result):
    """Averages under N(centre, sigma^2) of `values (m, F)` on an even grid, into `result (n, F)`.

    The trapezoid rule, outward from the grid point nearest to each centre; the Gaussian weights
    follow from two products a step: exp(-(t + d)^2/2) = exp(-t^2/2) exp(-t d - d^2/2).
    """
    last = values.shape[0] - 1
    columns = values.shape[1]
    for i in range(centres.shape[0]):
        d = step / sigmas[i]
        nearest = min(max(math.floor((centres[i] - start) / step + 0.5), 0), last)
        t = (start + nearest * step - centres[i]) / sigmas[i]
        scale = d / math.sqrt(2.0 * math.pi)
        bend = math.exp(-d * d)
        peak = scale * math.exp(-0.5 * t * t)
        for column in range(columns):
            result[i, column] = peak * values[nearest, column]
        for side in range(2):
            sign = 1 - 2 * side
            room = last - nearest if side == 0 else nearest
            steps = min(room, math.ceil((REACH - sign * t) / d))
            weight = peak
            ratio = math.exp(-sign * t * d - 0.5 * d * d)
            j = nearest
            for _ in range(steps):
                weight *= ratio
                ratio *= bend
                j += sign
                for column in range(columns):
                    result[i, column] += weight * values[j, column]


@kernel
def excess(d):
    """(1 + d) ln(1 + d) - d, accurate near zero."""
    if abs(d) < 0.02:
        total = 0.0
        for k in range(10, 1, -1):
            total = total * (-d) + 1.0 / (k * (k - 1))
        return total * d * d
    if d <= -1.0:
        return 1.0
    return (1.0 + d) * math.log1p(d) - d


@kernel
def logistic_narrow(means, sigmas, nodes, weights, value, output):
    """Information (nats) of narrow Gaussian laws through the logistic channel, by Gauss-Hermite.

    Accurate to rounding while sigma is below about a quarter of pi, the distance of the channel's
    poles from the real line. `value (n,)` and `output (n,)`, the chance of a one, are written.
    """
    count = nodes.shape[0]
    up = np.empty(count)
    for i in range(means.shape[0]):
        # the answer is even in the mean; on the negative side the small probability has its digits
        mean = -abs(means[i])
        q = 0.0
        for j in range(count):
            e = math.exp(mean + sigmas[i] * nodes[j])
            up[j] = e / (1.0 + e)
            q += weights[j] * up[j]
        rest = 1.0 - q
        total = 0.0
        if q > TINY:  # below, the information underflows with it
            for j in range(count):
                gap = up[j] - q
                total += weights[j] * (q * excess(gap / q) + rest * excess(-gap / rest))
        value[i] = total
        output[i] = q if means[i] <= 0.0 else 1.0 - q
