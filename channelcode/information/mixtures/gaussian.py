"""D(f(.|l) || q) for Gaussian noise and a law with finitely many atoms, with a proved error."""

from __future__ import annotations

from math import cos, exp, log, pi, sqrt
from typing import Any

import numpy as np

from channelcode._numerics.logspace import HALF_LOG_TWO_PI
from channelcode._validation import Array
from channelcode.information.mixtures.location import GOAL, MOST_PRODUCTS, LocationMixture

WIDEST = 720.0  # deviations of the noise between the outermost atoms; proofs beyond take long
_REACH = 9.3  # deviations: 1.4e-20 of the mass lies beyond
_PHASE = 1.2  # how far apart the terms of q may turn in the complex plane, at most pi/2
_LEAST = cos(_PHASE)  # of |q| in the strip, relative to the real line
_FOURTH = 0.97  # int |f"| dy = 4 phi(1)
_FINE = 0.5  # how far ln Var(L | y) may rise between two places where it is known


class GaussianMixture(LocationMixture):
    """The output law q = sum_j w_j f(.|l_j) of Gaussian noise, atoms no more than `WIDEST` apart.

    In deviations of the noise, with R the distance of the outermost atoms,

        D'' = -int f (ln q)'' dy,   (ln q)'' = Var(L | y) - 1,

    where V = E Var(L | Y) = 1 - D'' changes by |V'| <= E|E[(L - E[L|Y])^3 | Y]| <= R V, and so by
    less than a factor of e^(R d) over a distance d. With S = sup_y Var(L | y) the fourth derivative
    of D, int f'' (ln q)'' dy, is at most 0.97 S / 2 in size, as a constant adds nothing to
    (ln q)'': D'' leaves the line between two of its values by d^2/8 of that at most.

    Both integrands are analytic in the strip |Im y| < a = 2.4 / R, where the terms of q differ in
    phase by at most 1.2 from their middle: q has no zero, |q(u + iv)| >= cos(1.2) e^(v^2/2) q(u).
    The same is true for a^2 S / 2 = 1 - cos(1.2), since q(u + iv) = q(u) e^(v^2/2 - iuv)
    E[e^(ivL) | u] and |E e^(iv(L - m))| >= 1 - v^2 S / 2; the wider of the two is taken. With
    Q = q on the real line, |ln q| <= |ln Q| + a^2/2 + |ln cos 1.2| + a (|u - middle| + R/2) + 1.2
    and -ln Q <= 0.92 + E(u - L)^2 / 2.

    >>> law = GaussianMixture(2.0, np.array([0.0]), np.array([1.0]))
    >>> found = law.divergence(np.array([1.0]))
    >>> found.value.round(6), found.bend.round(6)
    (array([0.125]), array([0.25]))
    """

    reach = (-_REACH, _REACH)
    together = 4.0

    def __init__(self, noise: float, atoms: Array, weights: Array) -> None:
        super().__init__(noise, atoms, weights)  # `width` is R
        self.spread = _largest_spread(self.atoms, self.weights)  # S

    @property
    def affordable(self) -> bool:
        """Whether the atoms are near enough for a proof."""
        return self.width <= WIDEST and super().affordable

    def log_noise(self, x: Array) -> Array:
        """ln of the normal density."""
        return -0.5 * np.square(x) - HALF_LOG_TWO_PI

    def curved(self, nodes: Array, share: Array) -> Array:
        """Var(L | y) - 1."""
        centre = share @ self.atoms
        return (share * np.square(self.atoms - centre[:, None])).sum(axis=1) - 1.0

    def down(self, least: Array, width: Array) -> Array:
        """A bound on -D'' between inputs so far apart, from the lesser D'' of both ends."""
        variance = np.maximum(1.0 - least * self.unit**2, 0.0)  # E Var(L | Y)
        apart = width / self.unit
        growth = np.exp(np.minimum(0.5 * self.width * apart, 700.0))
        grown = np.minimum(variance * growth, variance + 0.0625 * _FOURTH * self.spread * apart**2)
        return (grown - 1.0) / self.unit**2

    def error(self, value: Any) -> Any:
        """The error of divergences of that `value`: the rule's, the tails', and of rounding."""
        return 2.0 * GOAL + 1e-16 + 2e-15 * (1.0 + value)

    def step(self, low: float, high: float) -> float:
        """By the bounds above."""
        farthest = max(self.middle - low, high - self.middle)
        strip = max(2.0 * _PHASE / max(self.width, 1e-3), sqrt(2.0 * (1.0 - _LEAST) / self.spread))
        a, least = min(strip, 3.0), _LEAST
        away = farthest + 0.5 * self.width
        levels = 0.92 + 0.5 * (1.0 + away**2) + 0.5 * a * a - log(least)
        levels += a * (1.0 + away) + _PHASE  # f ln q
        levels += 0.92 + 0.5 * (1.0 + a * a) + 2.0  # f ln f, f and q
        bends = 1.0 + 0.25 * self.width**2 * (1.0 / least + 1.0 / least**2)  # f (ln q)''
        bound = 2.0 * exp(0.5 * a * a) * max(levels, bends)
        return 2.0 * pi * a / log(1.0 + bound / GOAL)


def _largest_spread(atoms: Array, weights: Array) -> float:
    """A bound on Var(L | y) over every real y, in deviations of the noise.

    Between the outermost atoms it is known at even places. Of the atoms farther than r from y,
    where the nearest is within d, less than e = exp((d^2 - r^2)/2) / min w is left, so that the
    third central moment is at most 2 (r + R e) Var + R^3 e: over a distance h the logarithm of
    Var + R^3 e rises by 2 (r + R e) h at most. Beyond the last atom x, E[(x - L)^2 | y] falls.
    """
    order = np.argsort(atoms)
    places, shares = atoms[order], weights[order]
    width = float(places[-1] - places[0])
    if width == 0.0:
        return 1e-12
    apart = 0.5 * float(np.diff(places).max())
    reach = sqrt(apart**2 + 2.0 * (70.0 - log(float(shares.min()))))
    left = (width + width**3) * exp(-69.0)  # more than R e and R^3 e
    rate = min(width, 2.0 * (reach + left))
    count = int(np.ceil(width * rate / (2.0 * _FINE))) + 2
    most = 0.25 * width**2  # of any law on an interval
    if count * len(places) > MOST_PRODUCTS:
        return most
    y = np.linspace(places[0], places[-1], count)
    largest = 0.0
    for part in np.array_split(y, 1 + count * len(places) // 1_000_000):
        near = slice(*np.searchsorted(places, [part[0] - reach, part[-1] + reach]))
        largest = max(largest, float(_spread_at(part, places[near], shares[near]).max()))
    for end in (places[0], places[-1]):
        share = _posterior(np.array([end]), places, shares)[0]
        largest = max(largest, float(share @ np.square(places - end)))
    return min(most, (largest + 2.0 * left) * exp(_FINE))


def _posterior(y: Array, places: Array, shares: Array) -> Array:
    logs = -0.5 * np.square(y[:, None] - places) + np.log(shares)
    likely = np.exp(logs - logs.max(axis=1, keepdims=True))
    return likely / likely.sum(axis=1, keepdims=True)


def _spread_at(y: Array, places: Array, shares: Array) -> Array:
    """Var(L | y)."""
    share = _posterior(y, places, shares)
    return (share * np.square(places - (share @ places)[:, None])).sum(axis=1)
