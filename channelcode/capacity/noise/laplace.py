"""Laplace noise under a power: the capacity in closed form, and laws that come near it."""

from __future__ import annotations

from math import exp, gamma, inf, log, log1p, pi, sqrt
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from scipy.special import gammainc

from channelcode._numerics.logspace import LOG_TWO
from channelcode._validation import Array
from channelcode.capacity.problem import CapacityResult, Problem, answer
from channelcode.capacity.solvers.laplace_law import Shape, cells
from channelcode.certificate import Certificate, SolveStats
from channelcode.channels import AdditiveLaplace
from channelcode.errors import InvalidArgument
from channelcode.information.mixtures.laplace import LaplaceMixture
from channelcode.measures import DiscreteMeasure, Gaussian

_ROUNDING = 4e-15
_WIDE = 120.0  # squared scales: from here on q is Gaussian, but for e^-58 of its mass
_GAUSSIAN_FROM = 3000.0  # squared scales: from here on `gaussian_loss` is below 1e-11
_PAIR_UP_TO = 1e-8  # squared scales: up to here two atoms lose less than 1e-12 nats
_LIGHTEST = 9.5  # deviations: atoms beyond carry nothing
_MOST_MATCHING = 8
_MOST_ATOMS = 400_000
_ABSURD = 10 * _MOST_ATOMS  # where as many as that do not come near


class PowerLimit(NamedTuple):
    """The best law under some power, in scales: it lies on [-half, half], and costs `power`.

    `nats` is its information and `price` dC/dP. For every other power P' of the same channel
    C(P') <= nats + price (P' - power).
    """

    half: float
    power: float
    nats: float

    @property
    def price(self) -> float:
        """The multiplier s = 1 / (2 (half + 1)) in nats per squared scale."""
        return 0.5 / (self.half + 1.0)

    @property
    def rounding(self) -> float:
        """How far rounding may have moved `nats`."""
        return _ROUNDING * self.nats + 1e-15 * self.half * min(self.half, _WIDE) * self.price

    def bound(self, power: float) -> float:
        """An upper bound on the capacity under another power, in nats."""
        return self.nats + self.price * (power - self.power) + self.rounding


def power_limit(half: float) -> PowerLimit:
    """The law whose output is Gaussian up to `half`, a, and falls as e^-|y| beyond (scale one).

    D(f_l || q) = u solves u'' - u = 1 + ln 2 + ln q. With q = c e^(-s y^2) on [-a, a] and
    q = q(a) e^(a - |y|) beyond, s = 1/(2 (a + 1)), it is C + s (l^2 - P) within a, and beyond

        D = C + s (a^2 - P) + x - 2 s (1 - e^-x),   x = |l| - a,

    which lies below C + s (l^2 - P) by s (x^2 - 2 (x - 1 + e^-x)) >= 0: KKT. The input
    p = q - q'' = (1 + 2 s - 4 s^2 y^2) q within a, with an atom of 2 s q(a) at either end, is a
    law. With v = a + 1, e = exp(-a^2 / 2v), j = int_0^a y^2 exp(-y^2 / 2v) dy / (v e), t = a + j,

        P = (a^2 + j (a - 1)) / (1 + t),
        C = ln(1 + t) - t/(1 + t) + (j - t a^2/v) / (2 (1 + t)) nats.

    >>> found = power_limit(1.713327717964805)
    >>> round(found.power, 9), round(found.nats / LOG_TWO, 9)
    (1.0, 0.376980344)
    """
    a, v = half, half + 1.0
    if v > _WIDE:
        return PowerLimit(a, v - 2.0, 0.5 * (log(0.5 * pi * v) - 1.0))
    exponent = 0.5 * a * (a / v)
    j = sqrt(2.0 * v) * gamma(1.5) * float(gammainc(1.5, exponent)) * exp(exponent)
    t = a + j
    first = log1p(t) - t / (1.0 + t)
    if t < 1e-4:
        first = t * t * (0.5 - t * (2 / 3 - t * (0.75 - t * 0.8)))
    return PowerLimit(
        a, (a * a + j * (a - 1.0)) / (1.0 + t), first + 0.5 * (j - t * a * (a / v)) / (1.0 + t)
    )


def best_under_power(power: float) -> PowerLimit:
    """The best law under a power in squared scales, found by halving the range of `half`."""
    low, high = 0.0, power + sqrt(power) + 1.0
    while True:
        middle = 0.5 * (low + high) if low > 0.0 else 0.5 * high
        if not low < middle < high:
            return power_limit(high)
        if power_limit(middle).power < power:
            low = middle
        else:
            high = middle


def laplace_power_bound(problem: Problem) -> float:
    """The capacity of Laplace noise under the power alone, in nats; infinity for other problems."""
    power = _power_of(problem)
    if power is None:
        return inf
    return best_under_power(power).bound(power) if power > 0.0 else 0.0


