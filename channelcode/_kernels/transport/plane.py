"""Gaussians in the plane: Newton's method, and the judge."""

from __future__ import annotations

import math

import numpy as np

from channelcode._kernels.jit import kernel
from channelcode._kernels.transport.cells import axis_potential, first_potential, repair_loss
from channelcode._kernels.transport.edges import cell_edges, judged_edges
from channelcode._kernels.transport.newton import (
    FLOOR,
    STATE,
    STEPS,
    WELL_FED,
    is_settled,
    newton_move,
)

STARTS = 3  # of Newton's method, each tried if the one before did not settle,
CLOSE = 1e-12  # unless its potential loses so little: near atoms settle no further


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
    best = np.empty(m)
    state = np.empty(STATE)
    for c in range(n):
        v = potentials[c]
        least = math.inf
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
            steps[c] += int(state[STEPS])
            if is_settled(weights, rows):
                break
            cell_edges(atoms[c], v, mass, moment, hessian)
            loss = repair_loss(atoms[c], weights, v, mass, moment)
            if loss <= least:
                least = loss
                for j in range(m):
                    best[j] = v[j]
            if least <= CLOSE or start == STARTS - 1:
                for j in range(m):
                    v[j] = best[j]
                break
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
