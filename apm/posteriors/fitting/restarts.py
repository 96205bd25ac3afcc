"""Several starts for a maximum that may not be the only one, and an alarm if it is not."""

from __future__ import annotations

import numpy as np

from apm.encoders.calling import channel_inputs
from apm.posteriors.fitting.gauss_newton import (
    ROUNDING,
    Maximum,
    Problem,
    maximise,
    whitened_jacobian,
)
from channelcode._validation import Array
from channelcode.errors import InvalidArgument, NotConverged, warn_caller

DIRECTIONS = 8  # tried around a stationary point that may be a saddle
ASIDE = 1e-3  # posterior deviations of such a trial
LEVEL = 3.0  # nats: a maximum this much lower no longer counts
APART = 3.0  # deviations of l: maxima whose inputs differ by more say different things
PROBES = 32  # examples at which they are compared


class CompetingMaxima(UserWarning):
    """The posterior has several maxima of nearly the same height: one Gaussian is not enough."""


def best_maximum(
    problem: Problem, before: Array | None, restarts: int, rng: np.random.Generator
) -> Maximum:
    """The highest of the maxima from `before`, from the prior's mean and from draws of the prior.

    Warns (`CompetingMaxima`) where another one is at most three nats lower and its channel inputs,
    at examples like the labelled ones, are more than three deviations away.
    """
    q = len(problem.centre)
    starts = [] if before is None else [before]
    if restarts or not starts:
        starts.append(np.zeros(q))
    starts += list(rng.standard_normal((restarts, q)))
    found: list[Maximum] = []
    failure: NotConverged | None = None
    for start in starts:
        try:
            found.append(settled(problem, maximise(problem, start), rng))
        except NotConverged as error:
            failure = error
    if not found:
        # an encoder that is not finite, or of the wrong shape, says so by itself
        channel_inputs(
            problem.encoder, problem.theta(starts[0])[None], problem.rows, problem.channel
        )
        raise failure or NotConverged("no start led to a maximum")
    best = min(found, key=lambda each: each.value)
    rivals = [each for each in found if each.value - best.value < LEVEL]
    apart = max((apartness(problem, best, rival, rng) for rival in rivals), default=0.0)
    if apart > APART:
        warn_caller(
            f"{len(rivals)} starts found maxima within {LEVEL:g} nats whose channel inputs are "
            f"{apart:.0f} deviations apart: one Gaussian is not this posterior. Use Particles, or "
            "Grid with few parameters",
            CompetingMaxima,
        )
    return best


def settled(problem: Problem, found: Maximum, rng: np.random.Generator) -> Maximum:
    """The maximum itself, or the one below if it was a saddle: steps aside must not gain."""
    for _ in range(5):
        lower = _lower_aside(problem, found, rng)
        if lower is None:
            return found
        found = maximise(problem, lower)
    return found


def _lower_aside(problem: Problem, found: Maximum, rng: np.random.Generator) -> Array | None:
    rounding = 4.0 * ROUNDING * (1.0 + abs(found.value))
    for noise in rng.standard_normal((DIRECTIONS, len(found.u))):
        aside = found.spread.solve(noise)
        length = float(np.sqrt(max(noise @ aside, 0.0)))
        if length == 0:
            continue
        for sign in (1.0, -1.0):
            trial = found.u + sign * ASIDE / length * aside
            if problem.value(trial)[0] < found.value - max(rounding, ASIDE * found.decrement):
                return trial
    return None


def apartness(problem: Problem, best: Maximum, rival: Maximum, rng: np.random.Generator) -> float:
    """The largest difference of channel inputs between two maxima, in deviations at the best.

    Examples are the labelled ones and others scattered like them: what symmetric maxima have in
    common on the labels may differ everywhere else, and networks that differ by the order of their
    units differ nowhere.
    """
    if rival is best:
        return 0.0
    chosen = problem.rows[rng.integers(len(problem.rows), size=PROBES)]
    width = problem.rows.std(axis=0)
    width = np.where(width > 0, width, np.maximum(np.abs(problem.rows).max(axis=0), 1.0))
    probes = np.concatenate((problem.rows, chosen + width * rng.standard_normal(chosen.shape)))
    theta = np.stack([problem.theta(best.u), problem.theta(rival.u)])
    try:
        l = channel_inputs(problem.encoder, theta, probes, problem.channel)
        slopes = whitened_jacobian(problem, best.u, probes)
    except InvalidArgument:  # an encoder that is not defined between the examples
        probes = problem.rows
        l = channel_inputs(problem.encoder, theta, probes, problem.channel)
        slopes = whitened_jacobian(problem, best.u, probes)
    spread = np.square(best.spread.image(slopes)).sum(axis=(1, 2))
    apart = np.square(l[:, 0] - l[:, 1]).reshape(len(probes), -1).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(apart > 0, apart / spread, 0.0)
    return float(np.sqrt(ratio.max()))