def _power_of(problem: Problem) -> float | None:
    """The power in squared scales, for Laplace noise."""
    channel, limit = problem.channel, problem.limits
    if type(channel) is not AdditiveLaplace or not limit.is_power:
        return None
    power = limit.budget / channel.scale / channel.scale
    return power if power < inf else None


def laplace_power(
    problem: Problem, *, tol: float, throw: bool, started: float
) -> CapacityResult | None:
    """The capacity of Laplace noise under a power, where no peak is in the way; else None.

    The upper bound is `power_limit`'s. The law that is given has atoms in place of the density, as
    many as bring it to within `tol` bits; under a very large power it is N(0, P).
    """
    power, channel = _power_of(problem), problem.channel
    if power is None or power == 0.0 or not isinstance(channel, AdditiveLaplace):
        return None
    scale, best = channel.scale, best_under_power(power)
    reach = problem.limits.peak / scale
    if reach < best.half:
        return None
    upper = best.bound(power)
    law: Any = Gaussian(0.0, problem.limits.budget)
    nats = best.nats - gaussian_loss(power)
    lower = nats - best.rounding
    if power <= _PAIR_UP_TO:
        law = DiscreteMeasure.symmetric(sqrt(power) * scale)
        nats, lower = pair_information(sqrt(power))
    elif power < _GAUSSIAN_FROM or reach < inf:
        points, weights = law_under_power(power, best.half, tol * LOG_TWO)
        law = DiscreteMeasure(points * scale, weights)
        each = LaplaceMixture(scale, law.atoms, law.weights).divergence(law.atoms).value
        nats = float(law.weights @ each)
        lower = max(nats - 1e-15 * (4.0 + float(each.max())), 0.0)
    certificate = Certificate(min(lower, upper) / LOG_TWO, upper / LOG_TWO)
    stats = SolveStats("ClosedForm (Laplace noise, power)", 0, perf_counter() - started)
    return answer(
        problem,
        law,
        certificate,
        stats,
        nats=nats,
        multiplier=best.price / scale / scale,
        scope="the real line: KKT holds for an output that is Gaussian within "
        f"{best.half * scale:.6g} and falls exponentially beyond",
        tol=tol,
        throw=throw,
    )


def law_under_power(power: float, half: float, tol: float) -> tuple[Array, Array]:
    """Atoms in scales and weights within the power, whose information is best to about `tol` nats.

    Atoms in place of a density cost a little less: the smooth part is made wider to make up for it.
    """
    cut = _LIGHTEST * sqrt(half + 1.0)
    needed = cells(min(half, cut), 4.0 * tol)
    if needed > _ABSURD:
        rule = f"must have a smaller power beside its peak: the law needs {needed:.2g} atoms"
        raise InvalidArgument("constraint", rule, power)
    count = min(needed, _MOST_ATOMS)
    wanted, points, weights, spent = power, np.empty(0), np.empty(0), power
    for _ in range(_MOST_MATCHING):
        best = best_under_power(wanted)
        end = 2.0 * best.price * exp(-0.5 * best.half * (best.half / (best.half + 1.0)))
        points, weights = Shape(best.half, end, 0.0, best.price).law(inf, count, cut=cut)
        spent = float(weights @ points**2)
        if abs(spent - power) <= 1e-13 * power:
            break
        wanted *= power / spent
    return np.asarray(points * min(1.0, sqrt(power / spent))), weights


def pair_information(t: float) -> tuple[float, float]:
    """I of equal atoms at -t and t in nats, to relative t^2, and a lower bound; t in scales.

    Beyond t the sign is known with the odds e^(2 t), which tells (2 t)^2/8 - (2 t)^4/64 at least,
    and that is the case with probability (1 + e^(-2 t))/2; between the atoms it adds t^3/6.
    """
    return 0.5 * t * t * (1.0 - t / 1.5), 0.5 * t * t * (1.0 - t) * (1.0 - 0.5 * t * t)


def gaussian_loss(power: float) -> float:
    """A bound on C - I for the input N(0, P), P in squared scales, of use from 3000 on.

    C - I = E[C - F(L)] + D(q_L || q). F falls short of C beyond P + 1 only, where L has e^(-P/2) of
    its mass, and q is N(0, v), v = P + 2. The characteristic functions of q_L and q differ by
    e^(-P w^2/2) R(w^2) with |R(z)| = |1/(1 + z) - e^-z| <= 1.57 |z|^2 for Re z >= -0.04; on the
    line w + i y/v the inverse transform gives, for x = |y|/v^(1/2) <= v^(1/2)/5,

        |q_L/q - 1| <= 1.57 (v/P)^(1/2) (3 + 2 x^2 + x^4) / P^2,

    whose mean square is 530 / P^4 at most. Farther out q_L <= e^(P/50 - |y|/5) makes the rest of D
    less than P^2 e^(-P/50).
    """
    return 530.0 / power / power / power / power + exp(2.0 * log(power) - 0.02 * power)
