"""Plain answers to hold the capacity code against: no import from `channelcode.capacity`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import gammaln, log_expit, logsumexp, rel_entr, xlogy

from channelcode import Channel

Array = np.ndarray


class Poisson(Channel):
    """A count that stops at twenty, as a user would write it."""

    dim, num_outputs = 1, 21

    def log_prob(self, l):
        count = np.arange(20.0)
        below = count * l[..., None] - np.exp(l)[..., None] - gammaln(count + 1)
        mass: Any = logsumexp(below, axis=-1)
        above = np.log(-np.expm1(np.minimum(mass, -1e-300)))
        return np.concatenate([below, above[..., None]], axis=-1)


class Short(Channel):
    """A logistic channel whose author's formula overflows from five on."""

    dim, num_outputs = 1, 2

    def log_prob(self, l):
        known = np.stack([log_expit(-l), log_expit(l)], axis=-1)
        return np.where((l < 5.0)[..., None], known, np.inf)


def entropy(prob: Array) -> Array:
    """Entropies of rows, in nats."""
    return -xlogy(prob, prob).sum(axis=-1)


def mutual_information(prob: Array, weights: Array) -> float:
    """I(L; Y) in nats of weights `(n,)` on rows `(n, Y)`."""
    return float(weights @ rel_entr(prob, weights @ prob).sum(axis=-1))


def kkt(prob: Array, output: Array, excess: Array | float, multiplier: float) -> Array:
    """D(W || q) - s (b - P) in nats for rows `(n, Y)`; `excess` is b - P."""
    return rel_entr(prob, output).sum(axis=-1) - multiplier * excess


def priced_blahut_arimoto(
    matrix: Array, cost: Array, multiplier: float, *, gap: float = 1e-11, steps: int = 200_000
) -> tuple[Array, float, float]:
    """The textbook algorithm at a fixed price: weights, their I(p) in nats, their mean cost.

    It maximises I(p) - s E b, so that p is optimal for the budget E_p b, and s is dC/dP there.
    """
    weights = np.full(len(matrix), 1.0 / len(matrix))
    for _ in range(steps):
        value = rel_entr(matrix, weights @ matrix).sum(axis=1) - multiplier * cost
        if value.max() - weights @ value <= gap:
            return weights, mutual_information(matrix, weights), float(weights @ cost)
        weights = weights * np.exp(value - value.max())
        weights /= weights.sum()
    raise AssertionError("the textbook algorithm did not converge: choose another example")


def best_mean(heights: Array, prices: Array, budget: float) -> float:
    """The concave envelope of (prices, heights) at a budget, by every pair of points."""
    best = heights[prices <= budget].max()
    for i in np.flatnonzero(prices <= budget):
        beyond = prices > budget
        share = (budget - prices[i]) / (prices[beyond] - prices[i])
        mixed = heights[i] + share * (heights[beyond] - heights[i])
        best = max(best, mixed.max(initial=-np.inf))
    return float(best)


def central(function: Callable[[float], Array], step: float) -> tuple[Array, Array]:
    """First and second derivatives at zero, to fourth order in `step`."""
    a, b, c, d, e = (np.asarray(function(k * step)) for k in (-2, -1, 0, 1, 2))
    first = (a - 8 * b + 8 * d - e) / (12 * step)
    second = (-a + 16 * b - 30 * c + 16 * d - e) / (12 * step**2)
    return first, second
