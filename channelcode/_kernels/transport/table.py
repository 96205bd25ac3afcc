"""Evaluation of a Chebyshev interpolant in two variables."""

from __future__ import annotations

import numpy as np

from channelcode._kernels.jit import kernel


@kernel
def chebyshev_values(coefficients: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """sum_ij c_ij T_i(x) T_j(y) for `(n,)` points in [-1, 1]^2, `coefficients (p, q)`."""
    p, q = coefficients.shape
    out = np.empty(x.shape[0])
    in_y = np.empty(q)
    for c in range(x.shape[0]):
        in_y[0] = 1.0
        if q > 1:
            in_y[1] = y[c]
        for j in range(2, q):
            in_y[j] = 2.0 * y[c] * in_y[j - 1] - in_y[j - 2]
        total = 0.0
        last = 0.0
        current = 1.0
        for i in range(p):
            row = 0.0
            for j in range(q):
                row += coefficients[i, j] * in_y[j]
            total += row * current
            following = x[c] if i == 0 else 2.0 * x[c] * current - last
            last = current
            current = following
        out[c] = total
    return out
