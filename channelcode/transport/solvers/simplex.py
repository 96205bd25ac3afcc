"""Isotropic Gaussians and a simplex target: a formula with e_K."""

from __future__ import annotations

from functools import cache

import numpy as np
from scipy.special import log_ndtr

from channelcode._validation import integer
from channelcode.transport.problem import Problem, Proposal, refuse


@cache
def expected_maximum(count: int) -> float:
    """e_K, the expected maximum of K independent standard normal variables.

    `e_K = int z K Phi(z)^(K-1) phi(z) dz`; the trapezoid rule converges geometrically for it.

    >>> round(expected_maximum(2) ** 2 * np.pi, 12), round(expected_maximum(3), 6)
    (1.0, 0.846284)
    """
    number = integer("count", count, least=1)
    z, step = np.linspace(-40.0, 40.0, 3201, retstep=True)
    log_density = (number - 1) * log_ndtr(z) - 0.5 * z**2
    return float(step * number / np.sqrt(2 * np.pi) * (z @ np.exp(log_density)))


class Simplex:
    """The closed form for a Gaussian that is isotropic on the span of a regular simplex.

    `rho = a sigma e_K` (theory, section 3): all cells are congruent, so that the potential of
    <L, T> is constant on the atoms.
    """

    def accepts(self, problem: Problem) -> bool:
        """Whether the atoms are a regular simplex to the law."""
        from channelcode.transport.certify import simplex_correlation

        if not problem.is_semidiscrete or problem.sketch.dim < 2:
            return False
        return simplex_correlation(problem.sketch.atoms, problem.sketch.weights) is not None

    def propose(self, problem: Problem, *, tol: float) -> Proposal:
        if not self.accepts(problem):
            raise refuse(self)
        potential = np.zeros(len(problem.sketch.weights))
        return Proposal("simplex, isotropic closed form", potential=potential, steps=1)
