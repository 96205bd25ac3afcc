"""The line: quantile couplings, their potentials, and closed forms for a Gaussian."""

from __future__ import annotations

from math import erfc, exp, fsum, inf, pi, sqrt
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from channelcode._numerics.doubled import running_sum, two_sum
from channelcode._validation import Array

ROOT_TWO_PI = sqrt(2 * pi)
ROOT_HALF = sqrt(0.5)


def normal_density(z: Array) -> Array:
    """phi(z), the standard normal density; zero at infinity."""
    return np.exp(-0.5 * np.square(z)) / ROOT_TWO_PI


def normal_mass(left: float, right: float) -> float:
    """P(left < X < right) for X ~ N(0,1), from the nearer tail."""
    if left > 0:
        return 0.5 * (erfc(left * ROOT_HALF) - erfc(right * ROOT_HALF))
    return 0.5 * (erfc(-right * ROOT_HALF) - erfc(-left * ROOT_HALF))


def normal_cuts(weights: Array) -> Array:
    """z_j = Phi^{-1}(w_1 + ... + w_j) for j < m, from the nearer tail: `(m - 1,)`."""
    below = np.cumsum(weights)[:-1]
    above = np.cumsum(weights[::-1])[::-1][1:]
    near = np.minimum(np.minimum(below, above), 0.5)
    return np.where(below <= above, 1.0, -1.0) * ndtri(near)


def line_constant(atoms: Array, weights: Array) -> float:
    """rho_1 = max E<L,T> for L ~ N(0,1): the one constant that a target on the line needs.

    With sorted atoms and z_j as in `normal_cuts`, `rho_1 = sum_j (y_{j+1} - y_j) phi(z_j)`, which
    is the sum of theory section 3 by parts: no term is negative, so nothing cancels. For two atoms
    at -t and t it is `t sqrt(2/pi)`, Corollary 3.2.1.

    >>> round(line_constant(np.array([-1.0, 1.0]), np.array([0.5, 0.5])) ** 2 * np.pi, 12)
    2.0
    """
    order = np.argsort(atoms, kind="stable")
    return float(np.diff(atoms[order]) @ normal_density(normal_cuts(weights[order])))


class MonotonePlan(NamedTuple):
    """The north-west corner plan of two sorted laws: entries (row, column, mass)."""

    row: np.ndarray
    column: np.ndarray
    mass: Array


class _Levels(NamedTuple):
    """Cumulated weights of a law with twice the digits, from below and from above."""

    below: Array
    below_rest: Array
    above: Array
    above_rest: Array


def _levels(weights: Array) -> _Levels:
    below, below_rest = running_sum(weights)
    above, above_rest = running_sum(weights[::-1])
    # After the last atom nothing is left.
    above, above_rest = np.append(above[-2::-1], 0.0), np.append(above_rest[-2::-1], 0.0)
    return _Levels(below, below_rest, above, above_rest)


def monotone_plan(a: Array, b: Array) -> MonotonePlan:
    """Couple two laws by their quantiles; weights `(n,)` and `(m,)` in the order of the atoms.

    The cumulated weights carry twice the digits and count from the nearer end, so that a light atom
    gets its own mass and not the rounding of the others'.
    """
    n, m = len(a), len(b)
    first, second = _levels(a), _levels(b)
    # Both end at exactly the same level.
    excess = (first.below[-1] - second.below[-1]) + (first.below_rest[-1] - second.below_rest[-1])
    excess /= second.below[-1]
    below, below_rest = two_sum(second.below, second.below_rest + excess * second.below)
    above, above_rest = two_sum(second.above, second.above_rest + excess * second.above)
    below[-1], below_rest[-1] = first.below[-1], first.below_rest[-1]
    both = _Levels(
        np.concatenate((first.below, below)),
        np.concatenate((first.below_rest, below_rest)),
        np.concatenate((first.above, above)),
        np.concatenate((first.above_rest, above_rest)),
    )
    upper = both.below > 0.5 * first.below[-1]
    order = np.lexsort(
        (
            np.where(upper, -both.above_rest, both.below_rest),
            np.where(upper, -both.above, both.below),
            upper,
        )
    )
    below, below_rest, above, above_rest = (part[order] for part in both)
    upper = upper[order]
    rising = np.diff(below, prepend=0.0) + np.diff(below_rest, prepend=0.0)
    falling = -np.diff(above, prepend=0.0) - np.diff(above_rest, prepend=0.0)
    mass = np.where(np.concatenate(([False], upper[:-1])), falling, rising)
    from_a = order < n
    row = np.cumsum(from_a) - from_a
    column = np.arange(n + m) - row
    kept = (mass > 0) & (row < n) & (column < m)
    return MonotonePlan(row[kept], column[kept], mass[kept])


def monotone_potential(x: Array, y: Array, plan: MonotonePlan, heaviest: int) -> Array:
    """g `(m,)` with `max_i (x_i y_j - f_i)` attained on the plan: the potential of sorted atoms.

    Between atoms j and j + 1 the boundary lies at the first point of the plan that j + 1 takes:
    `g_{j+1} - g_j = x (y_{j+1} - y_j)`; zero at the heaviest atom.
    """
    first = np.full(len(y), -1)
    # The first row of each column, from the back so that the least one stays.
    first[plan.column[::-1]] = plan.row[::-1]
    # A column without mass sits where the next one with mass begins.
    following = np.minimum.accumulate(np.where(first < 0, len(x) - 1, first)[::-1])[::-1]
    return steps_from(heaviest, x[following[1:]] * np.diff(y))


def steps_from(place: int, steps: Array) -> Array:
    """Values with the given `steps (m - 1,)` from one to the next, zero at `place`.

    Atoms far away may have huge potentials: counted from the heaviest atom, they do not blur it.
    """
    below = -np.cumsum(steps[:place][::-1])[::-1]
    return np.concatenate((below, [0.0], np.cumsum(steps[place:])))


def correlation_bound(atoms: Array, weights: Array, v: Array) -> float:
    """E max_j (X y_j - v_j) + w'v for X ~ N(0,1): at least rho, whatever v."""
    line, cuts = upper_envelope(atoms, v)
    terms = (weights * v).tolist()
    for j, below, above in zip(line, [-inf, *cuts], [*cuts, inf]):
        terms.append(-normal_mass(below, above) * float(v[j]))
    for first, second, cut in zip(line, line[1:], cuts):
        rise = float(atoms[second]) - float(atoms[first])
        terms.append(rise * exp(-0.5 * cut * cut) / ROOT_TWO_PI)
    return fsum(terms)


def upper_envelope(slope: Array, intercept: Array) -> tuple[list[int], list[float]]:
    """The lines `slope_j x - intercept_j` on their maximum, left to right, and where they meet."""
    order = np.lexsort((intercept, slope)).tolist()
    slope, intercept = slope.tolist(), intercept.tolist()  # plain numbers: loops run on them
    kept: list[int] = []
    cuts: list[float] = []
    for j in order:
        if kept and slope[j] == slope[kept[-1]]:
            continue  # parallel and not higher
        while kept:
            last = kept[-1]
            meet = (intercept[j] - intercept[last]) / (slope[j] - slope[last])
            if cuts and meet <= cuts[-1]:
                kept.pop()
                cuts.pop()
                continue
            cuts.append(meet)
            break
        kept.append(j)
    return kept, cuts
