"""The upper bound for channels with densities, over a range of inputs.

Between neighbouring probes F <= max(F(a), F(b)) + (b - a)^2/8 max(-F''). For Laplace noise,
Gaussian noise (atoms at most 720 deviations apart), counts and waiting times -F'' is bounded with
proof: D'' is known at the probes and changes at a bounded rate. Elsewhere it is taken from six
divided differences around the interval, less their whole spread: an estimate.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from channelcode._validation import Array
from channelcode.capacity.problem import Problem
from channelcode.capacity.search.bends import QUARTERS, bend_bound, graded
from channelcode.capacity.search.grid import cost_probes
from channelcode.channels import (
    AdditiveGaussian,
    AdditiveLaplace,
    Channel,
    Exponential,
    Gamma,
    Poisson,
)
from channelcode.information.mixtures.gamma import GammaMixture
from channelcode.information.mixtures.gaussian import GaussianMixture
from channelcode.information.mixtures.laplace import LaplaceMixture
from channelcode.information.mixtures.location import LocationMixture
from channelcode.information.mixtures.poisson import PoissonMixture
from channelcode.information.output_divergence import output_divergence
from channelcode.measures import DiscreteMeasure

_FIRST_PROBES = 801
_MOST_PROBES = 6000
_MOST_PROVED = 1_000_000  # Laplace noise: a probe takes a microsecond; others need few
_ASTRAY = 20.0  # nats
_NARROWEST = 1e-11  # of the range: an interval that no probe makes better


class DensityBound(NamedTuple):
    """A bound in nats, the error of its integrals, the probes, and whether bends are proved.

    `counted` is the error that `nats` contains already: every probe has its own.
    """

    nats: float
    error: float
    probes: int
    proved: bool
    counted: float = 0.0


class Smooth(NamedTuple):
    """D and D'' at inputs, how far -D'' can rise between them, and the error of D, all proved."""

    divergence: Callable[[Array], Any]  # with the fields `value` and `bend`
    down: Callable[[Array, Array], Array]  # from the lesser D'' of both ends, and the width
    error: Callable[[Any], Any]  # from D, at each input


def smooth_divergence(channel: Channel, law: DiscreteMeasure) -> Smooth | None:
    """What is proved about D(f(.|l) || q), q the output law of `law`; None where little is."""
    if type(channel) is AdditiveLaplace:
        laplace, rate = LaplaceMixture(channel.scale, law.atoms, law.weights), channel.scale**-3
        return Smooth(
            laplace.divergence,
            lambda least, width: width * rate - least,
            lambda value: 1e-15 * (4.0 + value),
        )
    noisy: LocationMixture | None = None
    if type(channel) is AdditiveGaussian:
        noisy = GaussianMixture(channel.noise, law.atoms, law.weights)
    elif isinstance(channel, Gamma) and type(channel) in (Gamma, Exponential):
        noisy = GammaMixture(channel, law.atoms, law.weights)
    if noisy is not None and noisy.affordable:
        return Smooth(noisy.divergence, noisy.down, noisy.error)
    if type(channel) is Poisson and law.second_moment + channel.dark > 0:
        poisson = PoissonMixture(channel, law)
        half = 0.5 * poisson.steepest
        return Smooth(poisson.divergence, lambda least, width: half * width - least, poisson.error)
    return None


def density_bound(
    problem: Problem,
    law: DiscreteMeasure,
    multiplier: float,
    ends: tuple[float, float],
    *,
    tol: float,
) -> DensityBound:
    """max_l [D(f(.|l) || q) - s (b(l) - P)] over the range in nats, q the output law of `law`.

    A multiplier that went astray, under a budget next to nothing say, is not believed: at s = 0 the
    same q gives a bound as well.
    """
    found = _bound_at(problem, law, multiplier, ends, tol)
    if multiplier > 0.0 and found.nats > _ASTRAY:
        other = _bound_at(problem, law, 0.0, ends, tol)
        found = min(found, other, key=lambda bound: bound.nats)
    return found


def _bound_at(
    problem: Problem,
    law: DiscreteMeasure,
    multiplier: float,
    ends: tuple[float, float],
    tol: float,
) -> DensityBound:
    low, high = ends
    known = smooth_divergence(problem.channel, law)
    if known is not None and not (problem.has_own_cost and multiplier > 0):
        return _proved_bound(problem, known, law, multiplier, ends, tol)
    worst = 0.0

    def measured(l: Array) -> Array:
        nonlocal worst
        found = output_divergence(problem.channel, l, law)
        worst = max(worst, found.error)
        return _priced(problem, l, found.nats + found.errors, multiplier)[:, None]

    if low == high:
        return DensityBound(float(measured(np.array([low]))[0, 0]), 0.0, 1, True, worst)
    grid = _first_probes(law, low, high)
    most = _MOST_PROBES
    if problem.has_own_cost:  # a dip of the cost may lie between probes
        seen = cost_probes(problem, low, high)
        grid, most = graded(np.union1d(grid, seen)), most + len(seen)
    upper, count = refined(measured, lambda l, seen: bend_bound(l, seen[:, 0]), grid, tol, most)
    return DensityBound(upper, 0.0, count, False, worst)


def _proved_bound(
    problem: Problem,
    known: Smooth,
    law: DiscreteMeasure,
    multiplier: float,
    ends: tuple[float, float],
    tol: float,
) -> DensityBound:
    curved = 2.0 * multiplier if problem.limits.cost is not None else 0.0  # s b'' of the power
    top = (-np.inf, 0.0)  # the highest probe, and its error

    def measured(l: Array) -> Array:
        """F, with the error of D at that input, and D'', `(n, 2)`."""
        nonlocal top
        found = known.divergence(l)
        errors = known.error(found.value)
        heights = _priced(problem, l, found.value + errors, multiplier)
        place = int(np.argmax(heights))
        top = max(top, (float(heights[place]), float(errors[place])))
        return np.stack([heights, found.bend], 1)

    def bound(points: Array, seen: Array) -> Array:
        """-F'' is at most its value at the nearer end and what it can gain in half the width."""
        heights, bend = seen.T
        width = np.diff(points)
        down = known.down(np.minimum(bend[1:], bend[:-1]), width) + curved
        return np.maximum(heights[1:], heights[:-1]) + 0.125 * width**2 * np.maximum(down, 0.0)

    low, high = ends
    if low == high:
        upper, count = float(measured(np.array([low]))[0, 0]), 1
    else:
        inside = law.atoms[(law.atoms > low) & (law.atoms < high)]
        grid = np.unique(np.concatenate([np.linspace(low, high, _FIRST_PROBES), inside]))
        upper, count = refined(measured, bound, grid, tol, _MOST_PROVED)
    return DensityBound(upper, 0.0, count, True, top[1])


def _priced(problem: Problem, l: Array, divergence: Array, multiplier: float) -> Array:
    if multiplier == 0 or problem.limits.cost is None:
        return divergence
    return divergence - multiplier * (problem.cost(l) - problem.limits.budget)


def _first_probes(law: DiscreteMeasure, low: float, high: float) -> Array:
    steps = (high - low) * np.array([1e-4, 2e-4, 4e-4, 8e-4])
    near = (law.atoms[:, None] + np.concatenate([-steps, [0.0], steps])).ravel()
    # D may be steep at an end, as l ln l is at zero: probes at every distance from both
    close = (high - low) * np.geomspace(1e-13, 1e-2, 90)
    grid = np.concatenate([np.linspace(low, high, _FIRST_PROBES), near, low + close, high - close])
    return graded(np.unique(grid[(grid >= low) & (grid <= high)]))


def refined(
    measured: Callable[[Array], Array],
    bounded: Callable[[Array, Array], Array],
    grid: Array,
    tol: float,
    most: int,
) -> tuple[float, int]:
    """Quarter the intervals whose bound is too high, until none is or probes run out.

    The first column of `measured` is the height.
    """
    seen = measured(grid)
    span = grid[-1] - grid[0]
    while True:
        bound = bounded(grid, seen)
        top = float(seen[:, 0].max())
        open_ = bound > top + 0.2 * tol
        if not open_.any() or len(grid) > most:
            return max(top, float(bound.max())), len(grid)
        left, width = grid[:-1][open_], np.diff(grid)[open_]
        if (width < _NARROWEST * span).all():
            return max(top, float(bound.max())), len(grid)
        fresh = (left[:, None] + width[:, None] * QUARTERS).ravel()
        order = np.argsort(np.concatenate([grid, fresh]), kind="stable")
        grid = np.concatenate([grid, fresh])[order]
        seen = np.concatenate([seen, measured(fresh)])[order]
