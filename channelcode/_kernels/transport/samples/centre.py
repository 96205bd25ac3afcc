"""Samples of a pool about the mean of the target, in units of their own."""

from __future__ import annotations

import math

import numpy as np

from channelcode._kernels.jit import kernel
from channelcode._kernels.transport.samples.judge import folded_sum

BLOCK = 64  # points that are centred at a time: few copies of the centre stay in the cache
UNSIGNED = (1 << 63) - 1  # the bits of a double but its sign: they are ordered as the sizes are


@kernel
def centre_pool(
    samples: np.ndarray,
    mass: np.ndarray,
    centre: np.ndarray,
    offset: np.ndarray,
    away: np.ndarray,
    unit: np.ndarray,
    spread: np.ndarray,
) -> float:
    """Rows of `samples (n, s, k)` about the centre, each in a power of two of its own.

    `away (n, s, k)` has the coordinates in units of `unit (n,)`, so that no threshold sees the
    scale; `spread (n,)` is `sum_i mass_i |x_i - centre - offset|^2` in given units. Returns the
    largest distance of a coordinate from the centre.
    """
    candidates, n, dim = samples.shape
    size, block = n * dim, BLOCK * dim
    middle, rest = np.empty(block), np.empty(block)
    share, square = np.empty(size), np.empty(size)
    for t in range(block):
        middle[t] = centre[t % dim]
        rest[t] = offset[t % dim]
    for t in range(size):
        share[t] = mass[t // dim]
    farthest = 0.0
    # All coordinates of a candidate in one row: loops that the compiler makes wide.
    for c in range(candidates):
        row, gap = samples[c].reshape(size), away[c].reshape(size)
        bits = gap.view(np.int64)
        for start in range(0, size, block):
            given, put = row[start : start + block], gap[start : start + block]
            for t in range(given.shape[0]):
                put[t] = (given[t] - middle[t]) - rest[t]
        high = np.int64(0)
        place = 0
        for t in range(size):
            high = max(high, bits[t] & UNSIGNED)
        while bits[place] & UNSIGNED != high:
            place += 1
        largest = abs(gap[place])
        farthest = max(farthest, largest)
        unit[c] = math.ldexp(1.0, math.frexp(largest)[1]) if largest > 0.0 else 1.0
        down = 1.0 / unit[c]
        for t in range(size):
            gap[t] *= down
            square[t] = share[t] * gap[t] * gap[t]
        spread[c] = folded_sum(square) * unit[c] * unit[c]
    return farthest
