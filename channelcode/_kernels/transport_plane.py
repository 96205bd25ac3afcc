"""Laguerre cells of a standard Gaussian in the plane: exact masses, and Newton's method."""

from __future__ import annotations

import math

import numpy as np

from channelcode._kernels.jit import kernel
from channelcode._kernels.transport_owen import upper_tail, wedge

MASS_TOLERANCE = 1e-13  # stop when every cell has its mass; a few times rounding
MAX_STEPS = 100
ROUNDING = 2e-15  # a variance left below this part of the given one is the rounding of S


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
                slope = nx * ey - ny * ex
                along = nx * ex + ny * ey
                room = v[l] - v[j] - h * along
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
def _shadows(along: float, length: float, l: int, j: int, k: int) -> bool:
    """True if atom l, level with j and k along their whole edge, takes the edge from them."""
    if along == 0.0:
        return l < j
    if along == length:
        return l < k
    return 0.0 < along < length


@kernel
def solve_laplacian(hessian: np.ndarray, right: np.ndarray, work: np.ndarray) -> bool:
    """Solve `hessian @ x = right` in place with x[-1] = 0 (a Laplacian); False if singular."""
    m = hessian.shape[0]
    n = m - 1
    for i in range(n):
        for j in range(i + 1):
            total = hessian[i, j]
            for l in range(j):
                total -= work[i, l] * work[j, l]
            if i == j:
                if not total > 1e-300:
                    return False
                work[i, i] = math.sqrt(total)
            else:
                work[i, j] = total / work[j, j]
    for i in range(n):
        total = right[i]
        for l in range(i):
            total -= work[i, l] * right[l]
        right[i] = total / work[i, i]
    for i in range(n - 1, -1, -1):
        total = right[i]
        for l in range(i + 1, n):
            total -= work[l, i] * right[l]
        right[i] = total / work[i, i]
    right[m - 1] = 0.0
    return True


@kernel
def residual_of(mass: np.ndarray, weights: np.ndarray) -> float:
    """max_j |mass_j - weights_j|."""
    worst = 0.0
    for j in range(mass.shape[0]):
        worst = max(worst, abs(mass[j] - weights[j]))
    return worst


@kernel
def smallest(values: np.ndarray) -> float:
    """min_j values_j."""
    least = values[0]
    for j in range(1, values.shape[0]):
        least = min(least, values[j])
    return least


@kernel
def feed_starved(
    atoms: np.ndarray,
    weights: np.ndarray,
    v: np.ndarray,
    mass: np.ndarray,
    moment: np.ndarray,
    hessian: np.ndarray,
) -> float:
    """Lower v_j of each cell with less than a tenth of its mass until it has half of it."""
    m = weights.shape[0]
    total = cell_edges(atoms, v, mass, moment, hessian)
    for _ in range(3):
        fed = False
        for j in range(m):
            if mass[j] >= 0.1 * weights[j]:
                continue
            fed = True
            high = v[j]
            step = 0.1
            low = high - step
            for _ in range(60):
                v[j] = low
                cell_edges(atoms, v, mass, moment, hessian)
                if mass[j] >= 0.5 * weights[j]:
                    break
                high = low
                step *= 2.0
                low -= step
            for _ in range(80):
                if mass[j] <= weights[j]:
                    break
                v[j] = 0.5 * (low + high)
                total = cell_edges(atoms, v, mass, moment, hessian)
                if mass[j] >= 0.5 * weights[j]:
                    low = v[j]
                else:
                    high = v[j]
                    mass[j] = 1.0
            v[j] = low
            total = cell_edges(atoms, v, mass, moment, hessian)
        if not fed:
            break
    return total


@kernel
def repair_loss(
    atoms: np.ndarray, weights: np.ndarray, v: np.ndarray, mass: np.ndarray, moment: np.ndarray
) -> float:
    """Dual value minus the value of a feasible coupling near the cells: the gap of `v` in rho.

    A cell with too much mass gives a random part of it to the atoms that lack mass, first to the
    one where that costs least: `<E[X|cell j], a_j - a_k> - (v_j - v_k)` for each unit, never
    negative.
    """
    m = weights.shape[0]
    short = np.empty(m)
    for j in range(m):
        short[j] = weights[j] - mass[j]
    gap = 0.0
    for j in range(m):
        while short[j] < 0.0:
            chosen = -1
            least = math.inf
            for k in range(m):
                if short[k] > 0.0:
                    loss = moment[j, 0] * (atoms[j, 0] - atoms[k, 0])
                    loss += moment[j, 1] * (atoms[j, 1] - atoms[k, 1])
                    loss = loss / mass[j] - (v[j] - v[k])
                    if loss < least:
                        least = loss
                        chosen = k
            if chosen < 0:
                break  # what is left is the rounding of the sums
            part = min(-short[j], short[chosen])
            gap += part * max(least, 0.0)
            short[j] += part
            short[chosen] -= part
    return gap


