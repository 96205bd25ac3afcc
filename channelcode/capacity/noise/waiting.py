"""Waiting times under a power so small that two inputs, zero and a rare level, are as good as any.

D(f_l || f_0) = k (e^l - 1 - l) outgrows l^2, so that C / P has no limit as P falls: it rises about
like ln(1/P) / (ln ln(1/P))^2. With p = P / a^2 the output law is q = (1 - p) f_0 (1 + r),

    r(y) = p/(1 - p) f_a/f_0 = e^(d y - t),  d = k (1 - e^-a),  t = k a - ln(p/(1 - p)),

which rises with y, so that E_l ln(1 + r) rises with l. Hence, with J = E_a[ln(1 + r)/r],

    D(f_0 || q) = -ln(1 - p) - p/(1 - p) J,     D(f_l || q) = D_l - ln(1 - p) - E_l ln(1 + r),

D_l = k (e^l - 1 - l), both with their digits however small p is.

*The bound.* C <= s P + max_l [D(f_l || q') - s l^2]; q' is q with a little mass, much less than p,
on top: light atoms beyond a, and g, Gaussian in ln y.

- l <= 0: D_l <= k l^2/2 and E_0 - E_l <= |l| B, B = E_0[d Y r/(1 + r)]: the maximum is at most
  D(f_0 || q') + B^2 / (4 (s - k/2)), and the last term is of the order p^2.
- l >= 0 up to where D_l = s l^2, a ratio that rises with l: at most D(f_0 || q').
- From there to a radius: probes. Between them H = D_l - E_l ln(1 + r) - s l^2 bends down by no more
  than 2 s + S, S of `GammaMixture`. What H exceeds H(0) by is made up for by a larger s.
- Beyond the radius g counts: D(f_l || g) is quadratic in l and s l^2 outgrows it.

*A peak A next to zero.* D_l / l^2 rises with l, so that C <= D_A min(P / A^2, 1). Inputs -t and t
have E D_L = k c/2, c = 4 sinh(t/2)^2, and lose D(q || f_0), no more than

    chi^2 = 1/4 [(1 - c e^t)^-k + (1 - c e^-t)^-k + 2 (1 + c)^-k] - 1 < c^2 (k + k^2).

*The integrals*, over u = ln y, by the trapezoid rule. 1 + r has no zero in the strip of
`GammaMixture`, where |f_l| has the integral cos(v)^-k, and there

    ln(1 + r)(y e^(iv)) = ln(1 + r(y)) - z E[(k - theta) y | y] + ln E[e^(zX) | y],

which is less than 2 + 2 k y. For |r| >= 1/2 this bounds ln(1 + r)/r too, which is small elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from math import cos, exp, inf, log, log1p, pi, sqrt
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, logsumexp

from channelcode._numerics.logspace import LOG_TWO
from channelcode._validation import Array
from channelcode.capacity.certify.density import refined
from channelcode.capacity.certify.far_inputs import MOST_PLACES, SPACING, gamma_noise
from channelcode.capacity.problem import CapacityResult, Problem, answer
from channelcode.capacity.search.light_atoms import log_weights
from channelcode.certificate import Certificate, SolveStats
from channelcode.channels import Exponential, Gamma
from channelcode.channels.densities.view import FiniteView
from channelcode.information.mixtures.gamma import posterior, zero_free_strip
from channelcode.measures import DiscreteMeasure

ROUNDING = 1e-12  # relative, of either bound
SMALLEST = 2e-323  # what the doubles below 1e-308 round by
MOST_SHARE = 0.01  # p: beyond, more atoms are needed
GOAL = 1e-17  # the error of the trapezoid rule, relative
NOTHING = -46.0  # of ln r: below, ln(1 + r) is left out
ADDED = 1e-12  # e / p
WIDER = 8.0  # variance of g, in units of 1/s
FINE = 1e-10  # relative, to which H is bounded
DEPTH = 0.03  # of s l^2: so far below zero a light atom brings H
LIGHTEST = -1e5  # ln of the mass of an atom
_NEAR_ZERO = 1e-4  # up to such a peak, relative errors are no more than that
_FIRST_PROBES = 65
_MOST_PROBES = 20_000


class TwoInputs(NamedTuple):
    """A law of two inputs, its nats, bounds on the capacity in nats, and dC/dP."""

    input: DiscreteMeasure
    nats: float
    lower: float
    upper: float
    multiplier: float
    reason: str


def waiting_low_power(
    problem: Problem, *, tol: float, throw: bool, started: float
) -> CapacityResult | None:
    """The capacity of waiting times under a power for which two inputs will do; else None."""
    channel, limit = problem.channel, problem.limits
    if not isinstance(channel, Gamma) or type(channel) not in (Gamma, Exponential):
        return None
    if problem.has_own_cost or not min(limit.budget, limit.peak) > 0.0:
        return None
    law = near_zero(channel.shape, limit.budget, limit.peak)
    if law is None and limit.is_power:
        law = on_off(channel, limit.budget, limit.peak)
    if law is None or not law.upper - law.lower <= 0.25 * tol * LOG_TWO:
        return None
    return answer(
        problem,
        law.input,
        Certificate(law.lower / LOG_TWO, law.upper / LOG_TWO),
        SolveStats("ClosedForm (waiting times, low power)", 0, perf_counter() - started),
        nats=law.nats,
        multiplier=law.multiplier,
        scope=f"every input: {law.reason}",
        tol=tol,
        throw=throw,
    )


def near_zero(shape: float, power: float, peak: float) -> TwoInputs | None:
    """Either of -t and t, t^2 the power or the peak's; None where the peak is not next to zero.

    >>> found = near_zero(3.0, 1e-20, 1e-9)
    >>> found.nats, found.upper / found.lower < 1.0 + 1e-9
    (1.5e-20, True)
    """
    if not peak <= _NEAR_ZERO:
        return None
    size, binding = peak, power < peak * peak
    if binding:
        size = sqrt(power)
    price = shape * (0.5 + peak / 6.0 + peak * peak / 20.0)  # more than D / A^2, which is the most
    loss = size * size * (1.0 + shape)
    if loss > _NEAR_ZERO:
        return None
    nats = 0.5 * shape * size * size
    return TwoInputs(
        DiscreteMeasure.symmetric(size),
        nats * (1.0 - 0.5 * loss),
        max(nats * (1.0 - 4.0 * loss) - SMALLEST, 0.0),
        price * size * size * (1.0 + ROUNDING) + SMALLEST,
        price if binding else 0.0,
        "C <= S P with S = D(W_l||W_0)/l^2 at the peak, where it is largest",
    )


def on_off(channel: Gamma, power: float, peak: float = inf) -> TwoInputs | None:
    """Zero and the best rare level under a power; None where it would not be rare.

    >>> from channelcode import Exponential
    >>> found = on_off(Exponential(), 1e-100)
    >>> round(float(found.input.atoms[1]), 6), round(found.nats / 1e-100, 6)
    (5.742309, 4.903623)
    >>> found.upper / found.lower < 1.0 + 1e-8
    True
    """
    level = best_level(channel, power, peak)
    if level is None:
        return None
    law = RareLevels.one(channel, level, power)
    p, here = law.share, law.at_level
    spare = here.price - 0.5 * channel.shape
    if p > MOST_SHARE or not spare > 0.0:
        return None
    rate = here.price + here.zero / level**2  # I / P
    bound, added = _bounded_price(law, peak)
    left = here.missed**2 * p / (4.0 * spare)  # B^2 / (4 (s - k/2)), over p
    most = bound + (here.zero + left + added) / level**2
    lower, upper = power * rate * (1.0 - ROUNDING), power * most * (1.0 + ROUNDING)
    return TwoInputs(
        DiscreteMeasure([0.0, level], [1.0 - p, p]),
        power * rate,
        max(lower - SMALLEST, 0.0),
        max(upper, lower) + SMALLEST,
        here.price,
        "KKT holds for zero and a rare level, with a little mass far out",
    )


class RareLevels:
    """q = (1 - p) f_0 + p f_a, with light atoms on top or without, and divergences from it.

    `log_shares` are the logarithms of the masses of the `levels`, the first of which is a.
    """

    def __init__(self, channel: Gamma, levels: Array, log_shares: Array) -> None:
        self.channel, self.levels, self.log_shares = channel, levels, log_shares
        self.level, self.log_share = float(levels[0]), float(log_shares[0])
        self.share = exp(self.log_share)
        k, log_rest = channel.shape, log1p(-self.share)
        self.log_odds = log_shares - log_rest
        self.falls = -k * np.expm1(-levels)  # d
        self.starts = self.log_odds - channel.divergence_between(-levels, 0.0)  # ln r at y = 1
        order = np.argsort(levels)
        atoms, logs = np.append(0.0, levels[order]), np.append(log_rest, log_shares[order])
        self.spread = posterior(k, atoms, logs).spread
        self.strip = zero_free_strip(k, self.spread)
        self.ends = tuple(float(end) for end in channel.output_range(np.zeros(())))
        log_at_zero = self.starts - self.falls
        self.at_zero = float(np.exp(log_at_zero).sum())  # r(0)
        rise = np.logaddexp(0.0, NOTHING - log_at_zero - log(len(levels))) / self.falls
        self.first = log(float(rise.min()))  # of ln y: up to here r - r(0) is nothing

    @classmethod
    def one(cls, channel: Gamma, level: float, power: float) -> RareLevels:
        """One level, sent as often as the power allows."""
        return cls(channel, np.array([level]), np.array([log(power) - 2.0 * log(level)]))

    def _nodes(self, l: float) -> tuple[Array, Array]:
        """Masses of Y under f_l and ln Y, at nodes where r is not r(0)."""
        last = self.ends[1]
        first = min(max(self.ends[0], self.first - l), last)
        k, strip = self.channel.shape, self.strip
        size = 16.0 * (1.0 + k * exp(l)) * cos(strip) ** (-k - 1.0)
        step = 2.0 * pi * strip / (log(size) - log(GOAL))
        x = step * np.arange(np.floor(first / step), np.ceil(last / step) + 1.0)
        return step * np.exp(self.channel.log_density(1.0, -x)), l + x

    def _log_ratio(self, u: Array) -> Array:
        """ln r at ln y = u."""
        past = np.expm1(u)
        if len(self.levels) == 1:
            return self.starts[0] + self.falls[0] * past
        return np.asarray(logsumexp(self.starts + past[:, None] * self.falls, axis=1))

    def gain(self, l: float) -> float:
        """E_l ln(1 + r)."""
        mass, u = self._nodes(l)
        log_more = np.logaddexp(0.0, self._log_ratio(u)) - log1p(self.at_zero)
        return log1p(self.at_zero) + float(mass @ log_more)

    def height(self, l: float, price: float) -> float:
        """H(l) = D_l - E_l ln(1 + r) - s l^2."""
        return float(self.channel.divergence_between(l, 0.0)) - self.gain(l) - price * l * l

    @cached_property
    def at_level(self) -> AtLevel:
        """What is asked of one level alone."""
        mass, u = self._nodes(self.level)
        log_ratio = self._log_ratio(u)
        lost = _lost(np.array(self.at_zero))
        kept = float(lost + mass @ (_lost(np.exp(np.minimum(log_ratio, 300.0))) - lost))
        slope = float(mass @ (self.falls[0] * np.exp(u) * expit(log_ratio)))
        own, p = self.height(self.level, 0.0), self.share
        beyond = -(log1p(-p) + p) / p if p > 1e-5 else p * (0.5 + p / 3.0)
        offset = exp(float(self.log_odds[0])) * (1.0 - kept)
        return AtLevel(
            price=(own + offset) / self.level**2,
            zero=kept + beyond - (1.0 - kept) * p / (1.0 - p),
            offset=offset,
            slope=self.channel.shape * float(np.expm1(self.level)) - slope,
            missed=max(float(self.falls[0]) * exp(self.level) - slope, 0.0) / (1.0 - p),
        )


def _lost(ratio: Array) -> Array:
    """1 - ln(1 + r)/r."""
    with np.errstate(invalid="ignore"):
        far = 1.0 - np.log1p(ratio) / ratio
    return np.where(ratio < 1e-6, 0.5 * ratio - ratio**2 / 3.0, far)


class AtLevel(NamedTuple):
    """Of one level: s with F(a) = F(0), D(f_0 || q)/p, E_0 ln(1 + r), (D_a)', and B/p."""

    price: float
    zero: float
    offset: float
    slope: float
    missed: float


