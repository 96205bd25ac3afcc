"""Gaussians in the plane: Newton's method, the judge, and pools whose potentials a table knows."""

from __future__ import annotations

import math

import numpy as np

from channelcode._kernels.jit import kernel
from channelcode._kernels.transport.cells import axis_potential, first_potential, repair_loss
from channelcode._kernels.transport.edges import EPSILON, cell_edges, judged_edges
from channelcode._kernels.transport.newton import (
    FLOOR,
    STATE,
    STEPS,
    WELL_FED,
    is_settled,
    newton_move,
    solve_laplacian,
)

STARTS = 3  # of Newton's method, each tried if the one before did not settle
TRIES = 3  # evaluations of a candidate, each after a step of Newton's method
RADII = (1e-3, 1e-5, 1e-8)  # around each potential, in which the rates are bounded
ENOUGH = 2e-10  # loss in rho, for atoms of size one, at which a candidate is done
ROUGH = 3e-10  # and the rounding on either side: together less than RTOL of the scale
NARROW = 1e-6  # ratio of variances below which a factor needs more digits than this one has
LEAST = 1e-3  # spread u at which the table begins: the square root of NARROW
BEND = 0.15  # rows of the table are this plus u apart, in proportion
ROOT_HALF = math.sqrt(0.5)
VALUE, BELOW, ABOVE, BOUNDS = 0, 1, 2, 3


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
    low = np.empty((m, m))
    for c in range(n):
        v = potentials[c]
        value, rounding = judged_edges(atoms[c], v, True, 0.0, mass, moment, hessian, low)
        for j in range(m):
            value += v[j] * (weights[j] - mass[j])
        dual[c] = value + rounding
        loss[c] = repair_loss(atoms[c], weights, v, mass, moment) + 2.0 * rounding
    return dual, loss


@kernel
def cubic_weights(place: float) -> tuple[float, float, float, float]:
    """Lagrange weights of the nodes -1, 0, 1, 2 at `place` in [0, 1] (or near)."""
    before = place + 1.0
    after = place - 1.0
    last = place - 2.0
    return (
        -place * after * last / 6.0,
        before * after * last / 2.0,
        -before * place * last / 2.0,
        before * place * after / 6.0,
    )


@kernel
def table_guess(table: np.ndarray, along: float, around: float, v: np.ndarray) -> None:
    """Cubic interpolation of potentials `table (rows, columns + 3, m)` at the place given.

    `along` counts rows, `around` columns; the first column and the last two repeat others, as the
    columns go round a circle.
    """
    rows, columns, m = table.shape
    row = min(max(int(along), 1), rows - 3)
    column = min(max(int(around), 0), columns - 4)
    in_row = cubic_weights(along - row)
    in_column = cubic_weights(around - column)
    for j in range(m):
        v[j] = 0.0
    for a in range(4):
        for b in range(4):
            share = in_row[a] * in_column[b]
            for j in range(m):
                v[j] += share * table[row + a - 1, column + b, j]


@kernel
def row_place(spread: float) -> float:
    """Where a spread u stands among the rows, from 0 at LEAST to 1 at sqrt(1/2): denser below."""
    return math.log((spread + BEND) / (LEAST + BEND)) / math.log(
        (ROOT_HALF + BEND) / (LEAST + BEND)
    )


@kernel
def second_order_loss(
    weights: np.ndarray,
    mass: np.ndarray,
    low: np.ndarray,
    radius: float,
    step: np.ndarray,
    work: np.ndarray,
) -> float:
    """How far the dual value may lie above the least one, to second order; infinite if unproved.

    With H the Laplacian of `-low` (see `judged_edges`) and g = mass - weights, the dual value at
    v + d is at least `value - g'd + d'Hd / 2` for every d within `radius`. If that exceeds the
    value at v wherever d is not within the radius, then by convexity no least value lies outside,
    and the least one is at least `value - g'H^-1 g / 2`. `H^-1_jj` is at most the sum of the
    inverse pivots, as the entries of the inverse factor are probabilities.
    """
    m = weights.shape[0]
    for j in range(m):
        step[j] = mass[j] - weights[j]
    solve_laplacian(low, step, work)
    resistance = 0.0
    for j in range(m - 1):
        if not work[j, j] > 0.0:
            return math.inf
        resistance += 1.0 / work[j, j]
    twice = 0.0
    lowest = 0.0
    highest = 0.0
    for j in range(m):
        twice += step[j] * (mass[j] - weights[j])
        lowest = min(lowest, step[j])
        highest = max(highest, step[j])
    if not 0.5 * (highest - lowest) + math.sqrt(max(twice, 0.0) * resistance) <= radius:
        return math.inf
    return 0.5 * twice


