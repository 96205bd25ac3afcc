"""Transport on the line: quantile functions, sorting, and closed forms for Gaussians."""

from __future__ import annotations

from time import perf_counter
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri

from channelcode._validation import Array
from channelcode.certificate import SolveStats, Status
from channelcode.errors import InvalidArgument
from channelcode.measures import DiscreteMeasure, Gaussian, Measure
from channelcode.transport.result import Potentials, TransportResult, cell_plan, sparse_plan
from channelcode.transport.solver import Solver, both_discrete, is_semidiscrete

ROOT_TWO_PI = np.sqrt(2 * np.pi)


def normal_density(z: Array) -> Array:
    """phi(z), the standard normal density; zero at infinity."""
    return np.exp(-0.5 * np.square(z)) / ROOT_TWO_PI


def normal_cuts(weights: Array) -> Array:
    """z_j = Phi^{-1}(w_1 + ... + w_j) for j < m, from the nearer tail: `(m - 1,)`."""
    below = np.cumsum(weights)[:-1]
    above = np.cumsum(weights[::-1])[::-1][1:]
    near = np.minimum(np.minimum(below, above), 0.5)
    return np.where(below <= above, 1.0, -1.0) * ndtri(near)


def line_constant(atoms: Array, weights: Array) -> float:
    """rho_1 = max E<L,T> for L ~ N(0,1): the one constant that a target on the line needs.

    With sorted atoms and z_j as in `normal_cuts`, `rho_1 = sum_j (y_{j+1} - y_j) phi(z_j)`, which
    is the sum of theory section 3 by parts: no term is negative, so nothing cancels. For two atoms
    at -t and t it is `t sqrt(2/pi)`, Corollary 3.2.1.

    >>> round(line_constant(np.array([-1.0, 1.0]), np.array([0.5, 0.5])) ** 2 * np.pi, 12)
    2.0
    """
    order = np.argsort(atoms, kind="stable")
    return float(np.diff(atoms[order]) @ normal_density(normal_cuts(weights[order])))


class MonotonePlan(NamedTuple):
    """The north-west corner plan of two sorted laws: entries (row, column, mass)."""

    row: np.ndarray
    column: np.ndarray
    mass: Array


def monotone_plan(a: Array, b: Array) -> MonotonePlan:
    """Couple two laws by their quantiles; weights `(n,)` and `(m,)` in the order of the atoms."""
    below_a, below_b = np.cumsum(a), np.cumsum(b)
    below_a[-1] = below_b[-1] = 1.0
    cuts = np.sort(np.concatenate((below_a, below_b)), kind="stable")
    mass = np.diff(cuts, prepend=0.0)
    row = np.searchsorted(below_a, cuts)
    column = np.searchsorted(below_b, cuts)
    kept = mass > 0
    return MonotonePlan(row[kept], column[kept], mass[kept])


def monotone_potentials(x: Array, a: Array, y: Array, b: Array) -> tuple[Array, Array]:
    """Conjugate potentials f, g of sorted laws: `f_i + g_j >= x_i y_j`, tight on the plan."""
    below_a, below_b = np.cumsum(a), np.cumsum(b)
    below_a[-1] = below_b[-1] = 1.0
    last = np.minimum(np.searchsorted(below_b, below_a), len(b) - 1)
    f = np.concatenate(([0.0], np.cumsum(y[last[:-1]] * np.diff(x))))
    match = np.minimum(np.searchsorted(below_a, below_b), len(a) - 1)
    return f, x[match] * y - f[match]


class Line(Solver):
    """Exact transport on the line by quantile functions, for Gaussian and discrete laws."""

    def accepts(self, mu: Measure, nu: Measure) -> bool:
        return mu.dim == 1 and (is_semidiscrete(mu, nu) or both_discrete(mu, nu))

    def solve(self, mu: Measure, nu: Measure) -> TransportResult:
        if isinstance(mu, Gaussian) and isinstance(nu, DiscreteMeasure):
            return _gaussian_to_atoms(mu, nu)
        if isinstance(mu, DiscreteMeasure) and isinstance(nu, DiscreteMeasure):
            return _atoms_to_atoms(mu, nu)
        raise InvalidArgument("solver", "must accept the pair of laws", self)


