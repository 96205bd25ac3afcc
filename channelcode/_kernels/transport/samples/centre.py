"""Samples of a pool about the mean of the target, in units of their own."""

from __future__ import annotations

import math

import numpy as np

from channelcode._kernels.jit import borrowing
from channelcode._kernels.transport.samples.judge import folded_sum

UNSIGNED = (1 << 63) - 1  # the bits of a double but its sign: they are ordered as the sizes are


@borrowing
def centre_pool(
    samples: np.ndarray,
    centre: np.ndarray,
    offset: np.ndarray,
    mass: np.ndarray,
    away: np.ndarray,
    bits: np.ndarray,
    square: np.ndarray,
    unit: np.ndarray,
    spread: np.ndarray,
) -> float:
    """Rows of `samples (n, l)` about the centre, each in a power of two of its own.

    A row holds all coordinates of a candidate, one point after the other: loops that the compiler
    makes wide. `centre` and `offset` `(b,)` are repeated along it, `mass (l,)` is that of each
    one's point. `away (n, l)` has the coordinates in units of `unit (n,)`, so that no threshold
    sees the scale; `bits (n, l)` is the same memory as integers. `spread (n,)` is the sum of
    `mass (x - centre - offset)^2` in given units. Returns the largest distance of a coordinate from
    the centre; `square (l,)` is room.
    """
    size, block = samples.shape[1], centre.shape[0]
    farthest = 0.0
    for c in range(samples.shape[0]):
        for start in range(0, size, block):
            given, put = samples[c, start : start + block], away[c, start : start + block]
            for t in range(given.shape[0]):
                put[t] = (given[t] - centre[t]) - offset[t]
        gap, pattern = away[c], bits[c]
        high = 0
        for t in range(size):
            high = max(high, pattern[t] & UNSIGNED)
        first = pattern[0]
        pattern[0] = high
        largest = gap[0]
        pattern[0] = first
        farthest = max(farthest, largest)
        unit[c] = math.ldexp(1.0, math.frexp(largest)[1]) if largest > 0.0 else 1.0
        down = 1.0 / unit[c]
        for t in range(size):
            gap[t] *= down
            square[t] = mass[t] * gap[t] * gap[t]
        spread[c] = folded_sum(square) * unit[c] * unit[c]
    return farthest
