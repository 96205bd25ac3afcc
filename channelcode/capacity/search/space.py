"""Where to look in R^k: directions, starts, a climb from each, and how far out."""

from __future__ import annotations

from typing import Any

import numpy as np

from channelcode._validation import Array
from channelcode.capacity.kkt import curve, kkt_function, local
from channelcode.capacity.law_value import quiet_log_prob
from channelcode.capacity.problem import Problem
from channelcode.capacity.search.cheap import priced_probes, valleys
from channelcode.capacity.search.lattice import layers
from channelcode.capacity.search.reach import End, Reach, reach
from channelcode.capacity.search.wall import MOST, anchors, has_wall, slide, touching, within_wall
from channelcode.channels.tails import FARTHEST

MOST_NAMED = 64  # landmarks, and valleys of a cost, that climbs begin at
MARGIN = 1.5  # between the radii of probes of a cost lies less
UNKNOWN = 1e3  # how far to look where nothing ends the search


def spread_directions(dim: int, seed: int) -> Array:
    """Unit vectors: axes, their centred forms and pairs, both signs, and random ones `(n, dim)`."""
    eye = np.eye(dim)
    centred = eye - 1.0 / dim
    pairs = [eye[i] - eye[j] for i in range(dim) for j in range(dim) if i != j]
    sums = [eye[i] + eye[j] for i in range(dim) for j in range(i)]
    random = np.random.default_rng(seed).normal(size=(64 * min(dim, 4), dim))
    known = np.vstack([eye, -eye, centred, -centred, pairs, sums, np.negative(sums)])
    everything = np.vstack([known, random, random - random.mean(axis=1, keepdims=True)])
    norms = np.linalg.norm(everything, axis=1)
    everything = everything[norms > 1e-9] / norms[norms > 1e-9, None]
    return everything[distinct(everything, 1e-9)]


def reach_in_space(problem: Problem, output: Array, multiplier: float, value: float) -> Reach:
    """`reach` for R^k; a cost of one's own is tried at many inputs, which proves nothing."""
    if not problem.has_own_cost or multiplier <= 0:
        far = reach(problem, output, multiplier, value)
        return far if far.radius < FARTHEST else Reach(UNKNOWN, End.NONE)
    room = max(float(-np.log(output.min())) - value, 0.0) + 1e-12
    points, cost = priced_probes(problem)
    sizes = problem.norm(points)
    allowed = multiplier * (cost - problem.limits.budget) <= room
    last = float(sizes[allowed].max(initial=1.0))
    return Reach(float(min(MARGIN * last, problem.limits.peak)), End.NONE)


def climbing_starts(
    problem: Problem,
    directions: Array,
    output: Array,
    multiplier: float,
    value: float,
    atoms: Array,
    *,
    everywhere: bool = False,
) -> Array:
    """Where climbs begin: the best of all directions at many radii, zero, and the atoms.

    `everywhere` adds the peaks among even probes of the whole ball within reach, up to R^4.
    """
    radius = reach_in_space(problem, output, multiplier, value).radius
    radii = np.concatenate([np.geomspace(1e-2, 1.0, 12), [0.55, 0.75, 0.9]]) * radius
    norms = np.linalg.norm(atoms, axis=1)
    radii = np.unique(np.concatenate([radii, norms[norms > 0], [1.0, 2.0, 4.0]]))
    radii = radii[radii <= radius * (1 + 1e-12)]
    points = (radii[:, None, None] * directions).reshape(-1, atoms.shape[1])
    points = points[gives_numbers(problem, points)]
    heights = kkt_function(problem, points, output, multiplier)
    heights = np.where(np.isnan(heights), -np.inf, heights)
    best = np.argsort(-heights, kind="stable")[:256]
    found = layers(problem, radius) if everywhere else []
    tops = [layer.peaks(problem, output, multiplier) for layer in found]
    named = named_places(problem, directions)
    return np.vstack([atoms, np.zeros((1, atoms.shape[1])), points[best], named, *tops])