def best_level(channel: Gamma, power: float, peak: float = inf) -> float | None:
    """The level with F(a) = F(0) and F'(a) = 0, or the peak if F rises up to it."""

    def rising(level: float) -> float:
        """a F'(a), with s from F(a) = F(0)."""
        found = RareLevels.one(channel, level, power).at_level
        return level * (found.slope - 2.0 * found.price * level)

    rare = sqrt(power / MOST_SHARE)
    levels = _levels(channel.shape, power)
    within = levels[(levels > rare) & (levels < peak)]
    if rare < peak < levels[-1]:
        within = np.append(within, peak)
    before = None
    for level in within[::-1]:
        now = rising(float(level))
        if now >= 0.0:
            return float(level) if before is None else _root(rising, float(level), before)
        before = float(level)
    return None


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    """Where a function that is not negative at `low` and negative at `high` changes its sign."""
    found: Any = brentq(function, low, high, xtol=1e-14 * high)
    return float(found)


def _levels(shape: float, power: float) -> Array:
    """Levels among which the best one is: from D_a of a thousandth to more than ln(1/p)."""
    sizes = np.geomspace(1e-3, 20.0 + 4.0 * max(-log(power), 0.0), 80) / shape
    low, high = np.zeros(len(sizes)), np.sqrt(2.0 * sizes)
    for _ in range(60):  # e^l - 1 - l = size
        middle = 0.5 * (low + high)
        over = np.expm1(middle) - middle > sizes
        low, high = np.where(over, low, middle), np.where(over, middle, high)
    return high


