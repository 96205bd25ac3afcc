"""D(f(.|l) || q) for waiting times and a law with finitely many atoms, with a proved error."""

from __future__ import annotations

from math import cos, exp, log, pi, sin, sqrt
from typing import Any, NamedTuple

import numpy as np
from scipy.special import digamma, logsumexp, polygamma

from channelcode._validation import Array
from channelcode.channels import Gamma
from channelcode.information.mixtures.location import GOAL, MOST_PRODUCTS, LocationMixture

WIDEST = 600.0  # of l, between the outermost atoms: e^l must not overflow
_LEFT = 0.7  # how far E[e^(zX) | y] may be from one in the strip
_HIGHEST_STRIP = 1.1  # of Im ln y: at pi/2 the density no longer falls
_FINE = 1.25  # by so much may the bound on the spread be above what was seen
_FIRST_CELLS = 512
_NOTHING = 1e-300  # for a spread that is less than the least double
_LARGEST = 300.0  # of ln T: e^-T is nothing long before


class Posterior(NamedTuple):
    """Bounds that hold at every y: of Var(T | y) and of E[T | y], T = (theta - least theta) y."""

    spread: float
    mean: float


class GammaMixture(LocationMixture):
    """The output law q = sum_j w_j f(.|l_j) of u = ln y, y a waiting time of shape k and mean e^l.

    u is l plus noise with the density g(x) = k^k / Gamma(k) exp(k x - k e^x). With the rates
    theta = k e^-l and the least of them t, that of the last atom,

        ln q(u) = k u + Q(y) + const,  Q = ln sum_j w_j theta_j^k e^(-theta_j y) = -t y + r(y),

    r' = -E[theta - t | y] and r'' = Var(theta | y): r is convex and falls, and with
    T = (theta - t) y, m = E[T | y], V = Var(T | y) the second derivative of r in u is V - m.

    *Bends.* D = const - k l + t E[Y] - E r(Y), where t E[Y] is convex in l and may be left out of a
    lower bound on D'': `bend` is E[m - V] <= D''. With V <= S and m <= N everywhere, -D'' <= S,
    and as int |g''| <= 2 k the fourth derivative of E r is at most k (S + N).

    *S and N.* From y to y' > y, E[(theta - c)^2 e^(-theta y)] e^(t y) falls, and so does
    e^r, but by no more than e^(m (y'/y - 1)); with c the mean at y,

        V(y') <= (y'/y)^2 e^(m(y) (y'/y - 1)) V(y),    m(y') <= (y'/y) m(y).

    Known at the left ends of cells, both are bounded within; cells are halved until it is enough.
    For small y, V <= max T^2 / 4, for large y E[T^n] <= A T^n e^-T, T that of the last atom but
    one and A = sum theta_j^k w_j / (t^k w) with the last atom's own in the denominator.

    *Strip.* At u + iv, with z = 1 - e^(iv), c = Re z and X = theta y - E[theta y | y],

        e^Q(y e^(iv)) = e^(Q(y) + z E[theta y | y]) E[e^(zX) | y],
        |E e^(zX) - 1| <= |z|^2/2 E[X^2 (1 + e^(cX))] <= |z|^2/2 (S + G (S + S^2 c^2) / cos^2 v),

    G = exp(S c^2 / (2 cos^2 v)): under e^(cX) the law is that at y cos v, whose mean is off by
    S c / cos v at most. While that is below 0.7, q has no zero. |g(x + iv)| has the integral
    cos(v)^-k, and normalised e^x cos v has a gamma law, so that the integrands are bounded by means
    of x, e^x and known constants.

    >>> law = GammaMixture(Gamma(2.0), np.array([0.0]), np.array([1.0]))
    >>> law.divergence(np.array([1.0])).value.round(6)      # 2 (e - 2)
    array([1.436564])
    """

    def __init__(self, channel: Gamma, atoms: Array, weights: Array) -> None:
        places, index = np.unique(atoms[weights > 0], return_inverse=True)
        masses = np.asarray(np.bincount(index, weights[weights > 0], len(places)), dtype=np.float64)
        super().__init__(1.0, places, masses)
        self.channel, self.shape = channel, channel.shape
        low, high = channel.output_range(np.zeros(()))
        self.reach = float(low), float(high)
        self.together = 4.0 / sqrt(max(self.shape, 1.0))
        self.posterior = Posterior(0.0, 0.0)
        if self.width <= WIDEST:
            self.posterior = posterior(self.shape, self.atoms, np.log(self.weights))

    @property
    def affordable(self) -> bool:
        """Whether the atoms are near enough for a proof."""
        return self.width <= WIDEST and super().affordable

    def log_noise(self, x: Array) -> Array:
        """ln g."""
        with np.errstate(over="ignore"):
            return self.channel.log_density(1.0, -x)

    def curved(self, nodes: Array, share: Array) -> Array:
        """V - m."""
        mean, spread = _moments(_sizes(self.shape, nodes, self.atoms), share)
        return spread - mean

    def down(self, least: Array, width: Array) -> Array:
        """A bound on -D'' between inputs so far apart, from the lesser `bend` of both ends."""
        spread, mean = self.posterior
        return np.minimum(spread, 0.125 * self.shape * (spread + mean) * width**2 - least)

    def error(self, value: Any) -> Any:
        """The error of divergences of that `value`: the rule's, the tails', and of rounding.

        Of k (e^x - 1 - x) rounding leaves 1e-16 sqrt(k) where the noise is, and nodes at u are
        themselves rounded, by 1e-16 |u|.
        """
        farthest = float(np.abs(self.atoms).max()) + self.reach[1]
        far = self.shape * self.width - log(float(self.weights.min()))
        rounding = 1e-15 * (3.0 + sqrt(self.shape)) + 2e-16 * farthest * sqrt(self.shape)
        return 2.0 * GOAL + 4e-20 * (100.0 + far) + rounding * (1.0 + value)

    def step(self, low: float, high: float) -> float:
        """By the bounds above."""
        k, last = self.shape, float(self.atoms[-1])
        spread, mean = self.posterior
        strip = zero_free_strip(k, spread)
        c, off = 1.0 - cos(strip), _off_one(spread, strip)
        grown = exp(0.5 * spread * (c / cos(strip)) ** 2) / (1.0 - off)
        noise = float(digamma(k)) - log(k)
        size = sqrt(float(polygamma(1, k)) + noise**2) - log(cos(strip))  # more than E|x|
        beyond = exp(min(max(high - last, 0.0), 690.0)) / cos(strip)
        away = max(abs(low - last), abs(high - last)) + size
        top = abs(float(self.log_noise(np.zeros(()))))
        own = 1.0 + top + k * (1.0 / cos(strip) + 1.0 + size + strip)  # f ln f, f
        output = 1.0 + top - log(float(self.weights[-1])) + k * (beyond + away + strip)  # q, f ln q
        output += 2.0 * sin(0.5 * strip) * (k * beyond + mean) - log(1.0 - off)
        bends = (
            grown * (mean + spread + mean**2) / cos(strip) ** 2 + (grown * mean / cos(strip)) ** 2
        )
        log_most = log(2.0 * (own + output + bends)) - k * log(cos(strip))
        return 2.0 * pi * strip / (log_most - log(GOAL) + 1e-9)


