"""Normal tail, and Owen's T in the form that polygon masses need."""

from __future__ import annotations

import math

import numpy as np

from channelcode._kernels.jit import kernel


def _rule(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Gauss-Legendre nodes and weights on [0, 1]."""
    nodes, weights = np.polynomial.legendre.leggauss(count)
    return 0.5 * (nodes + 1.0), 0.5 * weights


NODES_12, WEIGHTS_12 = _rule(12)
NODES_9, WEIGHTS_9 = _rule(9)
NODES_8, WEIGHTS_8 = _rule(8)
NODES_7, WEIGHTS_7 = _rule(7)
NODES_6, WEIGHTS_6 = _rule(6)
NODES_4, WEIGHTS_4 = _rule(4)

FARTHEST = 38.0  # T(h, a) underflows for h beyond
DENSITY = 0.3989422804014327  # of a standard normal variable at zero


@kernel
def upper_tail(z: float) -> float:
    """Q(z) = P(X > z) for X ~ N(0,1)."""
    return 0.5 * math.erfc(z * 0.7071067811865476)


@kernel
def _legendre(half: float, ratio: float, nodes: np.ndarray, weights: np.ndarray) -> float:
    """int_0^ratio exp(half (1 + x^2)) / (1 + x^2) dx by the given rule, over the ratio."""
    total = 0.0
    for i in range(nodes.shape[0]):
        x = ratio * nodes[i]
        u = 1.0 + x * x
        total += weights[i] * math.exp(half * u) / u
    return total


@kernel
def owen_near(h: float, ratio: float, fine: bool) -> float:
    """T(h, a) for h >= 0 and 0 <= a <= 1, to 3e-17, or to 7e-12 if not `fine`.

    `T(h, a) = (1/2pi) int_0^a exp(-h^2 (1 + x^2)/2) / (1 + x^2) dx` by Gauss-Legendre: 12 nodes
    reach rounding for a <= 1, 9 nodes for a <= 1/2, 6 nodes for a <= 1/4, whatever h; 8, 7, 6 and 4
    nodes are enough for the coarse value (compared with 30 nodes in extended precision).
    """
    if h > FARTHEST:
        return 0.0
    half = -0.5 * h * h
    if fine:
        if ratio <= 0.25:
            total = _legendre(half, ratio, NODES_6, WEIGHTS_6)
        elif ratio <= 0.5:
            total = _legendre(half, ratio, NODES_9, WEIGHTS_9)
        else:
            total = _legendre(half, ratio, NODES_12, WEIGHTS_12)
    elif ratio <= 0.25:
        total = _legendre(half, ratio, NODES_4, WEIGHTS_4)
    elif ratio <= 0.5:
        total = _legendre(half, ratio, NODES_6, WEIGHTS_6)
    elif ratio <= 0.75:
        total = _legendre(half, ratio, NODES_7, WEIGHTS_7)
    else:
        total = _legendre(half, ratio, NODES_8, WEIGHTS_8)
    return total * ratio * 0.15915494309189535


@kernel
def corner(h: float, t: float, tail_h: float, tail_t: float, fine: bool) -> float:
    """`Q(h)/2 - T(h, t/h)` for t >= h >= 0: what lies beyond the line and past the ray through t.

    `tail_h` and `tail_t` are Q(h) and Q(t). Far out it is small, and so is its rounding.
    """
    if t > FARTHEST:
        return 0.0
    if t == 0.0:
        return 0.5 * tail_h
    return owen_near(t, h / t, fine) - tail_t * (0.5 - tail_h)


@kernel
def wedge(h: float, t: float, tail_h: float, tail_t: float, fine: bool) -> float:
    """T(h, t/h) for h >= 0 and any t, infinite t included; the tails are Q(h) and Q(|t|).

    It is the mass beyond the line at distance h between its foot and the ray through the point at
    t.
    """
    size = abs(t)
    if size <= h:
        value = owen_near(h, size / h, fine) if size > 0.0 else 0.0
    else:
        value = 0.5 * tail_h - corner(h, size, tail_h, tail_t, fine)
    return value if t >= 0.0 else -value
