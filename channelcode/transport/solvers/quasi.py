"""Gaussians against atoms of rank three and more: randomised quasi-Monte Carlo."""

from __future__ import annotations

import numpy as np

from channelcode._validation import Array, integer
from channelcode.errors import InvalidArgument
from channelcode.transport.rules import (
    PLAIN_DIM,
    PLAIN_POINTS,
    POINTS,
    REPLICATES,
    directions_in,
    normal_columns,
    normal_nodes,
    suits_points,
    upper_quantiles,
)
from channelcode.transport.solvers.cells import CellSolver

GOAL = 1e-6  # decrement at which the last step is taken: far below the error of the rule


class QuasiMonteCarlo(CellSolver):
    """A Gaussian against atoms of any rank from two: scrambled Sobol points with an error bar.

    Only rho is estimated; means and traces are exact. One coordinate is integrated in closed form,
    which makes the cell masses smooth, so Newton's method converges; the others run over
    `replicates` independent scrambles of `points` Sobol points. From rank four on, unless light
    atoms far away matter, all coordinates run over twice as many points, which cost less; with
    `smooth` one coordinate is exact there, too. The bounds come from points that the solver has not
    seen: a 99.9% interval (Student's t), so the status is `BOUND_ONLY`.
    """

    method = "Gaussian, smoothed quasi-Monte Carlo"

    def __init__(
        self,
        *,
        points: int = POINTS,
        replicates: int = REPLICATES,
        rng: int = 0,
        smooth: bool = False,
    ) -> None:
        self.points = integer("points", points, least=2)
        if self.points & (self.points - 1):
            raise InvalidArgument("points", "must be a power of two", points)
        self.replicates = integer("replicates", replicates, least=2)
        self.rng = integer("rng", rng, least=0)
        self.smooth = bool(smooth)

    def fits(self, shape: tuple[int, ...]) -> bool:
        return shape[-1] >= (PLAIN_DIM if self.smooth else 2)

    def potentials(
        self, atoms: Array, weights: Array, *, ordered: bool = False
    ) -> tuple[Array, np.ndarray]:
        from channelcode._kernels.transport.quasi import quasi_pool

        dim, count = atoms.shape[2], self.replicates
        directions, tails = directions_in(dim), upper_quantiles(weights)
        found, steps = self._by_points(atoms, weights)
        rest = np.flatnonzero(steps < 0)
        if len(rest):
            nodes = normal_nodes(dim - 1, self.points, count, self.rng)
            part = np.zeros((len(rest), len(weights)))
            given = atoms if len(rest) == len(atoms) else np.ascontiguousarray(atoms[rest])
            steps[rest] = quasi_pool(given, weights, tails, nodes, directions, count, GOAL, part)
            found[rest] = part
        return found, steps

    def _by_points(self, atoms: Array, weights: Array) -> tuple[Array, np.ndarray]:
        """As `potentials`, where many points are good for a problem; elsewhere steps are -1."""
        n, m, dim = atoms.shape
        found, points = np.zeros((n, m)), PLAIN_POINTS * self.points
        if self.smooth or not suits_points(m, dim, points * self.replicates):
            return found, np.full(n, -1)
        from channelcode._kernels.transport.points.pool import points_pool
        from channelcode._kernels.transport.samples.semidual import bits_for

        nodes = normal_columns(dim, points, self.replicates, self.rng)
        some = np.ascontiguousarray(nodes[:, : max(nodes.shape[1] // 2, 1)])
        return found, points_pool(atoms, weights, some, nodes, bits_for(m), found)
