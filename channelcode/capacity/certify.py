"""Both bounds on the capacity, recomputed from (problem, measure, multiplier) alone.

For any output law q and multiplier s >= 0 (theory: section 1),

    I(p) <= C(P) <= max_l [D(W(.|l) || q) - s b(l)] + s P     with E_p b <= P,

and no solver grades itself: whatever it proposes is judged here.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from channelcode._validation import Array
from channelcode.capacity.information import Information, divergence, information, safe_log_prob
from channelcode.capacity.problem import EPSILON, Problem
from channelcode.capacity.theorems import theorem
from channelcode.errors import InvalidArgument

ROUNDING = 16 * EPSILON  # both bounds are moved outwards by this, times the size of the terms


class Bounds(NamedTuple):
    """What was proved, in nats, and over which inputs."""

    lower: float
    upper: float
    scope: str
    information: Information


def certify(
    problem: Problem, points: Array, weights: Array, multiplier: float, *, tol: float
) -> Bounds:
    """Bound the capacity from both sides; `tol` (nats) says how fine the search has to be.

    `points` are `(m,)` on the line and `(m, dim)` in R^dim, `multiplier` is in nats per unit cost.

    >>> from channelcode import Logistic, Power
    >>> problem = Problem(Logistic(), Power(4.0))
    >>> bounds = certify(problem, np.array([-1.0, 1.0]), np.array([0.5, 0.5]), 0.05, tol=1e-9)
    >>> round(bounds.lower, 6), round(bounds.upper, 6)
    (0.110944, 0.328132)
    """
    if not multiplier >= 0:  # also catches NaN
        raise InvalidArgument("multiplier", "must be non-negative", multiplier)
    found = information(safe_log_prob(problem.channel, points), weights)
    lower = found.nats * _share_within_budget(problem, points, weights)
    known = theorem(problem, points, weights, multiplier)
    if known is not None:
        upper, scope = found.nats, known
    elif found.deficit <= 0.25 * tol:
        upper, scope = np.inf, "every input (no law exceeds log |Y|)"
    elif problem.is_finite:
        upper, scope = finite_bound(problem, found.output, multiplier)
    else:
        upper, scope = _continuous_bound(problem, points, found, multiplier, tol)
    slack = ROUNDING * max(1.0, found.nats)
    if multiplier > 0:
        slack += EPSILON * multiplier * abs(problem.limits.budget)
    upper = min(upper + slack, float(np.log(problem.channel.num_outputs)))
    lower = max(0.0, lower - slack)
    return Bounds(lower, upper, scope, found)


def finite_bound(problem: Problem, output: Array, multiplier: float) -> tuple[float, str]:
    """The upper bound over a finite alphabet: a maximum over its letters."""
    letters, matrix, cost = problem.alphabet()
    with np.errstate(divide="ignore"):
        kkt = divergence(np.log(matrix), output)
    if multiplier > 0:
        kkt = kkt - multiplier * (cost - problem.limits.budget)
    return float(kkt.max()), f"all {len(letters)} input letters"


def _continuous_bound(
    problem: Problem, points: Array, found: Information, multiplier: float, tol: float
) -> tuple[float, str]:
    if problem.channel.dim == 1:
        from channelcode.capacity.line_bound import line_bound

        return line_bound(problem, points, found, multiplier, tol)
    from channelcode.capacity.space_bound import space_bound

    return space_bound(problem, points, found, multiplier)


def _share_within_budget(problem: Problem, points: Array, weights: Array) -> float:
    """The part of I(p) that surely fits the limits: 1, or less if p overspends.

    Mixing p with its cheapest atom until the budget holds keeps that share of its information;
    nothing is kept of a law beyond the peak, or of one without an atom within the budget.
    """
    rounded = 1.0 + 8 * EPSILON
    if (problem.norm(points) > problem.limits.peak * rounded).any():
        return 0.0
    if problem.limits.cost is None:
        return 1.0
    cost = problem.cost(points)
    spent, budget = float(weights @ cost), problem.limits.budget
    if spent <= budget + 8 * EPSILON * float(weights @ np.abs(cost)):  # rounding of sqrt(P)^2
        return 1.0
    cheapest = float(cost.min())
    return (budget - cheapest) / (spent - cheapest) if cheapest < budget else 0.0
