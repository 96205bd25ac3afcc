"""Photon counts under a power so small that two inputs, dark and lit, are as good as any law.

With dark counts, D(W_l || W_0) / l^2 nowhere rises, so that I <= P / (2 dark) (`low_power`). A law
that sends l = sqrt(P / p) with probability p loses p + l / (3 dark) of it, relatively, which is
least for p = (sqrt(P) / (6 dark))^(2/3).

Without dark counts, the output law Poisson(m) with m = sqrt(P) / e and s = 1 / (e sqrt(P)) give

    F(l) = l ln(l / m) - l + m - s (l^2 - P),

which falls, rises and falls, and is 2 sqrt(P) / e at its two tops, 0 and l = e sqrt(P). So
C <= 2 sqrt(P) / e at every power; l sent with probability e^-2 is short of it by O(P).
"""

from __future__ import annotations

from math import e, exp, expm1, inf, log1p, sqrt
from time import perf_counter
from typing import NamedTuple

import numpy as np

from channelcode._numerics.divergence import excess
from channelcode._numerics.logspace import LOG_TWO
from channelcode.capacity.problem import CapacityResult, Problem, answer
from channelcode.certificate import Certificate, SolveStats
from channelcode.channels import Poisson
from channelcode.measures import DiscreteMeasure

ROUNDING = 1e-13  # relative, of either bound
SMALLEST = 2e-323  # what the doubles below 1e-308 round by


class OnOff(NamedTuple):
    """Sending `level` with probability `share`: nats, and bounds on the capacity, in nats."""

    level: float
    share: float
    nats: float
    lower: float
    upper: float
    multiplier: float
    reason: str


def poisson_low_power(
    problem: Problem, *, tol: float, throw: bool, started: float
) -> CapacityResult | None:
    """The capacity of counts under a power where on and off is proved to be enough; else None."""
    channel, limit = problem.channel, problem.limits
    if type(channel) is not Poisson or not limit.is_power or not limit.budget > 0.0:
        return None
    law = on_off(limit.budget, channel.dark, limit.peak)
    if law is None or not law.upper - law.lower <= 0.25 * tol * LOG_TWO:
        return None
    upper = law.upper * (1.0 + ROUNDING) + SMALLEST
    lower = max(min(law.lower, law.upper) * (1.0 - ROUNDING) - SMALLEST, 0.0)
    certificate = Certificate(lower / LOG_TWO, upper / LOG_TWO)
    return answer(
        problem,
        DiscreteMeasure([0.0, law.level], [1.0 - law.share, law.share]),
        certificate,
        SolveStats("ClosedForm (Poisson, low power)", 0, perf_counter() - started),
        nats=law.nats,
        multiplier=law.multiplier,
        scope=f"every input: {law.reason}",
        tol=tol,
        throw=throw,
    )


def on_off(power: float, dark: float, peak: float = inf) -> OnOff | None:
    """The law of two inputs that is best as the power falls; None where the peak is in its way.

    >>> found = on_off(1e-20, 0.0)
    >>> round(found.nats / 1e-10, 8), round(found.upper / 1e-10, 8)          # 2 / e
    (0.73575888, 0.73575888)
    """
    root = sqrt(power)
    if dark == 0.0:
        level, share = e * root, exp(-2.0)
        if level > min(peak, 1.0):
            return None
        lit = -expm1(-level)  # the probability of a count
        none = log1p(-share * lit)
        nats = 2.0 * share * lit - (1.0 - share * lit) * none - share * level * (1.0 - lit)
        reason = "C <= 2 sqrt(P) / e, by an output law that is Poisson itself"
        upper = 2.0 * root / e
        return OnOff(level, share, nats, min(nats, upper), upper, 1.0 / (e * root), reason)
    size = root / dark
    share = (size / 6.0) ** (2.0 / 3.0)
    level = root / sqrt(share) if share > 0.0 else inf
    if level > peak:
        level = peak
        share = (root / peak) ** 2
    if not (0.0 < share <= 0.01 and 0.0 < level <= 0.1 * dark):
        return None
    t = level / dark
    gain = float(excess(np.array(t))) / t / t  # D / l^2, times dark
    apart = expm1(t * level) / (t * level)  # E (W_l / W_0 - 1)^2 over l^2 / dark
    upper = 0.5 * power / dark
    nats = power / dark * (gain - 0.5 * share * apart)
    lower = power / dark * (gain - share * apart)  # D(q || W_0) is at most chi^2
    price = (0.5 - 0.5 * share - 0.25 * t) / dark
    reason = "C <= P / (2 dark), as D(W_l||W_0)/l^2 nowhere rises"
    return OnOff(level, share, min(nats, upper), max(lower, 0.0), upper, price, reason)
