"""Laguerre cells of a standard Gaussian in the plane, edge by edge: masses, moments, rounding."""

from __future__ import annotations

import math

import numpy as np

from channelcode._kernels.jit import inlined, kernel
from channelcode._kernels.transport.owen import DENSITY, corner, upper_tail, wedge
from channelcode._kernels.transport.ties import untied

EPSILON = 2.220446049250313e-16
ROUNDING = 1e-15  # a few units in the last place
FARTHEST = 38.0  # deviations: no mass beyond
OWEN_FINE, OWEN_COARSE = 1e-16, 1.5e-11  # of the differences of Owen's T
BULK = 10.0  # deviations: the mass beyond, 1e-23, is no part of any bound


@kernel
def _shadows(along: float, length: float, l: int, j: int, k: int) -> bool:
    """True if atom l, level with j and k along their whole edge, takes the edge from them."""
    if along == 0.0:
        return l < j
    if along == length:
        return l < k
    return 0.0 < along < length


@kernel
def _moved(end: float, tail: float, width: float) -> float:
    """The mass of a standard normal variable within `width` of the end of an edge.

    `tail` is Q(|end|), and `phi(t) <= (1 + t) Q(t)` (Birnbaum).
    """
    if not (abs(end) < BULK and width < math.inf):
        return 0.0  # far away, or parallel: no end that could move
    if abs(end) * width > 0.1:
        return DENSITY * width
    return 1.2 * (1.0 + abs(end)) * tail * width


@inlined
def _each_edge(
    atoms: np.ndarray,
    v: np.ndarray,
    judged: bool,
    fine: bool,
    radius: float,
    mass: np.ndarray,
    moment: np.ndarray,
    hessian: np.ndarray,
    low: np.ndarray,
) -> tuple[float, float]:
    """The one loop behind `cell_edges` and `judged_edges`; `judged` is a constant where it runs."""
    m = atoms.shape[0]
    lowest = 0
    for j in range(m):
        if v[j] < v[lowest]:
            lowest = j
        mass[j] = 0.0
        moment[j, 0] = 0.0
        moment[j, 1] = 0.0
        for k in range(m):
            hessian[j, k] = 0.0
            if judged:
                low[j, k] = 0.0
    mass[lowest] = 1.0
    if judged:
        low[lowest, lowest] = 1.0
    error = OWEN_FINE if fine else OWEN_COARSE
    total = 0.0
    rounding = 0.0
    for j in range(m - 1):
        for k in range(j + 1, m):
            dx = atoms[k, 0] - atoms[j, 0]
            dy = atoms[k, 1] - atoms[j, 1]
            length = math.sqrt(dx * dx + dy * dy)
            if length == 0.0:
                continue
            shorter = 1.0 / length
            nx = dx * shorter
            ny = dy * shorter
            rise = v[k] - v[j]
            if rise == 0.0:
                rise = untied(j, k, lowest)
            h = rise * shorter
            if abs(h) > FARTHEST:
                continue
            density = 0.0
            left = -math.inf
            right = math.inf
            left_low = -math.inf  # the ends as rounding may move them
            left_high = -math.inf
            right_low = math.inf
            right_high = math.inf
            left_near = -math.inf  # and as potentials within `radius` may
            right_near = math.inf
            for l in range(m):
                if l in (j, k):
                    continue
                ex = atoms[l, 0] - atoms[j, 0]
                ey = atoms[l, 1] - atoms[j, 1]
                along = nx * ex + ny * ey
                part = h * along
                level = v[l] - v[j]
                near = j
                if along > 0.5 * length:
                    # Differences from the nearer end keep their digits when atoms nearly coincide.
                    ex = atoms[l, 0] - atoms[k, 0]
                    ey = atoms[l, 1] - atoms[k, 1]
                    part = h * (nx * ex + ny * ey)
                    level = v[l] - v[k]
                    near = k
                if level == 0.0:
                    level = untied(near, l, lowest)
                room = level - part
                slope = nx * ey - ny * ex
                blur = ROUNDING * (abs(nx * ey) + abs(ny * ex))
                if abs(slope) <= blur:
                    if room < 0.0 or (room == 0.0 and _shadows(along, length, l, j, k)):
                        right = -math.inf
                        right_low = -math.inf
                        right_high = -math.inf
                        break
                    if judged and room <= 2.0 * radius * (1.0 + abs(along * shorter)):
                        right_near = -math.inf  # within the radius it may take the edge
                    continue
                inverse = 1.0 / slope
                end = room * inverse
                if slope > 0.0:
                    right = min(right, end)
                else:
                    left = max(left, end)
                if judged:
                    off = ROUNDING * (abs(level) + abs(part)) + abs(end) * blur
                    off *= abs(inverse)
                    away = off + 2.0 * radius * (1.0 + abs(along * shorter)) * abs(inverse)
                    if slope > 0.0:
                        right_low = min(right_low, end - off)
                        right_high = min(right_high, end + off)
                        right_near = min(right_near, end - away)
                    else:
                        left_low = max(left_low, end - off)
                        left_high = max(left_high, end + off)
                        left_near = max(left_near, end + away)
                    if left_low >= right_high:
                        break
                elif left >= right:
                    break
            if judged:
                if left_low >= right_high:
                    continue
                density = DENSITY * math.exp(-0.5 * h * h)
                if left >= right:
                    # No edge, but there may be one within rounding.
                    open_ = min(right_high, BULK) - max(left_low, -BULK)
                    nearest = max(left_low, -right_high, 0.0)
                    open_ = max(open_, 0.0) * DENSITY * math.exp(-0.5 * nearest * nearest)
                    rounding += 2.0 * length * open_ * density
            if left >= right:
                continue
            tail_left = upper_tail(abs(left))
            tail_right = upper_tail(abs(right))
            if left > 0.0:
                span = tail_left - tail_right
            elif right < 0.0:
                span = tail_right - tail_left
            else:
                span = 1.0 - tail_left - tail_right
            if not judged:
                density = DENSITY * math.exp(-0.5 * h * h)
            line = span * density
            total += length * line
            moment[j, 0] -= nx * line
            moment[j, 1] -= ny * line
            moment[k, 0] += nx * line
            moment[k, 1] += ny * line
            rate = line * shorter
            hessian[j, k] -= rate
            hessian[k, j] -= rate
            hessian[j, j] += rate
            hessian[k, k] += rate
            size = abs(h)
            tail = upper_tail(size)
            if left >= size:
                beyond = corner(size, left, tail, tail_left, fine)
                beyond -= corner(size, right, tail, tail_right, fine)
                source, reach = tail_left * (2.0 + left * left), tail_left
            elif right <= -size:
                beyond = corner(size, -right, tail, tail_right, fine)
                beyond -= corner(size, -left, tail, tail_left, fine)
                source, reach = tail_right * (2.0 + right * right), tail_right
            else:
                beyond = wedge(size, right, tail, tail_right, fine)
                beyond -= wedge(size, left, tail, tail_left, fine)
                source, reach = tail * (2.0 + size * size), tail
            if h < 0.0:
                beyond = -beyond
            mass[j] -= beyond
            mass[k] += beyond
            if judged:
                # What a mass is wrong by counts with the potentials, which are large far away.
                gross = abs(beyond)
                low[j, j] += gross
                low[k, k] += gross
                # Owen's T errs by less than this times the fourth root of the tail.
                source = 4.0 * EPSILON * source + error * math.sqrt(math.sqrt(reach))
                rounding += abs(v[k] - v[j]) * source
                rounding += EPSILON * (2.0 + size * size) * length * line
                open_ = _moved(left, tail_left, left_high - left_low)
                open_ += _moved(right, tail_right, right_high - right_low)
                rounding += 2.0 * length * min(open_, 1.0) * density
                turn = 2.0 * radius * shorter
                lost = max(min(right, BULK) - max(right_near, -BULK), 0.0)
                lost += max(min(left_near, BULK) - max(left, -BULK), 0.0)
                kept = 1.0 - size * turn - turn * turn
                rest = span - DENSITY * lost
                if kept > 0.0 and rest > 0.0:
                    rate = kept * rest * density * shorter
                    low[j, k] -= rate
                    low[k, j] -= rate
    if judged:
        for j in range(m):
            rounding += m * EPSILON * abs(v[j]) * low[j, j]
    return total, rounding