def named_places(problem: Problem, directions: Array) -> Array:
    """Where the channel says that it bends, and around, and where a cost is small, `(n, k)`.

    Around a landmark at one and two of its widths, along some of the directions.
    """
    tails, dim = problem.tails, problem.channel.dim
    landmarks = tails.landmarks[:MOST_NAMED] if tails is not None else ()
    pieces = [np.empty((0, dim))]
    for centre, width in landmarks:
        if np.shape(centre) == (dim,):
            around = width * np.array([1.0, 2.0])[:, None, None] * directions[: 2 * dim]
            pieces += [np.array([centre]), centre + around.reshape(-1, dim)]
    if problem.has_own_cost:
        lowest = valleys(problem)[:MOST_NAMED]
        pieces.append(lowest[distinct(lowest, 1e-6)])
    points = within_peak(np.vstack(pieces), problem.limits.peak)
    return points[gives_numbers(problem, points)] if len(points) else points


def climb(
    problem: Problem, starts: Array, output: Array, multiplier: float, *, max_steps: int = 60
) -> tuple[Array, Array]:
    """Maximise F from every start at once by damped Newton steps; points and heights.

    Where a cost of one's own has walls, steps end there, and the highest climbs slide along them.
    """
    walled = has_wall(problem)
    towards = anchors(problem, starts) if walled else starts
    point = within_wall(problem, starts, towards) if walled else starts.copy()
    budget = problem.limits.budget if multiplier > 0 else 0.0
    peak = problem.limits.peak
    damping = np.full(len(point), 1e-2)
    at = curve(local(problem, point), output, multiplier, budget)
    height = np.where(np.isnan(at.value), -np.inf, at.value)
    active = np.arange(len(point))
    gradient, hessian = at.gradient, at.hessian
    for _ in range(max_steps):
        g, h = gradient[active], hessian[active]
        values, vectors = np.linalg.eigh(h)
        size = np.maximum(
            np.abs(values), 1e-12 * np.abs(values).max(axis=1, keepdims=True) + 1e-300
        )
        size = size * (1.0 + damping[active][:, None])
        step = np.einsum("nij,nj->ni", vectors, np.einsum("nji,nj->ni", vectors, g) / size)
        longest = 0.5 * (0.1 + np.linalg.norm(point[active], axis=1))
        length = np.linalg.norm(step, axis=1)
        step *= np.minimum(1.0, longest / np.maximum(length, 1e-300))[:, None]
        trial = within_peak(point[active] + step, peak)
        if walled:
            trial = within_wall(problem, trial, towards[active])
        at = curve(local(problem, trial), output, multiplier, budget)
        better = at.value > height[active]
        index = active[better]
        gain = at.value[better] - height[index]
        point[index], height[index] = trial[better], at.value[better]
        gradient[index], hessian[index] = at.gradient[better], at.hessian[better]
        damping[index] = np.maximum(0.2 * damping[index], 1e-8)
        worse = active[~better]
        damping[worse] = 10.0 * damping[worse] + 0.1
        keep = np.ones(len(active), dtype=bool)
        keep[better] = gain > 1e-15
        keep[~better] = damping[worse] < 1e6
        active = active[keep]
        if len(active) == 0:
            break
    if walled:
        height = np.where(np.isinf(problem.cost(point)), -np.inf, height)
        best = np.argsort(-height, kind="stable")
        best = best[touching(problem, point[best], towards[best])]
        best = best[distinct(point[best], 1e-3)][:MOST]
        if len(best):
            slid = slide(problem, point[best], output, multiplier, towards[best])
            point, height = np.vstack([point, slid[0]]), np.append(height, slid[1])
    return point, height


def within_peak(points: Array, peak: float) -> Array:
    """Points beyond the peak drawn back to it."""
    if peak == np.inf:
        return points
    norms = np.linalg.norm(points, axis=1, keepdims=True)
    return np.where(norms > peak, points * (peak / np.maximum(norms, peak)), points)


def gives_numbers(problem: Problem, points: Array) -> Any:
    """Which inputs the channel answers with numbers: a user's exp may overflow far out."""
    log_prob = quiet_log_prob(problem.channel, points)
    return ~(np.isnan(log_prob) | (log_prob == np.inf)).any(axis=1)


def distinct(points: Array, rtol: float) -> Any:
    """Indices of points that differ from all earlier ones."""
    kept: list[int] = []
    for i, point in enumerate(points):
        if kept:
            distance = np.linalg.norm(points[kept] - point, axis=1)
            if distance.min() <= rtol * (1.0 + np.linalg.norm(point)):
                continue
        kept.append(i)
    return np.array(kept, dtype=np.int64)
