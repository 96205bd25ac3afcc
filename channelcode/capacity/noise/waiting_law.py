"""Waiting times under a power: Newton's method on the places and the log-weights of atoms.

ln Y is l plus noise, and the best law has atoms without end, ever lighter ones farther out. With
F(l) = D(f_l || q) - s l^2 it solves F = c and F' = 0 at every atom. In the logarithms of weights an
atom may be as light as it likes: with P_j(y) the probability of atom j given y,
dF_i = -sum_j E_i[P_j] d(ln w_j), a stochastic matrix.

The law is followed from a power so small that it is zero and a rare level; an atom joins where F
would need more than a little mass to be brought down to its level. It leads up to powers of about
the variance of the noise: beyond, atoms lie so near each other that the steps go astray.
"""

from __future__ import annotations

from math import log, sqrt
from typing import NamedTuple

import numpy as np
from scipy.special import gammainccinv, gammaln, logsumexp

from channelcode._validation import Array
from channelcode.capacity.certify.far_inputs import gamma_noise
from channelcode.capacity.noise.waiting import RareLevels, best_level
from channelcode.capacity.problem import Proposal
from channelcode.capacity.search.light_atoms import log_weights
from channelcode.channels import Gamma

_FIRST_POWER = 1e-5  # over the shape, where that is more than one
_STEP = 0.04  # of the nodes, in widths of the noise
_OUTSIDE = 1e-17
_APART = 0.1  # widths between the places where an atom may join
_ROUNDS = 25
_RESIDUE = 1e-12
_NEARLY = 1e-10
_DAMPING, _LEAST_DAMPING = 1e-12, 1e-9
_LONGEST = 1.0  # of ln w in one step
_FOLLOW = 2.0  # the factor from power to power
_LEAST_FOLLOW = 1.003
_WHILE_FOLLOWING = 1e-9  # mass that may be missing on the way
_MOST_JOINING = 12
_OUTSIDE_FIRST = 0.01
_LIGHTEST = -60.0  # ln of a weight
_NEAR = 1e-3  # widths: atoms so near are one


class Law(NamedTuple):
    """Atoms in ascending order, the logarithms of their weights, and the multiplier."""

    points: Array
    logs: Array
    price: float


def waiting_law(channel: Gamma, power: float, *, tol: float) -> Proposal | None:
    """A law whose F exceeds its information nowhere that `tol` of mass would not mend; or None.

    >>> found = waiting_law(Gamma(1.0), 0.1, tol=1e-11)
    >>> found.points.round(4)
    array([-0.0749,  1.3165,  2.7279,  4.5976])
    """
    newton = Newton(channel)
    now = min(power, _FIRST_POWER / max(channel.shape, 1.0))
    level = best_level(channel, now)
    if level is None:
        return None
    rare = RareLevels.one(channel, level, now)
    start = Law(np.array([0.0, level]), np.array([0.0, rare.log_share]), rare.at_level.price)
    law = newton.solved(start, now, _WHILE_FOLLOWING)
    path: list[tuple[float, Law]] = []
    factor, steps = _FOLLOW, 1
    while law is not None and now < power:
        if not path or path[-1][0] < log(now):
            path = [each for each in path if len(each[1].points) == len(law.points)][-2:]
            path.append((log(now), law))
        then = min(now * factor, power)
        begun = _expected(path, log(then))
        found = newton.solved(begun, then, tol if then == power else _WHILE_FOLLOWING)
        steps += 1
        if found is None:
            factor = factor**0.4
            if factor < _LEAST_FOLLOW:
                return None
            continue
        now, law, factor = then, found, min(factor**1.5, _FOLLOW)
    if law is None:
        return None
    weights = np.exp(law.logs)
    return Proposal(law.points, weights / weights.sum(), law.price, "Newton (times)", steps)


def _expected(path: list[tuple[float, Law]], place: float) -> Law:
    """The law at another power, by the polynomial in ln P through the last few of one size."""
    points, logs, price = np.zeros(1), np.zeros(1), 0.0
    for i, (own, law) in enumerate(path):
        share = 1.0
        for j, (other, _) in enumerate(path):
            if j != i:
                share *= (place - other) / (own - other)
        points, logs, price = (
            points + share * law.points,
            logs + share * law.logs,
            price + share * law.price,
        )
    if price > 0.0 and (len(points) == 1 or np.diff(points).min() > 0.0):
        return Law(points, logs, price)
    return path[-1][1]


