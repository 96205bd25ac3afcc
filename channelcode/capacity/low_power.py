"""Capacity at powers so small that ordinary sums would lose their digits.

For any law of L, with W_0 the law of Y at l = 0 and S = sup_l D(W_l || W_0) / l^2,

    I(L; Y) = E D(W_L || W_0) - D(q || W_0) <= S E L^2,

so that C(P) <= S P, and C(P) / P tends to S as P falls (Verdu, "On channel capacity per unit cost",
1990). The bound is met to first order by B_sqrt(P) where S is the limit at zero, half the Fisher
information there, and by l* switched on for a share P / l*^2 of the time where it is attained.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from channelcode._numerics.divergence import excess
from channelcode._validation import Array
from channelcode.capacity.law_value import LawValue, quiet_log_prob
from channelcode.capacity.problem import Problem, Proposal
from channelcode.capacity.search.bends import bend_bound, inside, quartered
from channelcode.capacity.search.grid import (
    BLACK_FINE,
    BLACK_WIDE,
    inner_radius,
    probes,
    spacing,
)
from channelcode.capacity.search.line import Probes, probe
from channelcode.channels import Channel
from channelcode.channels.tails import FARTHEST

LOW = 1e-7  # nats: the first order is good to about this, relatively
SMALL = 1e-5  # log-ratios below this come from derivatives at zero
ROUNDING_HIDES = 1e-10  # nats: below this the second order is lost, and not missed
RARE = 1e-12  # powers below this need two atoms at most where W_0 misses an output
CLOSER = 4  # rounds of looking closer at the rare letter
RARE_WITHIN = 1e3  # how far the rare letter is looked for
TINY = 1e-300  # a share whose logarithm exists
RTOL = 1e-9  # to which S is bounded
MOST_ROUNDS = 40
MOST_PROBES = 50_000


class Rate(NamedTuple):
    """S in nats per unit power, the input that attains it (0.0 for the limit), and a bound on S.

    It was looked for on `used` inputs within `radius`, evenly up to `even`, every `spacing`; of a
    black box that is the part it is proved for.
    """

    slope: float
    letter: float
    upper: float
    used: int
    radius: float
    even: float
    spacing: float


def log_ratios(channel: Channel, points: Array) -> Array:
    """ln W(y|l) - ln W(y|0), `(m, Y)`, with its digits however small l is."""
    zero = np.zeros(points.shape[1:])
    with np.errstate(invalid="ignore"):
        direct = quiet_log_prob(channel, points) - quiet_log_prob(channel, zero)
    near = np.abs(direct).max(axis=-1) < SMALL
    if near.any():
        gradient, hessian = channel.derivatives(zero)
        l = points[near]
        with np.errstate(under="ignore"):
            if points.ndim == 1:
                series = gradient * l[:, None] + hessian * (0.5 * l * l)[:, None]
            else:
                series = l @ gradient.T + 0.5 * np.einsum("mk,ykj,mj->my", l, hessian, l)
        direct[near] = series
    return direct


def value_near_zero(channel: Channel, points: Array, weights: Array, found: LawValue) -> LawValue:
    """I of a law that carries next to nothing, to relative accuracy; `found` if there is no way."""
    zero = np.zeros(points.shape[1:])
    law = np.exp(quiet_log_prob(channel, zero))
    ratios = log_ratios(channel, points)
    if not (law > 0).all() or not np.isfinite(ratios).all():
        return found
    with np.errstate(under="ignore"):
        change = np.expm1(ratios)
        apart = float(weights @ (law * excess(change)).sum(axis=-1))
        mixed = float((law * excess(weights @ change)).sum())
    nats = max(apart - mixed, 0.0)
    return found._replace(nats=nats, deficit=float(np.log(len(law))) - nats)


def divergence_from_zero(channel: Channel, points: Array) -> Array:
    """D(W_l || W_0) in nats, `(m,)`, to relative accuracy however small l is."""
    law = np.exp(quiet_log_prob(channel, np.zeros(points.shape[1:])))
    with np.errstate(under="ignore"):
        return (law * excess(np.expm1(log_ratios(channel, points)))).sum(axis=-1)


def best_rate(problem: Problem) -> Rate | None:
    """S on the line, by probes and refinement; None if W_0 misses an output or S has no bound."""
    key = ("rate", problem.limits.peak)
    if key not in problem.cache:
        problem.cache[key] = _best_rate(problem)
    return problem.cache[key]


def _best_rate(problem: Problem) -> Rate | None:
    channel, peak = problem.channel, problem.limits.peak
    law = np.exp(quiet_log_prob(channel, np.zeros(1)))[0]
    if not (law > 0).all():
        return None
    room = float(-np.log(law.min()))
    first = channel.derivatives(np.zeros(1)).gradient[0]
    half_fisher = 0.5 * float(law @ first**2)
    if not np.isfinite(half_fisher):
        return None

    def rate(points: Array) -> Array:
        with np.errstate(under="ignore", divide="ignore", invalid="ignore"):
            values = divergence_from_zero(channel, points) / points**2
        return np.where(np.abs(points) < 1e-12, half_fisher, values)

    near = probes(problem, min(8.0, peak), fine=BLACK_FINE, wide=BLACK_WIDE).points
    least = max(half_fisher, float(rate(near).max()))
    if not 0.0 < least < np.inf:
        return None
    with np.errstate(over="ignore"):
        radius = min(float(np.sqrt(np.divide(room, least))) * 1.0001, peak)
    if not radius <= FARTHEST:
        return None
    found = probes(problem, radius, fine=BLACK_FINE, wide=BLACK_WIDE, throughout=True)
    even = inner_radius(problem, radius)
    if found.points[0] > -radius or found.points[-1] < radius:
        return None  # further out the channel returns no numbers
    points = found.points
    values = rate(points)
    used, upper = len(points), half_fisher
    top, slope = float(points[np.argmax(values)]), max(half_fisher, float(values.max()))
    bound = bend_bound(points, values)
    for _ in range(MOST_ROUNDS):
        open_ = bound > slope * (1.0 + RTOL)
        upper = max(upper, float(bound[~open_].max(initial=0.0)))
        if not open_.any() or used > MOST_PROBES:
            break
        keep, fresh = quartered(points, open_)
        if len(fresh) == 0:
            break
        order = np.argsort(np.append(points[keep], fresh), kind="stable")
        found = rate(fresh)
        if found.max() > slope:
            top, slope = float(fresh[found.argmax()]), float(found.max())
        finer = np.append(points[keep], fresh)[order]
        values = np.append(values[keep], found)[order]
        alive = inside(finer, points, open_)
        points, used = finer, used + len(fresh)
        bound = bend_bound(points, values)
        bound[~alive] = 0.0
    upper = max(upper, float(bound.max()))
    at_zero = half_fisher >= slope * (1.0 - 1e-7)
    if not upper <= slope * (1.0 + 1e-6):
        return None
    apart = spacing(problem, even, BLACK_FINE)
    return Rate(slope, 0.0 if at_zero else top, upper, used, radius, min(even, radius), apart)


def low_power_law(problem: Problem) -> Proposal | None:
    """The law that is optimal to first order, or None where the power is not that small."""
    limit = problem.limits
    if not limit.is_power or not 0.0 < limit.budget < 1e-3 or problem.channel.dim != 1:
        return None
    rate = best_rate(problem)
    if rate is None and limit.budget < RARE:
        return _rare_law(problem)
    if rate is None or rate.slope * limit.budget > LOW:
        return None
    root = float(np.sqrt(limit.budget))
    if rate.letter == 0.0:
        if root > limit.peak:
            return None
        points, weights = np.array([-root, root]), np.array([0.5, 0.5])
    else:
        share = limit.budget / rate.letter**2
        if share > 1e-3:
            return None
        points, weights = np.array([0.0, rate.letter]), np.array([1.0 - share, share])
        law = np.exp(quiet_log_prob(problem.channel, np.zeros(1)))[0]
        slope = _rare_slopes(probe(problem, points[1:]), law, limit.budget)[0]
        if slope < rate.slope * (1.0 - 1e-4):  # an output rarer at zero than the letter itself
            return _rare_law(problem) if limit.budget < RARE else None
        better = _second_order(problem, points, weights, rate.slope)
        if better is not None:
            return better
    return Proposal(points, weights, rate.slope, "Continuous (low power)")


def _rare_law(problem: Problem) -> Proposal | None:
    """Zero and one rare letter, where W_0 all but misses an output: the slope is D(W_l || q) / l^2.

    q = (1 - w) W_0 + w W_l with w = P / l^2, so that the slope grows like ln(1/P) as P falls.
    """
    budget = problem.limits.budget
    found = probes(problem, min(RARE_WITHIN, problem.limits.peak), fine=BLACK_FINE, wide=BLACK_WIDE)
    far = np.abs(found.points) > np.sqrt(RARE)
    law = np.exp(quiet_log_prob(problem.channel, np.zeros(1)))[0]
    if not far.any():
        return None
    seen = found.take(far)
    slopes = _rare_slopes(seen, law, budget)
    for _ in range(CLOSER):
        place = int(np.argmax(slopes))
        ends = seen.points[[max(place - 1, 0), min(place + 1, len(slopes) - 1)]]
        fine = np.append(np.linspace(ends[0], ends[1], 257), seen.points[place])
        seen = probe(problem, np.unique(fine[np.abs(fine) > np.sqrt(RARE)]))
        slopes = _rare_slopes(seen, law, budget)
    place = int(np.argmax(slopes))
    slope, letter = float(slopes[place]), float(seen.points[place])
    weight = budget / letter**2
    while weight * letter**2 > budget:  # the smallest doubles are coarse
        weight = float(np.nextafter(weight, 0.0))
    if not 0.0 < slope * budget < RARE:
        return None
    if weight == 0.0:
        return Proposal(np.zeros(1), np.ones(1), slope, "Continuous (low power)")
    law_points, weights = np.array([0.0, letter]), np.array([1.0 - weight, weight])
    return Proposal(law_points, weights, slope, "Continuous (low power)")


def _rare_slopes(seen: Probes, law: Array, budget: float) -> Array:
    """D(W_l || (1 - w) W_0 + w W_l) / l^2 for each letter with its share w = P / l^2."""
    share = np.maximum(budget / seen.points**2, TINY)
    with np.errstate(all="ignore"):
        output = np.log((1.0 - share[:, None]) * law + share[:, None] * seen.prob)
        output = np.where(law > 0, output, np.log(share)[:, None] + seen.log_prob)
        cross = np.where(seen.prob > 0, seen.prob * output, 0.0)
    return (seen.order - cross.sum(axis=1)) / seen.points**2


def _second_order(problem: Problem, points: Array, weights: Array, slope: float) -> Proposal | None:
    """On-off with the small shifts that Newton finds; None where rounding hides them."""
    from channelcode.capacity.solvers.continuous.atoms import within_budget
    from channelcode.capacity.solvers.continuous.newton import polish

    if slope * problem.limits.budget < ROUNDING_HIDES:
        return None
    found = polish(problem, points, weights, slope)
    law = within_budget(problem, found.points, found.weights, found.multiplier)
    close = np.abs(law[0] - points).max() < 1e-2 * abs(points[1])
    if not close or abs(law[2] - slope) > 1e-4 * slope or len(law[1]) != 2:
        return None
    return Proposal(*law, "Continuous (low power)")
