"""Laplace noise under a peak: the best law is known, but for two constants."""

from __future__ import annotations

from math import ceil, sinh

import numpy as np

from channelcode._validation import Array
from channelcode.capacity.problem import Proposal
from channelcode.information.mixtures.laplace import LaplaceMixture

# The solution of both integrals in `laplace_peak`
DISTANCE = 1.933616946694547525733391  # A - a
SHARE = 0.4157694833059523442366838  # mu: mass at either end of the even part, over its density
SPACING = 0.016  # scales between atoms of the even part: the gap is then about 3e-10 bits
MOST_ATOMS = 40_000
MOST_STEPS = 12


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
    spacing = SPACING * min((tol / 7e-10) ** 0.25, 8.0)
    count = max(ceil(2.0 * half / spacing), 4)
    if count > MOST_ATOMS:
        return None
    unknown: Array = np.array([half, SHARE, (1.0 - SHARE) * np.exp(DISTANCE)])
    steps = 0
    for _ in range(MOST_STEPS):
        residual = _residual(unknown, reach, count)
        if np.abs(residual).max() <= 1e-14:
            break
        steps += 1
        columns = []
        for i in range(3):
            moved = unknown.copy()
            moved[i] += 1e-6 * max(unknown[i], 1e-3)
            columns.append((_residual(moved, reach, count) - residual) / (moved[i] - unknown[i]))
        change = np.linalg.lstsq(np.array(columns).T, -residual, rcond=None)[0]
        size = np.abs(change / unknown).max()
        unknown = np.asarray(unknown + change * min(1.0, 0.3 / max(size, 1e-300)), np.float64)
        if size <= 1e-12:
            break
    points, weights = _law(unknown, reach, count)
    return Proposal(points * scale, weights, 0.0, "ClosedForm (Laplace noise, peak)", steps)


def _law(unknown: Array, reach: float, count: int) -> tuple[Array, Array]:
    half, end, peak = unknown
    width = 2.0 * half / count
    centres = -half + width * (np.arange(count) + 0.5)
    centres = 0.5 * (centres - centres[::-1])
    points = np.concatenate([[-reach, -half], centres, [half, reach]])
    inner = np.full(count, 2.0 * sinh(0.5 * width))
    weights = np.concatenate([[peak, end], inner, [end, peak]])
    return points, weights / weights.sum()


def _residual(unknown: Array, reach: float, count: int) -> Array:
    """D(a) - D, D(A) - D and D'(a), with D that of an atom in the middle."""
    points, weights = _law(unknown, reach, count)
    at = np.array([points[2 + count // 2], points[-2], points[-1]])
    found = LaplaceMixture(1.0, points, weights).divergence(at)
    middle, end, peak = found.value
    return np.array([end - middle, peak - middle, found.slope[1]])
