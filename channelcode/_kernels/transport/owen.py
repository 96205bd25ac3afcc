"""Normal tail, and Owen's T in the form that polygon masses need."""

from __future__ import annotations

import math

import numpy as np

from channelcode._kernels.jit import kernel

_nodes, _weights = np.polynomial.legendre.leggauss(12)
NODES_12, WEIGHTS_12 = 0.5 * (_nodes + 1.0), 0.5 * _weights
_nodes, _weights = np.polynomial.legendre.leggauss(8)
NODES_8, WEIGHTS_8 = 0.5 * (_nodes + 1.0), 0.5 * _weights

FARTHEST = 38.0  # T(h, a) underflows for h beyond


@kernel
def upper_tail(z: float) -> float:
    """Q(z) = P(X > z) for X ~ N(0,1)."""
    return 0.5 * math.erfc(z * 0.7071067811865476)


@kernel
def owen_near(h: float, ratio: float) -> float:
    """T(h, a) for h >= 0 and 0 <= a <= 1, to 1e-16.

    `T(h, a) = (1/2pi) int_0^a exp(-h^2 (1 + x^2)/2) / (1 + x^2) dx` by Gauss-Legendre: 12 nodes
    reach rounding for a <= 1, 8 nodes for a <= 1/2, whatever h.
    """
    if h > FARTHEST:
        return 0.0
    total = 0.0
    half = -0.5 * h * h
    if ratio <= 0.5:
        for i in range(8):
            x = ratio * NODES_8[i]
            u = 1.0 + x * x
            total += WEIGHTS_8[i] * math.exp(half * u) / u
    else:
        for i in range(12):
            x = ratio * NODES_12[i]
            u = 1.0 + x * x
            total += WEIGHTS_12[i] * math.exp(half * u) / u
    return total * ratio * 0.15915494309189535


@kernel
def wedge(h: float, t: float, tail_h: float) -> float:
    """T(h, t/h) for h >= 0 and any t, infinite t included; `tail_h` is Q(h).

    It is the mass beyond the line at distance h between its foot and the ray through the point at
    t.
    """
    size = abs(t)
    if size <= h:
        value = owen_near(h, size / h) if size > 0.0 else 0.0
    elif size > 40.0:
        value = 0.5 * tail_h
    else:
        tail_t = upper_tail(size)
        value = 0.5 * (tail_h + tail_t) - tail_h * tail_t - owen_near(size, h / size)
    return value if t >= 0.0 else -value
