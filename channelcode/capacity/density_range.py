"""Which inputs of a channel with a density are searched, and whether those are all of them."""

from __future__ import annotations

import numpy as np

from channelcode.capacity.certify.far_inputs import search_end
from channelcode.capacity.problem import Problem
from channelcode.capacity.search.cheap import priced_probes, valleys
from channelcode.capacity.search.grid import SPACING, WIDEST, inner_radius, is_cost_even
from channelcode.channels import AdditiveGaussian, AdditiveLaplace, Gamma
from channelcode.channels.densities.range import output_scale
from channelcode.errors import InvalidArgument

FARTHEST = 8.0  # times the root of the budget, or scales: where a search under a power ends
_DEAREST = 16.0  # times the budget: where a search under a cost alone ends
_WALLS_WITHIN = 2.0  # times what is searched without them


def allowed(problem: Problem) -> tuple[float, float]:
    """The ends of the inputs that the domain and the peak allow."""
    (first, last), peak = problem.channel.domain, problem.limits.peak
    return max(first, -peak), min(last, peak)


def input_range(problem: Problem, farthest: float) -> tuple[float, float, bool]:
    """The inputs that are searched, and whether those are all that the constraint allows."""
    low, high = allowed(problem)
    if low > high:
        first, last = problem.channel.domain
        rule = f"must allow an input of the channel's domain, [{first:g}, {last:g}]"
        raise InvalidArgument("constraint", rule, problem.constraint)
    if np.isfinite(low) and np.isfinite(high):
        return low, high, True
    if problem.limits.cost is None:
        rule = "must limit the input: without a peak or a cost this capacity is infinite"
        raise InvalidArgument("constraint", rule, problem.constraint)
    if problem.limits.is_power and problem.limits.budget == 0.0 and low <= 0.0 <= high:
        return 0.0, 0.0, True
    end = _affordable(problem, farthest)
    return max(low, -end), min(high, end), False


def _affordable(problem: Problem, farthest: float) -> float:
    """How far to look without a peak: as far as an input costs no more than some budgets."""
    budget = problem.limits.budget
    if problem.limits.is_power:
        if isinstance(problem.channel, Gamma):
            return search_end(problem.channel.shape, budget)
        return farthest * float(np.sqrt(budget))
    first, last = problem.channel.domain
    sizes = np.geomspace(1e-3, 1e6, 181)
    if type(problem.channel) in (AdditiveGaussian, AdditiveLaplace):
        sizes *= float(output_scale(problem.channel, np.zeros(1))[0])
    cost = np.full(len(sizes), np.inf)
    for sign in (-1.0, 1.0):
        inside = (sign * sizes >= first) & (sign * sizes <= last)
        if inside.any():
            cost[inside] = np.minimum(cost[inside], problem.cost(sign * sizes[inside]))
    within = np.flatnonzero(cost <= _DEAREST * max(budget, 0.0))
    end = float(sizes[within[-1]]) if len(within) else 0.0
    bottoms = np.abs(valleys(problem))  # a dip may lie between those sizes, or be all there is
    near = bottoms <= (sizes[-1] if len(within) else np.inf)
    end = max(end, float(bottoms[near & (problem.cost(valleys(problem)) <= budget)].max(initial=0)))
    return end or float(sizes[60])


def within_walls(problem: Problem, low: float, high: float) -> tuple[float, float]:
    """The range without what lies beyond the outermost input that a cost of one's own allows."""
    if not problem.has_own_cost or low == high:
        return low, high
    inside = priced_probes(problem)[0]
    inside = np.append(inside[(inside >= low) & (inside <= high)], 0.5 * (low + high))
    inside = inside[np.isfinite(problem.cost(inside))]
    ends = [low, high]
    for side, start in ((0, inside.min(initial=np.inf)), (1, inside.max(initial=-np.inf))):
        if np.isinf(start) or np.isfinite(problem.cost(np.array([ends[side]]))).all():
            continue
        places = start + (ends[side] - start) * np.append(0.0, np.geomspace(1e-9, 1.0, 181))
        last = int(np.flatnonzero(np.isfinite(problem.cost(places)))[-1])
        near, far = float(places[last]), float(places[last + 1])
        for _ in range(60):
            middle = 0.5 * (near + far)
            if np.isfinite(problem.cost(np.array([middle])))[0]:
                near = middle
            else:
                far = middle
        ends[side] = near
    return ends[0], ends[1]


def walls(problem: Problem, low: float, high: float) -> tuple[float, float] | None:
    """The ends of all inputs that a cost of one's own allows; None if not known, or far out.

    They are known where it is infinite farther out, and declares that it falls nowhere there.
    """
    if not problem.has_own_cost or problem.limits.rises == np.inf or low == high:
        return None
    first, last = problem.channel.domain
    points, cost = priced_probes(problem)
    finite = np.flatnonzero(np.isfinite(cost))
    start, stop = finite[0] - 1, finite[-1] + 1
    if (start < 0 and points[0] > first) or (stop == len(points) and points[-1] < last):
        return None
    ends = float(points[max(start, 0)]), float(points[min(stop, len(points) - 1)])
    scale = float(output_scale(problem.channel, np.zeros(1))[0])
    far = _WALLS_WITHIN * max(-low, high, FARTHEST * scale)
    if not max(-ends[0], ends[1]) <= far:
        return None
    found = within_walls(problem, *ends)
    return found if is_cost_seen(problem, *found) else None


def is_cost_seen(problem: Problem, low: float, high: float) -> bool:
    """Whether the cost of no input is unknown, if those in [low, high] are looked at evenly."""
    first, last = problem.channel.domain
    sides = [np.inf if low <= first else -low, np.inf if high >= last else high]
    return is_cost_even(problem, min(*sides, WIDEST) if low < high else 0.0)


def where(problem: Problem, ends: tuple[float, float], everywhere: bool) -> str:
    """The inputs that a bound holds for; of a cost of one's own, how closely it was looked at."""
    text = f"[{ends[0]:.6g}, {ends[1]:.6g}]"
    if not problem.has_own_cost:
        return text
    radius = max(-ends[0], ends[1])
    even = inner_radius(problem, radius)
    if not everywhere and even < radius:
        text = f"[{max(ends[0], -even):.6g}, {min(ends[1], even):.6g}]"
        text += f", and only those looked at further out up to {radius:.6g}"
    if not everywhere:
        text = f"inputs within {text}"
    even = min(even, radius, problem.limits.rises)
    return text + (f", the cost looked at every {SPACING:g} up to {even:.6g}" if even > 0.0 else "")
