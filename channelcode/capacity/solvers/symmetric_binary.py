"""Symmetric binary channels, f(-l) = 1 - f(l): the concave envelope of the gain in the power.

With a uniform output law D(W(.|l) || q) = ln 2 - h_b(f(l)) =: G(l^2), so C(P) is the upper concave
envelope of G at P (theory: section 1): two atoms where G touches it, an atom at zero or two power
levels where it does not.
"""

from __future__ import annotations

import numpy as np

from channelcode._validation import Array
from channelcode.capacity.few_atoms import few_atoms
from channelcode.capacity.kkt import curve, local
from channelcode.capacity.law_value import divergence, quiet_log_prob
from channelcode.capacity.low_power import low_power_law
from channelcode.capacity.problem import Problem, Proposal
from channelcode.capacity.solvers.continuous.atoms import within_budget
from channelcode.capacity.solvers.continuous.newton import polish

_UNIFORM = np.array([0.5, 0.5])
_ASYMMETRY = 1e-12  # probabilities at l and -l may differ by rounding, not by more


def symmetric_binary(problem: Problem) -> Proposal | None:
    """The envelope's input law, or None for a channel without the symmetry or without a budget."""
    limit = problem.limits
    if not limit.is_power or limit.budget == 0:
        return None
    low = low_power_law(problem)
    if low is not None:
        return low
    highest = float(min(limit.peak, 40.0 * max(1.0, np.sqrt(limit.budget))))
    radii = np.unique(
        np.concatenate(
            [
                np.linspace(0.0, highest, 401),
                np.geomspace(1e-4 * highest, highest, 400),
                [min(np.sqrt(limit.budget), limit.peak)],
            ]
        )
    )
    if not _is_symmetric(problem, radii):
        return None
    gain = divergence(quiet_log_prob(problem.channel, radii), _UNIFORM)
    left, right = _envelope(radii**2, gain, limit.budget)
    if radii[right] ** 2 <= limit.budget and left == right:
        points, weights, multiplier = np.array([-radii[left], radii[left]]), _UNIFORM, 0.0
    elif right - left <= 1:
        root = float(np.sqrt(limit.budget))
        points, weights = np.array([-root, root]), _UNIFORM
        at = curve(local(problem, points), _UNIFORM, 0.0, 0.0)
        multiplier = max(float(at.gradient[1, 0]) / (2.0 * root), 0.0)
        return Proposal(points, weights, multiplier, "ClosedForm (symmetric binary)")
    else:
        points, weights, multiplier = _mixture(radii, gain, left, right, limit.budget)
    points, weights = few_atoms(problem, points, weights)
    polished = polish(problem, points, weights, multiplier)
    return Proposal(
        *within_budget(problem, polished.points, polished.weights, polished.multiplier),
        "ClosedForm (symmetric binary, envelope)",
    )


def _is_symmetric(problem: Problem, radii: Array) -> bool:
    here = np.exp(quiet_log_prob(problem.channel, radii))
    there = np.exp(quiet_log_prob(problem.channel, -radii))
    return bool(np.all(np.abs(here - there[:, ::-1]) <= _ASYMMETRY))


def _envelope(power: Array, gain: Array, budget: float) -> tuple[int, int]:
    """Indices of the envelope's vertices around the budget; equal when the gain peaks before it."""
    hull: list[int] = []
    for i in range(len(power)):
        while len(hull) > 1:
            a, b = hull[-2], hull[-1]
            if (gain[b] - gain[a]) * (power[i] - power[b]) > (gain[i] - gain[b]) * (
                power[b] - power[a]
            ):
                break
            hull.pop()
        hull.append(i)
    best = int(np.argmax(gain))
    if power[best] <= budget:
        return best, best
    place = int(np.searchsorted(power[hull], budget, side="right"))
    return hull[place - 1], hull[min(place, len(hull) - 1)]


def _mixture(
    radii: Array, gain: Array, left: int, right: int, budget: float
) -> tuple[Array, Array, float]:
    """Two power levels with the mean power of the budget, and the slope between them."""
    low, high = radii[left] ** 2, radii[right] ** 2
    share = (budget - low) / (high - low)
    slope = float((gain[right] - gain[left]) / (high - low))
    if radii[left] == 0.0:
        points = np.array([-radii[right], 0.0, radii[right]])
        weights = np.array([share / 2, 1.0 - share, share / 2])
    else:
        points = np.array([-radii[right], -radii[left], radii[left], radii[right]])
        weights = np.array([share, 1.0 - share, 1.0 - share, share]) / 2
    return points, weights, slope