def _sizes(shape: float, u: Array, atoms: Array) -> Array:
    """T = (theta_j - t) y, `(m, atoms)`, of sorted atoms."""
    last = atoms[-1]
    with np.errstate(divide="ignore", over="ignore"):
        beyond = np.log(np.expm1(last - atoms))
    return np.exp(np.minimum(log(shape) + (u - last)[:, None] + beyond, _LARGEST))


def _moments(sizes: Array, share: Array) -> tuple[Array, Array]:
    """Mean and variance of T at each y."""
    mean = (share * sizes).sum(axis=1)
    return mean, (share * np.square(sizes - mean[:, None])).sum(axis=1)


def posterior(shape: float, atoms: Array, log_weights: Array) -> Posterior:
    """S and N of `GammaMixture`, for sorted atoms; see there."""
    if len(atoms) == 1:
        return Posterior(1e-12, 1e-12)
    logs = log_weights - shape * atoms
    ratio = float(np.asarray(logsumexp(logs))) - float(logs[-1])  # ln A
    end = ratio + 12.0 + 2.0 * log(ratio + 12.0)  # T of the last atom but one, where cells end
    top = atoms[-1] - log(shape)
    first = top + log(0.1) - _log_expm1(float(atoms[-1] - atoms[0]))  # max T is 0.1
    last = top + log(end) - _log_expm1(float(atoms[-1] - atoms[-2]))
    edges = np.linspace(first, max(last, first + 1.0), _FIRST_CELLS + 1)
    left, size = edges[:-1], np.diff(edges)
    outside = exp(ratio - end)
    kept = np.array([max(0.0025, end**2 * outside), max(0.1, end * outside)])
    seen, work = np.zeros(2), 0
    while True:
        sizes = _sizes(shape, left, atoms)
        found = logs - sizes
        share = np.exp(found - found.max(axis=1, keepdims=True))
        mean, spread = _moments(sizes, share / share.sum(axis=1, keepdims=True))
        seen = np.maximum(seen, [spread.max(), mean.max()])
        with np.errstate(over="ignore"):
            growth = np.exp(2.0 * size + np.expm1(size) * mean)
            bound = np.maximum(spread, _NOTHING) * growth, mean * np.exp(size)
        open_ = bound[0] > np.maximum(_FINE * seen[0], kept[0])
        open_ |= bound[1] > np.maximum(_FINE * seen[1], kept[1])
        work += sizes.size
        if work > MOST_PRODUCTS:
            open_[:] = False
        for i in range(2):
            kept[i] = max(kept[i], float(bound[i][~open_].max(initial=0.0)))
        if not open_.any():
            return Posterior(*kept.tolist())
        quarter = 0.25 * size[open_]
        left = (left[open_][:, None] + quarter[:, None] * np.arange(4.0)).ravel()
        size = np.repeat(quarter, 4)


def _log_expm1(x: float) -> float:
    return x + log(-np.expm1(-x))


def zero_free_strip(shape: float, spread: float) -> float:
    """The width of a strip without zeros of q, in which cos(v)^-k stays small."""
    low, high = 0.0, min(_HIGHEST_STRIP, 3.0 / sqrt(shape))
    if _off_one(spread, high) <= _LEFT:
        return high
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if _off_one(spread, middle) <= _LEFT else (low, middle)
    return low


def _off_one(spread: float, v: float) -> float:
    """A bound on |E[e^(zX) | y] - 1| at u + iv."""
    c, fall = 1.0 - cos(v), cos(v) ** 2
    grown = exp(min(0.5 * spread * c * c / fall, 690.0))
    return 2.0 * sin(0.5 * v) ** 2 * (spread + grown * (spread + (spread * c) ** 2) / fall)
