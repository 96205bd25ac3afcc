"""Photon counts under a power or a peak so small that two inputs, dark and lit, are as good as any.

With dark counts, D(W_l || W_0) / l^2 nowhere rises, so that I <= P / (2 dark) (`low_power`). A law
that sends l = sqrt(P / p) with probability p loses p + l / (3 dark) of it, relatively, which is
least for p = (sqrt(P) / (6 dark))^(2/3).

Without dark counts, the output law Poisson(m) with m = sqrt(P) / e and s = 1 / (e sqrt(P)) give

    F(l) = l ln(l / m) - l + m - s (l^2 - P),

which falls, rises and falls, and is 2 sqrt(P) / e at its two tops, 0 and l = e sqrt(P). So
C <= 2 sqrt(P) / e at every power; l sent with probability e^-2 is short of it by O(P).

*A peak A in the way.* The lit input is A, sent with p <= P / A^2, and the output law is Poisson of
the mean rate u = dark + p A. F(l) = D_l - s l^2 with D_l = D(W_l || Poisson(u)) and
s = (D_A - D_0) / A^2 has F(0) = F(A), F'(0) < 0 and a concave F', so that F'(A) >= 0 leaves no
maximum in between: C <= D_0 + s P. Where s would be negative the power does not bind: p is that
for which D_0 = D_A, and s = 0. The law itself carries that less D(q || Poisson(u)), which is at
most its chi^2, E e^(x x'/u) - 1 <= (V/u)^2 / 2 e^((A - p A)^2 / u), V = p (1 - p) A^2. Without dark
counts the bound is A p ln(1/p), p at most 1/e, and I is known in full.
"""

from __future__ import annotations

from math import e, exp, expm1, inf, log, log1p, sqrt
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
    if type(channel) is not Poisson or problem.has_own_cost:
        return None
    if not min(limit.budget, limit.peak) > 0.0:
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
    """The law of two inputs that is best as power or peak fall; None where it is not proved so.

    >>> found = on_off(1e-20, 0.0)
    >>> round(found.nats / 1e-10, 8), round(found.upper / 1e-10, 8)          # 2 / e
    (0.73575888, 0.73575888)
    >>> found = on_off(inf, 1.0, peak=1e-8)
    >>> round(found.lower / 1e-16, 7), round(found.upper / 1e-16, 7)        # A^2 / (8 dark)
    (0.125, 0.125)
    """
    if dark == 0.0:
        return _no_dark_counts(power, peak)
    found = [_at_the_peak(power, dark, peak), _below_the_peak(power, dark, peak)]
    known = [law for law in found if law is not None]
    return min(known, key=lambda law: law.upper - law.lower, default=None)


def _no_dark_counts(power: float, peak: float) -> OnOff | None:
    root = sqrt(power)
    level, share = e * root, exp(-2.0)
    if level > peak:
        level, share = peak, min((root / peak) ** 2, exp(-1.0))
    if level > 1.0:
        return None
    hidden = -log(share)  # 2 or less
    lit = -expm1(-level)  # the probability of a count
    none = log1p(-share * lit)
    nats = hidden * share * lit - (1.0 - share * lit) * none - share * level * (1.0 - lit)
    upper = level * share * hidden
    price = (hidden - 1.0) / level if share < exp(-1.0) else 0.0
    reason = "C <= A p ln(1/p), A the lit input, by an output law that is Poisson itself"
    return OnOff(level, share, nats, min(nats, upper), upper, price, reason)


def _below_the_peak(power: float, dark: float, peak: float) -> OnOff | None:
    if power == inf:
        return None
    root = sqrt(power)
    size = root / dark
    share = (size / 6.0) ** (2.0 / 3.0)
    level = root / sqrt(share) if share > 0.0 else inf
    if level > peak:
        level = peak
        share = (root / peak) ** 2
    if not (0.0 < share <= 0.01 and 0.0 < level <= 0.1 * dark):
        return None
    t = level / dark
    gain = _ratio(t)  # D / l^2, times dark
    apart = expm1(t * level) / (t * level)  # E (W_l / W_0 - 1)^2 over l^2 / dark
    upper = 0.5 * power / dark
    nats = power / dark * (gain - 0.5 * share * apart)
    lower = power / dark * (gain - share * apart)  # D(q || W_0) is at most chi^2
    price = (0.5 - 0.5 * share - 0.25 * t) / dark
    reason = "C <= P / (2 dark), as D(W_l||W_0)/l^2 nowhere rises"
    return OnOff(level, share, min(nats, upper), max(lower, 0.0), upper, price, reason)


def _at_the_peak(power: float, dark: float, peak: float) -> OnOff | None:
    """The peak and zero; divergences in units of A^2 / dark, where they keep their digits."""
    t = peak / dark
    if not 0.0 < t <= 0.1:
        return None
    # D_0 = D_A: ln(u / dark) = ((1 + t) ln(1 + t) - t) / t
    share, binds = expm1(t * _ratio(t)) / t if t > 1e-8 else 0.5 - t / 24.0, False
    if power < share * peak * peak:
        share, binds = power / peak / peak, True
    rate = 1.0 + share * t
    low = share**2 / rate * _ratio(-share * t / rate)
    high = (1.0 - share) ** 2 / rate * _ratio((1.0 - share) * t / rate)
    if binds and not log1p((1.0 - share) * t / rate) / t >= 2.0 * (high - low) * (1.0 + 1e-9):
        return None
    unit, rise = peak * t, max(high - low, 0.0)
    spread = share * (1.0 - share) / rate  # V / u
    loss = 0.5 * unit * spread**2 * exp(unit * (1.0 - share) ** 2 / rate)
    upper = low + share * rise if binds else max(low, high)
    carried = low + share * (high - low)
    reason = "C <= D(W_0||q) + s P for a Poisson output law q, as KKT holds for zero and the peak"
    return OnOff(
        peak,
        share,
        unit * max(carried - 0.5 * loss, 0.0),
        unit * max(carried - loss, 0.0),
        unit * upper,
        rise / dark if binds else 0.0,
        reason,
    )


def _ratio(x: float) -> float:
    """((1 + x) ln(1 + x) - x) / x^2, which is 1/2 at zero."""
    if abs(x) < 1e-5:
        return 0.5 - x / 6.0 + x * x / 12.0
    return float(excess(np.array(x))) / x / x