@kernel
def plane_newton(
    atoms: np.ndarray, weights: np.ndarray, v: np.ndarray
) -> tuple[float, float, float, int]:
    """Damped Newton on the semi-dual for atoms `(m, 2)` of size about one; `v (m,)` is the start.

    Returns rho, its gap, the residual of the masses, and the steps; `v` holds the potential. Steps
    keep every cell alive and lower the residual (Kitagawa, Merigot, Thibert), which converges from
    any start whose cells have mass.
    """
    m = atoms.shape[0]
    mass = np.empty(m)
    moment = np.empty((m, 2))
    hessian = np.empty((m, m))
    work = np.empty((m, m))
    step = np.empty(m)
    trial = np.empty(m)
    total = cell_edges(atoms, v, mass, moment, hessian)
    least = smallest(mass)
    if least < 0.01 * smallest(weights):
        voronoi_start(atoms, v)
        total = feed_starved(atoms, weights, v, mass, moment, hessian)
        least = smallest(mass)
    residual = residual_of(mass, weights)
    floor = 0.5 * min(least, smallest(weights))
    steps = 0
    while residual > MASS_TOLERANCE and steps < MAX_STEPS:
        steps += 1
        for j in range(m):
            step[j] = mass[j] - weights[j]
        if not solve_laplacian(hessian, step, work):
            break
        size = 1.0
        moved = False
        for _ in range(40):
            for j in range(m):
                trial[j] = v[j] + size * step[j]
            total = cell_edges(atoms, trial, mass, moment, hessian)
            worst = residual_of(mass, weights)
            if smallest(mass) > floor and worst <= (1.0 - 0.5 * size) * residual:
                moved = True
                break
            if residual < 1e-11 and size < 1.0:
                break
            size *= 0.5
        if not moved:
            total = cell_edges(atoms, v, mass, moment, hessian)
            break
        residual = worst
        for j in range(m):
            v[j] = trial[j]
    gap = repair_loss(atoms, weights, v, mass, moment)
    rho = total
    for j in range(m):
        rho += v[j] * (weights[j] - mass[j])
    return rho, gap, residual, steps


@kernel
def voronoi_start(atoms: np.ndarray, v: np.ndarray) -> None:
    """The potential of the atoms' Voronoi cells: each holds its own atom, so none is empty."""
    for j in range(atoms.shape[0]):
        v[j] = 0.5 * (atoms[j, 0] * atoms[j, 0] + atoms[j, 1] * atoms[j, 1])


@kernel
def plane_pool(
    covariance: np.ndarray,
    points: np.ndarray,
    weights: np.ndarray,
    potentials: np.ndarray,
    ordered: bool,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """rho, gap, residual and steps for each covariance `(n, 2, 2)`, target `points (m, 2)`.

    `potentials` is `(n, m)` to receive the potentials, or `(0, m)`. A candidate whose covariance
    has rank one or zero is left with a gap of infinity, for the line formula. In an `ordered` pool
    each candidate is like the one before it and starts from its potential.
    """
    n = covariance.shape[0]
    m = points.shape[0]
    rho = np.zeros(n)
    gap = np.zeros(n)
    residual = np.zeros(n)
    steps = np.zeros(n, dtype=np.int64)
    atoms = np.empty((m, 2))
    v = np.zeros(m)
    for c in range(n):
        if covariance[c, 0, 0] >= covariance[c, 1, 1]:
            first, second = 0, 1
        else:
            first, second = 1, 0
        l11 = math.sqrt(max(covariance[c, first, first], 0.0))
        l21 = covariance[c, 0, 1] / l11 if l11 > 0.0 else 0.0
        rest = covariance[c, second, second] - l21 * l21
        if rest <= ROUNDING * covariance[c, second, second]:
            gap[c] = math.inf
            continue
        l22 = math.sqrt(rest)
        power = 0.0
        for j in range(m):
            atoms[j, 0] = l11 * points[j, first] + l21 * points[j, second]
            atoms[j, 1] = l22 * points[j, second]
            power += atoms[j, 0] * atoms[j, 0] + atoms[j, 1] * atoms[j, 1]
        scale = math.sqrt(power / m)
        for j in range(m):
            atoms[j, 0] /= scale
            atoms[j, 1] /= scale
        if c == 0 or not ordered:
            voronoi_start(atoms, v)
        value, loss, worst, count = plane_newton(atoms, weights, v)
        rho[c] = scale * value
        gap[c] = scale * loss
        residual[c] = worst
        steps[c] = count
        if potentials.shape[0] > 0:
            for j in range(m):
                potentials[c, j] = scale * v[j]
    return rho, gap, residual, steps
