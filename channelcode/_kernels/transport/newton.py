"""Damped Newton on the semi-dual, one move at a time: the caller evaluates the cells.

The caller's loop is `while not newton_move(...): value = cells(v, ...)`, with whatever cells it
has, so that one method serves the plane, space and quasi-Monte Carlo.
"""

from __future__ import annotations

import math

import numpy as np

from channelcode._kernels.jit import kernel

# Places in the `state` of a solve, `(STATE,)`; all zero at the start.
PHASE = 0  # what was just evaluated: the start, a fed cell, or a trial step
CELL = 1  # the cell that is being fed, and the bracket of its potential
LOW = 2
HIGH = 3
REACH = 4
FEEDS = 5  # cells fed so far
SIZE = 6  # of the trial step, as a part of Newton's
VALUE = 7  # dual value and Newton decrement at the base
DECREMENT = 8
STEPS = 9
TRIES = 10
FLOOR = 11  # set by the caller: feed cells below this part of their mass; zero: STARVED
STATE = 12

START, LOWER, HALVE, TRIAL = 0.0, 1.0, 2.0, 3.0

MAX_STEPS = 200
MAX_TRIES = 50
MAX_HALVINGS = 100
STARVED = 1e-6  # a cell with less than this part of its mass is fed before Newton starts
WELL_FED = 0.05  # the same for starts after one that failed: light atoms far away need it
ALIVE = 0.25  # of the lesser of its weight and its mass: what a step must leave a cell
DESCENT = 1e-3  # of the decrease that the decrement promises
SETTLED = 1e-3  # of a weight: masses this near are in the hands of Newton's last steps
NOISE = 1e-14  # of the dual value of atoms of size one
MASS_NOISE = 1e-15  # of a mass


