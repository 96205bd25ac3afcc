"""Gaussian noise under a power: Shannon's theorem, also where a peak is too high to matter."""

from __future__ import annotations

from time import perf_counter

import numpy as np
from scipy.special import roots_hermitenorm

from channelcode._numerics.logspace import LOG_TWO
from channelcode.capacity.problem import CapacityResult, Problem, answer
from channelcode.certificate import Certificate, SolveStats
from channelcode.channels import AdditiveGaussian
from channelcode.information.densities import atoms_information
from channelcode.measures import DiscreteMeasure, Gaussian

_ROUNDING = 4e-16
_COUNTS = (12, 24, 48, 96, 192, 384)  # atoms of a Gaussian law that is cut off by a peak


def shannon(problem: Problem, *, tol: float, throw: bool, started: float) -> CapacityResult | None:
    """C <= 1/2 ln(1 + P / noise^2), which L ~ N(0, P) attains; None where that is no answer.

    With a peak as well the bound still holds. Where the peak is many sqrt(P) out, atoms at the
    nodes of Gauss and Hermite, which are within it, carry as much to within `tol` bits.
    """
    channel, limit = problem.channel, problem.limits
    if type(channel) is not AdditiveGaussian or not limit.is_power:
        return None
    noise, nats = channel.noise, shannon_bound(problem)
    if not np.isfinite(nats):
        return None
    law, lower = Gaussian(0.0, limit.budget), nats
    if limit.peak < np.inf:
        found = _within_peak(channel, limit.budget, limit.peak, nats - 0.5 * tol * LOG_TWO)
        if found is None:
            return None
        law, lower = found
    certificate = Certificate(lower / LOG_TWO * (1 - _ROUNDING), nats / LOG_TWO * (1 + _ROUNDING))
    stats = SolveStats("ClosedForm (Shannon)", 0, perf_counter() - started)
    return answer(
        problem,
        law,
        certificate,
        stats,
        nats=lower,
        multiplier=0.5 / (noise**2 + limit.budget),
        scope="the real line: Shannon's theorem",
        tol=tol,
        throw=throw,
    )


def shannon_bound(problem: Problem) -> float:
    """1/2 ln(1 + P / noise^2) nats for Gaussian noise under a power, else infinity."""
    channel, limit = problem.channel, problem.limits
    if type(channel) is not AdditiveGaussian or not limit.is_power:
        return np.inf
    return 0.5 * float(np.log1p(limit.budget / channel.noise / channel.noise))


def _within_peak(
    channel: AdditiveGaussian, power: float, peak: float, goal: float
) -> tuple[DiscreteMeasure, float] | None:
    """A law within both limits that carries at least `goal` nats, and what it surely carries."""
    if power == 0.0 or goal <= 0.0:
        return None
    for count in _COUNTS:
        nodes, weights = roots_hermitenorm(count)
        points = np.sqrt(power) * nodes
        if points[-1] > peak:
            return None
        weights = weights / weights.sum()
        points = points * min(1.0, np.sqrt(power / float(weights @ points**2)))
        found = atoms_information(channel, points, weights)
        if found.nats - found.error >= goal:
            return DiscreteMeasure(points, weights), found.nats - found.error
    return None
