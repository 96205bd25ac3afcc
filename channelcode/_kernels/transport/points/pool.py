"""Gaussians and atoms of fair weights in R^r over quasi-random points: whole pools."""

from __future__ import annotations

import math

import numpy as np

from channelcode._kernels.jit import kernel
from channelcode._kernels.transport.cells import distinct_atoms, rough_quantile, spread_potential
from channelcode._kernels.transport.points.approach import (
    dual_value,
    feed_starved,
    newton_points,
    size_of,
)
from channelcode._kernels.transport.points.coupling import coupling_loss
from channelcode._kernels.transport.points.rank import make_room, rank_points
from channelcode._kernels.transport.rare import FAR, RARE_FAR
from channelcode._kernels.transport.samples.start import FARTHEST, MOST_AXES, moment_potential

FIRST_STEPS = 10  # of Newton's method on some points,
STEPS = 2  # then on all,
JUDGE_STEPS = 2  # and for the judge on its own,
ATTEMPTS = 8  # again as long as the loss is more
ACCEPTED = 0.7  # than this part of the interval
ENOUGH = 1.0  # points for each atom: masses so near are in the hands of their number
LONG, SHORT = 0.3, 0.1  # steps of a potential on some points and on all, for atoms of size one
LOST = 0.1  # masses that differ by more, all together, are another method's
FAR_SHARE = 0.1  # of the atoms' mean square, in light ones far away
UNFIT = -1  # steps where the points are not for a problem
SHRUNK = 0.9  # part of the start from two moments, and what a light cell's potential is lower by:
CAPPED = 0.99 * FARTHEST
LIGHT = 0.08  # fitted to solutions in R^5 and R^8


@kernel
def is_fair(atoms: np.ndarray, weights: np.ndarray) -> bool:
    """Whether points of one rule show all that matters: light atoms far away are of little weight.

    What a light cell adds to the dual value is its mass times the distance of its atom, a small
    part of the standard error unless the atom is far: then few points decide, or none shows it.
    """
    square = size_of(atoms, weights) ** 2
    share = 0.0
    for j in range(atoms.shape[0]):
        own = 0.0
        for d in range(atoms.shape[1]):
            own += atoms[j, d] * atoms[j, d]
        if weights[j] < RARE_FAR and not own <= FAR * FAR * square:
            share += weights[j] * own
    return share <= FAR_SHARE * square


@kernel
def start_points(atoms: np.ndarray, weights: np.ndarray, size: float, v: np.ndarray) -> None:
    """Where Newton's method starts: as for two normal laws, less where a cell is light."""
    m, r = atoms.shape
    if r <= MOST_AXES:
        small = np.zeros((6, r, r))
        for d in range(r):
            small[4, d, d] = 1.0
        for j in range(m):
            for d in range(r):
                for e in range(r):
                    small[5, d, e] += weights[j] * atoms[j, d] * atoms[j, e]
        moment_potential(small[4], np.zeros(r), atoms, small[5], small, v)
    else:
        for j in range(m):
            square = 0.0
            for d in range(r):
                square += atoms[j, d] * atoms[j, d]
            v[j] = min(0.5 * square / size, FARTHEST * math.sqrt(square))
    for j in range(m):
        length = 0.0
        for d in range(r):
            length += atoms[j, d] * atoms[j, d]
        length = math.sqrt(length)
        if v[j] < CAPPED * length:
            v[j] = SHRUNK * v[j] - LIGHT * size * math.log(weights[j] * m)
        else:  # far away: a half-space of its weight
            v[j] = length * rough_quantile(min(weights[j], 0.5))


