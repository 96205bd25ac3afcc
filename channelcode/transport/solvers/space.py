"""Gaussians and atoms in R^3: exact planes, Gauss-Legendre panels across them."""

from __future__ import annotations

import numpy as np

from channelcode._validation import Array
from channelcode.transport.certify import MOST_SPACE_ATOMS
from channelcode.transport.problem import Problem, Proposal, refuse
from channelcode.transport.rules import directions_in, upper_quantiles

GOAL = 1e-13  # decrement at which the last step is taken


class Space:
    """A Gaussian against atoms that span three dimensions.

    Cells in parallel planes are exact (erf and Owen's T), and Gauss-Legendre panels across the
    planes end at the corners of the cells, where the integrand is not analytic, and where three
    cells cross the planes at a slant. The error, measured, is below 1e-10 of the scale; it is not
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
        method = "space, exact planes and panels across them"
        return Proposal(method, potential=potentials[0], steps=int(steps[0]))


def fits(shape: tuple[int, ...]) -> bool:
    """Whether atoms of shape `(..., m, q)` are for this method."""
    return shape[-1] == 3 and shape[-2] <= MOST_SPACE_ATOMS


def space_potentials(atoms: Array, weights: Array) -> tuple[Array, np.ndarray]:
    """Potentials `(n, m)` and steps for each row of `atoms (n, m, 3)` of size about one."""
    from channelcode._kernels.transport.space import slab_pool

    potentials = np.zeros(atoms.shape[:2])
    tails = upper_quantiles(weights)
    steps = slab_pool(atoms, weights, tails, directions_in(3), GOAL, potentials)
    return potentials, steps
