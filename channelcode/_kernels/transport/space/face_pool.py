"""Gaussians in R^3: Newton's method and the judge on cells from their edges."""

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
from channelcode._kernels.transport.space.faces import split_cells

UNSURE = 1e-10  # doubt in a dual value of atoms of size one: beyond, slabs are as good


@kernel
def face_newton(atoms: np.ndarray, weights: np.ndarray, v: np.ndarray, goal: float) -> int:
    """Newton on the semi-dual in R^3, from `v (m,)`; the steps, or -1 if cells are in doubt."""
    mass, hessian, rows, work, state = newton_arrays(len(atoms))
    moment = np.empty((len(atoms), 3))
    while True:
        value, doubt = split_cells(atoms, weights, v, mass, hessian, moment)
        if not doubt <= UNSURE:
            return -1
        if newton_move(weights, v, mass, hessian, value, goal, rows, work, state):
            return int(state[STEPS])


@kernel
def face_pool(
    stack: np.ndarray, weights: np.ndarray, goal: float, potentials: np.ndarray
) -> np.ndarray:
    """Potentials `(n, m)` for each row of `stack (n, m, 3)`, of weighted size about one; steps.

    Where cells are in doubt the steps are -1, and the potentials are worth nothing.
    """
    n, m, _ = stack.shape
    steps = np.zeros(n, dtype=np.int64)
    group = np.empty(m, dtype=np.int64)
    for c in range(n):
        atoms, shares = distinct_atoms(stack[c], weights, group)
        v = np.zeros(len(atoms))
        if len(atoms) == 1:
            potentials[c] = 0.0
            continue
        axis_potential(atoms, shares, v)
        steps[c] = face_newton(atoms, shares, v, goal)
        spread_potential(v, group, potentials[c])
    return steps


@kernel
def face_judge(
    stack: np.ndarray, weights: np.ndarray, potentials: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Dual value of each potential `(n, m)`, at least rho, what a coupling loses, and doubt.

    The doubt bounds what rounding may have changed in either; above `UNSURE` none of them counts.
    """
    n, m, _ = stack.shape
    dual = np.zeros(n)
    loss = np.zeros(n)
    doubt = np.zeros(n)
    group = np.empty(m, dtype=np.int64)
    for c in range(n):
        atoms, shares = distinct_atoms(stack[c], weights, group)
        kept = len(atoms)
        v = np.empty(kept)
        for j in range(m - 1, -1, -1):
            v[group[j]] = potentials[c, j]
        for j in range(m):
            if potentials[c, j] != v[group[j]]:
                doubt[c] = math.inf  # two potentials for one atom
        if kept == 1 or doubt[c] > 0.0:
            continue
        mass = np.empty(kept)
        moment = np.empty((kept, 3))
        hessian = np.empty((kept, kept))
        dual[c], doubt[c] = split_cells(atoms, shares, v, mass, hessian, moment)
        if doubt[c] <= UNSURE:
            loss[c] = repair_loss(atoms, shares, v, mass, moment)
    return dual, loss, doubt