@kernel
def table_pool(
    covariance: np.ndarray,
    points: np.ndarray,
    weights: np.ndarray,
    heaviest: int,
    table: np.ndarray,
    lost: float,
    bounds: np.ndarray,
) -> None:
    """rho and its bounds, `bounds (n, 3)`, for covariances `(n, 2, 2)` on the span of a target.

    `points (m, 2)` are the atoms about their mean, of size about one, and `table` holds potentials
    for covariances of trace one (see `table_guess`). Where nothing is proved the row is NaN.
    """
    n, m = covariance.shape[0], points.shape[0]
    rows, columns = table.shape[0] - 1, table.shape[1] - 3
    atoms = np.empty((m, 2))
    v = np.empty(m)
    mass = np.empty(m)
    moment = np.empty((m, 2))
    hessian = np.empty((m, m))
    low = np.empty((m, m))
    work = np.empty((m, m))
    step = np.empty(m)
    deviation = 0.0
    for j in range(m):
        deviation += weights[j] * (points[j, 0] ** 2 + points[j, 1] ** 2)
    deviation = math.sqrt(deviation)
    for c in range(n):
        bounds[c, VALUE] = math.nan
        bounds[c, BELOW] = math.nan
        bounds[c, ABOVE] = math.nan
        trace = covariance[c, 0, 0] + covariance[c, 1, 1]
        if not trace > 0.0:
            continue
        first = covariance[c, 0, 0] / trace
        second = covariance[c, 1, 1] / trace
        mixed = covariance[c, 0, 1] / trace
        large = max(first, second)
        root = math.sqrt(large)
        slope = mixed / root
        rest = min(first, second) - slope * slope
        if not rest > NARROW:
            continue
        across = math.sqrt(rest)
        far = min(math.sqrt((first - second) ** 2 + 4.0 * mixed * mixed), 1.0)
        angle = math.atan2(2.0 * mixed, first - second)
        along = rows * row_place(math.sqrt(0.5 * (1.0 - far)))
        table_guess(table, along, columns * (0.5 + angle / (2.0 * math.pi)), v)
        size = 0.0
        for j in range(m):
            x = points[j, 0]
            y = points[j, 1]
            if first < second:
                x, y = y, x
            atoms[j, 0] = root * x + slope * y
            atoms[j, 1] = across * y
            size += weights[j] * (atoms[j, 0] ** 2 + atoms[j, 1] ** 2)
        unit = math.ldexp(1.0, math.frexp(math.sqrt(size))[1] - 1)
        origin = v[heaviest]
        for j in range(m):
            atoms[j, 0] /= unit
            atoms[j, 1] /= unit
            v[j] = (v[j] - origin) / unit
        fine = False
        for attempt in range(TRIES):
            radius = RADII[attempt]
            total, rounding = judged_edges(atoms, v, fine, radius, mass, moment, hessian, low)
            loss = second_order_loss(weights, mass, low, radius, step, work)
            fine = fine or rounding > ROUGH
            if loss <= ENOUGH and rounding <= ROUGH:
                spread = 0.0
                for j in range(m):
                    total += v[j] * (weights[j] - mass[j])
                    spread += weights[j] * abs(v[j])
                outer = unit * math.sqrt(trace)
                slack = deviation * (8.0 * EPSILON / across + lost + 4.0 * EPSILON) / unit
                slack += rounding + 16.0 * EPSILON * spread
                bounds[c, VALUE] = (total - loss) * outer
                bounds[c, BELOW] = slack * outer
                bounds[c, ABOVE] = (loss + slack) * outer
                break
            for j in range(m):
                step[j] = mass[j] - weights[j]
            solve_laplacian(hessian, step, work)
            origin = step[heaviest]
            for j in range(m):
                v[j] += step[j] - origin
