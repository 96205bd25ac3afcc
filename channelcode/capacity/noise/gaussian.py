"""Gaussian noise under a power: Shannon's theorem, also where a peak is too high to matter."""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter

import numpy as np
from scipy.special import roots_hermitenorm

from channelcode._numerics.logspace import HALF_LOG_TWO_PI, LOG_TWO
from channelcode._validation import Array
from channelcode.capacity.problem import CapacityResult, Problem, answer
from channelcode.certificate import Certificate, SolveStats
from channelcode.channels import AdditiveGaussian
from channelcode.information.densities import Integrated, atoms_information
from channelcode.measures import DiscreteMeasure, Gaussian

_ROUNDING = 4e-16
_COUNTS = (12, 24, 48, 96, 192, 384)  # atoms of a Gaussian law that is cut off by a peak
_FEW = 6.0  # deviations of the noise: for a wider law so many atoms are too few
_SPACING, _REACH = 1.1, 7.0  # of an even lattice: deviations of the noise, and of the law
_MOST_ATOMS = 200_000
_FINE = 0.28  # deviations of the noise between nodes, and half of it
_NEAR = 9.3  # deviations of the noise: 1.4e-20 of its mass lies beyond


def shannon(problem: Problem, *, tol: float, throw: bool, started: float) -> CapacityResult | None:
    """C <= 1/2 ln(1 + P / noise^2), which L ~ N(0, P) attains; None where that is no answer.

    With a peak as well the bound still holds. Where the peak is many sqrt(P) out, atoms at the
    nodes of Gauss and Hermite, which are within it, carry as much to within `tol` bits; so do atoms
    on an even lattice, whose output is N(0, P + noise^2) but for a ripple of e^(-2 pi^2/1.1^2).
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


def peak_bound(problem: Problem) -> float:
    """An upper bound in nats for Gaussian noise under a peak A, else infinity.

    `ln(1 + 2 A / (noise sqrt(2 pi e)))`, by an output law that is level within the peak and normal
    beyond it (McKellips 2004), and `1/2 ln(1 + A^2 / noise^2)`, since E L^2 <= A^2.
    """
    channel, peak = problem.channel, problem.limits.peak
    if type(channel) is not AdditiveGaussian or peak == np.inf:
        return np.inf
    ratio = peak / channel.noise
    level = np.log1p(2.0 * ratio / np.sqrt(2.0 * np.pi * np.e))
    return float(min(level, np.log(np.hypot(1.0, ratio))))


def _within_peak(
    channel: AdditiveGaussian, power: float, peak: float, goal: float
) -> tuple[DiscreteMeasure, float] | None:
    """A law within both limits that carries at least `goal` nats, and what it surely carries."""
    if power == 0.0 or goal <= 0.0:
        return None
    for points, weights in _cut_off(np.sqrt(power), channel.noise, peak):
        points = points * min(1.0, np.sqrt(power / float(weights @ points**2)))
        even = np.sqrt(power) > _FEW * channel.noise
        found = (lattice_information if even else atoms_information)(channel, points, weights)
        if found.nats - found.error >= goal:
            return DiscreteMeasure(points, weights), found.nats - found.error
    return None


def _cut_off(deviation: float, noise: float, peak: float) -> Iterator[tuple[Array, Array]]:
    """Atoms within the peak and weights near a Gaussian law, more from turn to turn."""
    if deviation <= _FEW * noise:
        for count in _COUNTS:
            nodes, weights = roots_hermitenorm(count)
            if deviation * nodes[-1] > peak:
                return
            yield deviation * nodes, weights / weights.sum()
        return
    half = int(np.ceil(_REACH * deviation / (_SPACING * noise)))
    if _REACH * deviation + noise * _SPACING > peak or half > _MOST_ATOMS // 2:
        return
    points = _SPACING * noise * np.arange(-half, half + 1.0)
    weights = np.exp(-0.5 * (points / deviation) ** 2)
    yield points, weights / weights.sum()


def lattice_information(channel: AdditiveGaussian, points: Array, weights: Array) -> Integrated:
    """I = h(Y) - h(noise) of evenly spaced atoms: the density of Y by convolution, at two steps."""
    gap = float(points[-1] - points[0]) / (len(points) - 1) / channel.noise
    found = []
    few = int(np.ceil(gap / _FINE))
    for fine in (few, 2 * few):
        step = gap / fine
        reach = int(np.ceil(_NEAR / step))
        kernel = np.exp(-0.5 * (step * np.arange(-reach, reach + 1.0)) ** 2) / np.sqrt(2.0 * np.pi)
        spread = np.zeros((len(points) - 1) * fine + 1)
        spread[::fine] = weights
        density = np.convolve(spread, kernel)
        density = density[density > 0.0]
        found.append(-step * float(density @ np.log(density)) - 0.5 - HALF_LOG_TWO_PI)
    error = abs(found[1] - found[0]) + 1e-14 * (2.0 + abs(found[1]))
    return Integrated(found[1], error)