@kernel
def points_pool(
    stack: np.ndarray,
    weights: np.ndarray,
    some: np.ndarray,
    nodes: np.ndarray,
    bits: int,
    potentials: np.ndarray,
) -> np.ndarray:
    """Potentials `(n, m)` for each row of `stack (n, m, r)`, of weighted size about one; the steps.

    Newton's method runs over the columns of `some (r, s)`, then of `nodes (r, t)`. The steps are
    `UNFIT` where a cell is too light, or masses do not come near the weights.
    """
    n, m, r = stack.shape
    steps = np.full(n, UNFIT)
    group = np.empty(m, dtype=np.int64)
    kept = 0
    room, all_room = make_room(0, 0, 0), make_room(0, 0, 0)
    for c in range(n):
        atoms, own = distinct_atoms(stack[c], weights, group)
        if len(own) == 1 or not is_fair(atoms, own):
            continue
        if len(own) != kept:
            kept = len(own)
            room, all_room = make_room(some.shape[1], kept, r), make_room(nodes.shape[1], kept, r)
        v, size = np.empty(kept), size_of(atoms, own)
        start_points(atoms, own, size, v)
        rank_points(some, atoms, v, bits, room.best, room.lead, room.pair)
        enough = ENOUGH * kept / some.shape[1]
        _, before = newton_points(some, atoms, own, bits, enough, FIRST_STEPS, LONG, v, room)
        rank_points(nodes, atoms, v, bits, all_room.best, all_room.lead, all_room.pair)
        enough = ENOUGH * kept / nodes.shape[1]
        error, after = newton_points(nodes, atoms, own, bits, enough, STEPS, SHORT, v, all_room)
        if error <= LOST:
            feed_starved(nodes, atoms, own, v, all_room)
            steps[c] = before + after
            spread_potential(v, group, potentials[c])
    return steps


@kernel
def points_judge(
    stack: np.ndarray,
    weights: np.ndarray,
    potentials: np.ndarray,
    nodes: np.ndarray,
    bits: int,
    reach: float,
    values: np.ndarray,
) -> np.ndarray:
    """Independent estimates of the dual values, `values (n, replicates)`, and losses `(n,)`.

    Each replicate is an equal stretch of the columns of `nodes (r, t)`, which the potentials have
    not seen. The loss is what the mean of the replicates exceeds the value of a coupling of the
    same points, found a few steps of Newton's method away, and a few more while it is large beside
    `reach` standard errors; infinite where the points are not for a problem.
    """
    n, m, r = stack.shape
    loss = np.full(n, math.inf)
    replicates = values.shape[1]
    room = make_room(nodes.shape[1], m, r)
    length = nodes.shape[1] // replicates
    v = np.empty(m)
    for c in range(n):
        atoms = stack[c]
        if not is_fair(atoms, weights):
            continue
        constant = 0.0
        for j in range(m):
            v[j] = potentials[c, j]
            constant += weights[j] * v[j]
        rank_points(nodes, atoms, v, bits, room.best, room.lead, room.pair)
        mean = 0.0
        for t in range(replicates):
            total = 0.0
            for i in range(t * length, (t + 1) * length):
                total += room.best[i]
            values[c, t] = total / length + constant
            mean += values[c, t] / replicates
        spread = 0.0
        for t in range(replicates):
            spread += (values[c, t] - mean) ** 2 / (replicates - 1)
        wanted = ACCEPTED * reach * math.sqrt(spread / replicates)
        enough = 0.5 * ENOUGH * m / nodes.shape[1]
        for attempt in range(ATTEMPTS):
            if attempt > 0:
                enough *= 0.5
                if feed_starved(nodes, atoms, weights, v, room) > 0:
                    rank_points(nodes, atoms, v, bits, room.best, room.lead, room.pair)
            error, _ = newton_points(
                nodes, atoms, weights, bits, enough, JUDGE_STEPS, SHORT, v, room
            )
            if not error <= LOST:
                break
            lost = coupling_loss(nodes, atoms, weights, v, bits, room)
            loss[c] = min(loss[c], abs(mean - (dual_value(weights, v, room.best) - lost)))
            if loss[c] <= wanted:
                break
    return loss
