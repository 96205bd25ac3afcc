"""Gaussians against atoms of rank three and more: randomised quasi-Monte Carlo, smoothed."""

from __future__ import annotations

import numpy as np

from channelcode._validation import Array, integer
from channelcode.errors import InvalidArgument
from channelcode.transport.rules import (
    POINTS,
    REPLICATES,
    directions_in,
    normal_nodes,
    upper_quantiles,
)
from channelcode.transport.solvers.cells import CellSolver

GOAL = 1e-6  # decrement at which the last step is taken: far below the error of the rule


class QuasiMonteCarlo(CellSolver):
    """A Gaussian against atoms of any rank from two: scrambled Sobol points with an error bar.

    Only rho is estimated; means and traces are exact. One coordinate is integrated in closed form,
    which makes the cell masses smooth, so Newton's method converges; the others run over
    `replicates` independent scrambles of `points` Sobol points. The bounds come from as many points
    that the solver has not seen: a 99.9% interval (Student's t), so the status is `BOUND_ONLY`.
    """

    method = "Gaussian, smoothed quasi-Monte Carlo"

    def __init__(self, *, points: int = POINTS, replicates: int = REPLICATES, rng: int = 0) -> None:
        self.points = integer("points", points, least=2)
        if self.points & (self.points - 1):
            raise InvalidArgument("points", "must be a power of two", points)
        self.replicates = integer("replicates", replicates, least=2)
        self.rng = integer("rng", rng, least=0)

    def fits(self, shape: tuple[int, ...]) -> bool:
        return shape[-1] >= 2

    def potentials(
        self, atoms: Array, weights: Array, *, ordered: bool = False
    ) -> tuple[Array, np.ndarray]:
        from channelcode._kernels.transport.quasi import quasi_pool

        dim, count = atoms.shape[2], self.replicates
        nodes = normal_nodes(dim - 1, self.points, count, self.rng)
        directions, tails = directions_in(dim), upper_quantiles(weights)
        found = np.zeros(atoms.shape[:2])
        steps = quasi_pool(atoms, weights, tails, nodes, directions, count, GOAL, found)
        return found, steps
