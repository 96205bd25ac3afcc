"""Photon counts under a small power, with a peak or without: the best law of two inputs, judged.

The inputs are 0 and a, sent with p = P / a^2. Along these laws dI/da = p F'(a), with
F(l) = D(W_l || q) - s (l^2 - P) and s from F(0) = F(a), so that the best one solves KKT at both
inputs. What F does elsewhere is bounded between probes up to the peak, or up to where s l^2
outgrows D for good (`PoissonMixture.outweighed`); the law is the answer if F rises nowhere.

A search on letters spread over the peak would not see a level that is a thousandth of it.
"""

from __future__ import annotations

from math import exp, log, sqrt
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar

from channelcode._numerics.logspace import LOG_TWO
from channelcode.capacity.certify.density import density_bound
from channelcode.capacity.problem import CapacityResult, Problem, answer
from channelcode.certificate import Certificate, SolveStats
from channelcode.channels import Poisson
from channelcode.information.mixtures.poisson import PoissonMixture
from channelcode.measures import DiscreteMeasure

_MOST_POWER = 4.0  # times 1 + dark: beyond, three inputs are better
_LEVELS = 80  # among which the best one is looked for
_HIGHEST = 50.0  # deviations of the count, and roots of the power
_MOST_SHARE = 0.9
_LOOKS = 200  # inputs, to see whether the bound is worth its time
_FARTHEST = 1e4  # counts: sums up to there take milliseconds
_OFF = 1e-9  # of ln a; F is off by the square


class Pair(NamedTuple):
    """0 and `level`, sent with probability `share`; nats, s, and the law of the counts."""

    level: float
    share: float
    nats: float
    price: float
    mixture: PoissonMixture


def poisson_pair(
    problem: Problem, *, tol: float, throw: bool, started: float
) -> CapacityResult | None:
    """The capacity of counts under a power, where two inputs are proved to be enough; else None."""
    channel, limit = problem.channel, problem.limits
    if type(channel) is not Poisson or not limit.is_power or not limit.budget > 0.0:
        return None
    if limit.budget > _MOST_POWER * (1.0 + channel.dark):
        return None
    pair = best_pair(channel, limit.budget, limit.peak)
    if pair is None:
        return None
    spare = pair.nats - pair.price * limit.budget
    far = min(pair.mixture.outweighed(pair.price, spare), limit.peak)
    if not far <= _FARTHEST or far < pair.level:
        return None
    looks = np.append(np.geomspace(min(1e-3 * pair.level, far), far, _LOOKS), far)
    heights = pair.mixture.divergence(looks).value - pair.price * looks**2
    if heights.max() > spare + 0.5 * tol * LOG_TWO:
        return None
    law = pair.mixture.law
    bound = density_bound(problem, law, pair.price, (0.0, far), tol=tol * LOG_TWO)
    error = pair.mixture.error(pair.nats / pair.share)
    lower, upper = max(pair.nats - error, 0.0), bound.nats + bound.error
    if not upper - lower <= tol * LOG_TWO:
        return None
    what = "the peak" if far == limit.peak else "there the power outweighs the divergence"
    scope = f"every input: bends bounded between {bound.probes} probes up to {far:.6g}, {what}"
    return answer(
        problem,
        law,
        Certificate(lower / LOG_TWO, max(upper, lower) / LOG_TWO),
        SolveStats("OnOff (Poisson)", _LEVELS, perf_counter() - started),
        nats=pair.nats,
        multiplier=pair.price,
        scope=scope,
        tol=tol,
        throw=throw,
    )


def best_pair(channel: Poisson, power: float, peak: float) -> Pair | None:
    """The best of the laws of zero and a level within the peak that spend the power; or None.

    >>> found = best_pair(Poisson(0.0), 1e-6, 8.0)
    >>> round(found.level, 7), round(found.nats / 1e-3, 6)      # e and 2 / e as the power falls
    (0.0027151, 0.735192)
    """
    low = sqrt(power / _MOST_SHARE)
    high = min(peak, _HIGHEST * max(low, sqrt(1.0 + channel.dark)))
    if not 0.0 < low < high:
        return None
    levels = np.geomspace(low, high, _LEVELS)
    levels[-1] = high  # not beyond the peak by rounding
    carried = [pair_at(channel, power, level).nats for level in levels.tolist()]
    place = int(np.argmax(carried))
    if place == 0 or (place == _LEVELS - 1 and high < peak):
        return None
    if place == _LEVELS - 1:
        found = pair_at(channel, power, high)
    else:
        ends = log(levels[place - 1]), log(levels[place + 1])
        best: Any = minimize_scalar(
            lambda x: -pair_at(channel, power, exp(x)).nats,
            bounds=ends,
            method="bounded",
            options={"xatol": _OFF},
        )
        found = pair_at(channel, power, min(exp(float(best.x)), high))
    return found if found.price > 0.0 else None


def pair_at(channel: Poisson, power: float, level: float) -> Pair:
    """Zero and this level, which spend the power."""
    share = power / level**2
    mixture = PoissonMixture(channel, DiscreteMeasure([0.0, level], [1.0 - share, share]))
    off, on = mixture.divergence(np.array([0.0, level])).value.tolist()
    nats = (1.0 - share) * off + share * on
    return Pair(level, share, nats, (on - off) / level**2, mixture)
