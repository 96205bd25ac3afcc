"""The law of a softmax label under independent Gaussian logits, one integral for each candidate."""

import numpy as np

from channelcode._kernels.jit import kernel

POINTS = 6  # levels between which the noise is interpolated
NEGLIGIBLE = -60.0  # ln F below which a node adds nothing


@kernel
def softmax_output(mean, deviation, table, unit, level_step, low, node_step, step, spread, output):
    """Fill `output (n, k)` with E softmax(m + s Z), Z standard normal in R^k; see the caller.

    `mean (n, k)`, `deviation (n,)`. `table (levels, nodes, 3)` holds ln F and its first and second
    derivative, F the distribution function of the standardised sum v of s Z and a Gumbel variable,
    at asinh(s / unit) = 0, level_step, ... and v = low, low + node_step, ...; `spread` is the
    variance of a Gumbel variable. Returns how far the probabilities were from one in sum, `(n,)`.
    """
    n, k = mean.shape
    levels, nodes, _ = table.shape
    high = low + (nodes - 1) * node_step
    blended, gaps, rates = np.empty((nodes, 3)), np.empty(k), np.empty(k)
    missing, shares = np.empty(n), np.empty(POINTS)
    for i in range(n):
        top = mean[i, 0]
        for j in range(1, k):
            top = max(top, mean[i, j])
        s = deviation[i]
        if s < 1e-9:  # no noise: the softmax itself
            total = 0.0
            for j in range(k):
                output[i, j] = np.exp(mean[i, j] - top)
                total += output[i, j]
            for j in range(k):
                output[i, j] /= total
            missing[i] = 0.0
            continue
        place = min(np.arcsinh(s / unit) / level_step, float(levels - 1))
        first = min(max(int(place) - 2, 0), levels - POINTS)
        for p in range(POINTS):  # Lagrange through the levels around it
            weight = 1.0
            for q in range(POINTS):
                if q != p:
                    weight *= (place - first - q) / (p - q)
            shares[p] = weight
        for node in range(nodes):
            for part in range(3):
                value = 0.0
                for p in range(POINTS):
                    value += shares[p] * table[first + p, node, part]
                blended[node, part] = value
        scale = np.sqrt(s * s + spread)
        for j in range(k):
            gaps[j] = (top - mean[i, j]) / scale
            output[i, j] = 0.0
        sum_ = 0.0
        v = low
        while v < high:
            logs = 0.0
            for j in range(k):
                u = (v + gaps[j] - low) / node_step
                if u >= nodes - 1:
                    rates[j] = 0.0
                    continue
                at = int(u)
                t = u - at
                # cubics of Hermite through values and slopes at both ends
                h00 = (1.0 + 2.0 * t) * (1.0 - t) * (1.0 - t)
                h10 = t * (1.0 - t) * (1.0 - t) * node_step
                h01 = t * t * (3.0 - 2.0 * t)
                h11 = t * t * (t - 1.0) * node_step
                logs += (
                    h00 * blended[at, 0] + h10 * blended[at, 1]
                    + h01 * blended[at + 1, 0] + h11 * blended[at + 1, 1]
                )  # fmt: skip
                rates[j] = (
                    h00 * blended[at, 1] + h10 * blended[at, 2]
                    + h01 * blended[at + 1, 1] + h11 * blended[at + 1, 2]
                )  # fmt: skip
                if logs < NEGLIGIBLE:
                    break
            if logs >= NEGLIGIBLE:
                weight = step * np.exp(min(logs, 0.0))
                for j in range(k):
                    output[i, j] += weight * max(rates[j], 0.0)
            v += step
        for j in range(k):
            sum_ += output[i, j]
        for j in range(k):
            output[i, j] /= sum_
        missing[i] = abs(1.0 - sum_)
    return missing
