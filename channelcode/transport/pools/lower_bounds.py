"""Lower bounds on W2^2 for a whole pool, from cheap to tight."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from channelcode._validation import Array
from channelcode.measures import DiscreteMeasure, EmpiricalPool, FullPool
from channelcode.transport.canonical import scale_of, span_atoms
from channelcode.transport.certify import space_judge
from channelcode.transport.monotone import line_constant
from channelcode.transport.pools.gaussians import Judged, Terms, correlations, judged
from channelcode.transport.pools.samples import check_samples, samples_squared
from channelcode.transport.rules import REPLICATES, coverage_factor
from channelcode.transport.solvers import Plane, Space
from channelcode.transport.target import EPSILON, Reduced

BASES = 12  # orthonormal bases of the second stage
ERRORS = 8.0  # standard errors granted to a quasi-Monte Carlo value against an exact bound

Refinement = Callable[[np.ndarray], Array]


class GaussianBounds:
    """Bounds `W2^2 >= total - 2 (bound on rho)` for Gaussians and a target of rank two or more.

    `lower (n,)` starts as the projection bound in the target's principal axes,
    `rho <= sum_k rho_1(e_k) sqrt(e_k'S e_k)`; `scale (n,)` is the size of what is subtracted.
    """

    def __init__(self, pool: FullPool, law: DiscreteMeasure, target: Reduced) -> None:
        self.pool, self.law, self.target = pool, law, target
        self.terms = Terms.of(pool, target)
        self.scale = self.terms.scale
        self.flat = pool.covariance.reshape(len(pool), -1)
        spread = (target.points.T * target.weights) @ target.points
        self.bound = self._bound(self.flat, np.linalg.eigh(spread)[1])
        self.samples: list[tuple[Array, Array]] = []  # covariances solved, and their potentials
        shape = (len(target.weights), target.rank)
        self.spatial = Space().fits(shape)
        statistical = not self.spatial and not Plane().fits(shape)
        self.rule_slack = self._error_of_rule() if statistical else 0.0
        self.lower = self.scale - 2 * (1 + self.rule_slack) * self.bound

    def solve(self, index: np.ndarray, tol: float | None) -> Judged:
        """W2^2 of the candidates in `index`, as `w2_squared` finds them."""
        covariance = self.pool.covariance[index]
        found = correlations(covariance, self.target)
        if self.spatial:
            self.samples.append((covariance, found.potentials * found.unit[:, None]))
        return judged(self.pool[index], self.law, self.terms.part(index), found, tol=tol)

    def refinements(self) -> tuple[Refinement, ...]:
        """The later stages, in order."""
        return (self._many_bases, self._fitted_dual) if self.spatial else (self._many_bases,)

    def _bound(self, flat: Array, axes: Array) -> Array:
        """`sum_k rho_1(e_k) sqrt(e_k'S e_k)` over the columns of `axes (r, r)` on the span."""
        target = self.target
        frame = target.basis @ axes
        forms = np.array([np.outer(axis, axis).ravel() for axis in frame.T]).T
        constants = [line_constant(target.points @ axis, target.weights) for axis in axes.T]
        # Where a covariance is nearly singular the products leave of a variance only rounding.
        room = 8 * len(frame) * EPSILON * flat[:, :: len(frame) + 1].sum(axis=1)
        along = np.maximum(flat @ forms, 0.0) + room[:, None]
        return np.sqrt(along) @ (np.array(constants) * target.unit)

    def _many_bases(self, index: np.ndarray) -> Array:
        """The projection bound in the best of several fixed bases."""
        r, flat = self.target.rank, self.flat[index]
        best = np.full(len(index), np.inf)
        rng = np.random.default_rng(7)
        for _ in range(BASES):
            axes = np.linalg.qr(rng.standard_normal((r, r)))[0]
            np.minimum(best, self._bound(flat, axes), out=best)
        return self.scale[index] - 2 * (1 + self.rule_slack) * best

    def _fitted_dual(self, index: np.ndarray) -> Array:
        """The semi-dual at potentials fitted, as functions of S, to those of the solved candidates.

        Any potential gives a bound; a good guess makes it tight to second order.
        """
        solved = np.concatenate([c for c, _ in self.samples])
        values = np.concatenate([v for _, v in self.samples])
        inputs, size = _shape_features(solved)
        fit, *_ = np.linalg.lstsq(inputs, values / size[:, None], rcond=1e-10)
        covariance = self.pool.covariance[index]
        features, size = _shape_features(covariance)
        scale = scale_of(covariance)
        atoms, _ = span_atoms(covariance / (scale**2)[:, None, None], self.target)
        unit = scale * self.target.unit
        guess = np.ascontiguousarray((features @ fit) * (size / unit)[:, None])
        dual, _, doubt = space_judge(atoms, self.target.weights, guess)
        return self.scale[index] - 2 * (dual + doubt) * unit

    def _error_of_rule(self) -> float:
        """How far the quasi-Monte Carlo rho may exceed the true one, relative to the bound."""
        index = np.unique(np.linspace(0, len(self.flat) - 1, 4).astype(int))
        found = correlations(self.pool.covariance[index], self.target)
        safe = np.where(self.bound[index] > 0, self.bound[index], np.inf)
        return ERRORS * float((found.reach / safe).max()) / coverage_factor(REPLICATES)


def _shape_features(covariance: Array) -> tuple[Array, Array]:
    """1 and the entries of S / tr S, `(n, 1 + k(k+1)/2)`, and sqrt(tr S), the potentials' unit."""
    k = covariance.shape[1]
    size = np.sqrt(np.maximum(np.trace(covariance, axis1=1, axis2=2), np.finfo(float).tiny))
    rows, columns = np.triu_indices(k)
    entries = covariance[:, rows, columns] / size[:, None] ** 2
    return np.concatenate((np.ones((len(covariance), 1)), entries), axis=1), size


class SampleBounds:
    """Bounds for samples in R^k: mean and variance, `|m - m_T|^2 + (sd_X - sd_T)^2`."""

    def __init__(self, pool: EmpiricalPool, law: DiscreteMeasure, target: Reduced) -> None:
        check_samples(pool)
        self.pool, self.law, self.target = pool, law, target
        shift = target.shift_from(pool.mean)
        variance, deviation = pool.total_variance, target.deviation * target.unit
        self.lower = np.einsum("ij,ij->i", shift, shift)
        self.scale = self.lower + variance + deviation**2
        self.lower = self.lower + (np.sqrt(variance) - deviation) ** 2

    def solve(self, index: np.ndarray, tol: float | None) -> Judged:
        """W2^2 of the candidates in `index`, exact on their points."""
        return samples_squared(self.pool[index], self.law, self.target, tol=tol)

    def refinements(self) -> tuple[Refinement, ...]:
        """None: a solve on the points costs little more than a better bound."""
        return ()