def _bounded_price(law: RareLevels, peak: float) -> tuple[float, float]:
    """A multiplier for which H <= H(0) is proved where D_l > s l^2, and the mass added, over p."""
    channel, price, offset = law.channel, law.at_level.price, law.at_level.offset
    noise = gamma_noise(channel.shape)
    spread = WIDER / price
    room = -law.log_share - log(ADDED) - noise.entropy + 0.5 * log(2.0 * pi * spread)
    room += 0.5 * noise.variance / spread + 1e-3
    radius = max(sqrt(max(room, 0.0) / (price - 0.5 / spread)), -noise.mean)
    first, last = _reached(channel, price), min(radius, peak)
    if first >= last:
        return price, ADDED
    size = FINE * price * law.level**2
    split, topped = _topped(law, price, last, size)
    added = float(np.exp(topped.log_shares[1:] - law.log_share).sum()) + ADDED

    def measured(l: Array) -> Array:
        each = [(law if place <= split else topped).height(place, price) for place in l.tolist()]
        return np.array(each)[:, None]

    def bounded(points: Array, seen: Array) -> Array:
        heights, own = seen[:, 0], np.where(points[1:] <= split, law.spread, topped.spread)
        rise = 0.125 * (2.0 * price + own) * np.diff(points) ** 2
        return np.maximum(heights[1:], heights[:-1]) + rise

    places = [min(each, last) for each in (law.level, split)]
    grid = np.union1d(np.linspace(first, last, _FIRST_PROBES), places)
    top, _ = refined(measured, bounded, grid, 5.0 * size, _MOST_PROBES)
    return price + max(top + offset, 0.0) / first**2, added


