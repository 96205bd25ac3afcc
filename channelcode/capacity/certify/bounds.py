"""Both bounds on the capacity, recomputed from (problem, measure, multiplier) alone.

For any output law q and multiplier s >= 0 (theory: section 1),

    I(p) <= C(P) <= max_l [D(W(.|l) || q) - s b(l)] + s P     with E_p b <= P,

and no solver grades itself: whatever it proposes is judged here.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from channelcode._validation import Array
from channelcode.capacity.certify.finite import finite_bound
from channelcode.capacity.certify.line import UpperBound, line_bound
from channelcode.capacity.certify.theorems import theorem
from channelcode.capacity.law_value import LawValue, law_value, quiet_log_prob
from channelcode.capacity.low_power import LOW, best_rate, value_near_zero
from channelcode.capacity.problem import EPSILON, Problem
from channelcode.errors import InvalidArgument

SMALLEST = 5e-324  # the spacing of doubles below 1e-308, where nothing is accurate relatively
ROUNDING = 16 * EPSILON  # both bounds are moved outwards by this, times the size of the terms


class Bounds(NamedTuple):
    """What was proved, in nats, and over which inputs; `complete` if these are all allowed."""

    lower: float
    upper: float
    scope: str
    value: LawValue
    complete: bool


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
    share = _share_within_budget(problem, points, weights)
    return certify_within(problem, points, weights, multiplier, tol=tol, share=share)


def certify_within(
    problem: Problem,
    points: Array,
    weights: Array,
    multiplier: float,
    *,
    tol: float,
    share: float = 1.0,
) -> Bounds:
    """`certify` for a law that is known to keep the constraint, or to do so with that `share`."""
    if problem.limits.variance < np.inf:
        rule = "must have an origin: capacity() certifies a limit on the variance"
        raise InvalidArgument("constraint", rule, problem.constraint)
    found = law_value(quiet_log_prob(problem.channel, points), weights)
    if found.nats < LOW and not problem.is_finite:
        found = value_near_zero(problem.channel, points, weights, found)
    lower = found.nats * share
    known = theorem(problem, points, weights, multiplier)
    if known is not None:
        bound = UpperBound(found.nats, known)
    elif found.deficit <= 0.25 * tol:
        bound = UpperBound(np.inf, "every input (no law exceeds log |Y|)")
    elif problem.is_finite:
        bound = UpperBound(*finite_bound(problem, found.output, multiplier))
    else:
        rate = _low_power_bound(problem, found, multiplier)
        if rate is not None:  # relative accuracy: no slack for the rounding of ordinary sums
            lower, upper = relative(lower, rate.nats)
            return Bounds(lower, upper, rate.scope, found, rate.complete)
        bound = _continuous_bound(problem, points, found, multiplier, tol)
    if known is not None and 0.0 < found.nats < LOW and not problem.is_finite:
        return Bounds(*relative(lower, bound.nats), bound.scope, found, True)
    priced = multiplier > 0 and problem.limits.cost is not None
    price = multiplier * abs(problem.limits.budget) if priced else 0.0
    most = float(np.log(problem.channel.num_outputs))
    lower, upper = widened(lower, bound.nats, price, most, size=found.nats)
    return Bounds(float(lower), float(upper), bound.scope, found, bound.complete)


def _low_power_bound(problem: Problem, found: LawValue, multiplier: float) -> UpperBound | None:
    """C <= S P with S = sup_l D(W_l || W_0) / l^2, where the multiplier agrees with S."""
    if not (problem.limits.is_power and found.nats < LOW and problem.channel.dim == 1):
        return None
    rate = best_rate(problem)
    if rate is None or rate.slope * problem.limits.budget > LOW:
        return None
    if abs(multiplier - rate.slope) > 1e-4 * rate.slope:
        return None
    inputs, where = "every input", f"{rate.used} probes within {rate.radius:.4g}"
    complete = problem.tails is not None or rate.even >= rate.radius
    if problem.tails is None:
        where += f", every {rate.spacing:.2g} up to {rate.even:.4g}"
    if not complete:  # wide steps: a narrow response of a black box may lie between them
        inputs = f"inputs within [{-rate.even:.4g}, {rate.even:.4g}], and only those looked at"
        inputs += " further out"
    scope = f"{inputs}: C <= S P, S = sup D(W_l||W_0)/l^2 bounded between {where}"
    return UpperBound(rate.upper * problem.limits.budget, scope, complete)


def relative(lower: Any, upper: Any) -> tuple[Any, Any]:
    """Both bounds moved outwards by 1e-9 of themselves: sums that kept their relative accuracy."""
    step = 4 * SMALLEST
    return np.maximum(lower * (1.0 - 1e-9) - step, 0.0), upper * (1.0 + 1e-9) + step


def widened(lower: Any, upper: Any, price: Any, most: float, size: Any = None) -> tuple[Any, Any]:
    """Both bounds moved outwards by rounding, then cut to [0, log |Y|]; floats or arrays.

    `price` is multiplier times budget, `size` the information in nats, by default `lower`.
    """
    slack = ROUNDING * np.maximum(1.0, lower if size is None else size) + EPSILON * price
    return np.maximum(0.0, lower - slack), np.minimum(upper + slack, most)


def _continuous_bound(
    problem: Problem, points: Array, found: LawValue, multiplier: float, tol: float
) -> UpperBound:
    if problem.channel.dim == 1:
        return line_bound(problem, points, found, multiplier, tol)
    from channelcode.capacity.certify.space import space_bound

    return space_bound(problem, points, found, multiplier, tol)


def overspends(problem: Problem, points: Array, weights: Array) -> str | None:
    """How a law breaks the constraint, beyond rounding, in words; None if it does not."""
    norms = points if problem.limits.peak == np.inf else problem.norm(points)
    if _beyond_peak(problem, norms):
        return f"an atom at distance {norms.max()} beyond the peak {problem.limits.peak}"
    if problem.limits.variance < np.inf:
        rule = "must be solved by capacity(), which searches for the mean"
        raise InvalidArgument("constraint", rule, problem.constraint)
    spent, allowed = _spent(problem, points, weights)
    return None if spent <= allowed else f"a mean cost of {spent}, budget {problem.limits.budget}"


def _beyond_peak(problem: Problem, norms: Array) -> bool:
    peak = problem.limits.peak
    return bool(peak < np.inf and (norms > peak * (1.0 + 8 * EPSILON)).any())


def _spent(problem: Problem, points: Array, weights: Array) -> tuple[float, float]:
    """The mean cost, and the budget with room for rounding, such as that of sqrt(P)^2."""
    if problem.limits.cost is None:
        return 0.0, 0.0
    spent = problem.mean_cost(points, weights)
    size = spent if problem.limits.is_power else problem.mean_cost(points, weights, absolute=True)
    return spent, problem.limits.budget + 8 * EPSILON * size + (len(weights) + 1) * SMALLEST


def _share_within_budget(problem: Problem, points: Array, weights: Array) -> float:
    """The part of I(p) that surely fits the limits: 1, or less if p overspends.

    Mixing p with its cheapest atom until the budget holds keeps that share of its information;
    nothing is kept of a law beyond the peak, or of one without an atom within the budget.
    """
    if problem.limits.peak < np.inf and _beyond_peak(problem, problem.norm(points)):
        return 0.0
    spent, allowed = _spent(problem, points, weights)
    if spent <= allowed:
        return 1.0
    budget, cheapest = problem.limits.budget, float(problem.cost(points).min())
    return (budget - cheapest) / (spent - cheapest) if cheapest < budget else 0.0
