"""Bounds on I(L; Y) for laws whose variance is limited and whose mean is anywhere.

With q and s from the problem "E (L - c)^2 <= P" at a centre c, and U its upper bound, a law of
mean m and variance at most P has E (L - c)^2 <= P + (m - c)^2, hence

    I(L; Y) <= max_l [D(W_l || q) - s (l - c)^2] + s (P + (m - c)^2) = U + s (m - c)^2.

Between two centres the lesser of their two parabolas counts, or a bound from the bends of U(m) if
that is lower. For a mean beyond m and a cut t before it, L <= t has a probability of at most
e = P / (P + (m - t)^2) (Cantelli), and

    I(L; Y) <= h(e) + e ln |Y| + capacity of the inputs beyond t,

which falls to zero where the channel declares that its probabilities settle.
"""

from __future__ import annotations

import numpy as np

from channelcode._validation import Array
from channelcode.capacity.law_value import quiet_log_prob
from channelcode.capacity.problem import Problem
from channelcode.capacity.search.bends import bend_bound

_HALVINGS = 60
_CUTS = np.geomspace(1e-3, 1e15, 145)  # distances of the cut from the last bend, in units


def bound_between(centres: Array, upper: Array, price: Array, *, smooth: bool = True) -> Array:
    """A bound in nats for the means between neighbouring centres, `(n - 1,)`.

    On a finite alphabet U(m) is not `smooth`, and the parabolas alone count.
    """
    bound = parabolas(centres, upper, price)
    return np.minimum(bound, bend_bound(centres, upper)) if smooth else bound


def parabolas(centres: Array, upper: Array, price: Array) -> Array:
    """The highest point of the lesser of two parabolas that rise towards each other.

    >>> parabolas(np.array([0.0, 2.0]), np.array([1.0, 1.0]), np.array([0.5, 0.5]))
    array([1.5])
    """
    width = np.diff(centres)
    low, high = np.zeros_like(width), width.copy()
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        left = upper[:-1] + price[:-1] * middle**2
        right = upper[1:] + price[1:] * (width - middle) ** 2
        rising = left < right
        low, high = np.where(rising, middle, low), np.where(rising, high, middle)
    with np.errstate(over="ignore"):
        left = upper[:-1] + price[:-1] * high**2
        right = upper[1:] + price[1:] * (width - low) ** 2
    return np.minimum(left, right)


def bound_beyond(problem: Problem, side: int, means: Array) -> Array:
    """A bound in nats for every mean at `means` or further out; `side` is -1 or 1.

    Infinite where the channel declares no limit, or not where its probabilities turn last.
    """
    tails, variance = problem.tails, problem.limits.variance
    nothing = np.full(len(means), np.inf)
    if tails is None or tails.limits is None:
        return nothing
    limit = np.asarray(tails.limits[(side + 1) // 2])
    cuts, law = _settled(problem, side, limit)
    if len(cuts) == 0:
        return nothing
    radius = _radius_of(law, limit)
    room = np.maximum(np.abs(means)[:, None] - cuts, 0.0)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        share = variance / (variance + room**2)
        mixed = -share * np.log(share) - (1.0 - share) * np.log1p(-share)
        total = np.where(share > 0, mixed + share * np.log(law.shape[1]), 0.0) + radius
    total[(room <= 0) | (share >= 0.5)] = np.inf  # h(e) rises up to one half
    return total.min(axis=1)


def _settled(problem: Problem, side: int, limit: Array) -> tuple[Array, Array]:
    """Distances beyond which every probability is monotone on that side, and the laws there.

    Where the channel names no radius but turns once at most: a probability that falls and whose
    limit is zero has turned, and so has one that rises to one.
    """
    tails = problem.tails
    if tails is None:
        return np.empty(0), np.empty((0, len(limit)))
    unit = min((width for _, width in tails.landmarks), default=1.0)
    first = tails.radius
    if not first < np.inf:
        first = max((abs(float(centre)) for centre, _ in tails.landmarks), default=0.0)
    cuts = first + np.append(0.0, unit * _CUTS)
    law = np.exp(quiet_log_prob(problem.channel, side * cuts))
    if tails.radius < np.inf:
        return cuts, law
    if not tails.turns_once or not np.isin(limit, (0.0, 1.0)).all():
        return cuts[:0], law[:0]
    change = np.diff(law, axis=0)
    outward = np.where(limit == 1.0, change >= 0, change <= 0).all(axis=1)
    moving = (change != 0).all(axis=1)
    start = np.flatnonzero(outward & moving)
    begin = int(start[0]) + 1 if len(start) else len(cuts)
    return cuts[begin:], law[begin:]


def _radius_of(law: Array, limit: Array) -> Array:
    """max D(W || q) over laws between `law` and `limit` in every output, q halfway, `(n,)`."""
    middle = 0.5 * (law + limit)
    highest = np.zeros_like(law)
    with np.errstate(divide="ignore", invalid="ignore"):
        for corner in (law, np.broadcast_to(limit, law.shape)):
            term = np.where(corner > 0, corner * np.log(corner / middle), 0.0) - corner + middle
            highest = np.maximum(highest, term)
    return highest.sum(axis=1)