class Newton:
    """The system for one channel."""

    def __init__(self, channel: Gamma) -> None:
        k = channel.shape
        self.channel, self.shape = channel, k
        self.width = 1.0 / sqrt(max(k, 1.0))
        self.step = _STEP * self.width
        self.own = -gamma_noise(k).entropy  # of f ln f
        self.low = (log(_OUTSIDE) + float(gammaln(k + 1.0))) / k - log(k)
        self.high = log(float(gammainccinv(k, _OUTSIDE))) - log(k)

    def nodes(self, low: float, high: float) -> Array:
        """Of ln y, for inputs between `low` and `high`."""
        first, last = (low + self.low) / self.step, (high + self.high) / self.step
        return self.step * np.arange(np.floor(first), np.ceil(last) + 1.0)

    def log_kernel(self, u: Array, points: Array) -> Array:
        """ln f of ln y = u at each point, `(n, m)`."""
        return self.channel.log_density(1.0, points[:, None] - u)

    def solved(self, law: Law, power: float, lacking: float) -> Law | None:
        """The law at a power, begun from a near one, with atoms that join it."""
        for _ in range(_MOST_JOINING):
            found = self.newton(law, power)
            if found is None:
                return None
            joined = self.joined(found, lacking)
            if joined is None:
                return found
            law = joined
        return None

    def newton(self, law: Law, power: float) -> Law | None:
        """F = c and F' = 0 at the atoms; None where the steps lead nowhere.

        Steps that would not help are damped: atoms near each other are hard to tell apart.
        """
        keep = law.logs > _LIGHTEST
        law = Law(law.points[keep], law.logs[keep], law.price)
        right, system = self.system(law, power)
        size, damping = len(right), _DAMPING
        for _ in range(_ROUNDS):
            if not np.isfinite(right).all() or np.abs(right).max() <= _RESIDUE:
                break
            damped = np.concatenate([system, damping * np.eye(size)])
            move = np.linalg.lstsq(damped, np.append(right, np.zeros(size)), rcond=None)[0]
            trial = self.moved(law, np.asarray(move, dtype=np.float64))
            then, next_system = self.system(trial, power)
            if np.linalg.norm(then) < np.linalg.norm(right):
                law, right, system, damping = trial, then, next_system, 0.1 * damping
            else:
                damping = 10.0 * max(damping, _LEAST_DAMPING)
                if damping > 1.0:
                    break
        return law if np.abs(right).max() <= _NEARLY else None

    def moved(self, law: Law, move: Array) -> Law:
        """A step, or the part of it that leaves the atoms in their order."""
        n = len(law.points)
        dp, dx = move[:n], move[n : 2 * n]
        length = min(1.0, _LONGEST / max(float(np.abs(dp).max()), _LONGEST))
        change, gaps = np.diff(dx), np.diff(law.points)
        closing = change < 0.0
        if closing.any():
            length = min(length, 0.5 * float((gaps[closing] / -change[closing]).min()))
        price = max(law.price + length * float(move[-2]), 0.5 * law.price)
        return Law(law.points + length * dx, law.logs + length * dp, price)

    def system(self, law: Law, power: float) -> tuple[Array, Array]:
        """What is missing, and its derivatives in ln w, x, s and c; c is the mean of F."""
        points, logs, price = law
        n, u = len(points), self.nodes(float(points[0]), float(points[-1]))
        log_f = self.log_kernel(u, points)
        f = self.step * np.exp(log_f)
        log_q = np.asarray(logsumexp(log_f + logs[:, None], axis=0))
        share = np.exp(log_f + logs[:, None] - log_q)
        grown = self.shape * np.exp(u - points[:, None])
        turn = grown - self.shape  # f' = turn f
        turned, both, weights = share * turn, f * turn, np.exp(logs)
        height = self.own - f @ log_q - price * points**2
        common = float(weights @ height) / float(weights.sum())
        flat = -(both @ log_q) - 2.0 * price * points
        bend = -((f * (turn * turn - grown)) @ log_q) - 2.0 * price
        system = np.zeros((2 * n + 2, 2 * n + 2))
        system[:n, :n], system[:n, n:-2] = -(f @ share.T), np.diag(flat) - f @ turned.T
        system[n:-2, :n], system[n:-2, n:-2] = -(both @ share.T), np.diag(bend) - both @ turned.T
        system[:n, -2], system[n:-2, -2], system[:n, -1] = -(points**2), -2.0 * points, -1.0
        system[-2, :n], system[-2, n:-2] = weights * points**2, 2.0 * weights * points
        system[-2] /= power
        system[-1, :n] = weights
        spent, mass = float(weights @ points**2) / power, float(weights.sum())
        right = np.concatenate([common - height, -flat, [1.0 - spent, 1.0 - mass]])
        return right, system

    def joined(self, law: Law, lacking: float) -> Law | None:
        """The law with an atom more, or None where F is nowhere too high."""
        points, logs, price = law
        weights = np.exp(logs)
        reach = 3.0 * self.width + 2.0
        places = np.arange(points[0] - reach, points[-1] + reach, _APART * self.width)
        u = self.nodes(float(places[0]), float(places[-1]))
        own = self.log_kernel(u, points)
        log_q = np.asarray(logsumexp(own + logs[:, None], axis=0))
        value = self.own - self.step * (np.exp(own) @ log_q)
        common = float(weights @ (value - price * points**2))
        limits = common + price * places**2
        found = log_weights(
            self.log_kernel(u, places) + log(self.step),
            log_q + log(self.step),
            limits,
            slack=0.1 * lacking,
            depth=0.0,
            most=12,
        )
        # atoms come in from far out: with one too few there, F is too high further in as well
        outside = np.where((places < points[0]) | (places > points[-1]), found, -np.inf)
        if np.exp(outside).sum() > _OUTSIDE_FIRST * lacking:
            found = outside
        elif np.exp(found).sum() <= lacking:
            return None
        place = int(np.argmax(found))
        at = int(np.searchsorted(points, places[place]))
        return Law(np.insert(points, at, places[place]), np.insert(logs, at, found[place]), price)
