"""Gaussian noise under a peak: Newton's method on the atoms and weights of a symmetric law.

The best law has finitely many atoms (Smith 1971), two of them at the peaks. With F(l) = D(f_l || q)
it solves F = C at every atom and F' = 0 at those within. Seen from a peak the distances of the
atoms hardly depend on it: 2.72, 2.17, 1.94, 1.79, ... deviations. A law of these is solved for at
the peak where it fits, and followed to the peak that is asked for; atoms are added until F nowhere
exceeds C by more than allowed.

Far from the peaks atoms D apart give an even output but for a ripple, which raises F by about
2 exp(-4 pi^2 / D^2), so that the middle of a wide law is as good as any other part of it: beyond
`_BASE` deviations the law is that of a lesser peak, with more atoms like its middle ones between.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from channelcode._numerics.logspace import HALF_LOG_TWO_PI
from channelcode._validation import Array
from channelcode.capacity.problem import Proposal
from channelcode.capacity.solvers.few_letters import longest

_FIRST_GAPS = (2.719, 2.170, 1.935, 1.791, 1.689, 1.614, 1.556, 1.51)  # from a peak inwards
_MIDDLE_GAP = 1.47  # of the first try; 1.29 is where the ripple is 1e-10
_STEP = (
    0.2  # of the nodes: the zeros of q nearest to the line are pi/2.72 away, the rule errs by 1e-16
)
_REACH = 9.3
_BASE, _BASE_ATOMS = 36.0, 50  # deviations: a wider law is put together; middle gaps of 1.2
WIDEST_PEAK = 350.0
_ROUNDS = 40
_MOST_TRIES = 24
_RESIDUE = 1e-13
_FOLLOW = 0.25  # deviations: steps of the peak from a law that is known
_LEAST_FOLLOW = 1e-3
_PROBES = 24  # in every deviation


class Law(NamedTuple):
    """Atoms in ascending order, symmetric, their weights, and F at the atoms, in nats."""

    points: Array
    weights: Array
    nats: float
    excess: float  # of F over `nats`, anywhere


def gaussian_peak(noise: float, peak: float, *, tol: float) -> Proposal | None:
    """The best law, whose F exceeds its information by `tol` nats at most; None if none is found.

    >>> found = gaussian_peak(1.0, 3.0, tol=1e-10)
    >>> found.points.round(4)
    array([-3.    , -0.3947,  0.3947,  3.    ])
    """
    ratio = peak / noise
    if not 0.0 < ratio <= WIDEST_PEAK:
        return None
    law = _narrow(ratio, tol) if ratio <= _BASE else _wide(ratio)
    if law is None:
        return None
    points = np.clip(law.points * noise, -peak, peak)
    points[0], points[-1] = -peak, peak
    return Proposal(points, law.weights, 0.0, "Newton (Smith)", len(points))


def _narrow(peak: float, tol: float) -> Law | None:
    """One atom more from try to try, beginning with the fewest that might do."""
    ends = _natural()
    count = max(2, int(2.0 * np.interp(peak, ends, np.arange(len(ends)))))
    best: Law | None = None
    for more in range(_MOST_TRIES):
        law = _followed(peak, count + more, ends)
        if law is not None and (best is None or law.excess < best.excess):
            best = law
            if law.excess <= tol:
                break
    return best


def _followed(peak: float, count: int, ends: Array) -> Law | None:
    """So many atoms: from the peak where they lie as in wide laws, down to this one."""
    natural = float(np.interp(0.5 * (count - 1), np.arange(len(ends)), ends))
    if natural <= peak:
        return _newton(_started(peak, count, ends))
    law, before = _newton(_started(natural, count, ends)), None
    step = _FOLLOW
    while law is not None and law.points[-1] > peak:
        place = max(peak, law.points[-1] - step)
        found = _newton(*_expected(place, law, before))
        if found is None:  # near a peak where an atom more is needed laws change like a root
            step *= 0.5
            if step < _LEAST_FOLLOW:
                return None
            continue
        before, law, step = law, found, min(1.5 * step, _FOLLOW)
    return law


def _expected(peak: float, law: Law, before: Law | None) -> tuple[Array, Array]:
    """Points and weights at a peak a little lower, along the line through two laws."""
    scaled = law.points * (peak / law.points[-1])
    if before is None:
        return scaled, law.weights
    share = (law.points[-1] - peak) / (before.points[-1] - law.points[-1])
    points = law.points + share * (law.points - before.points)
    points[0], points[-1] = -peak, peak
    if np.diff(points).min() <= 0.0:
        points = scaled
    weights = law.weights + share * (law.weights - before.weights)
    return points, np.maximum(weights, 0.1 * law.weights)


def _wide(peak: float) -> Law | None:
    """The law of a lesser peak, with atoms as in its middle put in between, and polished."""
    base = _followed(_BASE, _BASE_ATOMS, _natural())
    if base is None:
        return None
    more = int((peak - _BASE) * 2.0 / _middle_gap(base))

    def missing(law: Law) -> float:
        return peak - float(law.points[-1]) - 0.5 * more * _middle_gap(law)

    other = _newton(base.points * (1.0 + 1e-3), base.weights)
    for _ in range(8):  # the secant method in the lesser peak
        if other is None or abs(missing(other)) <= 1e-6:
            break
        slope = (missing(other) - missing(base)) / (other.points[-1] - base.points[-1])
        place = other.points[-1] - missing(other) / slope
        base, other = other, _newton(other.points * (place / other.points[-1]), other.weights)
    if other is None:
        return None
    half, shift = len(other.points) // 2, 0.5 * more * _middle_gap(other)
    inner = other.points[half - 1] - shift + _middle_gap(other) * np.arange(1, more + 1)
    points = np.concatenate([other.points[:half] - shift, inner, other.points[half:] + shift])
    middle = np.full(more, other.weights[half])
    weights = np.concatenate([other.weights[:half], middle, other.weights[half:]])
    points = points * (peak / points[-1])
    return _newton(0.5 * (points - points[::-1]), 0.5 * (weights + weights[::-1]))


def _natural() -> Array:
    """The distances of atoms from a peak in wide laws, to begin with."""
    gaps = np.concatenate([_FIRST_GAPS, np.full(64, _MIDDLE_GAP)])
    return np.concatenate([[0.0], np.cumsum(gaps)])


def _middle_gap(law: Law) -> float:
    half = len(law.points) // 2
    return float(law.points[half] - law.points[half - 1])


def _started(peak: float, count: int, ends: Array) -> Array:
    """Atoms at the distances from the peaks that wide laws have, stretched to fit."""
    place = np.arange(count)
    inwards = np.minimum(place, count - 1 - place)
    steps = np.arange(len(ends))
    stretch = peak / np.interp(0.5 * (count - 1), steps, ends)
    distance = stretch * np.interp(inwards, steps, ends)
    return np.where(2 * place <= count - 1, -peak + distance, peak - distance)


class _Integrals(NamedTuple):
    """F, F' and F'' at the atoms, and the products of f and f' over q."""

    value: Array
    slope: Array
    bend: Array
    both: Array
    mixed: Array
    slopes: Array


def _nodes(peak: float) -> Array:
    half = int(np.ceil((peak + _REACH) / _STEP))
    return _STEP * np.arange(-half, half + 1.0)


def _integrals(points: Array, weights: Array) -> _Integrals:
    y = _nodes(float(points[-1]))
    away = y - points[:, None]
    f = np.exp(-0.5 * away * away - HALF_LOG_TWO_PI)
    output = weights @ f
    log_q, over = np.log(output), _STEP / output
    turned = away * f
    return _Integrals(
        -(0.5 + HALF_LOG_TWO_PI) - _STEP * (f @ log_q),
        -_STEP * (turned @ log_q),
        -_STEP * (((away * away - 1.0) * f) @ log_q),
        (f * over) @ f.T,
        (f * over) @ turned.T,
        (turned * over) @ turned.T,
    )


def _newton(points: Array, given: Array | None = None) -> Law | None:
    """F = C at the atoms and F' = 0 within; None where the steps lead nowhere."""
    count = len(points)
    pairs, size = count // 2, (count + 1) // 2
    mirror = count - 1 - np.arange(count)
    group = np.minimum(np.arange(count), mirror)  # the pair, from the left
    mass = np.zeros((count, size))
    mass[np.arange(count), group] = 1.0
    place = np.zeros((count, pairs - 1))  # the outermost pair stays
    for k in range(1, pairs):
        place[k, k - 1], place[count - 1 - k, k - 1] = 1.0, -1.0
    weights = _first_weights(points) if given is None else given / given.sum()
    inner, residue = slice(1, pairs), np.inf
    for _ in range(_ROUNDS):
        now = _integrals(points, weights)
        off = float(weights @ now.value) - now.value[:size]
        residue = max(np.abs(off).max(), np.abs(now.slope[inner]).max(initial=0.0))
        if not np.isfinite(residue) or residue <= _RESIDUE:
            break
        free = size + pairs - 1
        system, right = np.zeros((free + 1, free + 1)), np.zeros(free + 1)
        system[:size, :size] = -(now.both @ mass)[:size]
        moved = -((now.mixed * weights) @ place)[:size]
        moved[np.arange(1, pairs), np.arange(pairs - 1)] += now.slope[inner]
        system[:size, size:free] = moved
        system[:size, -1] = -1.0
        system[size:free, :size] = -(now.mixed.T @ mass)[inner]
        system[size:free, size:free] = -((now.slopes * weights) @ place)[inner]
        system[size:free, size:free] += np.diag(now.bend[inner])
        system[-1, :size] = mass.sum(axis=0)
        right[:size], right[size:free] = off, -now.slope[inner]
        step = np.linalg.lstsq(system, right, rcond=1e-14)[0]
        dp, dx = mass @ step[:size], place @ step[size:free]
        length = min(1.0, 0.9 * longest(weights, dp), 0.3 * longest(np.diff(points), np.diff(dx)))
        points, weights = points + length * dx, weights + length * dp
        weights = weights / weights.sum()
    if not residue <= 1e-11:
        return None
    level, excess = _highest(points, weights)
    return Law(points, weights, level, excess)


def _first_weights(points: Array) -> Array:
    """An even density, and somewhat more at the peaks."""
    weights = np.asarray(np.gradient(points)) if len(points) > 2 else np.ones(2)
    weights[[0, -1]] *= 1.3
    return weights / weights.sum()


def _highest(points: Array, weights: Array) -> tuple[float, float]:
    """The information of the law, and by how much F exceeds it."""
    peak = float(points[-1])
    y = _nodes(peak)
    log_q = np.log(weights @ np.exp(-0.5 * np.square(y - points[:, None]) - HALF_LOG_TWO_PI))

    def height(l: Array) -> Array:
        kernel = np.exp(-0.5 * np.square(y - l[:, None]) - HALF_LOG_TWO_PI)
        return -(0.5 + HALF_LOG_TWO_PI) - _STEP * (kernel @ log_q)

    level = float(weights @ height(points))
    probes = np.linspace(0.0, peak, int(np.ceil(_PROBES * peak)) + 2)
    return level, float(height(probes).max()) - level