def _gaussian_to_atoms(mu: Gaussian, nu: DiscreteMeasure) -> TransportResult:
    started = perf_counter()
    deviation = np.sqrt(mu.covariance)
    order = np.argsort(nu.atoms, kind="stable")
    atoms, weights = nu.atoms[order] - nu.mean, nu.weights[order]
    steps = np.diff(atoms)
    cuts = normal_cuts(weights)
    constant = float(steps @ normal_density(cuts))
    shift = (mu.mean - nu.mean) ** 2
    rest = max(nu.covariance - constant**2, 0.0)  # Cauchy-Schwarz: below zero only by rounding
    squared = shift + (deviation - constant) ** 2 + rest
    # Potential of <L,T>: v rises by (y_{j+1} - y_j) sigma z_j from atom to atom.
    # Beyond 40 deviations the mass underflows: an atom without mass gets a finite potential too.
    correlation = np.concatenate(([0.0], np.cumsum(steps * deviation * np.clip(cuts, -40, 40))))
    bound = correlation_bound(atoms, weights, correlation, float(deviation))
    lower = min(squared, max(shift + mu.covariance + nu.covariance - 2 * bound, 0.0))
    # |x - y|^2 for the laws as given: the cross term of the mean shift goes to the potential.
    offset = mu.mean - nu.mean
    potential = np.empty(len(atoms))
    potential[order] = atoms**2 - 2 * correlation - 2 * offset * atoms
    return TransportResult(
        squared=float(squared),
        lower=float(lower),
        upper=float(squared),
        plan=cell_plan(np.array(nu.weights)),
        potentials=Potentials(None, potential),
        method="line, Gaussian closed form",
        status=Status.OPTIMAL,
        stats=SolveStats("Line", 1, perf_counter() - started, {"constant": constant}),
    )


def correlation_bound(atoms: Array, weights: Array, v: Array, deviation: float) -> float:
    """E max_j (sigma X y_j - v_j) + w'v for X ~ N(0,1): at least rho, whatever v."""
    line, cuts = upper_envelope(deviation * atoms, v)
    edges = np.concatenate(([-np.inf], cuts, [np.inf]))
    mass = np.diff(ndtr(edges))
    kinks = np.diff(deviation * atoms[line]) @ normal_density(cuts)
    return float(kinks + weights @ v - mass @ v[line])


def upper_envelope(slope: Array, intercept: Array) -> tuple[np.ndarray, Array]:
    """The lines `slope_j x - intercept_j` on their maximum, left to right, and where they meet."""
    order = np.lexsort((intercept, slope))
    kept: list[int] = []
    cuts: list[float] = []
    for j in order:
        if kept and slope[j] == slope[kept[-1]]:
            continue  # parallel and not higher
        while kept:
            last = kept[-1]
            meet = (intercept[j] - intercept[last]) / (slope[j] - slope[last])
            if cuts and meet <= cuts[-1]:
                kept.pop()
                cuts.pop()
                continue
            cuts.append(float(meet))
            break
        kept.append(int(j))
    return np.array(kept), np.array(cuts)


def _atoms_to_atoms(mu: DiscreteMeasure, nu: DiscreteMeasure) -> TransportResult:
    started = perf_counter()
    first, second = np.argsort(mu.atoms, kind="stable"), np.argsort(nu.atoms, kind="stable")
    x, a = mu.atoms[first] - mu.mean, mu.weights[first]
    y, b = nu.atoms[second] - nu.mean, nu.weights[second]
    plan = monotone_plan(a, b)
    shift = (mu.mean - nu.mean) ** 2
    squared = shift + float(plan.mass @ (x[plan.row] - y[plan.column]) ** 2)
    f, g = monotone_potentials(x, a, y, b)
    lower = shift + float(a @ (x**2 - 2 * f) + b @ (y**2 - 2 * g))
    offset = mu.mean - nu.mean
    source, target = np.empty(len(x)), np.empty(len(y))
    source[first] = x**2 - 2 * f + 2 * offset * x + shift
    target[second] = y**2 - 2 * g - 2 * offset * y
    return TransportResult(
        squared=squared,
        lower=max(min(lower, squared), 0.0),
        upper=squared,
        plan=sparse_plan(plan.mass, first[plan.row], second[plan.column], (len(x), len(y))),
        potentials=Potentials(source, target),
        method="line, sorted quantiles",
        status=Status.OPTIMAL,
        stats=SolveStats("Line", 1, perf_counter() - started),
    )