@kernel
def newton_arrays(
    m: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Room for the masses, their derivatives, `rows`, `work` and a fresh `state` of one solve."""
    return np.zeros(m), np.zeros((m, m)), np.zeros((3, m)), np.zeros((m, m)), np.zeros(STATE)


@kernel
def solve_laplacian(hessian: np.ndarray, right: np.ndarray, rates: np.ndarray, ground: int) -> None:
    """Solve `hessian @ x = right` in place with x[ground] = 0, for a weighted graph's Laplacian.

    Only the rates off the diagonal are read, and they are only ever added (Grassmann, Taksar,
    Heyman): near atoms, whose rates are larger by many orders, cost no digits. The `ground` takes
    up the rounding of all others, so it should not be a light atom. A cell without any edge stays
    where it is. The pivots are the diagonal of `rates`, but for the last.
    """
    m = hessian.shape[0]
    last = m - 1
    # The ground changes places with the last.
    for i in range(m):
        row = i
        if i == ground:
            row = last
        for j in range(i + 1, m):
            column = j
            if j == ground:
                column = last
            elif j == last:
                column = ground
            rates[i, j] = -hessian[row, column]
    right[ground] = right[last]
    for i in range(last):
        degree = 0.0
        for k in range(i + 1, m):
            degree += rates[i, k]
        rates[i, i] = degree
        if degree <= 0.0:
            continue
        for j in range(i + 1, m):
            share = rates[i, j] / degree
            right[j] += share * right[i]
            for k in range(j + 1, m):
                rates[j, k] += share * rates[i, k]
    right[last] = 0.0
    for i in range(last - 1, -1, -1):
        if rates[i, i] <= 0.0:
            right[i] = 0.0
            continue
        total = right[i]
        for k in range(i + 1, m):
            total += rates[i, k] * right[k]
        right[i] = total / rates[i, i]
    right[last] = right[ground]
    right[ground] = 0.0


@kernel
def is_settled(weights: np.ndarray, rows: np.ndarray) -> bool:
    """Whether Newton's method ended where all masses are right (see `newton_move` for `rows`)."""
    for j in range(weights.shape[0]):
        if not abs(rows[2, j] - weights[j]) <= SETTLED * weights[j]:
            return False
    return True


@kernel
def newton_move(
    weights: np.ndarray,
    v: np.ndarray,
    mass: np.ndarray,
    hessian: np.ndarray,
    value: float,
    goal: float,
    rows: np.ndarray,
    work: np.ndarray,
    state: np.ndarray,
) -> bool:
    """Move `v (m,)` once, given the cells' masses, Laplacian and dual value there; True at the end.

    Cells that start with too little mass get it first, one by one, by bisection. Then damped
    Newton steps lower the dual value and keep every cell alive, which converges from any such
    start (Kitagawa, Merigot, Thibert). The decrement measures how far the value is from the least;
    at `goal` the last step is taken unseen. `rows (3, m)` (base, step, mass at the base), `work
    (m, m)` and `state` belong to the solve.
    """
    m = weights.shape[0]
    base, step, held = rows[0], rows[1], rows[2]
    phase = state[PHASE]
    if phase in (LOWER, HALVE):
        j = int(state[CELL])
        enough = mass[j] >= 0.5 * weights[j]
        done = enough and mass[j] <= weights[j]
        state[TRIES] += 1.0
        if phase == LOWER and not enough:
            state[HIGH] = v[j]
            v[j] -= state[REACH]
            state[REACH] *= 2.0
            done = state[TRIES] > MAX_HALVINGS
        elif not done:
            if enough:
                state[LOW] = v[j]
            else:
                state[HIGH] = v[j]
            state[PHASE] = HALVE
            middle = 0.5 * (state[LOW] + state[HIGH])
            done = state[TRIES] > MAX_HALVINGS or middle in (state[LOW], state[HIGH])
            if done:
                v[j] = state[LOW]
            else:
                v[j] = middle
        if not done:
            return False
        state[PHASE] = START
        if mass[j] < 0.5 * weights[j] or mass[j] > weights[j]:
            return False  # the potential was set back: see its cells first
        phase = START
    if phase == START:
        starved = -1
        worst = max(STARVED, state[FLOOR])
        for j in range(m):
            if mass[j] < worst * weights[j]:
                worst = mass[j] / weights[j]
                starved = j
        if starved >= 0 and state[FEEDS] < 3.0 * m:
            state[FEEDS] += 1.0
            state[PHASE] = LOWER
            state[CELL] = starved
            state[HIGH] = v[starved]
            state[REACH] = 0.05
            state[TRIES] = 0.0
            v[starved] -= state[REACH]
            return False
    else:
        alive = True
        for j in range(m):
            if mass[j] < ALIVE * min(weights[j], held[j]):
                alive = False
        promised = DESCENT * state[SIZE] * state[DECREMENT]
        largest = 0.0
        for j in range(m):
            largest = max(largest, abs(v[j]))
        # masses are rounded, and a far atom's potential multiplies that
        noise = NOISE * (1.0 + abs(value)) + MASS_NOISE * largest
        if not (alive and value <= state[VALUE] - promised + noise):
            state[SIZE] *= 0.5
            state[TRIES] += 1.0
            if state[TRIES] > MAX_TRIES:
                for j in range(m):
                    v[j] = base[j]
                return True
            for j in range(m):
                v[j] = base[j] + state[SIZE] * step[j]
            return False
    # The cells of v are the new base. Only differences count: the heaviest atom is at zero, or
    # beside a far atom the potentials of all others would be as coarse as its own.
    state[STEPS] += 1.0
    farthest = 0.0
    heaviest = 0
    for j in range(m):
        if weights[j] > weights[heaviest]:
            heaviest = j
    anchor = v[heaviest]
    for j in range(m):
        base[j] = v[j] - anchor
        held[j] = mass[j]
        step[j] = mass[j] - weights[j]
        farthest = max(farthest, abs(step[j]) / weights[j])
    solve_laplacian(hessian, step, work, heaviest)
    decrement = 0.0
    for j in range(m):
        decrement += step[j] * (mass[j] - weights[j])
    last = state[DECREMENT] if phase == TRIAL else math.inf
    for j in range(m):
        v[j] = base[j] + step[j]
    if not decrement > 0.0 or (decrement <= goal and farthest <= SETTLED):
        return True
    # A cell so light that rounding or the nodes rule it never settles: then the goal must do.
    near = decrement <= goal or (decrement < 1e-10 and farthest <= SETTLED)
    if state[STEPS] >= MAX_STEPS or (near and decrement > 0.5 * last):
        for j in range(m):
            v[j] = base[j]
        return True
    state[PHASE] = TRIAL
    state[SIZE] = 1.0
    state[TRIES] = 0.0
    state[VALUE] = value
    state[DECREMENT] = decrement
    return False
