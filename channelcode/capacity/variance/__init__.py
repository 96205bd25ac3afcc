"""Capacity under a limit on the variance: a search over the mean, certified as a whole."""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter

import numpy as np

from channelcode._numerics.logspace import LOG_TWO
from channelcode._validation import Array
from channelcode.capacity.problem import EPSILON, CapacityResult, Problem, Solver, answer
from channelcode.capacity.solve import FINEST, capacity
from channelcode.capacity.variance.search import MOST_CENTRES, MeanSearch
from channelcode.certificate import Certificate, SolveStats
from channelcode.channels.densities.additive_gaussian import AdditiveGaussian
from channelcode.channels.densities.additive_laplace import AdditiveLaplace
from channelcode.channels.densities.range import has_density
from channelcode.constraints import Power
from channelcode.errors import InvalidArgument
from channelcode.measures import DiscreteMeasure


def variance_capacity(
    problem: Problem, solver: Solver, *, tol: float, throw: bool, started: float
) -> CapacityResult:
    """The capacity of a channel on the line under `Variance`; `tol` in bits."""
    channel = problem.channel
    if channel.dim != 1:
        rule = "must have inputs on the line when the variance is limited"
        raise InvalidArgument("channel", rule, channel)
    if has_density(channel):
        return _additive(problem, solver, tol=tol, throw=throw)
    search = MeanSearch(problem, solver, max(tol * LOG_TWO, FINEST))
    upper, complete, scope = search.run()
    best = search.best
    points, weights = best.place + best.offsets, best.weights
    lower = best.bounds.lower * _share(points - best.place, weights, problem.limits.variance)
    certificate = Certificate(lower / LOG_TWO, max(upper, lower) / LOG_TWO)
    found = best.bounds.value
    stats = SolveStats("Centres", len(search.centres), perf_counter() - started)
    return answer(
        problem,
        DiscreteMeasure(points, weights),
        certificate,
        stats,
        nats=found.nats,
        multiplier=best.price,
        scope=scope,
        tol=tol,
        throw=throw,
        output=found.output,
        deficit=found.deficit,
        exhausted=len(search.centres) >= MOST_CENTRES,
        complete=complete,
    )


def _additive(problem: Problem, solver: Solver, *, tol: float, throw: bool) -> CapacityResult:
    """Additive noise does not know where zero is: the variance limit is the power limit."""
    channel, limit = problem.channel, problem.limits
    if not isinstance(channel, AdditiveGaussian | AdditiveLaplace) or limit.peak < np.inf:
        rule = "must have finitely many outputs, or additive noise without a peak, under Variance"
        raise InvalidArgument("channel", rule, channel)
    found = capacity(channel, Power(limit.variance), solver=solver, tol=tol, throw=throw)
    scope = f"{found.scope}; additive noise, so that every mean is alike"
    return replace(found, problem=problem, scope=scope)


def _share(offsets: Array, weights: Array, variance: float) -> float:
    """The part of the information that surely fits: mixing with the mean lowers the variance."""
    spread = float(weights @ (offsets - weights @ offsets) ** 2)
    return 1.0 if spread <= variance * (1.0 + 8 * EPSILON) else variance / spread
