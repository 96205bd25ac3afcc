"""W_p on the line for every order p >= 1."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import logsumexp

from channelcode._validation import Array, number
from channelcode.errors import InvalidArgument
from channelcode.measures import DiscreteMeasure, Gaussian, Measure
from channelcode.transport.monotone import (
    monotone_plan,
    normal_cuts,
    normal_density,
    normal_mass,
)

TAIL = 39.0  # the normal density underflows beyond
FARTHEST = 1e30  # deviations: beyond, a Gaussian is hardly more than a point
HIGHEST = 1e6  # order: W_p of a Gaussian grows without bound with it
NODES = 40  # Gauss-Legendre nodes on each piece of at most one deviation


def wasserstein_line(mu: Measure, nu: Measure, *, p: float = 2.0) -> float:
    """The distance W_p of two laws on the line, for any order p >= 1.

    `W_p^p = int_0^1 |F_mu^{-1}(u) - F_nu^{-1}(u)|^p du`: sums for discrete laws, closed forms for a
    Gaussian with p = 1 or 2, Gauss-Legendre panels between the kinks otherwise.

    >>> from channelcode.measures import DiscreteMeasure
    >>> wasserstein_line(DiscreteMeasure.symmetric(1.0), DiscreteMeasure.symmetric(3.0), p=1)
    2.0
    """
    order = number("p", p)
    if order < 1:
        raise InvalidArgument("p", "must be at least 1", p)
    if order > HIGHEST:
        raise InvalidArgument("p", f"must be at most {HIGHEST:g}", p)
    for name, law in (("mu", mu), ("nu", nu)):
        if not isinstance(law, DiscreteMeasure | Gaussian):
            raise InvalidArgument(name, "must be a discrete, empirical or Gaussian law", law)
        if law.dim != 1:
            raise InvalidArgument(name, "must be a law on the line", f"dimension {law.dim}")
    if isinstance(mu, DiscreteMeasure) and isinstance(nu, DiscreteMeasure):
        return _discrete(mu, nu, order)
    if isinstance(mu, Gaussian) and isinstance(nu, Gaussian):
        # The quantile functions differ by a Gaussian variable of its own.
        shift = Gaussian(mu.mean - nu.mean, (mu.covariance**0.5 - nu.covariance**0.5) ** 2)
        return _gaussian(shift, DiscreteMeasure([0.0], [1.0]), order)
    if isinstance(mu, Gaussian) and isinstance(nu, DiscreteMeasure):
        return _gaussian(mu, nu, order)
    return wasserstein_line(nu, mu, p=p)


def _discrete(mu: DiscreteMeasure, nu: DiscreteMeasure, order: float) -> float:
    first, second = np.argsort(mu.atoms), np.argsort(nu.atoms)
    plan = monotone_plan(mu.weights[first], nu.weights[second])
    distance = np.abs(mu.atoms[first][plan.row] - nu.atoms[second][plan.column])
    largest = float(distance.max())
    if largest == 0:
        return 0.0
    return largest * float(plan.mass @ (distance / largest) ** order) ** (1 / order)


def _gaussian(mu: Gaussian, nu: DiscreteMeasure, order: float) -> float:
    """(E |m + sigma Z - T|^p)^(1/p) with Z in the cell of T between two normal quantiles."""
    deviation = mu.covariance**0.5
    if deviation == 0:
        return _discrete(DiscreteMeasure([mu.mean], [1.0]), nu, order)
    heavy = nu.weights > 0
    atoms, weights = nu.atoms[heavy], nu.weights[heavy]
    distances = np.abs(atoms - mu.mean)
    if float(distances.max()) > FARTHEST * deviation:
        # W_p differs from that of the mean alone by at most what N(0, sigma^2) is from its mean.
        alone = _discrete(DiscreteMeasure([mu.mean], [1.0]), nu, order)
        if alone > 1e17 * np.sqrt(order) * deviation:
            return alone
    sort = np.argsort(atoms, kind="stable")
    offsets = (atoms[sort] - mu.mean) / deviation  # where the integrand has its kink
    tail = TAIL + np.sqrt(order)  # the integrand z^p phi(z) is largest at sqrt(p)
    cuts = np.concatenate(([-tail], np.clip(normal_cuts(weights[sort]), -tail, tail), [tail]))
    terms = [np.array([-np.inf])]
    for left, right, kink in zip(cuts[:-1], cuts[1:], offsets):
        middle = float(np.clip(kink, left, right))
        for a, b in ((left, middle), (middle, right)):
            if a < b:
                terms.append(_piece(a, b, float(kink), order))
    # In logarithms: at p = 200 the powers themselves leave the range of numbers.
    total: Any = logsumexp(np.concatenate(terms))
    return deviation * float(np.exp(total / order))


def _piece(a: float, b: float, kink: float, order: float) -> Array:
    """Logarithms of terms that sum to int_a^b |z - c|^p phi(z) dz, an interval on one side of c."""
    sign = 1.0 if b > kink else -1.0
    if order == 1:
        first = float(-np.diff(normal_density(np.array([a, b])))[0])
        mass = normal_mass(a, b)
        return _logarithm(np.array([max(sign * (first - kink * mass), 0.0)]))
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    panels = np.linspace(a, b, int(np.ceil(b - a)) + 1)
    half = 0.5 * np.diff(panels)[:, None]
    z = panels[:-1, None] + half * (1 + nodes)
    share, distance = half * weights, np.abs(z - kink)
    if kink in (a, b):
        # |z - c|^p has a branch point at c: u^4 = |z - c| / length smooths the first panel.
        near = 0 if a == kink else -1
        length = 2 * half[near, 0]
        u = 0.5 * (1 + nodes)
        distance[near] = length * u**4
        z[near] = kink + sign * distance[near]
        share[near] = weights * 0.5 * 4 * u**3 * length
    density = -0.5 * z**2 - 0.5 * np.log(2 * np.pi)
    return (_logarithm(share) + order * _logarithm(distance) + density).ravel()


def _logarithm(values: Array) -> Array:
    with np.errstate(divide="ignore"):
        return np.log(values)
