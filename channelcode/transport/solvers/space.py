"""Gaussians and atoms in R^3: cells from integrals along their edges, from slabs in doubt."""

from __future__ import annotations

import numpy as np

from channelcode._validation import Array
from channelcode.transport.certify import MOST_SPACE_ATOMS
from channelcode.transport.problem import Problem, Proposal, refuse
from channelcode.transport.rules import directions_in

GOAL = 1e-13  # decrement at which the last step is taken


class Space:
    """A Gaussian against atoms that span three dimensions.

    By Gauss's theorem the masses of cells and faces are integrals along the edges where three
    cells meet, smooth ones once their poles are taken out. Where cells meet so closely that
    rounding would decide, cells in parallel planes (erf and Owen's T) and panels across the planes
    serve instead. The error, measured, is below 1e-11 of the scale along the edges; it is not
    proved, so the bounds come from independent quasi-Monte Carlo points at the potential found: a
    99.9% interval, `stats.details["error"]` its standard error, and the status `BOUND_ONLY`.
    """

    def accepts(self, problem: Problem) -> bool:
        """Whether the problem has rank three and few enough atoms."""
        return problem.is_semidiscrete and fits(problem.sketch.atoms.shape)

    def propose(self, problem: Problem, *, tol: float) -> Proposal:
        if not self.accepts(problem):
            raise refuse(self)
        sketch = problem.sketch
        potentials, steps = space_potentials(sketch.atoms[None], sketch.weights)
        method = "space, cells from their edges"
        return Proposal(method, potential=potentials[0], steps=int(steps[0]))


def fits(shape: tuple[int, ...]) -> bool:
    """Whether atoms of shape `(..., m, q)` are for this method."""
    return shape[-1] == 3 and shape[-2] <= MOST_SPACE_ATOMS


def space_potentials(atoms: Array, weights: Array) -> tuple[Array, np.ndarray]:
    """Potentials `(n, m)` and steps for each row of `atoms (n, m, 3)` of size about one."""
    from channelcode._kernels.transport.space.face_pool import face_pool

    potentials = np.zeros(atoms.shape[:2])
    steps = face_pool(atoms, weights, GOAL, potentials)
    unsure = np.flatnonzero(steps < 0)
    if len(unsure):
        from channelcode._kernels.transport.space.slab_pool import slab_pool

        found = np.zeros((len(unsure), len(weights)))
        given = np.ascontiguousarray(atoms[unsure])
        steps[unsure] = slab_pool(given, weights, directions_in(3), GOAL, found)
        potentials[unsure] = found
    return potentials, steps
