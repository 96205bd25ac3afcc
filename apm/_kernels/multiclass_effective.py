"""Moments of the effective channel, averaged over targets."""

import numpy as np

from channelcode._kernels.jit import kernel


@kernel
def slope_moments(share, weights, variance, bend):
    """E[k^2], E[k^2 rho^2], E[k rho], E[k] and E[rho^2] over targets, `(n,)` each.

    `share` `(n, t)` holds rho^2, `weights` `(t,)` sum to one, `variance` `(n,)` is that of the
    input, and k^2 = 1 / (1 + bend * variance * (1 - rho^2)).
    """
    n, t = share.shape
    square, signal, linear = np.zeros(n), np.zeros(n), np.zeros(n)
    slope, mean = np.zeros(n), np.zeros(n)
    for i in range(n):
        bent = bend * variance[i]
        a, b, c, d, e = 0.0, 0.0, 0.0, 0.0, 0.0
        for j in range(t):
            part = share[i, j]
            k2 = 1.0 / (1.0 + bent * (1.0 - part))
            k = np.sqrt(k2)
            w = weights[j]
            a += w * k2
            b += w * k2 * part
            c += w * k * np.sqrt(part)
            d += w * k
            e += w * part
        square[i], signal[i], linear[i], slope[i], mean[i] = a, b, c, d, e
    return square, signal, linear, slope, mean
