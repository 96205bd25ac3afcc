"""Laguerre cells of a standard Gaussian in the plane: exact masses, moments and edges."""

from __future__ import annotations

import math

import numpy as np

from channelcode._kernels.jit import kernel
from channelcode._kernels.transport.cells import axis_potential, first_potential
from channelcode._kernels.transport.newton import (
    FLOOR,
    STATE,
    STEPS,
    WELL_FED,
    is_settled,
    newton_move,
)
from channelcode._kernels.transport.owen import upper_tail, wedge
from channelcode._kernels.transport.repair import repair_loss

ROUNDING = 1e-15  # a few units in the last place
STARTS = 3  # of Newton's method, each tried if the one before did not settle


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
    mass[lowest] = 1.0
    total = 0.0
    for j in range(m - 1):
        for k in range(j + 1, m):
            dx = atoms[k, 0] - atoms[j, 0]
            dy = atoms[k, 1] - atoms[j, 1]
            length = math.sqrt(dx * dx + dy * dy)
            if length == 0.0:
                continue
            nx = dx / length
            ny = dy / length
            h = (v[k] - v[j]) / length
            if abs(h) > 38.0:
                continue
            left = -math.inf
            right = math.inf
            for l in range(m):
                if l in (j, k):
                    continue
                ex = atoms[l, 0] - atoms[j, 0]
                ey = atoms[l, 1] - atoms[j, 1]
                along = nx * ex + ny * ey
                room = v[l] - v[j] - h * along
                if along > 0.5 * length:
                    # Differences from the nearer end keep their digits when atoms nearly coincide.
                    ex = atoms[l, 0] - atoms[k, 0]
                    ey = atoms[l, 1] - atoms[k, 1]
                    room = v[l] - v[k] - h * (nx * ex + ny * ey)
                slope = nx * ey - ny * ex
                if slope > 0.0:
                    right = min(right, room / slope)
                elif slope < 0.0:
                    left = max(left, room / slope)
                elif room < 0.0 or (room == 0.0 and _shadows(along, length, l, j, k)):
                    right = -math.inf
                if left >= right:
                    break
            if left >= right:
                continue
            if left > 0.0:
                span = upper_tail(left) - upper_tail(right)
            else:
                span = upper_tail(-right) - upper_tail(-left)
            line = span * math.exp(-0.5 * h * h) * 0.3989422804014327
            total += length * line
            moment[j, 0] -= nx * line
            moment[j, 1] -= ny * line
            moment[k, 0] += nx * line
            moment[k, 1] += ny * line
            rate = line / length
            hessian[j, k] -= rate
            hessian[k, j] -= rate
            hessian[j, j] += rate
            hessian[k, k] += rate
            near = abs(h)
            tail = upper_tail(near)
            beyond = wedge(near, right, tail) - wedge(near, left, tail)
            if h < 0.0:
                beyond = -beyond
            mass[j] -= beyond
            mass[k] += beyond
    return total


@kernel
def end_rounding(atoms: np.ndarray, v: np.ndarray) -> float:
    """What the rounding of the ends of the edges may change E max by; arguments as `cell_edges`.

    An end is `room / slope`. Where edges are nearly parallel the slope is small and the three ends
    that should meet in a corner are rounded apart, so that a strip is counted twice or not at all.
    """
    m = atoms.shape[0]
    total = 0.0
    for j in range(m - 1):
        for k in range(j + 1, m):
            dx = atoms[k, 0] - atoms[j, 0]
            dy = atoms[k, 1] - atoms[j, 1]
            length = math.sqrt(dx * dx + dy * dy)
            if length == 0.0:
                continue
            nx = dx / length
            ny = dy / length
            h = (v[k] - v[j]) / length
            if abs(h) > 38.0:
                continue
            left_low = -math.inf
            left_high = -math.inf
            right_low = math.inf
            right_high = math.inf
            for l in range(m):
                if l in (j, k):
                    continue
                near = j
                along = nx * (atoms[l, 0] - atoms[j, 0]) + ny * (atoms[l, 1] - atoms[j, 1])
                if along > 0.5 * length:
                    near = k
                ex = atoms[l, 0] - atoms[near, 0]
                ey = atoms[l, 1] - atoms[near, 1]
                part = h * (nx * ex + ny * ey)
                room = v[l] - v[near] - part
                slope = nx * ey - ny * ex
                blur = ROUNDING * (abs(nx * ey) + abs(ny * ex))
                if abs(slope) <= blur:
                    continue  # parallel: it has no end there
                end = room / slope
                off = ROUNDING * (abs(v[l] - v[near]) + abs(part)) + abs(end) * blur
                off /= abs(slope)
                if slope > 0.0:
                    right_low = min(right_low, end - off)
                    right_high = min(right_high, end + off)
                else:
                    left_low = max(left_low, end - off)
                    left_high = max(left_high, end + off)
            if left_low >= right_high:
                continue
            open_ = _between(left_low, left_high) + _between(right_low, right_high)
            open_ = min(open_, _between(left_low, right_high))
            total += 2.0 * length * open_ * math.exp(-0.5 * h * h) * 0.3989422804014327
    return total