@kernel
def cell_edges(
    atoms: np.ndarray, v: np.ndarray, mass: np.ndarray, moment: np.ndarray, hessian: np.ndarray
) -> float:
    """Masses, first moments and mass derivatives of the cells argmax_j (<x,a_j> - v_j), x ~ N(0,I).

    Fills `mass (m,)`, `moment (m, 2)` and `hessian (m, m)` (minus the derivative of the masses
    with respect to v) and returns `E <X, a_j(X)> = sum over edges of |a_j - a_k| times the edge's
    mass`. Each edge moves the mass beyond it from the cell on the origin's side to the other, so
    the masses sum to one by construction.
    """
    total, _ = _each_edge(atoms, v, False, True, 0.0, mass, moment, hessian, hessian)
    return total


@kernel
def judged_edges(
    atoms: np.ndarray,
    v: np.ndarray,
    fine: bool,
    radius: float,
    mass: np.ndarray,
    moment: np.ndarray,
    hessian: np.ndarray,
    low: np.ndarray,
) -> tuple[float, float]:
    """As `cell_edges`, with the rounding of the dual value at v and rates that hold around it.

    An end of an edge is `room / slope`. Where edges are nearly parallel the slope is small and the
    three ends that should meet in a corner are rounded apart, so that a strip is counted twice or
    not at all; and each mass is rounded, which its potential multiplies: both are in the second
    number. `-low[j, k] (m, m)` is at most the rate between j and k for every potential that
    differs from v by no more than `radius` at each atom. Masses are good to 1e-11 if not `fine`.
    """
    total, rounding = _each_edge(atoms, v, True, fine, radius, mass, moment, hessian, low)
    return total, rounding
