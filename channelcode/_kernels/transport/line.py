"""The line: closed forms for many Gaussians, and many sorted samples that share one plan."""

from __future__ import annotations

import math

import numpy as np

from channelcode._kernels.jit import kernel


@kernel
def gaussian_line(
    mean: np.ndarray,
    variance: np.ndarray,
    centre: float,
    offset: float,
    constant: float,
    rest: float,
) -> np.ndarray:
    """(mean - centre - offset)^2 + (sqrt(variance) - constant)^2 + rest, `(n,)`."""
    out = np.empty(mean.shape[0])
    for c in range(mean.shape[0]):
        shift = (mean[c] - centre) - offset
        spread = math.sqrt(variance[c]) - constant
        out[c] = shift * shift + spread * spread + rest
    return out


@kernel
def shared_plan_cost(
    ordered: np.ndarray, index: np.ndarray, atom: np.ndarray, mass: np.ndarray
) -> np.ndarray:
    """sum_e mass_e (ordered[c, index_e] - atom_e)^2 for each row c: `(n, s)` in, `(n,)` out."""
    out = np.empty(ordered.shape[0])
    entries = index.shape[0]
    even = entries - entries % 4
    for c in range(ordered.shape[0]):
        # Four running sums: the additions of one do not wait for those of the others.
        s0 = 0.0
        s1 = 0.0
        s2 = 0.0
        s3 = 0.0
        for e in range(0, even, 4):
            d0 = ordered[c, index[e]] - atom[e]
            d1 = ordered[c, index[e + 1]] - atom[e + 1]
            d2 = ordered[c, index[e + 2]] - atom[e + 2]
            d3 = ordered[c, index[e + 3]] - atom[e + 3]
            s0 += mass[e] * d0 * d0
            s1 += mass[e + 1] * d1 * d1
            s2 += mass[e + 2] * d2 * d2
            s3 += mass[e + 3] * d3 * d3
        for e in range(even, entries):
            d0 = ordered[c, index[e]] - atom[e]
            s0 += mass[e] * d0 * d0
        out[c] = (s0 + s1) + (s2 + s3)
    return out
