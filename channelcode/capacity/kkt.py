"""The KKT function F(l) = D(W(.|l) || q) - s (b(l) - P) and its derivatives.

At the optimum F <= C everywhere and F = C on the support (theory: section 1).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from channelcode._numerics.differentiate import along_line
from channelcode._validation import Array
from channelcode.capacity.law_value import divergence, quiet_log_prob
from channelcode.capacity.problem import Problem


class Local(NamedTuple):
    """Everything Newton needs at `m` inputs in R^k: shapes `(m, Y)`, `(m, Y, k)`, `(m, Y, k, k)`.

    `first` and `second` are derivatives of the probabilities; `cost` has shapes `(m,)`, `(m, k)`,
    `(m, k, k)`.
    """

    log_prob: Array
    prob: Array
    first: Array
    second: Array
    fisher: Array
    cost: Array
    cost_first: Array
    cost_second: Array


class Curve(NamedTuple):
    """F `(m,)`, its gradient `(m, k)` and its Hessian `(m, k, k)`, in nats."""

    value: Array
    gradient: Array
    hessian: Array


def kkt_function(problem: Problem, points: Array, output: Array, multiplier: float) -> Array:
    """F at inputs `(m,)` or `(m, k)`, in nats."""
    values = divergence(quiet_log_prob(problem.channel, points), output)
    return priced(problem, points, values, multiplier)


def priced(problem: Problem, points: Array, values: Array, multiplier: float) -> Array:
    """`values` minus s (b(l) - P); minus infinity where a cost of one's own forbids the input."""
    if problem.limits.cost is None or (multiplier == 0.0 and problem.limits.is_power):
        return values
    cost = problem.cost(points)
    with np.errstate(over="ignore", invalid="ignore"):
        if multiplier > 0.0:
            return values - multiplier * (cost - problem.limits.budget)
    return np.where(cost == np.inf, -np.inf, values)


def local(problem: Problem, points: Array) -> Local:
    """Probabilities, costs and their derivatives at inputs `(m,)` or `(m, k)`."""
    channel, line = problem.channel, points.ndim == 1
    with np.errstate(all="ignore"):
        log_prob = quiet_log_prob(channel, points)
        gradient, hessian = channel.derivatives(points)
        if line:
            gradient, hessian = gradient[..., None], hessian[..., None, None]
        prob = np.exp(log_prob)
        live = (prob > 0)[..., None]
        gradient = np.where(live & np.isfinite(gradient), gradient, 0.0)
        outer = gradient[..., :, None] * gradient[..., None, :]
        first = prob[..., None] * gradient
        bend = np.where(live[..., None] & np.isfinite(hessian), hessian, 0.0) + outer
        second = prob[..., None, None] * bend
        fisher = (prob[..., None, None] * outer).sum(axis=1)
    return Local(log_prob, prob, first, second, fisher, *_cost_derivatives(problem, points))


def curve(at: Local, output: Array, multiplier: float, budget: float) -> Curve:
    """F and its first two derivatives from `local` values."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(at.prob > 0, at.log_prob - np.log(output), 0.0)
    ratio = np.where(np.isfinite(ratio), ratio, 0.0)
    value = divergence(at.log_prob, output)
    gradient = np.einsum("my,myk->mk", ratio, at.first)
    hessian = np.einsum("my,mykl->mkl", ratio, at.second) + at.fisher
    if multiplier != 0.0:
        value = value - multiplier * (at.cost - budget)
        gradient = gradient - multiplier * at.cost_first
        hessian = hessian - multiplier * at.cost_second
    return Curve(value, gradient, hessian)


def _cost_derivatives(problem: Problem, points: Array) -> tuple[Array, Array, Array]:
    count, dim = len(points), 1 if points.ndim == 1 else points.shape[1]
    cost = problem.cost(points)
    if problem.limits.cost is None:
        return cost, np.zeros((count, dim)), np.zeros((count, dim, dim))
    if problem.limits.is_power:
        identity = np.broadcast_to(2.0 * np.eye(dim), (count, dim, dim))
        return cost, 2.0 * points.reshape(count, dim), identity
    with np.errstate(all="ignore"):
        if dim == 1:
            first, second = along_line(lambda t: problem.cost(points + t))
            first, second = first[:, None], second[:, None, None]
        else:
            first, second = _cost_in_space(problem, points)
    return cost, np.nan_to_num(first), np.nan_to_num(second)


def _cost_in_space(problem: Problem, points: Array) -> tuple[Array, Array]:
    count, dim = points.shape
    first, second = np.empty((count, dim)), np.empty((count, dim, dim))
    basis = np.eye(dim)
    for i in range(dim):
        step = basis[i]
        first[:, i], second[:, i, i] = along_line(lambda t, v=step: problem.cost(points + t * v))
    for i in range(dim):
        for j in range(i):
            both = basis[i] + basis[j]
            _, mixed = along_line(lambda t, v=both: problem.cost(points + t * v))
            second[:, i, j] = second[:, j, i] = 0.5 * (mixed - second[:, i, i] - second[:, j, j])
    return first, second
