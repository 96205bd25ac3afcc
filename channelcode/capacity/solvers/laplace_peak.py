"""Laplace noise under a peak: the best law is known, but for two constants."""

from __future__ import annotations

import numpy as np

from channelcode.capacity.problem import Proposal
from channelcode.capacity.solvers.laplace_law import MOST_ATOMS, Shape, cells, matched

# The solution of both integrals in `laplace_peak`
DISTANCE = 1.933616946694547525733391  # A - a
SHARE = 0.4157694833059523442366838  # mu: mass at either end of the even part, over its density
SHARES_OF_DISTANCE = (0.5, 0.8, 0.35, 0.2, 0.12, 0.95, 0.05)  # where Newton begins: of DISTANCE


def laplace_peak(scale: float, peak: float, *, tol: float) -> Proposal | None:
    """The best law under |l| <= A, or None where A is too small for an even part; `tol` in nats.

    Where the law has a density the KKT function D is constant, so that D'' = (D + v)/b^2 = 0 and
    ln q is constant: q is even on [-a, a]. Then p is even there, with an atom at either end of it
    and one at either peak; between a and A there is no mass. With g(x) = ln(cosh x - mu sinh x) and
    x = (y - a)/b, d = (A - a)/b, D'(a) = 0 and D(A) = D(a) say

        int_0^d e^-x g dx + e^-d (g(d) - 1) = 0,   int_0^d e^x g dx + e^d (g(d) - 1) = 0,

    in which A does not occur: d = 1.9336, mu = 0.41577, and C = ln((A/b + mu + (1 - mu) e^d - d)/e)
    nats. The even part is given as evenly spaced atoms, each of the mass that looks the same from
    outside of its cell, and the other atoms are moved to where KKT holds for these.
    """
    reach = peak / scale
    half = reach - DISTANCE
    if half <= 1e-9:
        return None
    count = cells(half, tol)
    if count > MOST_ATOMS:
        return None
    start = Shape(half, SHARE, (1.0 - SHARE) * np.exp(DISTANCE), 0.0)
    shape, steps = matched(start, reach, None, count)
    points, weights = shape.law(reach, count)
    return Proposal(points * scale, weights, 0.0, "ClosedForm (Laplace noise, peak)", steps)


def laplace_peak_and_power(
    scale: float, peak: float, power: float, *, tol: float
) -> Proposal | None:
    """The best law under |l| <= A and E L^2 <= P where both count, or None if it is not found.

    As under the peak alone, but q = c e^(-s y^2) on [-a, a], since D = C + s (l^2 - P) there; a, s
    and the masses at a and A follow from KKT. The less power, the closer a comes to A.
    """
    reach, budget = peak / scale, power / scale / scale
    count = cells(reach, 0.5 * tol)
    if count > MOST_ATOMS:
        return None
    for share in SHARES_OF_DISTANCE:
        half = reach - share * DISTANCE
        if half <= 1e-3:
            continue
        price = (1.0 - share) * 0.5 / (reach + 1.0)
        level = np.exp(-price * half**2)
        start = Shape(half, SHARE * level, (1.0 - SHARE) * np.exp(share * DISTANCE) * level, price)
        shape, steps = matched(start, reach, budget, count)
        if not (0.0 < shape.half < reach and min(shape) > 0.0):
            continue
        if 2.0 * shape.price * shape.half > np.sqrt(1.0 + 2.0 * shape.price):  # p < 0
            continue
        points, weights = shape.law(reach, count)
        if abs(float(weights @ points**2) - budget) <= 1e-9 * budget:
            method = "ClosedForm (Laplace noise, peak and power)"
            price = shape.multiplier(count) / scale / scale
            return Proposal(points * scale, weights, price, method, steps)
    return None
