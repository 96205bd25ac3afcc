"""Lower bounds on W2^2 for a whole pool, from cheap to tight."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from channelcode._validation import Array
from channelcode.measures import EmpiricalPool, FullPool
from channelcode.transport.line import line_constant
from channelcode.transport.plane import MOST_ATOMS as MOST_PLANE_ATOMS
from channelcode.transport.plane import exact_correlations
from channelcode.transport.quasi import (
    QuasiMonteCarlo,
    check_residual,
    directions_in,
    factor_of,
    quasi_correlations,
    statistical_bound,
)
from channelcode.transport.reduction import Reduced
from channelcode.transport.semidual import samples_squared
from channelcode.transport.space import MOST_ATOMS as MOST_SPACE_ATOMS
from channelcode.transport.space import solve_space

BASES = 12  # orthonormal bases of the second stage
# The plain trapezoid rule of `slab_bounds` errs by its step to the fourth times the jump of a third
# derivative at the cells' corners: 1.1e-4 of sqrt(tr S tr Cov T) at worst in 12,000 random cases.
SLAB_ERROR = 5e-4
ERRORS = 8.0  # standard errors granted to a quasi-Monte Carlo value against an exact bound

Refinement = Callable[[np.ndarray], Array]


class GaussianCascade:
    """Bounds `W2^2 >= total - 2 (bound on rho)` for Gaussians and a target of rank two or more.

    `lower (n,)` starts as the projection bound in the target's own axes,
    `rho <= sum_k rho_1(e_k) sqrt(e_k'S e_k)`; `scale (n,)` is the size of what is subtracted.
    """

    def __init__(self, pool: FullPool, target: Reduced) -> None:
        self.target = target
        self.flat = pool.covariance.reshape(len(pool), -1)
        shift = pool.mean - target.mean
        forms = [np.outer(axis, axis).ravel() for axis in target.basis.T]
        forms.append(np.eye(pool.dim).ravel())
        # One product gives the variances along the axes and the traces of all candidates.
        moments = self.flat @ np.array(forms).T
        self.total = np.einsum("ij,ij->i", shift, shift) + moments[:, -1] + target.variance
        constants = [line_constant(target.points[:, d], target.weights) for d in range(target.rank)]
        deviations = np.sqrt(np.maximum(moments[:, :-1], 0.0))
        self.bound = deviations @ np.array(constants)
        self.scale = self.total
        self.rule_slack = 0.0
        self.samples: list[tuple[Array, Array]] = []  # covariances solved, and their potentials
        self.planar = target.rank == 2 and len(target.weights) <= MOST_PLANE_ATOMS
        self.spatial = target.rank == 3 and len(target.weights) <= MOST_SPACE_ATOMS
        if not self.planar and not self.spatial:
            self.rule_slack = self._error_of_rule()
        self.lower = self.total - 2 * (1 + self.rule_slack) * self.bound

    def compressed(self, index: np.ndarray) -> Array:
        """Covariances on the span of the atoms, `(len(index), r, r)`."""
        r = self.target.rank
        turn = np.kron(self.target.basis, self.target.basis)
        return (self.flat[index] @ turn).reshape(len(index), r, r)

    def solve(self, index: np.ndarray) -> Array:
        """W2^2 of the candidates in `index`, by the solver that `w2_squared` uses."""
        covariance = self.compressed(index)
        if self.planar:
            rho = exact_correlations(covariance, self.target)
        elif self.spatial:
            rho, residual, _, v = solve_space(covariance, self.target, potentials=True)
            check_residual(residual)
            self.samples.append((covariance, v))
        else:
            rho = quasi_correlations(covariance, self.target)
        return np.maximum(self.total[index] - 2 * rho, 0.0)

    def refinements(self) -> tuple[Refinement, ...]:
        """The later stages, in order."""
        return (self._many_bases, self._fitted_dual) if self.spatial else (self._many_bases,)

    def _many_bases(self, index: np.ndarray) -> Array:
        """The projection bound in the best of several fixed bases."""
        r = self.target.rank
        flat = self.compressed(index).reshape(len(index), r * r)
        best = np.full(len(index), np.inf)
        rng = np.random.default_rng(7)
        for _ in range(BASES):
            axes = np.linalg.qr(rng.standard_normal((r, r)))[0]
            forms = np.array([np.outer(axis, axis).ravel() for axis in axes.T]).T
            constants = [line_constant(self.target.points @ a, self.target.weights) for a in axes.T]
            bound = np.sqrt(np.maximum(flat @ forms, 0.0)) @ np.array(constants)
            np.minimum(best, bound, out=best)
        return self.total[index] - 2 * (1 + self.rule_slack) * best

    def _fitted_dual(self, index: np.ndarray) -> Array:
        """The semi-dual at potentials fitted, as functions of S, to those of the solved candidates.

        Any potential gives a bound; a good guess makes it tight to second order.
        """
        from channelcode._kernels.transport_space import slab_bounds

        solved = np.concatenate([c for c, _ in self.samples])
        values = np.concatenate([v for _, v in self.samples])
        inputs, size = _shape_features(solved)
        fit, *_ = np.linalg.lstsq(inputs, values / size[:, None], rcond=1e-10)
        covariance = self.compressed(index)
        features, size = _shape_features(covariance)
        guess = (features @ fit) * size[:, None]
        bound = slab_bounds(
            factor_of(covariance),
            np.array(self.target.points),
            np.array(self.target.weights),
            directions_in(3),
            np.ascontiguousarray(guess),
        )
        slack = SLAB_ERROR * np.sqrt(self.target.variance) * size
        return self.total[index] - 2 * (bound + slack)

    def _error_of_rule(self) -> float:
        """How far the quasi-Monte Carlo rho may exceed the true one, relative to the bound."""
        worst = 0.0
        for c in np.linspace(0, len(self.flat) - 1, 4).astype(int):
            if self.bound[c] > 0:
                covariance = self.compressed(np.array([c]))[0]
                v = 0.5 * np.einsum(
                    "ji,ik,jk->j", self.target.points, covariance, self.target.points
                )
                v /= np.sqrt(np.trace(covariance) * self.target.variance)
                _, error = statistical_bound(covariance, self.target, v, QuasiMonteCarlo())
                worst = max(worst, error / float(self.bound[c]))
        return ERRORS * worst


def _shape_features(covariance: Array) -> tuple[Array, Array]:
    """1 and the entries of S / tr S, `(n, 1 + r(r+1)/2)`, and sqrt(tr S), the potentials' unit."""
    r = covariance.shape[1]
    size = np.sqrt(np.maximum(np.trace(covariance, axis1=1, axis2=2), np.finfo(float).tiny))
    rows, columns = np.triu_indices(r)
    entries = covariance[:, rows, columns] / size[:, None] ** 2
    return np.concatenate((np.ones((len(covariance), 1)), entries), axis=1), size


class SampleCascade:
    """Bounds for samples in R^k: mean and variance, `|m - m_T|^2 + (sd_X - sd_T)^2` on the span."""

    def __init__(self, pool: EmpiricalPool, target: Reduced) -> None:
        self.pool = pool
        self.target = target
        centre = pool.mean - target.mean
        variance = pool.total_variance
        shift = np.einsum("ij,ij->i", centre, centre)
        self.scale = shift + variance + target.variance
        self.lower = shift + (np.sqrt(variance) - np.sqrt(target.variance)) ** 2

    def solve(self, index: np.ndarray) -> Array:
        """W2^2 of the candidates in `index`, exact on their points."""
        return samples_squared(self.pool[index].samples, self.target)

    def refinements(self) -> tuple[Refinement, ...]:
        """None: a solve on the points costs little more than a better bound."""
        return ()
