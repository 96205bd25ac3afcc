"""A finite alphabet made ready for the solvers: no idle outputs, no twin letters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from channelcode._numerics.logspace import plogp
from channelcode._validation import Array
from channelcode.capacity.law_value import NEGLIGIBLE, fast_divergence
from channelcode.capacity.problem import Problem

DEAREST = 1e150  # budgets: a letter that costs more would have a weight of nothing


@dataclass(frozen=True)
class Letters:
    """Letters `(n,)` or `(n, dim)`, transition matrix `(n, Y)`, entropies and costs `(n,)`.

    Costs are shifted and scaled so that the cheapest letter costs 0 and the budget is 1, and
    `scale` nats per unit cost become one; `budget` is infinite when no law can break it.
    """

    points: Array
    log_prob: Array
    matrix: Array
    entropy: Array
    cost: Array
    budget: float
    scale: float

    def start(self) -> Array:
        """The analytic centre: the law that maximises sum ln p_i + ln(budget - mean cost).

        There p_i = 1 / (n + 1 - t + t c_i) for the t at which the weights sum to one.
        """
        count = len(self.cost)
        if self.budget == np.inf:
            return np.full(count, 1.0 / count)
        low, high = 0.0, count + 1.0
        for _ in range(80):
            t = 0.5 * (low + high)
            if (1.0 / (count + 1.0 - t + t * self.cost)).sum() < 1.0:
                low = t
            else:
                high = t
        weights = 1.0 / (count + 1.0 - low + low * self.cost)
        return weights / weights.sum()

    def kkt(self, weights: Array, multiplier: float) -> Array:
        """F + sP = D(W_i || q) - s b_i for every letter, in nats."""
        value = fast_divergence(-self.entropy, self.matrix, weights @ self.matrix)
        return value - multiplier * self.cost

    def gap(self, weights: Array, multiplier: float) -> float:
        """The KKT bound minus the information of `weights`, in nats."""
        kkt = self.kkt(weights, multiplier)
        used = weights > 0
        value = float(weights[used] @ (kkt + multiplier * self.cost)[used])
        return float(kkt.max()) - value + (multiplier * self.budget if multiplier > 0 else 0.0)

    def expand(self, weights: Array, multiplier: float, *, tol: float) -> tuple[Array, Array]:
        """Atoms and weights without idle letters, as few as keep the gap within `tol`.

        A letter is idle when its weight is below its KKT slack (strict complementarity).
        """
        kkt = self.kkt(weights, multiplier)
        slack = kkt.max() - kkt
        accepted = self.gap(weights, multiplier)
        for keep in (weights > slack, weights > 1e-3 * slack, weights > 1e-12):
            if not keep.any():
                continue
            pruned = self._within_budget(np.where(keep, weights, 0.0))
            if self.gap(pruned, multiplier) <= max(0.5 * tol, accepted):
                return self.points[pruned > 0], pruned[pruned > 0]
        weights = self._within_budget(weights)
        return self.points[weights > 0], weights[weights > 0]

    def _within_budget(self, weights: Array) -> Array:
        """Normalise, and move mass to the cheapest letter if the mean cost is too high."""
        weights = weights / weights.sum()
        spent = float(weights @ self.cost)
        if spent <= self.budget:
            return weights
        cheap = int(np.argmin(self.cost))
        share = (self.budget - self.cost[cheap]) / (spent - self.cost[cheap])
        weights = weights * share
        weights[cheap] += 1.0 - share
        return weights


def letters_of(problem: Problem) -> Letters:
    """The alphabet of a finite channel, with letters beyond the peak left out."""
    points, matrix, cost = problem.letters()
    with np.errstate(divide="ignore"):
        return prepare(points, np.log(matrix), cost, problem.limits.budget)


def prepare(
    points: Array, log_prob: Array, cost: Array, budget: float, *, twins: float = 0.0
) -> Letters:
    """Leave out idle outputs and dominated twins; a budget that only the cheapest meet is exact.

    Letters are twins when their rows agree, after rounding to multiples of `twins` if positive.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        room = (budget - cost.min()) * DEAREST if budget > cost.min() else np.inf
        finite = np.isfinite(cost) & (cost - cost.min() <= room)
    if not finite.all():  # infinity forbids a letter, and so does a budget that is next to nothing
        points, log_prob, cost = points[finite], log_prob[finite], cost[finite]
    least = float(cost.min())
    if budget <= least:
        keep = cost == least
        points, log_prob, cost, budget = points[keep], log_prob[keep], cost[keep], np.inf
    elif budget >= float(cost.max()):
        budget = np.inf
    with np.errstate(under="ignore"):
        matrix = np.exp(log_prob)
    used = matrix.max(axis=0) > NEGLIGIBLE
    if not used.all():
        matrix, log_prob = matrix[:, used], log_prob[:, used]
    keep = _first_twins(np.round(matrix / twins) if twins > 0 else matrix, cost)
    if len(keep) < len(points):
        points, log_prob, matrix, cost = points[keep], log_prob[keep], matrix[keep], cost[keep]
    entropy = -plogp(log_prob).sum(axis=1)
    limited = budget < np.inf
    return Letters(
        points,
        np.ascontiguousarray(log_prob),
        np.ascontiguousarray(matrix),
        entropy,
        (cost - least) / (budget - least) if limited else np.zeros(len(cost)),
        1.0 if limited else np.inf,
        1.0 / (budget - least) if limited else 0.0,
    )


def _first_twins(matrix: Array, cost: Array) -> Any:
    """Of letters with equal rows, the cheapest; indices in their old order."""
    # rows are ranked by one sum of their entries, then compared whole with their neighbours
    mixed = matrix @ np.cos(np.arange(1.0, matrix.shape[1] + 1.0))
    order = np.lexsort((cost, mixed))
    ranked = matrix[order]
    fresh = np.ones(len(order), dtype=bool)
    fresh[1:] = (ranked[1:] != ranked[:-1]).any(axis=1)
    return np.sort(order[fresh])
