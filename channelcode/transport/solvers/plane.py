"""Gaussians and atoms in the plane: exact cells by erf and Owen's T."""

from __future__ import annotations

import numpy as np

from channelcode._validation import Array
from channelcode.transport.certify import MOST_PLANE_ATOMS as MOST_ATOMS
from channelcode.transport.problem import Problem, Proposal, refuse
from channelcode.transport.rules import upper_quantiles

GOAL = 1e-14  # decrement at which the last step is taken: the masses are then exact to rounding


class Plane:
    """A Gaussian against atoms that span a plane, in any dimension (every three-atom target).

    `rho(S) = min_v E max_j(<Z,y_j> - v_j) + w'v` by Newton's method; the masses, moments and edges
    of the cells are exact (theory, section 3).
    """

    def accepts(self, problem: Problem) -> bool:
        """Whether the problem is planar and has few enough atoms."""
        return problem.is_semidiscrete and fits(problem.sketch.atoms.shape)

    def propose(self, problem: Problem, *, tol: float) -> Proposal:
        if not self.accepts(problem):
            raise refuse(self)
        sketch = problem.sketch
        potentials, steps = plane_potentials(sketch.atoms[None], sketch.weights)
        method = "plane, exact cells (erf and Owen's T)"
        return Proposal(method, potential=potentials[0], steps=int(steps[0]))


def fits(shape: tuple[int, ...]) -> bool:
    """Whether atoms of shape `(..., m, q)` are for this method."""
    return shape[-1] == 2 and shape[-2] <= MOST_ATOMS


def plane_potentials(
    atoms: Array, weights: Array, *, ordered: bool = False
) -> tuple[Array, np.ndarray]:
    """Potentials `(n, m)` and steps for each row of `atoms (n, m, 2)` of size about one.

    `ordered` says that neighbours in the stack are alike, so that each solve may start from the
    last.
    """
    from channelcode._kernels.transport.plane import plane_pool

    potentials = np.zeros(atoms.shape[:2])
    tails = upper_quantiles(weights)
    steps = plane_pool(atoms, weights, tails, GOAL, ordered, False, potentials)
    return potentials, steps
