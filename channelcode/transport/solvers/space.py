"""Gaussians and atoms in R^3: cells from integrals along their edges, from slabs in doubt."""

from __future__ import annotations

import numpy as np

from channelcode._validation import Array
from channelcode.transport.certify import MOST_SPACE_ATOMS
from channelcode.transport.rules import directions_in
from channelcode.transport.solvers.cells import CellSolver

GOAL = 1e-13  # decrement at which the last step is taken


class Space(CellSolver):
    """A Gaussian against atoms that span three dimensions.

    By Gauss's theorem the masses of cells and faces are integrals along the edges where three
    cells meet, smooth ones once their poles are taken out. Where cells meet so closely that
    rounding would decide, cells in parallel planes (erf and Owen's T) and panels across the planes
    serve instead. The error, measured, is below 1e-11 of the scale along the edges; it is not
    proved, so the bounds come from independent quasi-Monte Carlo points at the potential found: a
    99.9% interval, `stats.details["error"]` its standard error, and the status `BOUND_ONLY`.
    """

    method = "space, cells from their edges"

    def fits(self, shape: tuple[int, ...]) -> bool:
        return shape[-1] == 3 and shape[-2] <= MOST_SPACE_ATOMS

    def potentials(
        self, atoms: Array, weights: Array, *, ordered: bool = False
    ) -> tuple[Array, np.ndarray]:
        from channelcode._kernels.transport.space.face_pool import face_pool

        found = np.zeros(atoms.shape[:2])
        steps = face_pool(atoms, weights, GOAL, found)
        unsure = np.flatnonzero(steps < 0)
        if len(unsure):
            from channelcode._kernels.transport.space.slab_solve import slab_solve

            axes = directions_in(3)
            for row in unsure:
                steps[row] = slab_solve(atoms[row], weights, axes, GOAL, found[row])
        return found, steps
