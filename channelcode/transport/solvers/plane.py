"""Gaussians and atoms in the plane: exact cells by erf and Owen's T."""

from __future__ import annotations

import numpy as np

from channelcode._validation import Array
from channelcode.transport.certify import MOST_PLANE_ATOMS as MOST_ATOMS
from channelcode.transport.rules import upper_quantiles
from channelcode.transport.solvers.cells import CellSolver

GOAL = 1e-14  # decrement at which the last step is taken: the masses are then exact to rounding


class Plane(CellSolver):
    """A Gaussian against atoms that span a plane, in any dimension (every three-atom target).

    The masses, moments and edges of the cells are exact (theory, section 3).
    """

    method = "plane, exact cells (erf and Owen's T)"

    def fits(self, shape: tuple[int, ...]) -> bool:
        return shape[-1] == 2 and shape[-2] <= MOST_ATOMS

    def potentials(
        self, atoms: Array, weights: Array, *, ordered: bool = False, goal: float = GOAL
    ) -> tuple[Array, np.ndarray]:
        from channelcode._kernels.transport.plane import plane_pool

        found = np.zeros(atoms.shape[:2])
        tails = upper_quantiles(weights)
        steps = plane_pool(atoms, weights, tails, goal, ordered, False, found)
        return found, steps
