"""Gaussians in R^3 where cells meet too closely for `faces`: exact planes, panels across them."""

from __future__ import annotations

import math

import numpy as np

from channelcode._kernels.jit import kernel
from channelcode._kernels.transport.cells import (
    axis_potential,
    distinct_atoms,
    repair_loss,
    spread_potential,
)
from channelcode._kernels.transport.newton import STEPS, newton_arrays, newton_move
from channelcode._kernels.transport.space.slabs import slab_cells

COARSE_GOAL = 1e-7  # decrement on the coarse slabs, which err by more
COARSE = 1.25  # slabs for each deviation in the first steps of Newton's method
FINE = 0.5  # below one: panels that end at the corners of the cells, no longer than PANEL * FINE


@kernel
def lay_slabs(atoms: np.ndarray, directions: np.ndarray) -> None:
    """Rotate atoms in R^3 so that no two differ mostly along the last axis.

    An edge whose normal makes the angle b with the last axis has a mass that varies across the
    slabs like a Gaussian of deviation tan b: of the `directions`, the one with the largest least
    angle becomes the axis.
    """
    m = atoms.shape[0]
    chosen = 0
    smallest_worst = math.inf
    for t in range(directions.shape[0]):
        worst = 0.0
        for j in range(m):
            for k in range(j):
                x = atoms[j, 0] - atoms[k, 0]
                y = atoms[j, 1] - atoms[k, 1]
                z = atoms[j, 2] - atoms[k, 2]
                along = directions[t, 0] * x + directions[t, 1] * y + directions[t, 2] * z
                apart = x * x + y * y + z * z
                if apart > 0.0 and along * along > worst * apart:
                    worst = along * along / apart
            if worst >= smallest_worst:
                break
        if worst < smallest_worst:
            smallest_worst = worst
            chosen = t
    mx = directions[chosen, 0]
    my = directions[chosen, 1]
    mz = directions[chosen, 2] - 1.0
    length = mx * mx + my * my + mz * mz
    if length > 1e-30:
        for j in range(m):
            inner = 2.0 * (mx * atoms[j, 0] + my * atoms[j, 1] + mz * atoms[j, 2]) / length
            atoms[j, 0] -= inner * mx
            atoms[j, 1] -= inner * my
            atoms[j, 2] -= inner * mz


@kernel
def slab_newton(
    atoms: np.ndarray, weights: np.ndarray, v: np.ndarray, step: float, goal: float
) -> int:
    """Newton on the semi-dual over slabs (see `slab_nodes`); returns the steps."""
    m = atoms.shape[0]
    mass, hessian, rows, work, state = newton_arrays(m)
    moment = np.empty((m, 3))
    while True:
        value = slab_cells(atoms, v, step, mass, hessian, moment)
        for j in range(m):
            value += v[j] * weights[j]
        if newton_move(weights, v, mass, hessian, value, goal, rows, work, state):
            return int(state[STEPS])


@kernel
def slab_solve(
    row: np.ndarray, weights: np.ndarray, directions: np.ndarray, goal: float, potential: np.ndarray
) -> int:
    """The `potential (m,)` of atoms `row (m, 3)`, of weighted size about one; returns the steps."""
    group = np.empty(len(row), dtype=np.int64)
    atoms, shares = distinct_atoms(row, weights, group)
    v = np.zeros(len(atoms))
    lay_slabs(atoms, directions)
    axis_potential(atoms, shares, v)
    slab_newton(atoms, shares, v, COARSE, COARSE_GOAL)
    steps = slab_newton(atoms, shares, v, FINE, goal)
    spread_potential(v, group, potential)
    return steps


@kernel
def slab_judge(
    row: np.ndarray, weights: np.ndarray, v: np.ndarray, directions: np.ndarray, step: float
) -> tuple[float, float]:
    """Dual value of a potential `v (m,)`, at least rho, and what a coupling near it loses.

    Both up to the error of the slabs, of which `step=FINE` makes enough.
    """
    m = len(row)
    atoms = row.copy()
    mass = np.empty(m)
    moment = np.empty((m, 3))
    hessian = np.empty((m, m))
    lay_slabs(atoms, directions)
    dual = slab_cells(atoms, v, step, mass, hessian, moment)
    for j in range(m):
        dual += weights[j] * v[j]
    return dual, repair_loss(atoms, weights, v, mass, moment)
