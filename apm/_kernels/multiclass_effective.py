"""Moments of the effective channel, averaged over targets."""

import numpy as np

from channelcode._kernels.jit import kernel


@kernel
def slope_moments(share, weights, variance, bend):
    """E[k^2], E[k^2 rho^2], E[k rho] and E[k] over targets, `(n,)` each.

    `share` `(n, t)` holds rho^2, `weights` `(t,)` sum to one, `variance` `(n,)` is that of the
    input, and k^2 = 1 / (1 + bend * variance * (1 - rho^2)).
    """
    n, t = share.shape
    square, shared, linear, slope = np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n)
    for i in range(n):
        bent = bend * variance[i]
        a, b, c, d = 0.0, 0.0, 0.0, 0.0
        for j in range(t):
            part = share[i, j]
            k2 = 1.0 / (1.0 + bent * (1.0 - part))
            k = np.sqrt(k2)
            w = weights[j]
            a += w * k2
            b += w * k2 * part
            c += w * k * np.sqrt(part)
            d += w * k
        square[i], shared[i], linear[i], slope[i] = a, b, c, d
    return square, shared, linear, slope


@kernel
def table_terms(share, weights, mean, deviation, step, table):
    """The mean over targets of the cost to a target that depends on the noise, `(n,)`.

    Noise of deviation s = deviation * sqrt(1 - rho^2) is looked up in `table` `(g, 4)`, rows at
    asinh(s) = 0, step, 2 step, ...: slope k, the target's mean u, its constant r, its variance v.
    The cost is (k m - u)^2 + (k sigma rho)^2 + v - 2 k sigma rho r.
    """
    n, t = share.shape
    last = table.shape[0] - 1
    cost = np.zeros(n)
    for i in range(n):
        total = 0.0
        for j in range(t):
            part = share[i, j]
            place = np.arcsinh(deviation[i] * np.sqrt(1.0 - part)) / step
            low = min(int(place), last - 1)
            high = place - low
            k = table[low, 0] + high * (table[low + 1, 0] - table[low, 0])
            u = table[low, 1] + high * (table[low + 1, 1] - table[low, 1])
            r = table[low, 2] + high * (table[low + 1, 2] - table[low, 2])
            v = table[low, 3] + high * (table[low + 1, 3] - table[low, 3])
            spread = k * deviation[i] * np.sqrt(part)
            away = k * mean[i] - u
            total += weights[j] * (away * away + spread * spread + v - 2.0 * spread * r)
        cost[i] = total
    return cost