@kernel
def _between(low: float, high: float) -> float:
    """The mass of a standard normal variable between two points; zero if they are the same end."""
    if low == high:
        return 0.0
    if low > 0.0:
        return upper_tail(low) - upper_tail(high)
    return upper_tail(-high) - upper_tail(-low)


@kernel
def _shadows(along: float, length: float, l: int, j: int, k: int) -> bool:
    """True if atom l, level with j and k along their whole edge, takes the edge from them."""
    if along == 0.0:
        return l < j
    if along == length:
        return l < k
    return 0.0 < along < length


@kernel
def plane_pool(
    atoms: np.ndarray,
    weights: np.ndarray,
    quantile: np.ndarray,
    goal: float,
    ordered: bool,
    warm: bool,
    potentials: np.ndarray,
) -> np.ndarray:
    """Potentials `(n, m)` for each row of `atoms (n, m, 2)`, of weighted size about one; the steps.

    In an `ordered` pool each candidate is like the one before it and starts from its potential; a
    `warm` one starts from the `potentials` given.
    """
    n, m, _ = atoms.shape
    steps = np.zeros(n, dtype=np.int64)
    mass = np.empty(m)
    moment = np.empty((m, 2))
    hessian = np.empty((m, m))
    work = np.empty((m, m))
    rows = np.empty((3, m))
    state = np.empty(STATE)
    for c in range(n):
        v = potentials[c]
        for start in range(STARTS):
            if start > 0 or not warm:
                if start == 0 and ordered and c > 0:
                    for j in range(m):
                        v[j] = potentials[c - 1, j]
                elif start == STARTS - 1:
                    first_potential(atoms[c], quantile, v)
                else:
                    axis_potential(atoms[c], weights, v)
            for i in range(STATE):
                state[i] = 0.0
            if start > 0:
                state[FLOOR] = WELL_FED
            while True:
                value = cell_edges(atoms[c], v, mass, moment, hessian)
                for j in range(m):
                    value += v[j] * (weights[j] - mass[j])
                if newton_move(weights, v, mass, hessian, value, goal, rows, work, state):
                    break
            if is_settled(weights, rows):
                break
        steps[c] = int(state[STEPS])
    return steps


@kernel
def plane_judge(
    atoms: np.ndarray, weights: np.ndarray, potentials: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Dual value of each potential `(n, m)`, at least rho, and what a coupling near it loses."""
    n, m, _ = atoms.shape
    dual = np.empty(n)
    loss = np.empty(n)
    mass = np.empty(m)
    moment = np.empty((m, 2))
    hessian = np.empty((m, m))
    for c in range(n):
        v = potentials[c]
        value = cell_edges(atoms[c], v, mass, moment, hessian)
        for j in range(m):
            value += v[j] * (weights[j] - mass[j])
        rounding = end_rounding(atoms[c], v)
        dual[c] = value + rounding
        loss[c] = repair_loss(atoms[c], weights, v, mass, moment) + 2.0 * rounding
    return dual, loss