def _topped(law: RareLevels, price: float, last: float, slack: float) -> tuple[float, RareLevels]:
    """The law with light atoms up to `last` where H would exceed zero, and where that begins."""
    channel = law.channel
    apart = SPACING * float(channel.output_scale(np.zeros(1))[0])
    places = np.arange(law.level + apart, last + apart, apart)
    if len(places) == 0 or len(places) > MOST_PLACES:
        return last, law
    limits = (1.0 - DEPTH) * price * places**2
    heights = np.array([law.height(place, price) for place in places.tolist()])
    high = heights > limits - price * places**2
    high[: int(np.argmin(heights))] = False  # next to the level H is zero
    if not high.any():
        return last, law
    begin = int(np.argmax(high))
    view = FiniteView(channel, 0.0, float(places[-1]), finer=4)
    logs = view.log_prob(np.append([0.0, law.level], places[begin:]) - view.shift)
    log_output = np.logaddexp(logs[0], logs[1] + law.log_share)
    found = log_weights(
        logs[2:], log_output, limits[begin:], slack=slack, depth=0.5, lightest=LIGHTEST
    )
    used = found > -np.inf
    levels = np.append(law.levels, places[begin:][used])
    topped = RareLevels(channel, levels, np.append(law.log_shares, found[used]))
    return float(places[begin]), topped


def _reached(channel: Gamma, price: float) -> float:
    """An input up to which D_l <= s l^2."""
    low, high = 0.0, 1.0
    while float(channel.divergence_between(high, 0.0)) <= price * high * high:
        low, high = high, 2.0 * high
    for _ in range(100):
        middle = 0.5 * (low + high)
        over = float(channel.divergence_between(middle, 0.0)) > price * middle * middle
        low, high = (low, middle) if over else (middle, high)
    return low * (1.0 - 1e-9)
