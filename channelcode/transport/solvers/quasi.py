"""Gaussians against atoms of rank three and more: randomised quasi-Monte Carlo, smoothed."""

from __future__ import annotations

import numpy as np

from channelcode._validation import Array, integer
from channelcode.errors import InvalidArgument
from channelcode.transport.problem import Problem, Proposal, refuse
from channelcode.transport.rules import (
    POINTS,
    REPLICATES,
    directions_in,
    normal_nodes,
    upper_quantiles,
)

GOAL = 1e-6  # decrement at which the last step is taken: far below the error of the rule


class QuasiMonteCarlo:
    """A Gaussian against atoms of any rank from two: scrambled Sobol points with an error bar.

    Only rho is estimated; means and traces are exact. One coordinate is integrated in closed form,
    which makes the cell masses smooth, so Newton's method converges; the others run over
    `replicates` independent scrambles of `points` Sobol points. The bounds come from as many points
    that the solver has not seen: a 99.9% interval (Student's t), so the status is `BOUND_ONLY`.
    """

    def __init__(self, *, points: int = POINTS, replicates: int = REPLICATES, rng: int = 0) -> None:
        self.points = integer("points", points, least=2)
        if self.points & (self.points - 1):
            raise InvalidArgument("points", "must be a power of two", points)
        self.replicates = integer("replicates", replicates, least=2)
        self.rng = integer("rng", rng, least=0)

    def accepts(self, problem: Problem) -> bool:
        """Whether the problem has rank two or more."""
        return problem.is_semidiscrete and problem.sketch.dim >= 2

    def propose(self, problem: Problem, *, tol: float) -> Proposal:
        if not self.accepts(problem):
            raise refuse(self)
        sketch = problem.sketch
        potentials, steps = quasi_potentials(sketch.atoms[None], sketch.weights, self)
        return Proposal(
            "Gaussian, smoothed quasi-Monte Carlo",
            potential=potentials[0],
            steps=int(steps[0]),
        )


def quasi_potentials(
    atoms: Array, weights: Array, rule: QuasiMonteCarlo
) -> tuple[Array, np.ndarray]:
    """Potentials `(n, m)` and steps for each row of `atoms (n, m, q)` of size about one."""
    from channelcode._kernels.transport.quasi import quasi_pool

    dim = atoms.shape[2]
    nodes = normal_nodes(dim - 1, rule.points, rule.replicates, rule.rng)
    potentials = np.zeros(atoms.shape[:2])
    directions, tails = directions_in(dim), upper_quantiles(weights)
    count = rule.replicates
    steps = quasi_pool(atoms, weights, tails, nodes, directions, count, GOAL, potentials)
    return potentials, steps
